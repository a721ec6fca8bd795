//! `cambio calibrate`: budgets that give searches the same time per decision.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;

use cambio_agents::{Range, Roster, RosterEntry};
use cambio_core::text::duration;
use cambio_exec::Executor;
use cambio_sim::{Experiment, LuckChoice, PlayError, Runner, read_rules};

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::say::{say, stdout};
use crate::seeds::seed_of;
use crate::setting::{player, positive};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agents. A question mark in place of a whole number is the budget to find, such as 'rollout(n=?)'; an agent without
    /// a question mark is only measured
    #[arg(required = true, value_name = "AGENT")]
    agents: Vec<String>,
    /// The time per decision in milliseconds, on average over all decisions of a match
    #[arg(long, value_name = "TIME", value_parser = positive)]
    ms: f64,
    /// The rules: a preset or a rule file
    #[arg(long, default_value = "classic")]
    rules: String,
    /// The number of seats
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = crate::setting::seats)]
    seats: usize,
    /// Do not show the measurements
    #[arg(long, short)]
    quiet: bool,
}

/// The relative error of the time that is accepted.
const TOLERANCE: f64 = 0.05;
/// The maximum number of measurements for an agent.
const MOST_MEASUREMENTS: usize = 12;
/// The seconds of a measurement, and the limits of its number of deals.
const SECONDS: f64 = 2.0;
const DEALS: RangeInclusive<u64> = 4..=127;

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let rules = read_rules(&args.rules, Path::new("."))?;
    rules.covers(args.seats)?;
    let searches = args.agents.iter().map(|spec| Search::read(spec, roster)).collect::<Result<Vec<_>, _>>()?;
    let executor = Executor::new(1)?.with_cancel(stop_on_signal(Exit::Failed)?);
    let (goal, mut found) = (args.ms / 1000.0, Vec::new());
    for search in &searches {
        // The number of deals of the next measurement: for the given time if a decision takes `goal`.
        let mut deals = *DEALS.start();
        let mut measure = |spec: String| -> Result<f64, Box<dyn std::error::Error>> {
            let experiment = Experiment {
                seed: Some(seed_of("calibrate")),
                deals,
                luck: LuckChoice::Off,
                ..Experiment::at(&args.rules, args.seats, &[&spec])
            };
            let report = Runner::new(&executor).play(&experiment.plan(roster, Path::new("."))?);
            match report.outcome {
                Err(PlayError::Interrupted) => return Err("interrupted without a result".into()),
                outcome => outcome?,
            }
            let spent = report.timing.agent(0, 0).filter(|spent| spent.decisions > 0);
            let spent = spent.ok_or_else(|| format!("`{spec}` made no decision, so its time cannot be measured"))?;
            let seconds = spent.time.as_secs_f64() / spent.decisions as f64;
            deals = (SECONDS / goal * deals as f64 / spent.decisions as f64) as u64;
            deals = deals.clamp(*DEALS.start(), *DEALS.end());
            if !args.quiet {
                say!("{spec}: {}", duration(seconds));
            }
            Ok(seconds)
        };
        found.push(match search {
            Search::Fixed(spec) => (spec.clone(), measure(spec.clone())?),
            Search::Budget { spec, range } => {
                let filled = |value: i64| spec.replace('?', &value.to_string());
                let (value, seconds) = budget(range, goal, |value| measure(filled(value)))?;
                if (seconds / goal - 1.0).abs() > 2.0 * TOLERANCE {
                    let (agent, taken) = (filled(value), duration(seconds));
                    say!("warning: {agent} takes {taken}, the nearest to {} that was found", duration(goal));
                }
                (filled(value), seconds)
            }
        });
    }
    let mut out = stdout();
    writeln!(out, "# time per decision on this machine: {}, {} seats", rules.name(), args.seats)?;
    for (spec, seconds) in &found {
        writeln!(out, "# {:>8}  {spec}", duration(*seconds))?;
    }
    let specs = found.iter().map(|(spec, _)| serde_json::to_string(spec)).collect::<Result<Vec<_>, _>>()?;
    writeln!(out, "agents = [{}]", specs.join(", "))?;
    Ok(Exit::Done)
}

