//! How a run goes, and how it ends.

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
    /// The disk took no more. What the ledger says is there, and the run can be resumed.
    Unwritable(RunError),
}

impl RunOutcome {
    /// The word of the manifest.
    pub(super) fn word(&self, shard: Option<Shard>) -> &'static str {
        match self {
            RunOutcome::Complete if shard.is_some() => "complete share",
            RunOutcome::Complete => "complete",
            RunOutcome::Interrupted => "interrupted",
            RunOutcome::Fault(_) => "fault",
            RunOutcome::Unwritable(_) => "unwritable",
        }
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: RunOutcome,
    /// How many matches have their rows on disk.
    pub matches: u64,
    /// The derived files; nothing in them where only a shard was played.
    pub derived: Derived,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// How many matches of this session were played.
    pub played: u64,
    /// How many matches of this session there are.
    pub of: u64,
    /// The sums of what was committed so far.
    pub digest: &'a Digest,
    /// The cell that was committed last.
    pub cell: usize,
}
