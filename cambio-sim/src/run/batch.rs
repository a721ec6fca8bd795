//! Plays a batch into memory.

use std::sync::{Mutex, PoisonError};

use crate::digest::Extract;
use crate::plan::{Block, FaultPolicy, PlayablePlan};
use crate::play::{AgentFault, Arena, BlockRows};
use crate::rows::{RowKey, Sheet};
use crate::store::{BatchEntry, packed};

/// A batch that was played.
pub(super) struct PlayedBatch<'p> {
    pub(super) entry: BatchEntry,
    pub(super) buffers: Buffers<'p>,
}

/// What a batch is written into. A later batch uses the same memory again.
#[derive(Default)]
pub(super) struct Buffers<'p> {
    pub(super) blocks: Vec<Block<'p>>,
    pub(super) extract: Extract,
    /// What goes to disk: for each file its bytes and how many rows they are.
    pub(super) files: Vec<(Vec<u8>, u64)>,
    /// The faults, as lines of JSON.
    pub(super) faults: Vec<String>,
}

/// Buffers that nobody uses at the moment.
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

/// Plays the blocks of a batch and writes their rows into memory; `None` if it was stopped. `count` is told how many matches
/// each block had.
pub(super) fn play_batch<'p>(
    mut arena: Arena<'p>,
    batch: u64,
    mut buffers: Buffers<'p>,
    is_stopped: impl Fn() -> bool,
    count: impl Fn(u64),
) -> Option<Result<PlayedBatch<'p>, Box<AgentFault>>> {
    let Buffers { blocks, extract, files, faults } = &mut buffers;
    blocks.clear();
    extract.clear();
    faults.clear();
    let mut sheets = Sheets::over(files);
    let mut records = Lines::default();
    let plan = arena.plan();
    let mut rows = BlockRows::default();
    for number in plan.batch(batch) {
        if is_stopped() {
            return None;
        }
        let block = plan.block(number);
        if let Err(fault) = arena.play(&block, &mut rows) {
            return Some(Err(fault));
        }
        sheets.put(&block, &rows);
        extract.add(&block, &rows.matches, &rows.rounds, &rows.players);
        rows.records.iter().for_each(|record| records.put(&record.to_json()));
        faults.extend(rows.faults.iter().map(|fault| fault.to_json(plan, number)));
        blocks.push(block);
        count(block.cell.seatings.len() as u64);
    }
    files.extend([sheets.matches, sheets.rounds, sheets.players].map(Sheet::into_bytes));
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

/// The files of rows of a batch, as they are written.
struct Sheets {
    matches: Sheet,
    rounds: Sheet,
    players: Sheet,
    key: RowKey,
    /// The cell and the lineup that the key is of.
    table: Option<(usize, usize)>,
}

impl Sheets {
    /// Empty ones, in the memory of files that are no longer needed.
    fn over(files: &mut Vec<(Vec<u8>, u64)>) -> Sheets {
        let mut used = files.drain(..).map(|(bytes, _)| bytes);
        let mut sheet = || Sheet::over(used.next().unwrap_or_default());
        let (matches, rounds, players) = (sheet(), sheet(), sheet());
        Sheets { matches, rounds, players, key: RowKey::default(), table: None }
    }

    /// Writes the rows of a block.
    fn put(&mut self, block: &Block<'_>, rows: &BlockRows<'_>) {
        let (mut rounds, mut players) = (&rows.rounds[..], &rows.players[..]);
        let table = Some((block.place, block.lineup_place));
        if self.table != table {
            self.key.set_table(block.cell.rules.name(), block.cell.seats, block.lineup.label());
            self.table = table;
        }
        for row in &rows.matches {
            let key = self.key.of_match(row.deal, row.rotation);
            self.matches.put(key, row);
            for row in rounds.split_off(..row.rounds).expect("a match has a row for each round") {
                self.rounds.put(key, row);
            }
            for row in players.split_off(..row.seats).expect("a match has a row for each seat") {
                self.players.put(key, row);
            }
        }
    }
}

/// Plays a batch again and compares its bytes with the ledger's; `None` where its agents may decide differently.
pub(super) fn replay_batch(plan: &PlayablePlan, entry: &BatchEntry) -> Option<Result<bool, Box<AgentFault>>> {
    let blocks = plan.batch(entry.batch);
    if !blocks.clone().all(|number| plan.is_reproducible(plan.block(number).lineup)) {
        return None;
    }
    let played = play_batch(Arena::playing_all(plan), entry.batch, Buffers::default(), || false, |_| ())?;
    Some(played.map(|batch| batch.entry == *entry))
}
