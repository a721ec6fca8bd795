//! Plays a plan and writes its rows: many lines of the ledger at a time, in canonical order, whatever the number of
//! threads.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::committer::{Books, Intake, Place};
use super::line::play_line;
use super::outcome::{Outcome, Progress, Report};
use super::read::read_line;
use crate::digest::{Derived, Digest, Page, Source};
use crate::disk::{RunError, write_whole};
use crate::plan::Plan;
use crate::play::{AgentFault, Arena};
use crate::store::{RunFolder, StoredRun};

/// The most threads that play.
pub const MOST_THREADS: usize = 1024;

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
