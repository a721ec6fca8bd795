//! The sums of a run.

use super::cell::CellDigest;
use super::extract::Extract;
use crate::plan::{Block, Plan};

/// The sums of a run.
#[derive(Clone, Debug)]
pub struct Digest {
    /// The sums of each cell, in the order of the plan.
    pub cells: Vec<CellDigest>,
}

impl Digest {
    /// A digest of no rows.
    pub(crate) fn new(plan: &Plan) -> Digest {
        Digest { cells: plan.cells.iter().map(|cell| CellDigest::new(plan, cell)).collect() }
    }

    /// Adds what was extracted from the rows of these blocks. Blocks must come in canonical order.
    pub(crate) fn add_extract(&mut self, blocks: &[Block<'_>], extract: &Extract) {
        for (place, behaviour) in &extract.behaviour {
            self.cells[*place].behaviour.merge(behaviour);
        }
        for (block, outcomes) in blocks.iter().zip(extract.blocks()) {
            self.cells[block.place].add(block, outcomes);
        }
    }

    /// Completes the sums after the last row. Call it before reading any of them.
    pub(crate) fn finish(&mut self) {
        self.cells.iter_mut().for_each(CellDigest::end_deal);
    }
}
