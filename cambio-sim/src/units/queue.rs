//! The queue of units of a distributed run.
//!
//! The queue assigns units of neighbouring batches. It starts with the most expensive batches, and units get smaller
//! towards the end (guided self-scheduling, Polychronopoulos and Kuck 1987), so that all workers finish at about the same
//! time. The queue has no clock and no network: its driver (Ray, or the simulation in `examples/forecast.rs`) reports
//! the seconds of each unit.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::plan::{Cell, Plan};

/// The minimum and maximum seconds of a unit: enough to amortise a commit, but little to lose when a machine fails.
pub const SECONDS: (f64, f64) = (1.0, 60.0);

/// The number of units that each worker should still get. A larger number gives smaller units and a more even finish.
const UNITS_LEFT: f64 = 2.0;

/// The measured cost of one lineup.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct LineupCost {
    /// The number of the cell in the plan.
    pub cell: usize,
    /// The number of the lineup in the cell.
    pub lineup: usize,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of matches in these blocks.
    pub matches: u64,
    /// The number of seconds that one core took.
    pub seconds: f64,
}

impl LineupCost {
    /// Whether the plan has this lineup, and has at least this many matches.
    pub(super) fn fits(&self, plan: &Plan) -> bool {
        let has_lineup = plan.cells.get(self.cell).is_some_and(|cell| self.lineup < cell.lineups.len());
        has_lineup && self.blocks <= self.matches && self.matches <= plan.matches() && self.seconds >= 0.0
    }
}

/// The batches that remain to be played.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::Experiment;
/// use cambio_sim::units::UnitQueue;
///
/// let (experiment, _) = Experiment::read(Path::new("../experiments/quickstart.toml"))?;
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let mut queue = UnitQueue::new(&plan);
/// let first = queue.take(4).unwrap();
/// assert_eq!(first.end - first.start, 1, "one batch as long as costs are unknown");
/// queue.put_back(first);
///
/// let mut played = 0;
/// while let Some(unit) = queue.take(4) {
///     played += unit.end - unit.start;
/// }
/// assert_eq!(played, plan.batch_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UnitQueue {
    cells: Vec<CellCosts>,
    /// The number of blocks in every batch except the last.
    blocks_a_batch: u64,
    blocks: u64,
    left: Vec<Range<u64>>,
}

#[derive(Clone, Debug)]
struct CellCosts {
    /// The first block of the cell, and its number of blocks.
    from: u64,
    blocks: u64,
    /// The measured seconds and blocks of each lineup.
    measured: Vec<(f64, f64)>,
    /// The prefix sums of the seconds per block over the lineups; empty without measurements.
    sums: Vec<f64>,
}

impl CellCosts {
    fn new(cell: &Cell, deals: u64, from: u64) -> CellCosts {
        let lineups = cell.lineups.len();
        CellCosts { from, blocks: lineups as u64 * deals, measured: vec![(0.0, 0.0); lineups], sums: Vec::new() }
    }

    /// Updates the prefix sums. A lineup without a measurement gets the mean cost of the other lineups.
    fn refresh(&mut self) {
        let (seconds, blocks) = self.measured.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        if blocks == 0.0 {
            return;
        }
        let mean = seconds / blocks;
        let each = self.measured.iter().map(|&(seconds, blocks)| if blocks > 0.0 { seconds / blocks } else { mean });
        self.sums = std::iter::once(0.0)
            .chain(each.scan(0.0, |sum, cost| {
                *sum += cost;
                Some(*sum)
            }))
            .collect();
    }

    /// The estimated seconds of the first `blocks` blocks of the cell.
    fn first(&self, blocks: u64) -> f64 {
        let lineups = self.measured.len() as u64;
        (blocks / lineups) as f64 * self.sums[lineups as usize] + self.sums[(blocks % lineups) as usize]
    }

    /// The estimated seconds of the given blocks within this cell; `None` if there are such blocks but no measurements.
    fn seconds(&self, blocks: &Range<u64>) -> Option<f64> {
        let inside = |block: u64| block.clamp(self.from, self.from + self.blocks) - self.from;
        let (from, to) = (inside(blocks.start), inside(blocks.end));
        if from == to {
            return Some(0.0);
        }
        (!self.sums.is_empty()).then(|| self.first(to) - self.first(from))
    }
}

impl UnitQueue {
    /// The queue of all batches of a plan.
    pub fn new(plan: &Plan) -> UnitQueue {
        UnitQueue::rest(plan, std::iter::once(0..plan.batch_count()))
    }

