//! Whole runs: plays a plan into a folder, reads it back, checks it, and merges shards.

mod again;
mod batch;
mod committer;
mod merge;
mod outcome;
mod read;
mod runner;
mod units;
mod verify;

pub use again::{AgainError, StoredMatch};
pub use merge::merge;
pub use outcome::{Progress, Report, RunOutcome};
pub use read::{against_baseline, derive};
pub use runner::{Runner, keep_fault};
pub use units::{PlayedUnit, UnitError, merge_units, play_unit, replay_unit};
pub use verify::{Findings, Replay, verify};
