//! The progress and the outcome of a run.

use cambio_core::AgentError;

use crate::digest::{Derived, Digest};
use crate::disk::RunError;
use crate::plan::Shard;
use crate::play::AgentFault;

/// How a run ended.
#[derive(Debug)]
pub enum RunOutcome {
    /// Everything was played.
    Complete,
    /// It was stopped. Whole batches in canonical order are on disk, and it can be resumed.
    Interrupted,
    /// An agent was at fault. The batches before it are on disk.
    Fault(Box<AgentFault>),
    /// The machine has no more of what an agent needs; the sentence says what. No agent is at fault, and the run can be resumed.
    Halted(String),
    /// The folder cannot be written any more. What the ledger covers is on disk, and the run can be resumed.
    Unwritable(RunError),
}

impl RunOutcome {
    /// The outcome of a run that a match has stopped.
    pub(super) fn of(fault: Box<AgentFault>) -> RunOutcome {
        match fault.halt {
            None => RunOutcome::Fault(fault),
            Some(AgentError::Interrupted) => RunOutcome::Interrupted,
            Some(_) => RunOutcome::Halted(fault.what),
        }
    }

    /// The word for it in the manifest.
    pub(super) fn word(&self, shard: Option<Shard>) -> &'static str {
        match self {
            RunOutcome::Complete if shard.is_some() => "complete share",
            RunOutcome::Complete => "complete",
            RunOutcome::Interrupted | RunOutcome::Halted(_) => "interrupted",
            RunOutcome::Fault(_) => "fault",
            RunOutcome::Unwritable(_) => "unwritable",
        }
    }
}

/// The report of a run.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: RunOutcome,
    /// The number of matches on disk.
    pub matches: u64,
    /// The derived tables; empty if only a shard was played.
    pub derived: Derived,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The number of matches played in this session.
    pub played: u64,
    /// The number of matches of this session.
    pub of: u64,
    /// The sums of everything that was committed so far.
    pub digest: &'a Digest,
    /// The cell that was committed last.
    pub cell: usize,
}