    /// The queue of the given batches of a plan, for a resumed run.
    pub fn rest(plan: &Plan, left: impl IntoIterator<Item = Range<u64>>) -> UnitQueue {
        let mut from = 0;
        let cells = plan.cells.iter().map(|cell| {
            let costs = CellCosts::new(cell, plan.deals, from);
            from += costs.blocks;
            costs
        });
        let cells: Vec<CellCosts> = cells.collect();
        let blocks_a_batch = plan.batch(0).end;
        let mut queue = UnitQueue { cells, blocks_a_batch, blocks: plan.block_count(), left: Vec::new() };
        for batches in left {
            queue.put_back(batches);
        }
        queue
    }

    /// Adds measured costs.
    pub fn learn(&mut self, costs: &[LineupCost]) {
        for cost in costs {
            if let Some(measured) = self.cells.get_mut(cost.cell).and_then(|cell| cell.measured.get_mut(cost.lineup)) {
                measured.0 += cost.seconds;
                measured.1 += cost.blocks as f64;
            }
        }
        self.cells.iter_mut().for_each(CellCosts::refresh);
    }

    fn first_block(&self, batch: u64) -> u64 {
        (batch * self.blocks_a_batch).min(self.blocks)
    }

    /// The estimated seconds that one core takes for these batches; `None` without measurements for their cells.
    pub fn seconds(&self, batches: &Range<u64>) -> Option<f64> {
        let blocks = self.first_block(batches.start)..self.first_block(batches.end);
        self.cells.iter().map(|cell| cell.seconds(&blocks)).sum()
    }

    /// The estimated seconds of all remaining batches, without batches of unknown cost.
    pub fn seconds_left(&self) -> f64 {
        self.left.iter().filter_map(|batches| self.seconds(batches)).sum()
    }

    /// The number of remaining batches.
    pub fn batches_left(&self) -> u64 {
        self.left.iter().map(|batches| batches.end - batches.start).sum()
    }

    /// The next unit for a run on this many workers; `None` if nothing is left. Batches of unknown cost come first, one
    /// at a time.
    pub fn take(&mut self, workers: u64) -> Option<Range<u64>> {
        let first = |batches: &Range<u64>| self.seconds(&(batches.start..batches.start + 1));
        let cost = |batches: &Range<u64>| first(batches).unwrap_or(f64::INFINITY);
        let index = (0..self.left.len()).max_by(|&one, &other| {
            // The first of equally expensive ranges, so that a resumed run continues where it stopped.
            cost(&self.left[one]).total_cmp(&cost(&self.left[other])).then(other.cmp(&one))
        })?;
        let batches = self.left[index].clone();
        let length = first(&batches).map_or(1, |one| {
            let share = self.seconds_left() / (UNITS_LEFT * workers.max(1) as f64);
            let wanted = share.clamp(SECONDS.0, SECONDS.1) / one.max(1e-9);
            (wanted.round() as u64).clamp(1, batches.end - batches.start)
        });
        let unit = batches.start..batches.start + length;
        if unit.end == batches.end {
            self.left.remove(index);
        } else {
            self.left[index].start = unit.end;
        }
        Some(unit)
    }

    /// Puts back batches that were not played. Splits them at the boundaries of cells, so that a unit has uniform work.
    pub fn put_back(&mut self, batches: Range<u64>) {
        let mut from = batches.start;
        for cell in &self.cells[1..] {
            // A batch with blocks of two cells belongs to the later cell.
            let cut = cell.from / self.blocks_a_batch;
            if from < cut && cut < batches.end {
                self.left.push(from..cut);
                from = cut;
            }
        }
        if from < batches.end {
            self.left.push(from..batches.end);
        }
        self.left.sort_by_key(|batches| batches.start);
    }
}

pub(super) fn summed(costs: impl IntoIterator<Item = LineupCost>) -> Vec<LineupCost> {
    let mut sums = BTreeMap::<(usize, usize), LineupCost>::new();
    for cost in costs {
        let zero = LineupCost { blocks: 0, matches: 0, seconds: 0.0, ..cost };
        let sum = sums.entry((cost.cell, cost.lineup)).or_insert(zero);
        sum.blocks += cost.blocks;
        sum.matches += cost.matches;
        sum.seconds += cost.seconds;
    }
    sums.into_values().collect()
}

#[cfg(test)]
mod tests;
