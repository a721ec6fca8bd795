//! Budgets that give searches the same time per decision.

use std::collections::BTreeMap;
use std::path::Path;

use cambio_agents::Roster;
use cambio_core::text::duration;

use crate::{Executor, Experiment, LuckChoice, Runner, StudyError};

/// The relative error of the time that is accepted.
const TOLERANCE: f64 = 0.05;
/// The maximum number of measurements for an agent.
const MAX_MEASUREMENTS: usize = 12;
/// The time of one measurement.
const MEASUREMENT_SECONDS: f64 = 2.0;
/// The limits of the number of deals of one measurement.
const DEALS: [u64; 2] = [4, 127];

/// Finds the budget with which `agent` takes about `seconds` per decision, on average over all decisions of a match. Returns the agent
/// with this budget, and its seconds per decision.
///
/// The budget is a question mark in place of a whole number, as in `rollout(n=?)`. An agent without a question mark is only
/// measured. The agent plays against itself in the setting of `experiment` (its rules, seats, unit and seed) on one thread of `executor`.
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
) -> Result<(String, f64), StudyError> {
    let filled = |value: i64| roster.parse(&agent.replacen("=?", &format!("={value}"), 1));
    // The number of deals of the next measurement: for the given time if a decision takes `seconds`.
    let mut deals = DEALS[0];
    let mut measure = |value: i64| -> Result<f64, StudyError> {
        let agents = vec![filled(value)?.to_string()];
        let experiment = Experiment { deals, agents, luck: LuckChoice::Off, ..experiment.clone() };
        let report = Runner::new(executor).play(&experiment.plan(roster, Path::new("."))?);
        report.outcome?;
        let spent = report.timing.agent(0, 0).filter(|spent| spent.decisions > 0);
        let none = || StudyError::Task(format!("`{agent}` made no decision, so its time cannot be measured"));
        let spent = spent.ok_or_else(none)?;
        deals = (MEASUREMENT_SECONDS / seconds * deals as f64 / spent.decisions as f64) as u64;
        deals = deals.clamp(DEALS[0], DEALS[1]);
        Ok(spent.time.as_secs_f64() / spent.decisions as f64)
    };
    let (value, taken) = if agent.contains("=?") {
        filled(1)?;
        // The highest valid value, bit by bit.
        let raised = |value: i64, step: i64| if filled(value + step).is_ok() { value + step } else { value };
        let highest = (0..31).rev().map(|bit| 1 << bit).fold(1, raised);
        if highest == 1 {
            let what = format!("`{agent}` must have its question mark in place of a whole number, as in rollout(n=?)");
            return Err(StudyError::Task(what));
        }
        budget(highest, seconds, measure)?
    } else {
        (1, measure(1)?)
    };
    Ok((filled(value)?.to_string(), taken))
}

/// The value from 1 to `highest` with which a decision takes about `goal` seconds, and its time.
fn budget(
    highest: i64,
    goal: f64,
    mut measure: impl FnMut(i64) -> Result<f64, StudyError>,
) -> Result<(i64, f64), StudyError> {
    // How far a time is from the goal, as a factor of at least 1.
    let factor = |seconds: f64| (seconds / goal).max(goal / seconds);
    let mut measured = BTreeMap::new();
    let mut next = highest.min(16);
    while measured.len() < MAX_MEASUREMENTS && !measured.contains_key(&next) {
        let seconds = measure(next)?;
        measured.insert(next, seconds);
        if factor(seconds) <= 1.0 + TOLERANCE {
            break;
        }
        // Step away until the goal lies between two values, and then interpolate.
        let below = measured.iter().rfind(|(_, seconds)| **seconds < goal);
        let above = measured.iter().find(|(_, seconds)| **seconds >= goal);
        let growth = factor(seconds).clamp(2.0, 10.0);
        let guess = match (below, above) {
            (Some((&low, short)), Some((&high, long))) => {
                low as f64 + (goal - short) / (long - short) * (high - low) as f64
            }
            (Some(_), None) => next as f64 * growth,
            _ => next as f64 / growth,
        };
        next = (guess.round() as i64).clamp(1, highest);
    }
    let best = measured.into_iter().min_by(|one, other| factor(one.1).total_cmp(&factor(other.1)));
    let (value, seconds) = best.expect("at least one value is measured");
    let end = if seconds < goal { highest } else { 1 };
    if value == end && factor(seconds) > 1.0 + 2.0 * TOLERANCE {
        return Err(StudyError::Task(format!(
            "the time nearest to {} per decision is {}, with the value {value}; choose another time, or change other \
             parameters of the agent",
            duration(goal),
            duration(seconds)
        )));
    }
    Ok((value, seconds))
}

#[cfg(test)]
mod tests;
