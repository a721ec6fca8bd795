//! Tuning: finds the best values of an agent's parameters, with their uncertainty.
//!
//! All candidates play the same deals, each in every seat of every deal, against the same field. This removes most of the luck
//! from the differences between values. The best value depends on the field: fixed opponents, or the candidates themselves.
//!
//! A [`Task`] describes a tuning, and [`Task::run`] executes it. [`Candidates`] is the layer below: scores and curves of given
//! agents.

mod drive;
mod result;
mod task;
mod values;

use std::ops::Range;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_core::rng::{Seed, Stream};
use cambio_exec::{Executor, table};
use cambio_stats::curve::{CandidateEstimate, estimates};
use cambio_stats::search::CmaEs;
use cambio_stats::{Interval, Support};
use serde::{Deserialize, Serialize};

use crate::digest::{FINE, resampling, share_of, streams, without_luck};
use crate::plan::{Block, Experiment, Focal, Lineup, Lineups, LuckChoice, Payoff, PlanError, PlayablePlan, Unit};
use crate::play::{AgentFault, PlayError, play_block};

pub use result::{AgainstField, AgainstItself, Comparison, MethodName, TuningOutcome, TuningResult, Validation};
pub use task::{FieldScores, MOST_DEALS, Opponents, RACE_STEP, Task, TuneError, TuneMethod, TuneStep, Tuned};
pub use values::{Values, ValuesError};

/// The setting in which candidates are measured.
#[derive(Clone, Debug)]
pub struct PlaySetting {
    /// The name of a preset, or the path of a rule file.
    pub rules: String,
    /// The base folder for relative paths of rule files.
    pub folder: PathBuf,
    /// The number of seats.
    pub seats: usize,
    /// Whether each deal is played as a match or as a single round.
    pub unit: Unit,
    /// The measured payoff.
    pub payoff: Payoff,
    /// Whether the luck of the cards is measured and subtracted from the scores. The payoffs points and margin, and tests on
    /// normalized Elo, never use it.
    pub luck: LuckChoice,
    /// The seed of the deals.
    pub seed: Seed,
    /// For tuning: whether each agent of the field is a field of its own, with copies in all other seats. The score on a deal
    /// is the mean over these fields.
    pub mixture: bool,
}

impl PlaySetting {
    /// An experiment in which focal agents play against a field: one agent for all other seats, or one for each of them; in a
    /// mixture, any number of agents. It has the default payoff.
    ///
    /// # Errors
    /// If an agent of the field is invalid.
    pub fn experiment(&self, roster: &Roster, focal: &[String], field: &[String]) -> Result<Experiment, PlanError> {
        let mut agents: Vec<String> = focal.to_vec();
        for spec in field {
            let agent = roster.parse(spec)?;
            if !agents.iter().any(|other| roster.parse(other).is_ok_and(|other| other.is(&agent))) {
                agents.push(spec.clone());
            }
        }
        let lineups = Lineups::Focal(Focal { focal: focal.to_vec(), field: field.to_vec(), mixture: self.mixture });
        let (seed, unit, luck) = (Some(self.seed), self.unit, self.luck);
        Ok(Experiment { seed, lineups, unit, luck, ..Experiment::at(&self.rules, self.seats, &agents) })
    }

    /// The name of a field in results: its agents, separated by bars, or in a mixture by plus signs.
    fn field_name(&self, field: &[String]) -> String {
        field.join(if self.mixture { " + " } else { " | " })
    }
}

/// Matches of `classic` at two seats, in rank points, with the seed 1.
impl Default for PlaySetting {
    fn default() -> PlaySetting {
        PlaySetting {
            rules: "classic".to_owned(),
            folder: PathBuf::from("."),
            seats: 2,
            unit: Unit::Match,
            payoff: Payoff::RankPoints,
            luck: LuckChoice::Auto,
            seed: 1.into(),
            mixture: false,
        }
    }
}

/// Plays the deals of candidates: an [`Executor`] on this machine, or a custom implementation for many machines.
pub trait Scorer: std::fmt::Debug + Sync {
    /// Computes the result of [`Candidates::scores`]. The result must not depend on how the deals are distributed.
    ///
    /// # Errors
    /// If an agent is at fault, or play was interrupted.
    fn scores(
        &self,
        candidates: &Candidates<'_>,
        which: &[usize],
        deals: Range<u64>,
    ) -> Result<Vec<Vec<f64>>, PlayError>;
}

