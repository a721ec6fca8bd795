//! Tuning tasks, search methods and their errors.

use std::fmt;

use cambio_agents::Roster;
use cambio_stats::race::RaceSettings;
use itertools::Itertools;

use super::result::{MethodName, TuningResult};
use super::values::Values;
use super::{PlaySetting, ResponsePoint};
use crate::plan::PlanError;
use crate::play::PlayError;

/// The maximum number of values for the methods sweep, race and halving.
const MOST_VALUES: usize = 10_000;
/// The maximum number of deals in a stage of tuning. The score of each value on each deal is kept until the end.
pub const MOST_DEALS: u64 = 10_000_000;
/// The number of deals that a race plays at a time in programs. The result does not depend on this number.
pub const RACE_STEP: u64 = 16;
/// The maximum number of scores in a stage. This number of scores takes 0.8 GB.
const MOST_SCORES: u64 = 100_000_000;

/// A tuning task: an agent with question marks, and the opponents. [`Task::run`] searches for the best values.
#[derive(Clone, Debug)]
pub struct Task {
    /// The agent, with a question mark for each tuned value: `greedy(call_at=?)`.
    pub agent: String,
    /// The values of each question mark, in order.
    pub ranges: Vec<Values>,
    /// The opponents of the candidates.
    pub opponents: Opponents,
    /// The table and the payoff. The payoff is maximized; only points are minimized.
    pub setting: PlaySetting,
    /// The search method.
    pub method: TuneMethod,
    /// The number of fresh deals for the comparison of the winner with the incumbent; 0 or 1 disables it. Ignored for
    /// [`Opponents::Themselves`].
    pub validate: u64,
    /// The agent that the winner is compared with; by default the bare agent, with the default value of every parameter.
    pub incumbent: Option<String>,
    /// The command that repeats the tuning. It is copied to the result.
    pub command: String,
}

/// The opponents of the candidates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Opponents {
    /// The bare agent, with the default value of every parameter, in all other seats. For `heuristic(call_at=?,decay=0.1)`
    /// this is `heuristic`.
    #[default]
    Defaults,
    /// One agent for all other seats, or one agent for each of them; in a mixture, any number of agents.
    Field(Vec<String>),
    /// Self-play: each candidate plays against copies of each candidate.
    Themselves,
}

/// A search method.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TuneMethod {
    /// All values play the same deals, which gives the whole response curve.
    Sweep {
        /// The number of deals per value.
        deals: u64,
    },
    /// The sequential elimination of Kim and Nelson (2001): drops values that are too far behind.
    Race(RaceSettings),
    /// Sequential halving: repeatedly drops the worse half of the values.
    Halving {
        /// The total number of deal blocks.
        blocks: u64,
    },
    /// CMA-ES, for several parameters. Ends early when its points are close together.
    Cma {
        /// The number of deals per generation.
        deals: u64,
        /// The maximum number of generations.
        generations: u32,
    },
}

impl TuneMethod {
    /// The name of the method.
    pub fn name(&self) -> MethodName {
        match self {
            TuneMethod::Sweep { .. } => MethodName::Sweep,
            TuneMethod::Race(_) => MethodName::Race,
            TuneMethod::Halving { .. } => MethodName::Halving,
            TuneMethod::Cma { .. } => MethodName::Cma,
        }
    }

    /// The name of the parameter for the number of deals, and its value.
    fn deals(&self) -> (&'static str, u64) {
        match *self {
            TuneMethod::Sweep { deals } | TuneMethod::Halving { blocks: deals } | TuneMethod::Cma { deals, .. } => {
                ("deals", deals)
            }
            TuneMethod::Race(race) => ("first", race.first),
        }
    }
}

/// The next step of a tuning.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum TuneStep {
    /// The task is valid, and play begins: the field, for people, and the agent that the winner will be compared with; `None`
    /// without a validation.
    Begin(String, Option<String>),
    /// Some values play some deals, for people.
    Play(String),
}

impl fmt::Display for TuneStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TuneStep::Begin(field, None) => write!(f, "against {field}"),
            TuneStep::Begin(field, Some(incumbent)) => write!(f, "against {field}; the incumbent is {incumbent}"),
            TuneStep::Play(what) => f.write_str(what),
        }
    }
}

/// The result of a tuning with its data.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    /// The response curve: the rows of `curve.csv`. In self-play mode, one curve per field, one after another.
    pub points: Vec<ResponsePoint>,
    /// The scores behind the curves, one item per field; empty after CMA-ES, because its candidates change.
    pub scores: Vec<FieldScores>,
    /// The result: the object of `tuning.json`.
    pub result: TuningResult,
}

