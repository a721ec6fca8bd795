//! The options of a tuning, and their checks.

use std::ops::Range;

use cambio_agents::Roster;
use cambio_exec::{Cell, Column, Executor};
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::result::{MethodName, TuningResult};
use super::values::Values;
use super::{Candidates, ResponsePoint};
use crate::plan::{Experiment, Focal, Lineups, Payoff, PlanError};
use crate::study::{SettingOptions, StudyError, in_range, scores_of};
use crate::table::Table;

/// The maximum number of values for the methods sweep and race.
const MAX_VALUES: usize = 10_000;
/// The maximum number of deals in a stage of tuning. The score of each value on each deal is kept until the end.
const MAX_DEALS: u64 = 10_000_000;
/// The maximum number of scores in a stage. This number of scores takes 0.8 GB.
const MAX_SCORES: u64 = 100_000_000;
const MAX_GENERATIONS: u64 = 100_000;

/// A tuning: an agent with question marks, the values to try, and the opponents. [`TuneOptions::run`] searches for the best values.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TuneOptions {
    /// The agent, with a question mark in place of each value to tune: `greedy(call_at=?)`
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    pub agent: String,
    /// The values to try for a question mark: 0..15, 0..1:0.1 with a step, the list 10,30,100, or '1..1000 log' for 1, 3,
    /// 10, 30 and so on. Ranges include both ends. Give one range for each question mark, in order
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "FROM..TO[:STEP]", required = true, allow_hyphen_values = true)
    )]
    pub range: Vec<String>,
    /// The opponents of the candidates: one spec for all other seats, or one spec for each other seat [default: the bare agent, such as
    /// `greedy`, with the default value of every parameter]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    pub field: Vec<String>,
    /// Play each deal against every --field in turn: each of them fills all other seats, and a score is the mean over them
    #[cfg_attr(feature = "clap", arg(long, requires = "field"))]
    pub mixture: bool,
    /// The table.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub setting: SettingOptions,
    /// The payoff to optimize
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub payoff: Payoff,
    /// The search method
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: MethodName,
    /// The number of deals for each value (sweep) or for each generation (cma); with race, the number of deal blocks
    /// for all values together
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().deals))]
    pub deals: u64,
    /// With cma: the number of generations
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().generations))]
    pub generations: u64,
    /// The number of fresh deals on which the winner and the incumbent play against the same field; 0 for no validation
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().validate))]
    pub validate: u64,
    /// The agent to compare the winner with [default: the bare agent, with the default value of every parameter]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPEC"))]
    pub incumbent: Option<String>,
}

impl Default for TuneOptions {
    fn default() -> TuneOptions {
        TuneOptions {
            agent: String::new(),
            range: Vec::new(),
            field: Vec::new(),
            mixture: false,
            setting: SettingOptions::default(),
            payoff: Payoff::default(),
            method: MethodName::default(),
            deals: 1000,
            generations: 30,
            validate: 1000,
            incumbent: None,
        }
    }
}

/// The result of a tuning with its data.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    /// The response curve: the rows of `curve.csv`.
    pub points: Vec<ResponsePoint>,
    /// For each point, the mean payoff of the candidate over its seats in each deal, from deal 0 on. Candidates that were dropped have
    /// fewer deals. Empty after CMA-ES, because its candidates change.
    pub scores: Vec<Vec<f64>>,
    /// The result: the object of `tuning.json`.
    pub result: TuningResult,
}

impl Tuned {
    /// The files of the result: `curve.csv`, `scores.csv` (not with CMA-ES) and `tuning.json`.
    ///
    /// The columns of `curve.csv` are the fields of [`ResponsePoint`], and a column of numbers for each tuned parameter.
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let column = |name: String| Column { name, ..Column::default() };
        let mut curve = Table::of(&self.points);
        curve.columns.extend(self.result.parameters().into_iter().map(column));
        for (row, point) in curve.rows.iter_mut().zip(&self.points) {
            row.extend(point.value.split(' ').map(|value| Cell::Text(value.to_owned())));
        }
        let mut files = vec![("curve.csv", curve.csv().into_bytes())];
        if !self.scores.is_empty() {
            let heads = ["field", "deal"].into_iter().chain(self.points.iter().map(|point| point.agent.as_str()));
            // The cell of a dropped candidate is empty.
            let cell = |scores: &Vec<f64>, deal| scores.get(deal).map_or_else(String::new, f64::to_string);
            let row = |deal: usize| {
                let scores = self.scores.iter().map(move |scores| cell(scores, deal));
                [self.points[0].field.clone(), deal.to_string()].into_iter().chain(scores)
            };
            let deals = self.scores.iter().map(Vec::len).max().unwrap_or(0);
            files.push(("scores.csv", Table::shown(heads, (0..deals).map(row)).csv().into_bytes()));
        }
        files.push(("tuning.json", format!("{:#}\n", json!(self.result)).into_bytes()));
        files
    }
}

