//! `cambio plan`.

use std::io::Write as _;
use std::path::PathBuf;

use cambio_sim::{StoredRun, derive};
use cambio_stats::planning::clusters_needed;

use crate::exit::{CliResult, Exit};
use crate::setting::{positive, probability};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("spread").args(["run", "deviation"]).required(true)))]
pub(super) struct Args {
    /// The difference in payoff that the comparison should detect, such as 0.01 rank points
    #[arg(long, value_name = "EFFECT", value_parser = positive)]
    detect: f64,
    /// A run; the deviation of every pair of its agents is taken from it
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// The standard deviation of the difference between two agents in one deal, instead of --run
    #[arg(long, value_name = "SIGMA", value_parser = positive)]
    deviation: Option<f64>,
    /// The probability of a false positive: a difference is found, and there is none
    #[arg(long, default_value_t = 0.05, value_parser = probability)]
    alpha: f64,
    /// The probability of finding a difference of that size
    #[arg(long, default_value_t = 0.8, value_parser = probability)]
    power: f64,
}

pub(super) fn run(args: &Args) -> CliResult {
    let needed = |deviation: f64| clusters_needed(args.detect, deviation, args.alpha, args.power);
    let mut out = std::io::stdout().lock();
    if let Some(deviation) = args.deviation {
        writeln!(out, "{} deals", needed(deviation))?;
        return Ok(Exit::Done);
    }
    let folder = args.run.as_ref().ok_or("--run or --deviation is needed")?;
    let stored = StoredRun::open(folder)?;
    crate::report::tell_if_partial(&stored)?;
    let derived = derive(&stored, &[])?;
    writeln!(
        out,
        "{:>10} {:>9}  to find {} with power {} at level {}",
        "deals", "deviation", args.detect, args.power, args.alpha
    )?;
    for pair in &derived.pairwise {
        let Some(error) = pair.error else { continue };
        let deviation = error * (pair.deals as f64).sqrt();
        let (rules, seats) = (&pair.rules, pair.seats);
        if deviation > 0.0 {
            let deals = needed(deviation);
            writeln!(out, "{deals:>10} {deviation:>9.4}  {rules}, {seats} seats: {} – {}", pair.agent, pair.other)?;
        } else {
            writeln!(out, "{:>10} {deviation:>9.4}  {rules}, {seats} seats: {} – {}", 2, pair.agent, pair.other)?;
        }
    }
    Ok(Exit::Done)
}
