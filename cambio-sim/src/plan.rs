//! From an experiment to a plan.
//!
//! An [`Experiment`] is what a user writes. A [`Plan`] is the same written out and checked, in the order in which everything is
//! played and stored.

mod blocks;
mod experiment;
mod lineups;
mod lock;
mod playable;
mod seeds;
mod validate;

pub use blocks::{Block, Cell, Extent, Plan, PlannedAgent};
pub use experiment::{
    Experiment, FaultPolicy, Focal, LineupRule, Lineups, Payoff, PlanError, Pools, Rotations, Unit, read_rules,
};
pub use lineups::Lineup;
pub use lock::LockError;
pub(crate) use lock::lock_differences;
pub use playable::PlayablePlan;
pub use seeds::{Secret, fresh_seed, read_seed};
