//! Converts an experiment to a plan.
//!
//! An [`Experiment`] is the file that a user writes. A [`Plan`] is the validated and expanded experiment: all cells,
//! lineups and deals in the order in which they are played and stored.

mod baseline;
mod blocks;
mod experiment;
mod lineups;
mod lock;
mod playable;
pub(crate) mod seeds;
mod validate;

pub(crate) use baseline::Baseline;
pub(crate) use blocks::WITH_LUCK;
pub use blocks::{Block, Cell, Hypothesis, Plan, PlannedAgent, PlayedBatches};
pub use experiment::{
    Experiment, FaultPolicy, Focal, HypothesisSpec, LineupRule, Lineups, LuckChoice, Payoff, PlanError, Pools,
    Rotations, Unit, read_rules,
};
pub use lineups::Lineup;
pub use lock::LockError;
pub(crate) use lock::{FORMAT as LOCK_FORMAT, lock_differences};
pub use playable::PlayablePlan;
pub use seeds::{fresh_seed, read_seed};
