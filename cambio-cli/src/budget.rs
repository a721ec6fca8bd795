//! `cambio plan --cost`: the time and price of reaching a target precision on many machines.

use std::io::Write as _;
use std::path::Path;

use cambio_sim::{FEW_DEALS, StoredRun, SummaryRow, TimeSpent, derive};

use crate::exit::{CliResult, Exit};
use crate::say::{count, stdout};

/// The target precision and the machines.
#[derive(Debug, clap::Args)]
pub(super) struct BudgetTarget {
    /// Instead of --detect: a small run of the experiment, whose intervals and time per match give the estimate
    #[arg(long, value_name = "DIR", requires = "within", conflicts_with = "detect")]
    pub(super) cost: Option<std::path::PathBuf>,
    /// With --cost: the target precision, which is half the width of the widest interval of rank points, such as 0.005
    #[arg(long, value_name = "HALF-WIDTH", value_parser = crate::setting::probability, requires = "cost")]
    within: Option<f64>,
    /// With --cost: the number of machines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    machines: u64,
    /// With --cost: the number of cores of each machine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cores: u64,
    /// With --cost: the price of one core for one hour
    #[arg(long, value_name = "PRICE", default_value_t = 0.04, value_parser = crate::setting::positive)]
    price: f64,
}

/// The number of bytes of rows that a driver commits per second.
const COMMIT_RATE: f64 = 100e6;

/// The mean time of a match in core seconds, and its mean size in bytes.
fn measured(stored: &StoredRun) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let TimeSpent { matches, time, .. } = stored.timing.total();
    if matches == 0 || stored.matches() == 0 {
        let path = stored.path.join("timing.csv");
        let what = "must have the times of matches; choose a run of this version of the program that has matches";
        return Err(format!("{} {what}", path.display()).into());
    }
    let rows = ["matches.csv", "rounds.csv", "players.csv", "records.jsonl"];
    let size = |name: &str| std::fs::metadata(stored.path.join(name)).map_or(0, |file| file.len());
    let bytes: u64 = rows.into_iter().map(size).sum();
    Ok((time.as_secs_f64() / matches as f64, bytes as f64 / stored.matches() as f64))
}

/// Half the width of the widest interval, with its agent and table.
fn widest(rows: &[SummaryRow]) -> Option<(f64, String)> {
    let half = |row: &SummaryRow| Some((row.rank_points_high? - row.rank_points_low?) / 2.0);
    let named = |row: &SummaryRow| Some((half(row)?, format!("{} at {}, {} seats", row.agent, row.rules, row.seats)));
    rows.iter().filter_map(named).max_by(|one, other| one.0.total_cmp(&other.0))
}

pub(super) fn run(args: &BudgetTarget, folder: &Path) -> CliResult {
    let within = args.within.ok_or("--cost requires --within")?;
    let stored = StoredRun::open(folder)?;
    crate::run_check::tell_if_partial(&stored)?;
    let (seconds, bytes) = measured(&stored)?;
    let (half, whose) =
        widest(&derive(&stored)?.summary).ok_or("the run has too few deals for an interval; play more deals")?;
    let mut plan = stored.plan.clone();
    let deals = (plan.deals as f64 * (half / within).powi(2)).ceil();
    if deals > 1e15 {
        return Err(format!("--within {within} needs more than 10^15 deals; choose a wider interval").into());
    }
    plan.deals = (deals as u64).max(1);
    let (deals, matches, batches) = (plan.deals, plan.matches(), plan.batch_count());
    let (cores, hours) = (args.machines * args.cores, matches as f64 * seconds / 3600.0);
    let (busy, commit) = (cores.min(batches), matches as f64 * bytes / COMMIT_RATE / 3600.0);
    // The core with the most batches finishes last, unless the driver cannot commit as fast as the cores play.
    let took = (hours / batches as f64 * batches.div_ceil(busy) as f64).max(commit);
    let price = args.price * took * cores as f64;
    let price = if price < 0.005 { "below 0.01".to_owned() } else { format!("{price:.2}") };
    let time =
        |hours: f64| if hours < 1.0 { format!("{:.1} seconds", hours * 3600.0) } else { format!("{hours:.2} hours") };
    let mut out = stdout();
    writeln!(out, "{deals} deals, {matches} matches in {}, {} of one core", count(batches, "batch"), time(hours))?;
    writeln!(
        out,
        "a match takes {:.3} ms and {bytes:.0} bytes; the widest interval is ± {half:.4} after {} deals, of {whose}",
        1000.0 * seconds,
        stored.plan.deals
    )?;
    let machine = count(cores, "core");
    writeln!(out, "on {machine}, the run takes {}; the price is {price}", time(took))?;
    if stored.plan.deals < FEW_DEALS {
        writeln!(out, "a run of fewer than {FEW_DEALS} deals gives a rough estimate")?;
    }
    if cores > batches {
        writeln!(out, "a batch is not split between cores, so at most {batches} of the {cores} cores are used")?;
    }
    Ok(Exit::Done)
}