impl Scorer for Executor {
    fn scores(
        &self,
        candidates: &Candidates<'_>,
        which: &[usize],
        deals: Range<u64>,
    ) -> Result<Vec<Vec<f64>>, PlayError> {
        let count = (deals.end - deals.start) as usize;
        let at = |index: u64| {
            let index = index as usize;
            candidates.score(which[index / count], deals.start + (index % count) as u64)
        };
        let mut all = Vec::with_capacity(which.len() * count);
        self.run_ordered(0..(which.len() * count) as u64, at, |_, score| {
            all.push(score?);
            Ok::<(), Box<AgentFault>>(())
        })?;
        Ok(all.chunks(count.max(1)).map(<[f64]>::to_vec).collect())
    }
}

/// The candidates of a tuning at one table. Each candidate plays against the same field.
///
/// ```
/// use cambio_sim::tune::{Candidates, PlaySetting};
/// use cambio_sim::{Executor, Unit};
///
/// let setting = PlaySetting { unit: Unit::Rounds, ..PlaySetting::default() };
/// let executor = Executor::new(1)?;
/// let values = ["2", "5", "30"].map(String::from);
/// let specs = values.each_ref().map(|value| format!("greedy(call_at={value})"));
/// let candidates = Candidates::new(&setting, &cambio_agents::roster(), &executor, &specs, &["greedy".into()])?;
/// assert_eq!(candidates.labels(), specs);
///
/// // Each candidate plays each deal in both seats, so a score is a multiple of 1/4.
/// let scores = candidates.scores(&[0, 1, 2], 0..100)?;
/// assert_eq!(candidates.units(), 4.0);
/// let points = candidates.curve("greedy", &values, &scores, setting.seed);
/// assert!(points[2].payoff < points[1].payoff, "a greedy player that calls with 30 points loses");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Candidates<'e> {
    plan: PlayablePlan,
    specs: Vec<String>,
    field: Vec<String>,
    /// The number of lineups of each candidate, one for each field of a mixture.
    fields: usize,
    scorer: &'e dyn Scorer,
    payoff: Payoff,
}

