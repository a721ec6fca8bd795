//! A lower bound of how far an agent can be exploited in a game of any size: what a responder wins from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cambio_agents::AgentSpec;
use cambio_core::knob::Best;
use cambio_core::rng::Key;
use cambio_core::{Agent, MatchError, Pairing, Rules, Score, play_match};
use cambio_solve::{Effort, Maker, Responder};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::Guarded;
use crate::experiment::Unit;
use crate::stats::moments::{Interval, Moments};

/// Gains are summed in whole numbers of this fraction.
const UNITS: f64 = 1e6;

/// What is played: single rounds of two seats between a responder and its target, each deal with either in each seat.
#[derive(Clone, Debug)]
pub struct LowerBound<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The agent that is responded to.
    pub target: &'a AgentSpec,
    /// How the responder plays beyond its tree.
    pub blueprint: &'a AgentSpec,
    /// How hard it thinks.
    pub effort: Effort,
    /// How many deals are played.
    pub deals: u64,
    /// Their seed.
    pub seed: u64,
    /// On how many threads; 0 for as many as there are cores. The result does not depend on it.
    pub threads: usize,
}

/// What a responder won.
#[derive(Clone, PartialEq, Debug)]
pub struct Won {
    /// What it won a round on average over both seats, above break-even: half the difference of the scores. Its 95 %
    /// interval is clustered by deal. It may be negative: then the responder is no match for its target, and the bound
    /// says nothing.
    pub gain: Interval,
    /// What it won in seat a and in seat b.
    pub by_seat: [f64; 2],
}

/// Why there is no bound.
#[derive(Debug, thiserror::Error)]
pub enum LowerBoundError {
    /// A round could not be played.
    #[error("deal {deal}, the target in seat {seat}: {source}", seat = if *.seat == 0 { 'b' } else { 'a' })]
    Round {
        /// The deal.
        deal: u64,
        /// The responder's seat, by index.
        seat: usize,
        /// Why.
        source: MatchError,
    },
    /// The user wants no more.
    #[error("interrupted; nothing was measured")]
    Interrupted,
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {what}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        what: String,
    },
}

impl LowerBound<'_> {
    /// Plays until it is told to stop, and tells how many deals have been played.
    ///
    /// # Errors
    /// If an agent faults, the first deal's in order, it was stopped, or threads cannot be started.
    ///
    /// # Panics
    /// Never: the rules are rules with one round as well.
    pub fn play(&self, stop: &AtomicBool, progress: &(dyn Fn(u64) + Sync)) -> Result<Won, LowerBoundError> {
        let rules = Unit::Rounds.of(*self.rules);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|error| LowerBoundError::Threads { threads: self.threads, what: error.to_string() })?;
        let played = AtomicU64::new(0);
        // The first deal with a fault: those behind it tell nothing that is asked.
        let fault = AtomicU64::new(u64::MAX);
        let deal = |deal| {
            if stop.load(Ordering::Relaxed) || deal > fault.load(Ordering::Relaxed) {
                return [Err(LowerBoundError::Interrupted), Err(LowerBoundError::Interrupted)];
            }
            let gains = [self.round(&rules, deal, 0), self.round(&rules, deal, 1)];
            if gains.iter().any(Result::is_err) {
                fault.fetch_min(deal, Ordering::Relaxed);
            }
            progress(played.fetch_add(1, Ordering::Relaxed) + 1);
            gains
        };
        let rounds: Vec<_> = pool.install(|| (0..self.deals).into_par_iter().map(deal).collect());
        let (mut moments, mut by_seat) = (Moments::default(), [0.0; 2]);
        for gains in rounds {
            let mut units = 0;
            for (sum, gain) in by_seat.iter_mut().zip(gains) {
                let gain = gain?;
                units += (gain * UNITS).round() as i64;
                *sum += gain;
            }
            moments.add(2, units);
        }
        let gain = moments.interval(UNITS).unwrap_or_else(|| Interval::new(0.0, None, 0));
        let by_seat = by_seat.map(|sum| sum / self.deals.max(1) as f64);
        Ok(Won { gain, by_seat })
    }

    /// The responder, as results name it.
    pub fn responder(&self) -> String {
        let Effort { iterations, candidates, asks, doubt, clear } = self.effort;
        let blueprint = self.blueprint;
        format!(
            "own-tree search(iterations={iterations},candidates={candidates},asks={asks},doubt={doubt},clear={clear},\
             blueprint={blueprint})"
        )
    }

    /// A responder to the target.
    pub fn make(&self) -> Responder {
        let maker = |spec: &AgentSpec| -> Maker {
            let spec = spec.clone();
            Arc::new(move || spec.make())
        };
        Responder::new(maker(self.target), maker(self.blueprint), self.effort)
    }

    /// What the responder in this seat gains.
    fn round(&self, rules: &Rules, deal: u64, seat: usize) -> Result<f64, LowerBoundError> {
        let mut agents: Vec<Guarded<Box<dyn Agent>>> = vec![Guarded::new(self.target.make())];
        agents.insert(seat, Guarded::new(Box::new(self.make())));
        let pairing = Pairing { rules: *rules, seats: 2, key: Key { seed: self.seed, deal } };
        let result = play_match(&pairing, &mut agents, &mut ()).map_err(|source| LowerBoundError::Round {
            deal,
            seat,
            source,
        })?;
        let total = |seat: usize| f64::from(result.totals[seat].units()) / f64::from(Score::UNITS);
        let lead = (total(seat) - total(1 - seat)) / 2.0;
        Ok(if rules.spec().best == Best::Most { lead } else { -lead })
    }
}
