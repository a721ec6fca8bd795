//! Shards of an experiment, and how much of a run was played.

use std::ops::Range;

use serde::Serialize;

use super::blocks::Plan;

/// A part of an experiment that one machine plays: a range of its batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Shard {
    /// Its number, from 0.
    pub index: u64,
    /// How many shards there are.
    pub of: u64,
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number {} of {}", self.index, self.of)
    }
}

impl Shard {
    /// The batches of a shard; without a shard all batches of the plan. Shards are ranges of neighbouring batches, as equal as
    /// possible.
    pub fn batches(shard: Option<Shard>, plan: &Plan) -> Range<u64> {
        let batches = u128::from(plan.batch_count());
        let from = |index: u64, of: u64| (u128::from(index) * batches / u128::from(of)) as u64;
        shard.map_or(0..plan.batch_count(), |Shard { index, of }| from(index, of)..from(index + 1, of))
    }
}

/// How much of a run, or of a shard, was played.
///
/// ```
/// use cambio_sim::Extent;
///
/// assert!(Extent { batches: 3, of: 3 }.is_whole());
/// assert!(!Extent { batches: 2, of: 3 }.is_whole());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The number of batches on disk.
    pub batches: u64,
    /// The number of batches in all.
    pub of: u64,
}

impl Extent {
    /// Whether all batches are there.
    pub fn is_whole(self) -> bool {
        self.batches == self.of
    }
}
