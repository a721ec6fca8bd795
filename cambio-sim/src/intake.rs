//! Where workers hand in the lines that they played, to be written in canonical order, whoever played them.
//!
//! No thread is kept for writing, and nothing goes from one to another but what came too early: who hands in the next line
//! writes it, and those behind it that are there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::block::AgentFault;
use crate::folder::{Entry, RunFolder};
use crate::plan::Block;
use crate::run::Outcome;
use crate::stats::digest::{Digest, Extract};

/// How often a run is looked after while its lines are played.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A line that was played.
pub(crate) struct PlayedLine<'p> {
    pub(crate) entry: Entry,
    pub(crate) paper: Paper<'p>,
}

/// What a line is written on. Used again for a later one, it saves asking for memory.
#[derive(Default)]
pub(crate) struct Paper<'p> {
    pub(crate) blocks: Vec<Block<'p>>,
    pub(crate) extract: Extract,
    /// What goes to disk: for each file its bytes and how many rows they are.
    pub(crate) files: Vec<(Vec<u8>, u64)>,
    /// The faults, as lines of JSON.
    pub(crate) faults: Vec<String>,
}

/// What is known of a run while it is played.
pub(crate) struct Books<'r> {
    pub(crate) folder: &'r mut RunFolder,
    pub(crate) digest: &'r mut Digest,
    /// The faults, as lines of JSON.
    pub(crate) faults: &'r mut Vec<String>,
    /// The cell of the line that was written last.
    pub(crate) cell: usize,
}

impl Books<'_> {
    /// Writes the next line.
    fn write<'p>(&mut self, line: PlayedLine<'p>) -> Result<Paper<'p>, Outcome> {
        let mut paper = line.paper;
        self.folder.append(line.entry, &paper.files).map_err(Outcome::Unwritable)?;
        self.digest.add_extract(&paper.blocks, &paper.extract);
        self.cell = paper.blocks.last().map_or(self.cell, |block| block.place);
        self.faults.append(&mut paper.faults);
        Ok(paper)
    }
}

/// What became of a line.
type LineResult<'p> = Result<PlayedLine<'p>, Box<AgentFault>>;

/// Where the lines of a run come in.
pub(crate) struct Intake<'r, 'p> {
    desk: Mutex<Desk<'r, 'p>>,
    /// Told when lines were written, and when the run ends.
    moved: Condvar,
    /// The line behind the last.
    last: u64,
    /// How many lines may be under way, so that memory stays small.
    ahead: u64,
    /// Set from outside to stop.
    stop: &'r AtomicBool,
    /// Set when there is an outcome.
    is_over: AtomicBool,
    /// How many matches each worker played.
    pub(crate) played: Box<[AtomicU64]>,
}

struct Desk<'r, 'p> {
    books: Books<'r>,
    /// The next line that nobody has begun, and the next to be written.
    begun: u64,
    written: u64,
    /// What waits for the lines before it.
    early: BTreeMap<u64, LineResult<'p>>,
    /// What can be used again.
    papers: Vec<Paper<'p>>,
    /// How many are at work.
    workers: usize,
    outcome: Option<Outcome>,
}

impl<'r, 'p> Intake<'r, 'p> {
    /// Takes these lines from so many workers.
    pub(crate) fn new(books: Books<'r>, lines: Range<u64>, workers: usize, stop: &'r AtomicBool) -> Intake<'r, 'p> {
        let desk = Desk {
            books,
            begun: lines.start,
            written: lines.start,
            early: BTreeMap::new(),
            papers: Vec::new(),
            workers,
            outcome: None,
        };
        Intake {
            desk: Mutex::new(desk),
            moved: Condvar::new(),
            last: lines.end,
            ahead: 4 * workers as u64 + 4,
            stop,
            is_over: AtomicBool::new(false),
            played: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'r, 'p>> {
        self.desk.lock().expect("nobody panics at the desk")
    }

    /// Whether nothing more is to be played: there is an outcome, or the user wants no more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    /// Ends the run, as it comes out.
    fn end(&self, desk: &mut Desk<'r, 'p>, outcome: Outcome) {
        desk.outcome.get_or_insert(outcome);
        self.is_over.store(true, Ordering::Relaxed);
        self.moved.notify_all();
    }

    /// The next line to play, not too far ahead of those that were written, and paper for it; `None` when there is none.
    pub(crate) fn begin(&self) -> Option<(u64, Paper<'p>)> {
        let mut desk = self.desk();
        while desk.begun < self.last && desk.begun >= desk.written + self.ahead && !self.is_stopped() {
            desk = self.moved.wait_timeout(desk, LOOK_EVERY).expect("nobody panics at the desk").0;
        }
        if desk.begun >= self.last || self.is_stopped() {
            return None;
        }
        desk.begun += 1;
        Some((desk.begun - 1, desk.papers.pop().unwrap_or_default()))
    }

    /// Hands in a line. If it is the next, it is written, and those behind it that came earlier.
    pub(crate) fn hand_in(&self, line: u64, result: LineResult<'p>) {
        let desk = &mut *self.desk();
        desk.early.insert(line, result);
        // When the run is over nothing more is written, whoever has been told of it.
        while !self.is_over.load(Ordering::Relaxed)
            && let Some(result) = desk.early.remove(&desk.written)
        {
            match result.map_err(Outcome::Fault).and_then(|line| desk.books.write(line)) {
                Ok(paper) => desk.papers.push(paper),
                Err(outcome) => return self.end(desk, outcome),
            }
            desk.written += 1;
            self.moved.notify_all();
        }
        if desk.written == self.last {
            self.end(desk, Outcome::Complete);
        }
    }

    /// Plays no more than what is under way.
    pub(crate) fn interrupt(&self) {
        self.end(&mut self.desk(), Outcome::Interrupted);
    }

    /// Looks after the run until it is over, and tells now and then how far it is.
    pub(crate) fn watch(&self, mut tell: impl FnMut(&Books<'_>)) -> Outcome {
        let mut desk = self.desk();
        loop {
            tell(&desk.books);
            if let Some(outcome) = desk.outcome.take() {
                return outcome;
            }
            if let Err(error) = desk.books.folder.commit_if_due() {
                self.end(&mut desk, Outcome::Unwritable(error));
            } else {
                desk = self.moved.wait_timeout(desk, LOOK_EVERY).expect("nobody panics at the desk").0;
            }
        }
    }
}

/// A worker's place. It goes when this is dropped, for whatever reason; nobody comes for the line of one that panicked.
pub(crate) struct Place<'i, 'r, 'p>(pub(crate) &'i Intake<'r, 'p>);

impl Drop for Place<'_, '_, '_> {
    fn drop(&mut self) {
        let intake = self.0;
        let Ok(mut desk) = intake.desk.lock() else {
            // Somebody panicked at the desk.
            intake.is_over.store(true, Ordering::Relaxed);
            return intake.moved.notify_all();
        };
        desk.workers -= 1;
        if desk.workers == 0 || std::thread::panicking() {
            intake.end(&mut desk, Outcome::Interrupted);
        }
    }
}
