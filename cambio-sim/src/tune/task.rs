//! What is tuned, how the best is searched for, and why that may be refused.

use std::fmt;
use std::ops::Range;

use cambio_stats::race::Race;

use super::result::{MethodName, TuningResult};
use super::values::Values;
use super::{Point, Setting};
use crate::play::PlayError;

/// The most values of a sweep, a race or halving.
const MOST_VALUES: usize = 10_000;
/// The most deals of a stage of tuning. The score of each value on each deal is kept until the end.
pub const MOST_DEALS: u64 = 10_000_000;
/// The most scores of a stage: they take 0.8 GB.
const MOST_SCORES: u64 = 100_000_000;

/// A tuning: an agent with question marks, and whom its values meet. [`Task::run`] searches for the best values.
#[derive(Clone, Debug)]
pub struct Task {
    /// The agent, with a question mark for each value that is tuned: `greedy(call_at=?)`.
    pub agent: String,
    /// The values of each question mark, in order.
    pub ranges: Vec<Values>,
    /// Whom the candidates meet.
    pub opponents: Opponents,
    /// The table, and the payoff that is maximized; points are minimized.
    pub setting: Setting,
    /// How the best is searched for.
    pub method: Method,
    /// The number of fresh deals on which the winner and the incumbent meet the same field; fewer than 2 are none. Tables of
    /// the candidates themselves have none.
    pub validate: u64,
    /// The agent that the winner is compared with; `None` for the agent with its default values.
    pub incumbent: Option<String>,
    /// The command that repeats the tuning, for the result.
    pub command: String,
}

/// Whom the candidates meet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Opponents {
    /// The agent with its default values, in all other seats.
    #[default]
    Defaults,
    /// One agent for all other seats, or one for each.
    Field(Vec<String>),
    /// The candidates: every value meets tables full of every value.
    Themselves,
}

/// How the best value is searched for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// All values play the same deals; gives the whole curve.
    Sweep {
        /// The number of deals of each value.
        deals: u64,
    },
    /// The race of Kim and Nelson (2001): values drop out as soon as they are too far behind.
    Race(Race),
    /// Sequential halving: the worse half of the values drops out again and again.
    Halving {
        /// The number of deal blocks of all values together.
        blocks: u64,
    },
    /// CMA-ES, for several parameters at once. It ends early when its points are close together.
    Cma {
        /// The number of deals of each generation.
        deals: u64,
        /// The most generations.
        generations: u32,
    },
}

impl Method {
    /// Its name.
    pub fn name(&self) -> MethodName {
        match self {
            Method::Sweep { .. } => MethodName::Sweep,
            Method::Race(_) => MethodName::Race,
            Method::Halving { .. } => MethodName::Halving,
            Method::Cma { .. } => MethodName::Cma,
        }
    }

    /// How many deals it was given, and what they are called.
    fn deals(&self) -> (&'static str, u64) {
        match *self {
            Method::Sweep { deals } | Method::Halving { blocks: deals } | Method::Cma { deals, .. } => ("deals", deals),
            Method::Race(race) => ("first", race.first),
        }
    }
}

/// What a tuning does next.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Values play deals, in a sweep, a race or halving.
    Deals {
        /// The number of values.
        values: usize,
        /// The deals.
        deals: Range<u64>,
    },
    /// A generation of CMA-ES is played.
    Generation {
        /// Its number, from 0 on.
        number: u32,
        /// The values where the search stands.
        centre: Vec<f64>,
    },
    /// All values meet tables full of one of them.
    Field {
        /// Its number, from 0 on.
        number: usize,
        /// The number of fields.
        of: usize,
        /// The agent of the tables.
        field: String,
    },
    /// The winner and the incumbent play fresh deals.
    Validation {
        /// The deals.
        deals: Range<u64>,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Deals { values, deals } => write!(f, "{values} values, deals {} to {}", deals.start, deals.end),
            Step::Generation { number, centre } => write!(f, "generation {number}, centre {}", spaced(centre)),
            Step::Field { number, of, field } => write!(f, "field {} of {of}: {field}", number + 1),
            Step::Validation { deals } => write!(f, "validation, deals {} to {}", deals.start, deals.end),
        }
    }
}

/// What a tuning found, with all that it was found from.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    /// The curve: the rows of `curve.csv`. Tables of the candidates themselves have a curve for each field, one after another.
    pub points: Vec<Point>,
    /// The scores from which the curves are computed, one for each field; empty after CMA-ES, whose candidates change.
    pub scores: Vec<FieldScores>,
    /// What was found: the object of `tuning.json`.
    pub result: TuningResult,
}