/// An agent as given on the command line.
#[derive(Debug)]
enum Search {
    /// Without a question mark.
    Fixed(String),
    /// With a question mark in place of a number in this range.
    Budget { spec: String, range: RangeInclusive<i64> },
}

impl Search {
    fn read(spec: &str, roster: &Roster) -> Result<Search, Box<dyn std::error::Error>> {
        if !spec.contains('?') {
            return Ok(Search::Fixed(player(roster, "the agent", spec)?.to_string()));
        }
        let form = || format!("`{spec}` must have one question mark, in place of a whole number as in rollout(n=?)");
        let (before, after) = spec.split_once("=?").filter(|_| spec.matches('?').count() == 1).ok_or_else(form)?;
        let param = before.rsplit(['(', ',']).next().unwrap_or_default().trim();
        let name = spec.split('(').next().unwrap_or_default().trim();
        let entry = roster.entries().iter().find(|entry| entry.name() == name);
        let params = entry.map(RosterEntry::params).unwrap_or_default();
        match params.iter().find(|declared| declared.name == param).map(|declared| declared.range) {
            Some(Range::Whole(from, to)) => {
                let filled = player(roster, "the agent", &format!("{before}={from}{after}"))?.to_string();
                let spec = filled.replacen(&format!("{param}={from}"), &format!("{param}=?"), 1);
                Ok(Search::Budget { spec, range: from..=to })
            }
            Some(_) => Err(form().into()),
            // An unknown agent or parameter: the error lists the known ones.
            None => {
                player(roster, "the agent", &format!("{before}=1{after}"))?;
                Err(form().into())
            }
        }
    }
}

/// The value in the range with which a decision takes about `goal` seconds, and its time.
fn budget(
    range: &RangeInclusive<i64>,
    goal: f64,
    mut measure: impl FnMut(i64) -> Result<f64, Box<dyn std::error::Error>>,
) -> Result<(i64, f64), Box<dyn std::error::Error>> {
    let (from, to) = (*range.start(), *range.end());
    let mut measured: BTreeMap<i64, f64> = BTreeMap::new();
    let mut next = (from + 15).min(to);
    while measured.len() < MOST_MEASUREMENTS && !measured.contains_key(&next) {
        let seconds = measure(next)?;
        measured.insert(next, seconds);
        if (seconds / goal - 1.0).abs() <= TOLERANCE {
            break;
        }
        // Step away until the goal lies between two values, and then interpolate.
        let below = measured.iter().rfind(|(_, seconds)| **seconds < goal);
        let above = measured.iter().find(|(_, seconds)| **seconds >= goal);
        let growth = factor(seconds, goal).clamp(2.0, 10.0);
        let guess = match (below, above) {
            (Some((&low, &short)), Some((&high, &long))) => {
                low as f64 + (goal - short) / (long - short) * (high - low) as f64
            }
            (Some(_), None) => next as f64 * growth,
            _ => next as f64 / growth,
        };
        next = rounded(guess).clamp(from, to);
    }
    let best = measured.into_iter().min_by(|one, other| factor(one.1, goal).total_cmp(&factor(other.1, goal)));
    let (value, seconds) = best.expect("at least one value is measured");
    let is_short = seconds < goal;
    if (value == from && !is_short || value == to && is_short) && (seconds / goal - 1.0).abs() > 2.0 * TOLERANCE {
        let (end, compared) = if is_short { ("highest", "shorter") } else { ("lowest", "longer") };
        let (taken, wanted) = (duration(seconds), duration(goal));
        return Err(format!(
            "a decision takes {taken} with the {end} value {value}, which is {compared} than {wanted}; choose another --ms, or \
             change other parameters of the agent"
        )
        .into());
    }
    Ok((value, seconds))
}

/// How far a time is from the goal, as a factor of at least 1.
fn factor(seconds: f64, goal: f64) -> f64 {
    (seconds / goal).max(goal / seconds)
}

/// A number with three significant digits.
fn rounded(value: f64) -> i64 {
    let unit = 10_i64.pow((value.max(1.0) as i64).ilog10().saturating_sub(2)) as f64;
    ((value / unit).round() * unit) as i64
}

#[cfg(test)]
mod tests;
