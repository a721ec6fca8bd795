//! Plays a plan and writes its rows. Batches are played in parallel and committed in canonical order.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cambio_exec::{Executor, Stopped, Worker, read_text, write_whole};

use super::batch::{SpareBuffers, play_batch};
use super::committer::Committer;
use super::outcome::{Progress, Report, RunOutcome};
use super::read::Reading;
use crate::digest::{Derived, Page, Source};
use crate::disk::RunError;
use crate::plan::{Plan, PlayablePlan};
use crate::play::{AgentFault, Arena};
use crate::store::{RunFolder, StoredRun};

/// Plays plans into folders.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, RunFolder, RunOutcome, Runner};
///
/// let experiment = Experiment {
///     seed: Some(0.into()),
///     deals: 10,
///     rules: vec!["classic".into()],
///     seats: vec![2],
///     agents: vec!["random".into(), "greedy".into()],
///     ..Experiment::default()
/// };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-runner-{}", std::process::id()));
/// let mut folder = RunFolder::create(&path, "", &plan, None)?;
///
/// let executor = Executor::new(2)?;
/// let show = |progress: &cambio_sim::Progress<'_>| eprintln!("{} of {}", progress.played, progress.of);
/// let report = Runner::new(&executor).with_progress(&show).run(&plan, &mut folder)?;
///
/// assert!(matches!(report.outcome, RunOutcome::Complete));
/// assert_eq!(report.matches, 20);
/// let random = report.derived.summary.iter().find(|row| row.agent == "random").unwrap();
/// assert!(random.rank_points < 0.5);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    executor: &'a Executor,
    pages: &'a [Page],
    progress: &'a dyn Fn(&Progress<'_>),
}

impl<'a> Runner<'a> {
    /// A runner on an executor, whose token stops it.
    pub fn new(executor: &'a Executor) -> Runner<'a> {
        Runner { executor, pages: &[], progress: &|_| () }
    }

    /// Makes these pages too, besides the tables.
    #[must_use]
    pub fn with_pages(self, pages: &'a [Page]) -> Runner<'a> {
        Runner { pages, ..self }
    }

    /// Calls `show` with the progress about ten times a second, on the thread that called [`Runner::run`].
    #[must_use]
    pub fn with_progress(self, progress: &'a dyn Fn(&Progress<'_>)) -> Runner<'a> {
        Runner { progress, ..self }
    }

    /// Plays a plan into a folder, starting at the first batch that the folder does not have. The rows that it has are read
    /// for the summary.
    ///
    /// # Errors
    /// If the rows that are there cannot be read. A fault of an agent and a full disk are no errors but a [`RunOutcome`].
    ///
    /// # Determinism
    /// The files are the same for any number of threads, and however often the run was interrupted; `timing.csv` is not.
    pub fn run(&self, plan: &PlayablePlan, folder: &mut RunFolder) -> Result<Report, RunError> {
        let begun = Instant::now();
        let batches = folder.batches_left();
        let before = folder.matches();
        let mut reading = Reading::new(plan);
        if before > 0 {
            reading.add_all(&StoredRun::open(folder.path())?)?;
        }
        let (mut digest, mut faults) = reading.end()?;
        let committer = Committer { folder, digest: &mut digest, faults: &mut faults, cell: 0 };
        let mut outcome = self.play(plan, committer, batches);
        // Even if the disk is full: the ledger may still get the entries for the rows that were written.
        if let Err(error) = folder.commit()
            && !matches!(outcome, RunOutcome::Unwritable(_))
        {
            outcome = RunOutcome::Unwritable(error);
        }
        digest.finish();
        let derived = if folder.shard().is_some() {
            Derived::default()
        } else {
            let source = Source { plan, spec: folder.spec(), extent: folder.extent() };
            Derived::new(&source, &digest, &faults, self.pages)
        };
        if !matches!(outcome, RunOutcome::Unwritable(_)) {
            let finish = || {
                derived.write(folder.path())?;
                write_timing(folder.path(), self.executor.threads(), folder.matches() - before, begun.elapsed())?;
                folder.write_manifest(outcome.word(folder.shard()))
            };
            if let Err(error) = finish() {
                outcome = RunOutcome::Unwritable(error);
            }
        }
        Ok(Report { outcome, matches: folder.matches(), derived })
    }

    fn play(&self, plan: &PlayablePlan, mut committer: Committer<'_>, batches: Range<u64>) -> RunOutcome {
        if batches.is_empty() {
            return RunOutcome::Complete;
        }
        let of = blocks_matches(plan, plan.batch(batches.start).start..plan.batch(batches.end - 1).end);
        let spare = SpareBuffers::default();
        let work = |batch, worker: &Worker<'_>| {
            play_batch(Arena::new(plan), batch, spare.take(), || worker.is_stopped(), |matches| worker.count(matches))
        };
        let commit = |committer: &mut Committer<'_>, _, played: Result<_, Box<AgentFault>>| {
            committer.commit(played.map_err(RunOutcome::of)?, &spare)
        };
        let look = |committer: &mut Committer<'_>, played| {
            (self.progress)(&Progress { played, of, digest: committer.digest, cell: committer.cell });
            // With slow agents a batch takes longer than rows may wait for their commit.
            committer.folder.commit_if_due().map_err(RunOutcome::Unwritable)
        };
        match self.executor.run_watched(batches, &mut committer, work, commit, look) {
            Ok(()) => RunOutcome::Complete,
            Err(Stopped::Cancelled) => RunOutcome::Interrupted,
            Err(Stopped::Failed(outcome)) => outcome,
        }
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

/// Writes the row of this session to `timing.csv`, the only file that depends on the machine.
pub(super) fn write_timing(folder: &Path, threads: usize, matches: u64, time: Duration) -> Result<(), RunError> {
    let path = folder.join("timing.csv");
    let mut text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "threads,matches,seconds\n".to_owned(),
        Err(error) => return Err(RunError::unreadable(&path)(error)),
    };
    text.extend([format!("{threads},{matches},{:.3}\n", time.as_secs_f64())]);
    Ok(write_whole(&path, text.as_bytes())?)
}

/// Writes the record of a match that a fault stopped to `fault.jsonl`, and returns its path.
///
/// # Errors
/// If it cannot be written.
pub fn keep_fault(folder: &Path, fault: &AgentFault) -> Result<PathBuf, RunError> {
    let path = folder.join("fault.jsonl");
    write_whole(&path, (fault.record.to_json() + "\n").as_bytes())?;
    Ok(path)
}
