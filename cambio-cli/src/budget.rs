//! `cambio plan --cost`: how long a wish takes on many machines, and what it costs.

use std::io::Write as _;
use std::path::Path;

use cambio_sim::schedule::{Cluster, Forecast, Task, simulate};
use cambio_sim::{LineupCost, Plan, StoredRun, SummaryRow, derive};

use crate::exit::{CliResult, Exit};

/// What is wished for, and what there is.
#[derive(Debug, clap::Args)]
pub(super) struct Wish {
    /// A run of the experiment in small: its time for a match and its intervals say how long the wish takes
    #[arg(long, value_name = "DIR", requires = "within", conflicts_with = "detect")]
    pub(super) cost: Option<std::path::PathBuf>,
    /// The wish: half the width of the widest interval of rank points, such as 0.005
    #[arg(long, value_name = "HALF", value_parser = crate::setting::probability, requires = "cost")]
    within: Option<f64>,
    /// The number of machines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    machines: u64,
    /// The number of cores of a machine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cores: u64,
    /// The price of a core for an hour
    #[arg(long, value_name = "PRICE", default_value_t = 0.04, value_parser = crate::setting::positive)]
    price: f64,
    /// The seed of the simulated stragglers and failures
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    luck: u64,
}

/// The most batches of a simulation.
const MOST_BATCHES: u64 = 20_000_000;

/// What a run says about the time and size of a match.
fn measured(stored: &StoredRun) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let path = stored.path.join("timing.csv");
    let text = cambio_exec::read_text(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let (mut seconds, mut matches) = (0.0, 0.0);
    for line in text.lines().skip(1) {
        let row: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let [threads, played, took] = row[..] else {
            return Err(format!("{} has the row `{line}`; allowed is threads,matches,seconds", path.display()).into());
        };
        seconds += threads * took;
        matches += played;
    }
    if matches == 0.0 || stored.matches() == 0 {
        return Err(format!("{} has no match; allowed is a run with some", path.display()).into());
    }
    let rows = ["matches.csv", "rounds.csv", "players.csv", "records.jsonl"];
    let size = |name: &str| {
        let plain = std::fs::metadata(stored.path.join(name));
        plain.or_else(|_| std::fs::metadata(stored.path.join(format!("{name}.zst")))).map_or(0, |file| file.len())
    };
    let bytes: u64 = rows.into_iter().map(size).sum();
    Ok((seconds / matches, bytes as f64 / stored.matches() as f64))
}

/// The widest interval: half its width, and whose it is.
fn widest(rows: &[SummaryRow]) -> Option<(f64, String)> {
    let half = |row: &SummaryRow| Some((row.rank_points_high? - row.rank_points_low?) / 2.0);
    let named = |row: &SummaryRow| Some((half(row)?, format!("{} at {}, {} seats", row.agent, row.rules, row.seats)));
    rows.iter().filter_map(named).max_by(|one, other| one.0.total_cmp(&other.0))
}

/// The time of every lineup, if each match takes the same.
fn costs(plan: &Plan, seconds: f64) -> Vec<LineupCost> {
    let mut costs = Vec::new();
    for (cell, place) in plan.cells.iter().zip(0..) {
        let matches = cell.seatings.len() as u64;
        let of = |lineup| LineupCost { cell: place, lineup, blocks: 1, matches, seconds: seconds * matches as f64 };
        costs.extend((0..cell.lineups.len()).map(of));
    }
    costs
}

/// How many units each worker needs at least, so that all end at about the same time.
const UNITS_EACH: u64 = 20;

/// What keeps more workers from helping: what takes the largest share of what is lost.
fn limit(forecast: &Forecast, workers: u64, batches: u64) -> &'static str {
    if forecast.merge_seconds > forecast.seconds {
        "the merge takes longer than play"
    } else if forecast.driver > 0.8 {
        "the driver cannot hand units out faster"
    } else if forecast.utilisation < 0.95 && workers * UNITS_EACH > batches {
        "the batches, which no unit divides, are too few for so many"
    } else if forecast.utilisation < 0.9 {
        "there is too little work for so many"
    } else {
        ""
    }
}

pub(super) fn run(args: &Wish, folder: &Path) -> CliResult {
    let within = args.within.ok_or("--cost needs --within, the wish")?;
    let stored = StoredRun::open(folder)?;
    crate::report::tell_if_partial(&stored)?;
    let (seconds, bytes) = measured(&stored)?;
    let derived = derive(&stored, &[])?;
    let (half, whose) = widest(&derived.summary).ok_or("the run has no interval; allowed is one with more deals")?;
    let mut plan = stored.plan.clone();
    let deals = (plan.deals as f64 * (half / within).powi(2)).ceil();
    if deals > 1e15 {
        return Err(format!("--within {within} takes more than 10^15 deals; allowed is a wider interval").into());
    }
    plan.deals = (deals as u64).max(1);
    let hours = plan.matches() as f64 * seconds / 3600.0;
    let mut out = std::io::stdout().lock();
    let batches = plan.batch_count();
    writeln!(
        out,
        "{} deals, {} matches in {batches} batches, {hours:.2} hours of one core",
        plan.deals,
        plan.matches()
    )?;
    writeln!(
        out,
        "a match takes {:.3} ms and {bytes:.0} bytes; the widest interval, ± {half:.4} after {} deals, is that of {whose}",
        1000.0 * seconds,
        stored.plan.deals
    )?;
    if plan.batch_count() > MOST_BATCHES {
        let found = plan.batch_count();
        return Err(format!("{found} batches are too many to simulate; allowed are {MOST_BATCHES}").into());
    }
    let task = Task { plan: &plan, costs: costs(&plan, seconds), bytes_a_match: bytes };
    let asked = args.machines * args.cores;
    let mut sizes: Vec<u64> = vec![1, 10, 100, 1000, 10_000, asked];
    sizes.sort_unstable();
    sizes.dedup();
    writeln!(
        out,
        "{:>8} {:>10} {:>10} {:>6} {:>8} {:>8} {:>10}",
        "workers", "hours", "merge", "used", "driver", "units", "price"
    )?;
    for workers in sizes {
        let forecast = simulate(&task, &Cluster { workers, seed: args.luck, ..Cluster::default() });
        let (took, merge) = (forecast.seconds / 3600.0, forecast.merge_seconds / 3600.0);
        let price = (took * workers as f64 + merge) * args.price;
        let (used, driver) = (100.0 * forecast.utilisation, 100.0 * forecast.driver);
        let mark = if workers == asked { " <- what you asked for" } else { "" };
        let units = forecast.units;
        writeln!(
            out,
            "{workers:>8} {took:>10.3} {merge:>10.3} {used:>5.1}% {driver:>7.1}% {units:>8} {price:>10.2}  {}{mark}",
            limit(&forecast, workers, plan.batch_count())
        )?;
    }
    writeln!(
        out,
        "simulated with 2 % of workers three times slower and each lost once in 100 hours; --luck is its seed"
    )?;
    Ok(Exit::Done)
}
