//! Plays a line of the ledger into memory.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::digest::Extract;
use crate::plan::{Block, FaultPolicy, Plan};
use crate::play::{AgentFault, Arena, BlockRows};
use crate::rows::{RowKey, Sheet};
use crate::store::{Entry, packed};

/// A line that was played.
pub(super) struct PlayedLine<'p> {
    pub(super) entry: Entry,
    pub(super) paper: Paper<'p>,
}

/// What a line is written on. Used again for a later one, it saves asking for memory.
#[derive(Default)]
pub(super) struct Paper<'p> {
    pub(super) blocks: Vec<Block<'p>>,
    pub(super) extract: Extract,
    /// What goes to disk: for each file its bytes and how many rows they are.
    pub(super) files: Vec<(Vec<u8>, u64)>,
    /// The faults, as lines of JSON.
    pub(super) faults: Vec<String>,
}

/// Plays the blocks of a line and writes their rows into memory; `None` if it was stopped. The matches are added to those
/// that this worker played.
pub(super) fn play_line<'p>(
    mut arena: Arena<'p>,
    line: u64,
    mut paper: Paper<'p>,
    is_stopped: impl Fn() -> bool,
    played: &AtomicU64,
) -> Option<Result<PlayedLine<'p>, Box<AgentFault>>> {
    let Paper { blocks, extract, files, faults } = &mut paper;
    blocks.clear();
    extract.clear();
    faults.clear();
    let mut sheets = Sheets::over(files);
    let mut records = Lines::default();
    let plan = arena.plan();
    let mut rows = BlockRows::default();
    for number in plan.line(line) {
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
        // Nobody else writes there, and to add at once what others see as well would hold up the play of fast agents.
        played.store(played.load(Ordering::Relaxed) + block.cell.seatings.len() as u64, Ordering::Relaxed);
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
    Some(Ok(PlayedLine { entry: Entry::new(line, files), paper }))
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

/// The files of rows of a line, as they are written.
struct Sheets {
    matches: Sheet,
    rounds: Sheet,
    players: Sheet,
    key: RowKey,
    /// The cell and the lineup that the key is of.
    table: Option<(usize, usize)>,
}

impl Sheets {
    /// Empty ones, on the paper of files that are no longer needed.
    fn over(files: &mut Vec<(Vec<u8>, u64)>) -> Sheets {
        let mut papers = files.drain(..).map(|(bytes, _)| bytes);
        let mut sheet = || Sheet::over(papers.next().unwrap_or_default());
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

/// Plays a line again and compares its bytes with the ledger's; `None` where its agents may decide differently.
pub(super) fn replay_line(plan: &Plan, entry: &Entry) -> Option<Result<bool, Box<AgentFault>>> {
    let blocks = plan.line(entry.line);
    if !blocks.clone().all(|number| plan.is_reproducible(plan.block(number).lineup)) {
        return None;
    }
    let played = play_line(Arena::playing_all(plan), entry.line, Paper::default(), || false, &AtomicU64::new(0))?;
    Some(played.map(|line| line.entry == *entry))
}