/// The scores of the candidates against one field.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldScores {
    /// The field; several agents are separated by bars.
    pub field: String,
    /// The specs of the candidates, as rows have them.
    pub agents: Vec<String>,
    /// For each candidate, its mean payoff over its seats in each deal that it played, from deal 0 on. Whoever dropped out
    /// has fewer.
    pub by_deal: Vec<Vec<f64>>,
}

/// Why an agent cannot be tuned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// Not one range for each question mark, or no question mark.
    #[error("`{agent}` has {marks} question marks and {ranges} ranges; allowed is one range for each")]
    Marks {
        /// The agent.
        agent: String,
        /// How many question marks it has.
        marks: usize,
        /// How many ranges there are.
        ranges: usize,
    },
    /// Too many combinations of values.
    #[error("the ranges have {count} combinations; allowed are {MOST_VALUES}, or the method cma")]
    Values {
        /// How many there are.
        count: usize,
    },
    /// Too few deals of a stage, or too many.
    #[error("{what} is {deals}; allowed is a number from 2 to {MOST_DEALS}")]
    Deals {
        /// What the deals are called: `deals`, `first`, `validate`.
        what: &'static str,
        /// How many there are.
        deals: u64,
    },
    /// More scores than can be kept.
    #[error("{what} is {deals} for {values} combinations; allowed are at most {most} for so many")]
    Scores {
        /// What the deals are called: `deals`, or `first` in a race.
        what: &'static str,
        /// How many there are.
        deals: u64,
        /// How many combinations of values there are.
        values: u64,
        /// How many deals are allowed.
        most: u64,
    },
    /// Tables of the candidates themselves, by another method than a sweep.
    #[error("tables of the candidates themselves go with the method sweep; the method is {0}")]
    ItselfNeedsSweep(MethodName),
    /// Tables of the candidates themselves, for points.
    #[error(
        "tables of the candidates themselves are about what is shared out; allowed are rank_points, win and margin"
    )]
    ItselfNeedsShares,
    /// The candidates cannot be measured.
    #[error(transparent)]
    Measure(#[from] PlayError),
}

impl Task {
    /// Checks what can be checked before play.
    pub(super) fn check(&self) -> Result<(), TuneError> {
        let (marks, ranges) = (self.agent.matches('?').count(), self.ranges.len());
        if marks == 0 || marks != ranges {
            return Err(TuneError::Marks { agent: self.agent.clone(), marks, ranges });
        }
        let (what, deals) = self.method.deals();
        if !(2..=MOST_DEALS).contains(&deals) {
            return Err(TuneError::Deals { what, deals });
        }
        if self.validate > MOST_DEALS {
            return Err(TuneError::Deals { what: "validate", deals: self.validate });
        }
        Ok(())
    }

    /// Every combination of values, the last question mark's fastest. The candidates meet so many fields, or with `None` as
    /// many as there are combinations.
    pub(super) fn grid(&self, fields: Option<u64>) -> Result<Vec<Vec<f64>>, TuneError> {
        let count = self.ranges.iter().map(Values::count).fold(1, usize::saturating_mul);
        if count > MOST_VALUES {
            return Err(TuneError::Values { count });
        }
        let values = count as u64;
        // The blocks of halving are those of all values together.
        if !matches!(self.method, Method::Halving { .. }) {
            let (what, deals) = self.method.deals();
            let most = MOST_SCORES / values.saturating_mul(fields.unwrap_or(values)).max(1);
            if deals > most {
                return Err(TuneError::Scores { what, deals, values, most });
            }
        }
        let mut grid: Vec<Vec<f64>> = vec![Vec::new()];
        for values in &self.ranges {
            let longer = |start: Vec<f64>| {
                (0..values.count()).map(move |number| [start.clone(), vec![values.nth(number)]].concat())
            };
            grid = grid.into_iter().flat_map(longer).collect();
        }
        Ok(grid)
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

    /// The agent with its default values in place of the question marks.
    pub(super) fn with_defaults(&self) -> String {
        let Some((name, list)) = self.agent.split_once('(') else { return self.agent.clone() };
        let kept: Vec<&str> = list.trim_end_matches(')').split(',').filter(|part| !part.contains('?')).collect();
        if kept.is_empty() { name.to_owned() } else { format!("{name}({})", kept.join(",")) }
    }
}

pub(super) fn spaced(values: &[f64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
