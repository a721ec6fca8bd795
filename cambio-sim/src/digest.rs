//! Summarises rows into tables.
//!
//! A `Digest` adds up the rows in canonical order. Its memory does not grow with the number of games. [`Derived`]
//! computes the derived tables from these sums.

mod adjusted;
mod cell;
mod derived;
mod extract;
mod hypothesis;
mod sums;
mod tables;
mod text;

use cambio_core::rng::{Key, Purpose, Seed, Stream};

use crate::plan::Plan;

pub use adjusted::{BEYOND, is_beyond};
pub(crate) use adjusted::{FINE, share_of, without_luck};
pub use cell::{CellDigest, SEAT_DEALS};
pub(crate) use derived::estimate;
pub use derived::{Derived, RESAMPLES};
pub(crate) use extract::Extract;
pub use hypothesis::{HypothesisAnswer, HypothesisVerdict};
pub use sums::PayoffSums;
pub use tables::{FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
pub use text::{FEW_DEALS, few_deals_note};

/// The sums of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digest {
    /// The sums of each cell, in the order of the plan.
    pub(crate) cells: Vec<CellDigest>,
    /// The number of blocks that were played.
    blocks: u64,
    faults: Vec<FaultRow>,
}

impl Digest {
    pub(crate) fn new(plan: &Plan) -> Digest {
        let cells = plan.cells.iter().map(|cell| CellDigest::new(plan, cell)).collect();
        Digest { cells, ..Digest::default() }
    }

    /// Ends the last deal of each cell.
    pub(crate) fn end_deal(&mut self) {
        self.cells.iter_mut().for_each(CellDigest::end_deal);
    }

    /// Adds the extract of a batch and its faults (lines of JSON). Batches must be added in order.
    pub(crate) fn add(&mut self, plan: &Plan, batch: u64, extract: &Extract, faults: &[String]) {
        for (index, group, behaviour) in &extract.behaviour {
            self.cells[*index].add_behaviour(*group, behaviour);
        }
        for (block, outcomes) in plan.batch(batch).map(|number| plan.block(number)).zip(extract.blocks()) {
            self.cells[block.cell_index].add(&block, outcomes);
        }
        self.blocks = plan.batch(batch).end;
        self.faults.extend(faults.iter().filter_map(|line| FaultRow::read(line)));
    }
}

/// The numbers of the random streams for resampling. The streams of a cell add its index.
pub(crate) mod streams {
    pub(crate) const RATINGS: u32 = 1 << 16;
    pub(crate) const PAIRS: u32 = 2 << 16;
    pub(crate) const GAMES: u32 = 3 << 16;
    pub(crate) const CURVE: u32 = 4 << 16;
    pub(crate) const SEARCH: u32 = 5 << 16;
    pub(crate) const ADJUSTED_PAIRS: u32 = 9 << 16;
}

/// A random stream for statistics, derived from the seed. No game uses this stream.
pub(crate) fn resampling(seed: impl Into<Seed>, name: u32) -> Stream {
    // No plan has a deal with this number.
    Key::new(seed, u64::MAX).stream(Purpose::Dealer, name)
}

#[cfg(test)]
mod tests;
