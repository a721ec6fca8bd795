//! Plays a batch into memory.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::digest::Extract;
use crate::plan::{Block, FaultPolicy, PlayablePlan};
use crate::play::{AgentFault, Arena, BlockRows};
use crate::rows::RowWriter;
use crate::store::{BatchEntry, packed};

/// A played batch.
pub(super) struct PlayedBatch<'p> {
    pub(super) entry: BatchEntry,
    pub(super) buffers: Buffers<'p>,
}

/// The memory that a batch is written into. Later batches use it again.
#[derive(Default)]
pub(super) struct Buffers<'p> {
    pub(super) blocks: Vec<Block<'p>>,
    /// How long each block took.
    pub(super) took: Vec<Duration>,
    pub(super) extract: Extract,
    /// The bytes of each file and how many rows they are.
    pub(super) files: Vec<(Vec<u8>, u64)>,
    /// The faults, as lines of JSON.
    pub(super) faults: Vec<String>,
}

/// Buffers that no worker uses at the moment.
#[derive(Default)]
pub(super) struct SpareBuffers<'p>(Mutex<Vec<Buffers<'p>>>);

impl<'p> SpareBuffers<'p> {
    pub(super) fn take(&self) -> Buffers<'p> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn give(&self, buffers: Buffers<'p>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
    }
}

/// Plays the blocks of a batch and writes their rows into memory; `None` if it was stopped. `count` gets the number of
/// matches of each block.
pub(super) fn play_batch<'p>(
    mut arena: Arena<'p>,
    batch: u64,
    mut buffers: Buffers<'p>,
    is_stopped: impl Fn() -> bool,
    count: impl Fn(u64),
) -> Option<Result<PlayedBatch<'p>, Box<AgentFault>>> {
    let Buffers { blocks, took, extract, files, faults } = &mut buffers;
    blocks.clear();
    took.clear();
    extract.clear();
    faults.clear();
    let mut used = files.drain(..).map(|(bytes, _)| bytes);
    let mut writers = [0; 3].map(|_| RowWriter::over(used.next().unwrap_or_default()));
    drop(used);
    let mut records = Lines::default();
    let plan = arena.plan();
    let mut rows = BlockRows::default();
    for number in plan.batch(batch) {
        if is_stopped() {
            return None;
        }
        let block = plan.block(number);
        let begun = Instant::now();
        if let Err(fault) = arena.play(&block, &mut rows) {
            return Some(Err(fault));
        }
        rows.write(&mut writers);
        extract.add(&block, &rows.matches, &rows.rounds, &rows.players);
        rows.records.iter().for_each(|record| records.put(&record.to_json()));
        faults.extend(rows.faults.iter().map(|fault| fault.to_json(plan, number)));
        blocks.push(block);
        took.push(begun.elapsed());
        count(block.cell.seatings.len() as u64);
    }
    files.extend(writers.map(RowWriter::into_bytes));
    if plan.records {
        files.push((records.bytes, records.count));
    }
    if plan.faults != FaultPolicy::Stop {
        let mut lines = Lines::default();
        for fault in &*faults {
            lines.put(fault);
        }
        files.push((lines.bytes, lines.count));
    }
    if plan.compress {
        for (bytes, _) in files.iter_mut() {
            *bytes = packed(plan, std::mem::take(bytes));
        }
    }
    Some(Ok(PlayedBatch { entry: BatchEntry::new(batch, files), buffers }))
}

/// Lines of JSON.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    count: u64,
}

impl Lines {
    fn put(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        self.count += 1;
    }
}

/// Plays a batch again and compares its hashes with the ledger; `None` if its agents are not reproducible.
pub(super) fn replay_batch(plan: &PlayablePlan, entry: &BatchEntry) -> Option<Result<bool, Box<AgentFault>>> {
    let blocks = plan.batch(entry.batch);
    if !blocks.clone().all(|number| plan.is_reproducible(plan.block(number).lineup)) {
        return None;
    }
    let played = play_batch(Arena::playing_all(plan), entry.batch, Buffers::default(), || false, |_| ())?;
    Some(played.map(|batch| batch.entry == *entry))
}
