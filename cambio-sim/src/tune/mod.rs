//! Tuning: which value of a parameter is best, and how sure that is.
//!
//! Candidates are measured on common deals, each in every seat of every deal against the same field, so that neighbouring
//! values differ by little but what they do. What is best depends on the field: a fixed one, or the candidates themselves.

pub mod curve;
pub mod race;
pub mod search;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cambio_agents::Roster;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::block::{AgentFault, BlockRows, play_block};
use crate::experiment::{Experiment, Focal, Lineups, Payoff, PlanError, Unit};
use crate::plan::{Block, Plan};

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

/// Why candidates cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The setting or an agent is not allowed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An agent was at fault.
    #[error("fault: {}: {}", .0.place, .0.what)]
    Fault(Box<AgentFault>),
    /// The user wants no more.
    #[error("interrupted")]
    Interrupted,
    /// The worker threads cannot be started.
    #[error("cannot start {threads} threads: {what}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        what: String,
    },
}

/// Set when the user interrupts a command that plays: one process plays one thing.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Plays a block to measure it, unless the user wants no more. Agents then end as they would, with their processes.
pub(crate) fn measured<'p>(plan: &'p Plan, block: &Block<'p>) -> Result<BlockRows<'p>, MeasureError> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(MeasureError::Interrupted);
    }
    play_block(plan, block).map_err(MeasureError::Fault)
}

/// Threads that measure; 0 takes as many as there are cores. What is measured does not depend on them.
///
/// # Errors
/// If they cannot be started.
pub fn threads(threads: usize) -> Result<ThreadPool, MeasureError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| MeasureError::Threads { threads, what: error.to_string() })
}

/// Candidates at one table.
#[derive(Debug)]
pub struct Bench<'t> {
    plan: Plan,
    pool: &'t ThreadPool,
    payoff: Payoff,
}

impl<'t> Bench<'t> {
    /// Candidates, by their specs, against a field: one agent for all other seats, or one for each.
    ///
    /// # Errors
    /// If a spec, the rules or the number of seats is not allowed.
    pub fn new(
        setting: &Setting,
        roster: &Roster,
        pool: &'t ThreadPool,
        candidates: &[String],
        field: &[String],
    ) -> Result<Bench<'t>, MeasureError> {
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
        Ok(Bench { plan, pool, payoff: setting.payoff })
    }

    /// The candidates as rows would carry them.
    pub fn labels(&self) -> Vec<String> {
        self.plan.cells[0].lineups.iter().map(|lineup| self.plan.labels[lineup.agents()[0]].clone()).collect()
    }

    /// The mean payoff of a candidate over its seats in one deal.
    fn score(&self, candidate: usize, deal: u64) -> Result<f64, MeasureError> {
        let cell = &self.plan.cells[0];
        let lineup = &cell.lineups[candidate];
        let block = Block { number: 0, place: 0, cell, lineup_place: candidate, lineup, deal };
        let rows = measured(&self.plan, &block)?;
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
    /// If an agent is at fault.
    pub fn scores(&self, candidates: &[usize], deals: Range<u64>) -> Result<Vec<Vec<f64>>, MeasureError> {
        let count = (deals.end - deals.start) as usize;
        let at = |place: usize| self.score(candidates[place / count], deals.start + (place % count) as u64);
        let all: Result<Vec<f64>, MeasureError> =
            self.pool.install(|| (0..candidates.len() * count).into_par_iter().map(at).collect());
        Ok(all?.chunks(count.max(1)).map(<[f64]>::to_vec).collect())
    }
}
