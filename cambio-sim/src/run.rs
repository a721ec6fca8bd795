//! Plays a plan and writes its rows: many lines of the ledger at a time, in canonical order, whatever the number of
//! threads.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::block::{AgentFault, Arena, BlockRows};
use crate::derived::{Derived, Page, Source};
use crate::digest::Digest;
use crate::experiment::FaultPolicy;
use crate::folder::{Entry, RunError, RunFolder, Share, StoredRun, packed, write_whole};
use crate::intake::{Books, Intake, Paper, Place, PlayedLine};
use crate::plan::{Block, Plan};
use crate::reading::read_line;
use crate::rows::{RowKey, Sheet};

/// The most threads that play.
pub const MOST_THREADS: usize = 1024;

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was played.
    Complete,
    /// It was stopped; whole shards in canonical order are on disk, and it can be resumed.
    Interrupted,
    /// An agent was at fault; the shards before it are on disk.
    Fault(Box<AgentFault>),
    /// The disk took no more; what the ledger says is there, and the run can be resumed.
    Unwritable(RunError),
}

impl Outcome {
    /// The word of the manifest.
    fn word(&self, share: Option<Share>) -> &'static str {
        match self {
            Outcome::Complete if share.is_some() => "complete share",
            Outcome::Complete => "complete",
            Outcome::Interrupted => "interrupted",
            Outcome::Fault(_) => "fault",
            Outcome::Unwritable(_) => "unwritable",
        }
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How many matches have their rows on disk.
    pub matches: u64,
    /// The derived files; nothing in them where only a share was played.
    pub derived: Derived,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// How many matches of this session were played.
    pub played: u64,
    /// How many matches of this session there are.
    pub of: u64,
    /// The sums of what was handed in so far.
    pub digest: &'a Digest,
    /// The cell that was handed in last.
    pub cell: usize,
}

/// How a plan is played.
pub struct Runner<'a> {
    /// How many threads play; 0 takes as many as there are cores.
    pub threads: usize,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// The files that are made beside the tables.
    pub pages: &'a [Page],
    /// Told now and then how far the run is.
    pub progress: &'a dyn Fn(&Progress<'_>),
}

/// Plays the blocks of a line and writes their rows into memory; `None` if it was stopped. The matches are added to those
/// that this worker played.
fn play_line<'p>(
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
pub(crate) fn replay_line(plan: &Plan, entry: &Entry) -> Option<Result<bool, Box<AgentFault>>> {
    let blocks = plan.line(entry.line);
    if !blocks.clone().all(|number| plan.is_reproducible(plan.block(number).lineup)) {
        return None;
    }
    let played = play_line(Arena::playing_all(plan), entry.line, Paper::default(), || false, &AtomicU64::new(0))?;
    Some(played.map(|line| line.entry == *entry))
}

impl Runner<'_> {
    /// Plays a plan into a folder, from where the folder is on. What the folder has already is read for the summary.
    ///
    /// # Errors
    /// If what is there cannot be read, or threads cannot be started. Faults of agents and a disk that takes no more are
    /// an [`Outcome`].
    ///
    /// # Determinism
    /// The files are the same for any number of threads, and however often the run was interrupted; `timing.csv` is not.
    pub fn run(&self, plan: &Plan, folder: &mut RunFolder) -> Result<Report, RunError> {
        let begun = Instant::now();
        let lines = folder.lines_left();
        let before = folder.matches();
        let mut digest = Digest::new(plan);
        let mut faults = Vec::new();
        if before > 0 {
            let stored = StoredRun::open(folder.path())?;
            stored.for_each_line(|entry, rows| read_line(&stored, entry, &rows, &mut digest, &mut faults))?;
        }
        let threads = match self.threads.min(MOST_THREADS) {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        let books = Books { folder, digest: &mut digest, faults: &mut faults, cell: 0 };
        let mut outcome = self.play(plan, books, lines, threads)?;
        // Also on a disk that takes no more rows: those that it took may still find their lines.
        if let Err(error) = folder.commit()
            && !matches!(outcome, Outcome::Unwritable(_))
        {
            outcome = Outcome::Unwritable(error);
        }
        digest.finish();
        let derived = if folder.share().is_some() {
            Derived::default()
        } else {
            let source = Source { plan, spec: folder.spec(), extent: folder.extent() };
            Derived::new(&source, &digest, &faults, self.pages)
        };
        if !matches!(outcome, Outcome::Unwritable(_)) {
            let finish = || {
                derived.write(folder.path())?;
                write_timing(folder.path(), threads, folder.matches() - before, begun.elapsed())?;
                folder.write_manifest(outcome.word(folder.share()))
            };
            if let Err(error) = finish() {
                outcome = Outcome::Unwritable(error);
            }
        }
        Ok(Report { outcome, matches: folder.matches(), derived })
    }

    fn play(&self, plan: &Plan, books: Books<'_>, lines: Range<u64>, threads: usize) -> Result<Outcome, RunError> {
        if lines.is_empty() {
            return Ok(Outcome::Complete);
        }
        let of = blocks_matches(plan, plan.line(lines.start).start..plan.line(lines.end - 1).end);
        let workers = threads.min((lines.end - lines.start) as usize);
        let intake = &Intake::new(books, lines, workers, self.stop);
        std::thread::scope(|scope| {
            let mut lacking = Ok(());
            for played in &intake.played {
                let place = Place(intake);
                let work = move || {
                    let _place = place;
                    while let Some((line, paper)) = intake.begin() {
                        let Some(result) = play_line(Arena::new(plan), line, paper, || intake.is_stopped(), played)
                        else {
                            break;
                        };
                        intake.hand_in(line, result);
                    }
                };
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                    lacking = Err(RunError::Threads { threads, what: error.to_string() });
                    intake.interrupt();
                    break;
                }
            }
            let outcome = intake.watch(|books| {
                let (digest, cell) = (&*books.digest, books.cell);
                let played = intake.played.iter().map(|played| played.load(Ordering::Relaxed)).sum();
                (self.progress)(&Progress { played, of, digest, cell });
            });
            lacking.map(|()| outcome)
        })
    }
}

fn blocks_matches(plan: &Plan, blocks: Range<u64>) -> u64 {
    let mut from = 0;
    let mut matches = 0;
    for cell in &plan.cells {
        let to = from + cell.lineups.len() as u64 * plan.deals;
        let inside = blocks.end.min(to).saturating_sub(blocks.start.max(from));
        matches += inside * cell.seatings.len() as u64;
        from = to;
    }
    matches
}

/// Notes what depends on the host, and only that: a row for each session of the run.
fn write_timing(folder: &Path, threads: usize, matches: u64, time: Duration) -> Result<(), RunError> {
    let path = folder.join("timing.csv");
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "threads,matches,seconds\n".to_owned(),
        Err(error) => return Err(RunError::unreadable(&path)(error)),
    };
    text.extend([format!("{threads},{matches},{:.3}\n", time.as_secs_f64())]);
    write_whole(&path, text.as_bytes())
}

/// Keeps the record of a match that a fault stopped, and says where.
///
/// # Errors
/// If it cannot be written.
pub fn keep_fault(folder: &Path, fault: &AgentFault) -> Result<PathBuf, RunError> {
    let path = folder.join("fault.jsonl");
    write_whole(&path, (fault.record.to_json() + "\n").as_bytes())?;
    Ok(path)
}
