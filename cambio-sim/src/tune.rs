//! Tuning: finds the best values of an agent's parameters, with their uncertainty.
//!
//! All candidates play the same deals, each in every seat of every deal, against the same field. This removes most of the luck
//! from the differences between values. The best value depends on the field.
//!
//! [`TuneOptions`] describes a tuning, and [`TuneOptions::run`] executes it.

mod drive;
mod result;
mod task;
mod values;

use std::ops::{ControlFlow, Range};
use std::path::Path;

use cambio_agents::Roster;
use cambio_core::rng::Seed;
use cambio_exec::{Estimate, Worker, table};
use cambio_stats::curve::{CandidateEstimate, estimates};
use cambio_stats::{Interval, Support};
use serde_json::json;

use crate::digest::{FINE, estimate, resampling, share_of, streams, without_luck};
use crate::plan::{Block, Experiment, Lineup, Payoff, PlayablePlan};
use crate::play::play_block;
use crate::study::{Stage, StudyDriver, StudyError};

pub use result::{Comparison, MethodName, TuningResult, Validation};
pub use task::{TuneOptions, Tuned};
use values::Values;

/// The candidates of a tuning at one table. Each candidate plays against the same field.
#[derive(Debug)]
pub(crate) struct Candidates {
    plan: PlayablePlan,
    specs: Vec<String>,
    field: Vec<String>,
    /// The number of lineups of each candidate, one for each field of a mixture.
    fields: usize,
    payoff: Payoff,
}

impl Candidates {
    /// Creates candidates and a field from specs. The field is one agent for all other seats, or one for each of them; in a
    /// mixture, any number of agents.
    ///
    /// # Errors
    /// If a spec, the rules or the number of seats is invalid.
    pub(crate) fn new(
        options: &TuneOptions,
        roster: &Roster,
        candidates: &[String],
        field: &[String],
    ) -> Result<Candidates, StudyError> {
        let TuneOptions { setting, payoff, mixture, .. } = options;
        let is_usable = payoff.luck_coefficient(setting.table.seats()) > 0.0;
        let luck = setting.luck.only_if(is_usable, "the payoff points or margin")?;
        let experiment = Experiment { luck, ..options.experiment(roster, candidates, field)? };
        let plan = experiment.plan(roster, Path::new("."))?;
        plan.check_agents()?;
        let fields = if *mixture { field.len() } else { 1 };
        let (specs, field) = (candidates.to_vec(), field.to_vec());
        Ok(Candidates { plan, specs, field, fields, payoff: *payoff })
    }

    /// The normalized specs of the candidates, as written in rows.
    pub(crate) fn labels(&self) -> Vec<String> {
        let lineups = self.plan.cells[0].lineups.iter().step_by(self.fields);
        lineups.map(|lineup| self.plan.agents[lineup.agents()[0]].label.clone()).collect()
    }

    /// The mean payoff of a candidate over all its seats in one deal, without the luck of the cards if it is measured.
    fn score(&self, candidate: usize, deal: u64) -> Result<f64, StudyError> {
        let cell = &self.plan.cells[0];
        let is_focal = |index: &usize| cell.seatings[index / cell.seats][index % cell.seats] == 0;
        let (mut sum, mut luck) = (0, 0);
        for lineup_index in candidate * self.fields..(candidate + 1) * self.fields {
            let lineup = &cell.lineups[lineup_index];
            let block = Block { number: 0, cell_index: 0, cell, lineup_index, lineup, deal };
            let rows = play_block(&self.plan, &block)?;
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
    pub(crate) fn measures_luck(&self) -> bool {
        self.plan.measures_luck()
    }

    /// The number of units in a payoff of 1. Every score is an integer multiple of one unit.
    pub(crate) fn units(&self) -> f64 {
        let cell = &self.plan.cells[0];
        let fine = if self.measures_luck() { FINE as f64 } else { 1.0 };
        self.payoff.scale(cell.seats) * self.matches_a_deal() * fine
    }

    /// The range of a score.
    fn support(&self) -> Support {
        self.adjusted(self.payoff.support())
    }

    /// The range of a value with this range in play, once the luck is subtracted from it as it is from the scores.
    pub(crate) fn adjusted(&self, support: Support) -> Support {
        if self.measures_luck() { support.without_luck() } else { support }
    }

    /// Plays the given candidates on the given deals. Returns for each candidate its mean payoff in each deal; after an interrupt,
    /// on fewer deals.
    ///
    /// # Errors
    /// If an agent is at fault.
    pub(crate) fn scores(
        &self,
        driver: &mut StudyDriver<'_>,
        candidates: &[usize],
        deals: Range<u64>,
    ) -> Result<Vec<Vec<f64>>, StudyError> {
        let request = json!({ "specs": self.specs, "field": self.field, "which": candidates }).to_string();
        let stage = Stage { request, deals, parts: candidates.len() };
        let part = |deal, place: usize, _: &Worker<'_>| Some(self.score(candidates[place], deal));
        let add = |all: &mut Vec<Vec<f64>>, found: &[f64]| {
            all.iter_mut().zip(found).for_each(|(scores, score)| scores.push(*score));
            ControlFlow::Continue(())
        };
        let mut all = vec![Vec::new(); candidates.len()];
        driver.play(stage, &mut all, part, add, |_, _| None)?;
        Ok(all)
    }

    /// The response curve of the candidates with these values, from their scores by deal. `field` is the name of the field in
    /// the points. Simultaneous results require that all candidates have the same deals.
    pub(crate) fn curve(&self, field: &str, values: &[String], scores: &[Vec<f64>], seed: Seed) -> Vec<ResponsePoint> {
        let estimates = estimates(scores, self.matches_a_deal(), self.support(), &mut resampling(seed, streams::CURVE));
        let labels = self.labels();
        let is_common = estimates
            .iter()
            .all(|one| one.among_best.is_some() && one.interval.clusters == estimates[0].interval.clusters);
        let point = |(index, found): (usize, CandidateEstimate)| {
            let is_mirror = self.is_mirror(index);
            let CandidateEstimate { interval, band, among_best } = found;
            let interval = if is_mirror { Interval::exact(interval.mean, interval.clusters) } else { interval };
            let band = if is_mirror { is_common.then_some((interval.mean, interval.mean)) } else { band };
            ResponsePoint {
                field: field.to_owned(),
                agent: labels[index].clone(),
                value: values[index].clone(),
                deals: interval.clusters,
                payoff: Estimate { simultaneous: band, ..estimate(&interval) },
                among_best,
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
    /// A point of a response curve: a row of `curve.csv`. A further column for each tuned parameter has its value.
    pub ResponsePoint {
        /// The field, that is, the opponents, separated by ` | `, or in a mixture by ` + `.
        field: String,
        /// The candidate: the agent with this value.
        agent: String,
        /// The value; several values are separated by spaces.
        value: String,
        /// The number of deals.
        deals: u64 => "deals",
        /// The mean payoff. The 95 % interval is pointwise. The simultaneous interval is a band over all values; empty if the values do
        /// not have the same deals.
        payoff: Estimate => "payoff" [Error, Ends, Simultaneous] as "*",
        /// Whether the value is not distinguishable from the best: by Hsu's comparison, or, if the values do not have the same deals,
        /// by paired differences with Bonferroni's correction; empty for a single value.
        among_best: Option<bool>,
        /// Whether the agent plays only against copies of itself: its mean payoff is fixed, and the interval has no width.
        is_mirror: bool,
    }
}
