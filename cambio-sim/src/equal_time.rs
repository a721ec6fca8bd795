//! Budgets that give searches the same time per decision.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use cambio_agents::{AgentSpec, Range, Roster, RosterEntry};
use cambio_core::text::duration;

use crate::{Executor, Experiment, LuckChoice, PlanError, PlayError, Runner};

/// The relative error of the time that is accepted.
const TOLERANCE: f64 = 0.05;
/// The maximum number of measurements for an agent.
const MAX_MEASUREMENTS: usize = 12;
/// The time of one measurement.
const MEASUREMENT_SECONDS: f64 = 2.0;
/// The limits of the number of deals of one measurement.
const DEALS: RangeInclusive<u64> = 4..=127;

/// The error if no budget is found.
#[derive(Debug, thiserror::Error)]
pub enum EqualTimeError {
    /// The spec is not an agent with a question mark, or no value of its budget takes the time.
    #[error("{0}")]
    Budget(String),
    /// The agents cannot play under these rules.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A measurement failed or was interrupted.
    #[error(transparent)]
    Play(#[from] PlayError),
}

/// Finds the budget with which `agent` takes about `seconds` per decision, on average over all decisions of a match.
///
/// The budget is a question mark in place of a whole number, as in `rollout(n=?)`. An agent without a question mark is only
/// measured. The agent plays against itself in the setting of `experiment` (its rules, seats, unit and seed) on one thread of `executor`.
/// `measured` is called with each spec that was measured, and its seconds per decision. Returns the last argument of that
/// call whose time is nearest to `seconds`.
///
/// # Errors
///
/// Returns an error if the spec has no such budget, if no value of it takes about this time, or if a match fails.
pub fn equal_time(
    agent: &str,
    seconds: f64,
    experiment: &Experiment,
    roster: &Roster,
    executor: &Executor,
    measured: &dyn Fn(&str, f64),
) -> Result<(String, f64), EqualTimeError> {
    // The number of deals of the next measurement: for the given time if a decision takes `seconds`.
    let mut deals = *DEALS.start();
    let mut measure = |spec: &str| -> Result<f64, EqualTimeError> {
        let agents = vec![spec.into()];
        let experiment = Experiment { deals, agents, luck: LuckChoice::Off, ..experiment.clone() };
        let report = Runner::new(executor).play(&experiment.plan(roster, Path::new("."))?);
        report.outcome?;
        let spent = report.timing.agent(0, 0).filter(|spent| spent.decisions > 0);
        let none = || EqualTimeError::Budget(format!("`{spec}` made no decision, so its time cannot be measured"));
        let spent = spent.ok_or_else(none)?;
        let taken = spent.time.as_secs_f64() / spent.decisions as f64;
        deals = (MEASUREMENT_SECONDS / seconds * deals as f64 / spent.decisions as f64) as u64;
        deals = deals.clamp(*DEALS.start(), *DEALS.end());
        measured(spec, taken);
        Ok(taken)
    };
    match Search::read(agent, roster).map_err(EqualTimeError::Budget)? {
        Search::Fixed(spec) => measure(&spec).map(|taken| (spec, taken)),
        Search::Budget { spec, range } => {
            let filled = |value: i64| spec.replace('?', &value.to_string());
            let (value, taken) = budget(&range, seconds, |value| measure(&filled(value)))?;
            Ok((filled(value), taken))
        }
    }
}

/// An agent with or without a budget to find.
#[derive(Debug)]
enum Search {
    /// Without a question mark.
    Fixed(String),
    /// With a question mark in place of a number in this range.
    Budget { spec: String, range: RangeInclusive<i64> },
}

impl Search {
    fn read(spec: &str, roster: &Roster) -> Result<Search, String> {
        let parsed =
            |spec: &str| roster.parse(spec).map(|spec: AgentSpec| spec.to_string()).map_err(|error| error.to_string());
        if !spec.contains('?') {
            return Ok(Search::Fixed(parsed(spec)?));
        }
        let form = || format!("`{spec}` must have one question mark, in place of a whole number as in rollout(n=?)");
        let (before, after) = spec.split_once("=?").filter(|_| spec.matches('?').count() == 1).ok_or_else(form)?;
        let param = before.rsplit(['(', ',']).next().unwrap_or_default().trim();
        let name = spec.split('(').next().unwrap_or_default().trim();
        let entry = roster.entries().iter().find(|entry| entry.name() == name);
        let params = entry.map(RosterEntry::params).unwrap_or_default();
        match params.iter().find(|declared| declared.name == param).map(|declared| declared.range) {
            Some(Range::Whole(from, to)) => {
                let filled = parsed(&format!("{before}={from}{after}"))?;
                let spec = filled.replacen(&format!("{param}={from}"), &format!("{param}=?"), 1);
                Ok(Search::Budget { spec, range: from..=to })
            }
            Some(_) => Err(form()),
            // An unknown agent or parameter: the error lists the known ones.
            None => {
                parsed(&format!("{before}=1{after}"))?;
                Err(form())
            }
        }
    }
}

/// The value in the range with which a decision takes about `goal` seconds, and its time.
fn budget(
    range: &RangeInclusive<i64>,
    goal: f64,
    mut measure: impl FnMut(i64) -> Result<f64, EqualTimeError>,
) -> Result<(i64, f64), EqualTimeError> {
    let (from, to) = (*range.start(), *range.end());
    let mut measured: BTreeMap<i64, f64> = BTreeMap::new();
    let mut next = (from + 15).min(to);
    while measured.len() < MAX_MEASUREMENTS && !measured.contains_key(&next) {
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
        return Err(EqualTimeError::Budget(format!(
            "a decision takes {taken} with the {end} value {value}, which is {compared} than {wanted}; choose another time, or \
             change other parameters of the agent"
        )));
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
