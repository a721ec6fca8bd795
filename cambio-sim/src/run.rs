//! Whole runs: plays a plan into a folder, reads it back, checks it, and merges shards.

mod batch;
mod committer;
mod merge;
mod outcome;
mod read;
mod runner;
mod verify;

pub use merge::merge;
pub use outcome::{Progress, Report, RunOutcome};
pub(crate) use read::for_each_block_of;
pub use read::{against_baseline, derive};
pub use runner::{Runner, keep_fault};
pub use verify::{Findings, Replay, verify};