/// The scores of the candidates against one field.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldScores {
    /// The field; several agents are separated by ` | `, or in a mixture by ` + `.
    pub field: String,
    /// The normalized specs of the candidates, as written in rows.
    pub agents: Vec<String>,
    /// For each candidate, its mean payoff over its seats in each deal, from deal 0 on. Candidates that were dropped have
    /// fewer deals.
    pub by_deal: Vec<Vec<f64>>,
}

/// A task that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// The numbers of question marks and ranges differ or are 0.
    #[error("{0}")]
    Marks(String),
    /// The agent has no default that could be the field or the incumbent, because a question mark is in its text.
    #[error("`{0}` has no default value in place of `?`; choose the field and the incumbent explicitly")]
    NoDefault(String),
    /// Too many combinations of values.
    #[error("the ranges must have at most {MOST_VALUES} combinations, found {0}; the method cma has no such limit")]
    Values(usize),
    /// Too few or too many deals, or too many for this number of combinations of values, because the scores would need too much
    /// memory. The sentence begins with the name of the parameter: `deals`, `first` or `validate`.
    #[error("{0}")]
    Deals(String),
    /// Self-play mode requires the method sweep.
    #[error("tuning against the candidates themselves requires the method sweep, found {0}")]
    ItselfNeedsSweep(MethodName),
    /// Self-play mode does not support the payoff points.
    #[error("tuning against the candidates themselves requires the payoff rank_points, win or margin, found points")]
    ItselfNeedsShares,
    /// An error while playing.
    #[error(transparent)]
    Measure(#[from] PlayError),
}

impl Task {
    /// Checks the ranges and the numbers of deals.
    pub(super) fn check(&self) -> Result<(), TuneError> {
        let (marks, ranges) = (self.agent.matches('?').count(), self.ranges.len());
        if marks == 0 || marks != ranges {
            let found = format!("(`?`: {marks}, ranges: {ranges})");
            let what = format!("`{}` must have one `?` per range, in place of the value to tune {found}", self.agent);
            return Err(TuneError::Marks(what));
        }
        let (what, deals) = self.method.deals();
        let limit = |what: &str, deals: u64, is_valid: bool| {
            let wrong = || TuneError::Deals(format!("{what} must be from 2 to {MOST_DEALS}, found {deals}"));
            is_valid.then_some(()).ok_or_else(wrong)
        };
        limit(what, deals, (2..=MOST_DEALS).contains(&deals))?;
        limit("validate", self.validate, self.validate <= MOST_DEALS)
    }

    /// All combinations of values; the value of the last question mark varies fastest. `fields` is the number of fields, by
    /// default the number of combinations.
    pub(super) fn grid(&self, fields: Option<u64>) -> Result<Vec<Vec<f64>>, TuneError> {
        let count = self.ranges.iter().map(Values::count).fold(1, usize::saturating_mul);
        if count > MOST_VALUES {
            return Err(TuneError::Values(count));
        }
        let values = count as u64;
        // For the method halving, the number of blocks is already a total over all values.
        if !matches!(self.method, TuneMethod::Halving { .. }) {
            let (what, deals) = self.method.deals();
            let most = MOST_SCORES / values.saturating_mul(fields.unwrap_or(values)).max(1);
            if deals > most {
                let found = format!("{what} must be at most {most} for {values} combinations, found {deals}");
                return Err(TuneError::Deals(found));
            }
        }
        let values = |values: &Values| (0..values.count()).map(|number| values.nth(number)).collect_vec();
        Ok(self.ranges.iter().map(values).multi_cartesian_product().collect())
    }

    /// The agent with these values in place of its question marks.
    pub(super) fn filled(&self, values: &[f64]) -> String {
        let mut values = values.iter();
        let filled = |char| match char {
            '?' => values.next().map_or_else(|| "?".to_owned(), ToString::to_string),
            char => char.to_string(),
        };
        self.agent.chars().map(filled).collect()
    }

    /// The bare agent: the default value of every parameter, also of the parameters that the task sets.
    pub(super) fn bare(&self, roster: &Roster) -> Result<String, TuneError> {
        let [low, high] = self.corners().map(|values| roster.parse(&self.filled(&values)));
        let (low, high) = (low.map_err(invalid)?.with_defaults(), high.map_err(invalid)?.with_defaults());
        if low.is(&high) { Ok(low.to_string()) } else { Err(TuneError::NoDefault(self.agent.clone())) }
    }

    /// The lowest values of all ranges, and the highest.
    pub(super) fn corners(&self) -> [Vec<f64>; 2] {
        [0.0, 1.0].map(|end| self.ranges.iter().map(|values| values.at(end)).collect())
    }
}

pub(super) fn invalid(error: cambio_agents::SpecError) -> TuneError {
    PlayError::from(PlanError::from(error)).into()
}

pub(super) fn spaced(values: &[f64]) -> String {
    values.iter().join(" ")
}
