//! `cambio plan`.

use std::io::Write;
use std::path::PathBuf;

use cambio_sim::{Cell, FEW_DEALS, Lineup, PairRow, StoredRun, derive};
use cambio_stats::planning::clusters_needed;
use itertools::Itertools as _;

use crate::exit::{CliResult, Exit};
use crate::say::{count, stdout};
use crate::setting::{check_difference, positive, probability};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("spread").args(["run", "deviation"]).required(true)))]
pub(super) struct Args {
    /// The difference in payoff to detect, such as 0.01 rank points
    #[arg(long, value_name = "EFFECT", value_parser = positive)]
    detect: f64,
    /// A run folder, which gives the standard deviation for every pair of its agents
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Instead of --run: the standard deviation of the difference in payoff between two agents in one deal
    #[arg(long, value_name = "SIGMA", value_parser = positive)]
    deviation: Option<f64>,
    /// The probability of finding a difference if there is none
    #[arg(long, default_value_t = 0.05, value_parser = probability)]
    alpha: f64,
    /// The probability of finding a difference of size EFFECT
    #[arg(long, default_value_t = 0.8, value_parser = probability)]
    power: f64,
}

/// The maximum number of lineups of a table that are listed.
const MOST_LISTED: usize = 3;

/// A larger number of deals is printed as `more than 10^18`.
const MOST_PRINTED: u64 = 1 << 62;

impl Args {
    /// The number of deals that a comparison needs at the significance level `alpha`, as text.
    fn deals(&self, detect: f64, deviation: f64, alpha: f64) -> String {
        match clusters_needed(detect, deviation, alpha, self.power) {
            deals if deals > MOST_PRINTED => "more than 10^18".to_owned(),
            deals => deals.to_string(),
        }
    }
}

pub(super) fn run(args: &Args) -> CliResult {
    let detect = args.detect;
    let mut out = stdout();
    let what = format!("to detect {} with power {} at level {}", detect, args.power, args.alpha);
    if let Some(deviation) = args.deviation {
        writeln!(out, "{} deals for one pair alone, {what}", args.deals(detect, deviation, args.alpha))?;
        writeln!(out, "The verdict of a run compares all pairs simultaneously. Method: noncentral t distribution.")?;
        return Ok(Exit::Done);
    }
    let folder = args.run.as_ref().ok_or("--run or --deviation is required")?;
    let stored = StoredRun::open(folder)?;
    crate::run::tell_if_partial(&stored)?;
    check_difference("--detect", detect, stored.plan.payoff)?;
    let derived = derive(&stored)?;
    let plan = &stored.plan;
    writeln!(out, "deals {what}, in {}{}", plan.payoff.unit(), plan.without_luck())?;
    plan.cells.iter().try_for_each(|cell| tell_lineups(cell, &mut out))?;
    writeln!(out, "{:>10} {:>10} {:>9}  pair", "alone", "together", "deviation")?;
    let mut is_rough = false;
    for pair in &derived.pairwise {
        let PairRow { rules, seats, agent, other, deals, .. } = pair;
        is_rough |= *deals < FEW_DEALS;
        let together = plan.cell(rules, *seats).and_then(|cell| derived.together[cell].as_ref());
        let own = pair.leading().error.map(|error| error * (*deals as f64).sqrt());
        let needed = |alpha: Option<f64>| {
            let known = alpha.zip(own).filter(|(_, own)| *own > 0.0);
            known.map_or_else(|| "–".to_owned(), |(alpha, own)| args.deals(detect, own, alpha))
        };
        let deviation = own.map_or_else(|| "–".to_owned(), |own| format!("{own:.4}"));
        let (alone, together) =
            (needed(Some(args.alpha)), needed(together.map(|together| together.alpha_at(1.0 - args.alpha))));
        writeln!(out, "{alone:>10} {together:>10} {deviation:>9}  {rules}, {seats} seats: {agent} – {other}")?;
    }
    writeln!(out, "alone: if only this pair is compared; together: if all pairs of the table are compared,")?;
    writeln!(out, "as in the verdict of a run; –: the pair has one deal, or the same difference in every deal")?;
    if is_rough {
        writeln!(out, "A deviation from fewer than {FEW_DEALS} deals is rough.")?;
    }
    Ok(Exit::Done)
}

/// Says for which lineups of a table the numbers of deals are.
fn tell_lineups(cell: &Cell, out: &mut impl Write) -> std::io::Result<()> {
    let lineups = &cell.lineups;
    let which = if lineups.len() <= MOST_LISTED {
        lineups.iter().map(Lineup::label).join("; ")
    } else {
        let agents = lineups.iter().flat_map(Lineup::agents).unique().count();
        format!("{} lineups of {}", lineups.len(), count(agents as u64, "agent"))
    };
    let matches = count((lineups.len() * cell.seatings.len()) as u64, "match");
    writeln!(out, "for {cell}: {which}; {matches} a deal")
}
