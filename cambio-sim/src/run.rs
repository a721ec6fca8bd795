//! Whole runs: a plan is played into a folder, read back, checked, put together from parts.

mod batch;
mod committer;
mod merge;
mod outcome;
mod read;
mod runner;
mod verify;

pub use merge::merge;
pub use outcome::{Progress, Report, RunOutcome};
pub use read::derive;
pub use runner::{Runner, keep_fault};
pub use verify::{Findings, Replay, verify};
