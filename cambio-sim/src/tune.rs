//! Tuning: which value of a parameter is best, and how sure that is.
//!
//! Candidates are measured on common deals, each in every seat of every deal against the same field, so that neighbouring
//! values differ by little but what they do. What is best depends on the field: a fixed one, or the candidates themselves.

use std::ops::Range;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_core::rng::Stream;
use cambio_stats::curve::{Estimate, estimates};
use cambio_stats::search::Search;
use serde::{Deserialize, Serialize};

use crate::digest::resampling;
use crate::plan::{Block, Experiment, Focal, Lineups, Payoff, PlanError, PlayablePlan, Unit};
use crate::play::{AgentFault, Executor, MeasureError, play_block};

/// Streams of resampling, beside those of derived files.
const CURVE: u32 = 4 << 16;
const SEARCH: u32 = 5 << 16;

/// Where candidates are measured.
#[derive(Clone, Debug)]
pub struct Setting {
    /// A preset, or a rule file.
    pub rules: String,
    /// Where a relative path of a rule file starts.
    pub folder: PathBuf,
    /// The number of seats.
    pub seats: usize,
    /// What a deal is played for.
    pub unit: Unit,
    /// What is measured.
    pub payoff: Payoff,
    /// The seed of the deals.
    pub seed: u64,
}

/// Candidates at one table, each against the same field.
#[derive(Debug)]
pub struct Candidates<'e> {
    plan: PlayablePlan,
    executor: &'e Executor,
    payoff: Payoff,
}

impl<'e> Candidates<'e> {
    /// Candidates, by their specs, against a field: one agent for all other seats, or one for each.
    ///
    /// # Errors
    /// If a spec, the rules or the number of seats is not allowed.
    pub fn new(
        setting: &Setting,
        roster: &Roster,
        executor: &'e Executor,
        candidates: &[String],
        field: &[String],
    ) -> Result<Candidates<'e>, MeasureError> {
        let mut agents: Vec<String> = candidates.to_vec();
        for spec in field {
            let agent = roster.parse(spec).map_err(PlanError::from)?;
            if !agents.iter().any(|other| roster.parse(other).is_ok_and(|other| other.is(&agent))) {
                agents.push(spec.clone());
            }
        }
        let experiment = Experiment {
            seed: setting.seed,
            deals: 1,
            rules: vec![setting.rules.clone()],
            seats: vec![setting.seats],
            agents,
            lineups: Lineups::Focal(Focal { focal: candidates.to_vec(), field: field.to_vec() }),
            unit: setting.unit,
            ..Experiment::default()
        };
        let plan = experiment.plan(roster, &setting.folder)?;
        Ok(Candidates { plan, executor, payoff: setting.payoff })
    }

    /// The candidates as rows would carry them.
    pub fn labels(&self) -> Vec<String> {
        self.plan.cells[0].lineups.iter().map(|lineup| self.plan.agents[lineup.agents()[0]].label.clone()).collect()
    }

    /// The mean payoff of a candidate over its seats in one deal.
    fn score(&self, candidate: usize, deal: u64) -> Result<f64, Box<AgentFault>> {
        let cell = &self.plan.cells[0];
        let lineup = &cell.lineups[candidate];
        let block = Block { number: 0, place: 0, cell, lineup_place: candidate, lineup, deal };
        let rows = play_block(&self.plan, &block)?;
        let is_focal = |place: &usize| cell.seatings[place / cell.seats][place % cell.seats] == 0;
        let own = rows.players.iter().enumerate().filter(|(place, _)| is_focal(place));
        let sum: i64 = own.map(|(_, row)| self.payoff.units(row)).sum();
        Ok(sum as f64 / self.units())
    }

    /// How many units make 1: times this, every score is a whole number.
    pub fn units(&self) -> f64 {
        let cell = &self.plan.cells[0];
        self.payoff.scale(cell.seats) * cell.seatings.len() as f64
    }

    /// The mean payoffs of some candidates in some deals: for each candidate one for each deal.
    ///
    /// # Errors
    /// If an agent is at fault, or the executor was cancelled.
    pub fn scores(&self, candidates: &[usize], deals: Range<u64>) -> Result<Vec<Vec<f64>>, MeasureError> {
        let count = (deals.end - deals.start) as usize;
        let at = |place: u64| {
            let place = place as usize;
            self.score(candidates[place / count], deals.start + (place % count) as u64)
        };
        let mut all = Vec::with_capacity(candidates.len() * count);
        self.executor.run_ordered(0..(candidates.len() * count) as u64, at, |_, score| {
            all.push(score?);
            Ok(())
        })?;
        Ok(all.chunks(count.max(1)).map(<[f64]>::to_vec).collect())
    }
}

/// A point of a response curve: a row of `curve.csv`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Point {
    /// The field that it was measured against.
    pub field: String,
    /// The agent with its value.
    pub agent: String,
    /// The value; with several parameters they are separated by spaces.
    pub value: String,
    /// How many deals.
    pub deals: u64,
    /// The mean payoff.
    pub mean: f64,
    /// Its standard error.
    pub error: Option<f64>,
    /// Lower end of its own 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its own interval.
    pub high: Option<f64>,
    /// Lower end of the band that holds for all values together; empty where not all have the same deals.
    pub low_simultaneous: Option<f64>,
    /// Upper end of the band.
    pub high_simultaneous: Option<f64>,
    /// Whether it cannot be told from the best (Hsu); empty where not all have the same deals.
    pub among_best: Option<bool>,
    /// How often it is the best when deals are drawn again with replacement.
    pub best_share: Option<f64>,
}

/// The curve of candidates with these labels and values against a field, from their scores, one for each deal. Joint
/// statements need the same deals of all.
pub fn curve(field: &str, agents: &[String], values: &[String], scores: &[Vec<f64>], seed: u64) -> Vec<Point> {
    let estimates = estimates(scores, &mut resampling(seed, CURVE)).into_iter();
    let point = |((estimate, agent), value): ((Estimate, &String), &String)| {
        let Estimate { interval, band, among_best, best_share } = estimate;
        Point {
            field: field.to_owned(),
            agent: agent.clone(),
            value: value.clone(),
            deals: interval.clusters,
            mean: interval.mean,
            error: interval.error,
            low: interval.low(),
            high: interval.high(),
            low_simultaneous: band.map(|(low, _)| low),
            high_simultaneous: band.map(|(_, high)| high),
            among_best,
            best_share,
        }
    };
    estimates.zip(agents).zip(values).map(point).collect()
}

/// A search for the best point of so many parameters (CMA-ES).
pub fn search(dimensions: usize, seed: u64) -> Search<Stream> {
    Search::new(dimensions, resampling(seed, SEARCH))
}