impl<'e> Candidates<'e> {
    /// Creates candidates and a field from specs. The field is one agent for all other seats, or one for each of them; in a
    /// mixture, any number of agents.
    ///
    /// # Errors
    /// If a spec, the rules or the number of seats is invalid.
    pub fn new(
        setting: &PlaySetting,
        roster: &Roster,
        scorer: &'e dyn Scorer,
        candidates: &[String],
        field: &[String],
    ) -> Result<Candidates<'e>, PlayError> {
        let luck = setting
            .luck
            .only_if(setting.payoff.luck_coefficient(setting.seats) > 0.0, "the payoff points or margin")?;
        let experiment = Experiment { luck, ..setting.experiment(roster, candidates, field)? };
        let plan = experiment.plan(roster, &setting.folder)?;
        plan.check_agents()?;
        let fields = if setting.mixture { field.len() } else { 1 };
        let (specs, field) = (candidates.to_vec(), field.to_vec());
        Ok(Candidates { plan, specs, field, fields, scorer, payoff: setting.payoff })
    }

    /// The specs of the candidates, as passed to [`Candidates::new`].
    pub fn specs(&self) -> &[String] {
        &self.specs
    }

    /// The specs of the field, as passed to [`Candidates::new`].
    pub fn field(&self) -> &[String] {
        &self.field
    }

    /// The normalized specs of the candidates, as written in rows.
    pub fn labels(&self) -> Vec<String> {
        let lineups = self.plan.cells[0].lineups.iter().step_by(self.fields);
        lineups.map(|lineup| self.plan.agents[lineup.agents()[0]].label.clone()).collect()
    }

    /// The mean payoff of a candidate over all its seats in one deal, without the luck of the cards if it is measured.
    fn score(&self, candidate: usize, deal: u64) -> Result<f64, Box<AgentFault>> {
        let cell = &self.plan.cells[0];
        let is_focal = |index: &usize| cell.seatings[index / cell.seats][index % cell.seats] == 0;
        let (mut sum, mut luck) = (0, 0);
        for lineup_index in candidate * self.fields..(candidate + 1) * self.fields {
            let lineup = &cell.lineups[lineup_index];
            let rows = play_block(&self.plan, &Block { number: 0, cell_index: 0, cell, lineup_index, lineup, deal })?;
            for (_, row) in rows.players.iter().enumerate().filter(|(index, _)| is_focal(index)) {
                sum += self.payoff.units(row).unwrap_or(0);
                luck += i64::from(row.luck.units().unwrap_or(0));
            }
        }
        if self.measures_luck() {
            let gained = self.payoff.luck_coefficient(cell.seats) * share_of(luck);
            sum = without_luck(sum, gained * self.payoff.scale(cell.seats));
        }
        Ok(sum as f64 / self.units())
    }

    /// The number of matches of a candidate on a deal.
    fn matches_a_deal(&self) -> f64 {
        (self.plan.cells[0].seatings.len() * self.fields) as f64
    }

    /// Whether the scores are without the luck of the cards.
    pub fn measures_luck(&self) -> bool {
        self.plan.measures_luck()
    }

    /// The number of units in a payoff of 1. Every score is an integer multiple of one unit.
    pub fn units(&self) -> f64 {
        let cell = &self.plan.cells[0];
        let fine = if self.measures_luck() { FINE as f64 } else { 1.0 };
        self.payoff.scale(cell.seats) * self.matches_a_deal() * fine
    }

    /// The range of a score.
    fn support(&self) -> Support {
        if self.measures_luck() { self.payoff.support().without_luck() } else { self.payoff.support() }
    }

    /// Plays the given candidates on the given deals. Returns for each candidate its mean payoff in each deal.
    ///
    /// # Errors
    /// If an agent is at fault, or play was interrupted.
    pub fn scores(&self, candidates: &[usize], deals: Range<u64>) -> Result<Vec<Vec<f64>>, PlayError> {
        self.scorer.scores(self, candidates, deals)
    }

    /// The response curve of the candidates with these values, from their scores by deal. `field` is the name of the field in
    /// the points. Simultaneous results require that all candidates have the same deals.
    pub fn curve(&self, field: &str, values: &[String], scores: &[Vec<f64>], seed: Seed) -> Vec<ResponsePoint> {
        let estimates = estimates(scores, self.matches_a_deal(), self.support(), &mut resampling(seed, streams::CURVE));
        let labels = self.labels();
        let point = |(index, estimate): (usize, CandidateEstimate)| {
            let is_mirror = self.is_mirror(index);
            let CandidateEstimate { interval, band, among_best, best_share } = estimate;
            let interval = if is_mirror { Interval::exact(interval.mean, interval.clusters) } else { interval };
            let band = if is_mirror { among_best.map(|_| (interval.mean, interval.mean)) } else { band };
            ResponsePoint {
                field: field.to_owned(),
                agent: labels[index].clone(),
                value: values[index].clone(),
                deals: interval.clusters,
                payoff: interval.mean,
                error: interval.error,
                low: interval.low(),
                high: interval.high(),
                low_simultaneous: band.map(|(low, _)| low),
                high_simultaneous: band.map(|(_, high)| high),
                among_best,
                best_share,
                is_mirror,
            }
        };
        estimates.into_iter().enumerate().map(point).collect()
    }

    /// Whether a candidate plays only against copies of itself, so that its mean payoff is fixed.
    fn is_mirror(&self, candidate: usize) -> bool {
        let lineups = &self.plan.cells[0].lineups[candidate * self.fields..(candidate + 1) * self.fields];
        let first = lineups[0].agents()[0];
        self.payoff != Payoff::Points && lineups.iter().flat_map(Lineup::agents).all(|agent| *agent == first)
    }
}

table! {
    /// A point of a response curve: a row of `curve.csv`.
    #[derive(Deserialize)]
    pub ResponsePoint {
        /// The field, that is, the opponents, separated by ` | `, or in a mixture by ` + `.
        field: String,
        /// The candidate: the agent with this value.
        agent: String,
        /// The value; several values are separated by spaces.
        value: String,
        /// The number of deals.
        deals: u64 => "deals",
        /// The mean payoff.
        #[serde(alias = "mean")]
        payoff: f64 => "payoff",
        /// The standard error of the mean payoff.
        error: Option<f64> => "payoff",
        /// Lower end of the pointwise 95 % interval of the mean payoff.
        low: Option<f64> => "payoff",
        /// Upper end of the pointwise 95 % interval.
        high: Option<f64> => "payoff",
        /// Lower end of the simultaneous band over all values; empty if the values do not have the same deals.
        low_simultaneous: Option<f64>,
        /// Upper end of the simultaneous band.
        high_simultaneous: Option<f64>,
        /// Whether the value is not distinguishable from the best (Hsu); empty if the values do not have the same deals.
        among_best: Option<bool>,
        /// The fraction of the bootstrap resamples of the deals in which this value is the best.
        best_share: Option<f64> => "share",
        /// Whether the agent plays only against copies of itself: its mean payoff is fixed, and the interval has no width.
        #[serde(default)]
        is_mirror: bool,
    }
}

/// A CMA-ES search over `dimensions` parameters.
pub fn search(dimensions: usize, seed: Seed) -> CmaEs<Stream> {
    CmaEs::new(dimensions, resampling(seed, streams::SEARCH))
}
