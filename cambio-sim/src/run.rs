//! Whole runs: a plan is played into a folder, read back, checked, put together from parts.

mod committer;
mod line;
mod merge;
mod outcome;
mod read;
mod runner;
mod verify;

pub use merge::merge;
pub use outcome::{Outcome, Progress, Report};
pub use read::derive;
pub use runner::{MOST_THREADS, Runner, keep_fault};
pub use verify::{Findings, Replay, verify};