impl TuneOptions {
    /// Checks the options, and returns the values of each question mark.
    pub(super) fn check(&self) -> Result<Vec<Values>, StudyError> {
        self.setting.table.check()?;
        let (marks, ranges) = (self.agent.matches('?').count(), self.range.len());
        if marks == 0 || marks != ranges {
            let found = format!("(`?`: {marks}, ranges: {ranges})");
            let what = format!("`{}` must have one `?` per range, in place of the value to tune {found}", self.agent);
            return Err(StudyError::Task(what));
        }
        in_range("deals", self.deals, 2, MAX_DEALS)?;
        in_range("generations", self.generations, 1, MAX_GENERATIONS)?;
        in_range("validate", self.validate, 0, MAX_DEALS)?;
        let read = |text: &String| text.parse::<Values>().map_err(|error| StudyError::Option("range", error));
        self.range.iter().map(read).collect()
    }

    /// An experiment in which focal agents play against a field: one agent for all other seats, or one for each of them; in a
    /// mixture, any number of agents. It has the default payoff.
    pub(super) fn experiment(
        &self,
        roster: &Roster,
        focal: &[String],
        field: &[String],
    ) -> Result<Experiment, PlanError> {
        let mut agents: Vec<String> = focal.to_vec();
        for spec in field {
            let agent = roster.parse(spec)?;
            if !agents.iter().any(|other| roster.parse(other).is_ok_and(|other| other.is(&agent))) {
                agents.push(spec.clone());
            }
        }
        let lineups = Lineups::Focal(Focal { focal: focal.to_vec(), field: field.to_vec(), mixture: self.mixture });
        Ok(Experiment { lineups, ..self.setting.experiment("tune", &agents) })
    }

    /// The name of a field in results: its agents, separated by bars, or in a mixture by plus signs.
    pub(super) fn field_name(&self, field: &[String]) -> String {
        field.join(if self.mixture { " + " } else { " | " })
    }

    /// All combinations of values; the value of the last question mark varies fastest.
    pub(super) fn grid(&self, ranges: &[Values]) -> Result<Vec<Vec<f64>>, StudyError> {
        let count = ranges.iter().map(|range| range.0.len()).fold(1, usize::saturating_mul);
        if count > MAX_VALUES {
            return Err(StudyError::Task(format!(
                "the ranges must have at most {MAX_VALUES} combinations, found {count}; the method cma has no such limit"
            )));
        }
        // For the method race, the number of blocks is already a total over all values.
        if self.method != MethodName::Race {
            let most = MAX_SCORES / count as u64;
            if self.deals > most {
                let found = format!("must be at most {most} for {count} combinations, found {}", self.deals);
                return Err(StudyError::Option("deals", found));
            }
        }
        Ok(ranges.iter().map(|range| range.0.iter().copied()).multi_cartesian_product().collect())
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
    pub(super) fn bare(&self, roster: &Roster, ranges: &[Values]) -> Result<String, StudyError> {
        let [low, high] = corners(ranges).map(|values| roster.parse(&self.filled(&values)));
        let (low, high) = (low?.with_defaults(), high?.with_defaults());
        if low.is(&high) {
            return Ok(low.to_string());
        }
        let what = format!(
            "must be given, and incumbent or validate 0, because `{}` has no default value in place of `?`",
            self.agent
        );
        Err(StudyError::Option("field", what))
    }
}

/// The lowest values of all ranges, and the highest.
pub(super) fn corners(ranges: &[Values]) -> [Vec<f64>; 2] {
    [0.0, 1.0].map(|end| ranges.iter().map(|values| values.at(end)).collect())
}

pub(super) fn spaced(values: &[f64]) -> String {
    values.iter().join(" ")
}

/// The candidates that another machine plays.
#[derive(Deserialize)]
struct RemoteRequest {
    specs: Vec<String>,
    field: Vec<String>,
    which: Vec<usize>,
}

impl TuneOptions {
    /// Plays a range of deals for [`RemotePlayer`](crate::RemotePlayer), which has received the request: the scores of each deal as a
    /// JSON list.
    ///
    /// # Errors
    /// If the request is invalid, or an agent is at fault.
    pub fn scores(
        &self,
        roster: &Roster,
        executor: &Executor,
        request: &str,
        deals: Range<u64>,
    ) -> Result<String, StudyError> {
        let wrong = |error: serde_json::Error| StudyError::Task(error.to_string());
        let RemoteRequest { specs, field, which } = serde_json::from_str(request).map_err(wrong)?;
        let candidates = Candidates::new(self, roster, &specs, &field)?;
        scores_of(executor, (deals, which.len()), |deal, place| candidates.score(which[place], deal))
    }
}
