//! Parts of a run, and how much of one is there.

use std::ops::Range;

use super::blocks::Plan;

/// Which part of a run a folder holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Its number, from 0.
    pub index: u64,
    /// How many parts there are.
    pub of: u64,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number {} of {}", self.index, self.of)
    }
}

impl Share {
    /// The lines of the ledger that this part plays: neighbouring ones, as evenly as possible.
    pub fn lines(share: Option<Share>, plan: &Plan) -> Range<u64> {
        let lines = u128::from(plan.line_count());
        let from = |index: u64, of: u64| (u128::from(index) * lines / u128::from(of)) as u64;
        share.map_or(0..plan.line_count(), |Share { index, of }| from(index, of)..from(index + 1, of))
    }
}

/// How much of a run is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// How many shards are.
    pub shards: u64,
    /// How many there are to be.
    pub of: u64,
}

impl Extent {
    /// Whether all of them are there.
    pub fn is_whole(self) -> bool {
        self.shards == self.of
    }
}
