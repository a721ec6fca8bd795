//! Commits batches in order: their rows go to disk, their sums to the digest.

use super::batch::{PlayedBatch, SpareBuffers};
use super::outcome::RunOutcome;
use crate::digest::Digest;
use crate::store::RunFolder;

/// The run folder and the sums of a run that is being played.
pub(super) struct Committer<'r> {
    pub(super) folder: &'r mut RunFolder,
    pub(super) digest: &'r mut Digest,
    /// The faults, as lines of JSON.
    pub(super) faults: &'r mut Vec<String>,
    /// The cell of the batch that was committed last.
    pub(super) cell: usize,
}

impl Committer<'_> {
    /// Commits the next batch.
    pub(super) fn commit<'p>(&mut self, batch: PlayedBatch<'p>, spare: &SpareBuffers<'p>) -> Result<(), RunOutcome> {
        let mut buffers = batch.buffers;
        self.folder.append(batch.entry, &buffers.files).map_err(RunOutcome::Unwritable)?;
        self.digest.add_extract(&buffers.blocks, &buffers.extract);
        self.cell = buffers.blocks.last().map_or(self.cell, |block| block.place);
        self.faults.append(&mut buffers.faults);
        spare.give(buffers);
        Ok(())
    }
}
