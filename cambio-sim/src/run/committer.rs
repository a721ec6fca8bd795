//! Where workers hand in the lines that they played, to be written in canonical order, whoever played them.
//!
//! No thread is kept for writing, and nobody waits for one that writes: who hands in the next line writes it, and those
//! behind it that come in the meantime.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::line::{Paper, PlayedLine};
use super::outcome::Outcome;
use crate::digest::Digest;
use crate::play::AgentFault;
use crate::store::RunFolder;

/// How often a run is looked after while its lines are played.
const LOOK_EVERY: Duration = Duration::from_millis(100);

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
    desk: Mutex<Desk<'p>>,
    /// Nobody has them and waits for the desk.
    books: Mutex<Books<'r>>,
    /// Told when lines were written, and when the run ends.
    moved: Condvar,
    /// Told when the run ends.
    ended: Condvar,
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

struct Desk<'p> {
    /// The next line that nobody has begun, and the next to be written.
    begun: u64,
    written: u64,
    /// Whether somebody writes, who then looks what else there is.
    is_writing: bool,
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
            begun: lines.start,
            written: lines.start,
            is_writing: false,
            early: BTreeMap::new(),
            papers: Vec::new(),
            workers,
            outcome: None,
        };
        Intake {
            desk: Mutex::new(desk),
            books: Mutex::new(books),
            moved: Condvar::new(),
            ended: Condvar::new(),
            last: lines.end,
            ahead: 4 * workers as u64 + 4,
            stop,
            is_over: AtomicBool::new(false),
            played: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk<'p>> {
        self.desk.lock().expect("nobody panics at the desk")
    }

    fn books(&self) -> MutexGuard<'_, Books<'r>> {
        self.books.lock().expect("nobody panics over the books")
    }

    /// Whether nothing more is to be played: there is an outcome, or the user wants no more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    /// Ends the run, as it comes out.
    fn end(&self, desk: &mut Desk<'p>, outcome: Outcome) {
        desk.outcome.get_or_insert(outcome);
        self.is_over.store(true, Ordering::Relaxed);
        self.moved.notify_all();
        self.ended.notify_all();
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

    /// Hands in a line. If it is the next and nobody writes, it is written, and then those behind it that are there.
    pub(crate) fn hand_in(&self, line: u64, result: LineResult<'p>) {
        let mut desk = self.desk();
        desk.early.insert(line, result);
        if desk.is_writing {
            return;
        }
        // When the run is over nothing more is written, whoever has been told of it.
        while !self.is_over.load(Ordering::Relaxed) {
            let next = desk.written;
            let Some(result) = desk.early.remove(&next) else { break };
            desk.is_writing = true;
            drop(desk);
            let outcome = result.map_err(Outcome::Fault).and_then(|line| self.books().write(line));
            desk = self.desk();
            desk.is_writing = false;
            match outcome {
                Ok(paper) => desk.papers.push(paper),
                Err(outcome) => return self.end(&mut desk, outcome),
            }
            desk.written += 1;
            self.moved.notify_all();
        }
        if desk.written == self.last {
            self.end(&mut desk, Outcome::Complete);
        }
    }

    /// Plays no more than what is under way.
    pub(crate) fn interrupt(&self) {
        self.end(&mut self.desk(), Outcome::Interrupted);
    }

    /// Looks after the run until it is over, and tells now and then how far it is.
    pub(crate) fn watch(&self, mut tell: impl FnMut(&Books<'_>)) -> Outcome {
        loop {
            let mut books = self.books();
            tell(&books);
            let committed = books.folder.commit_if_due();
            drop(books);
            let mut desk = self.desk();
            if let Some(outcome) = desk.outcome.take() {
                drop(desk);
                tell(&self.books());
                return outcome;
            }
            match committed {
                Err(error) => self.end(&mut desk, Outcome::Unwritable(error)),
                Ok(()) => drop(self.ended.wait_timeout(desk, LOOK_EVERY).expect("nobody panics at the desk")),
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
            intake.ended.notify_all();
            return intake.moved.notify_all();
        };
        desk.workers -= 1;
        if desk.workers == 0 || std::thread::panicking() {
            intake.end(&mut desk, Outcome::Interrupted);
        }
    }
}
