//! Whole runs: plays a plan into a folder or into memory, reads a folder back, and checks it.

mod again;
mod batch;
mod read;
mod verify;

use std::path::Path;
use std::time::{Duration, Instant};

use cambio_exec::{Executor, read_text, write_whole};

use crate::digest::{Derived, Digest};
use crate::disk::RunError;
use crate::plan::PlayablePlan;
use crate::play::PlayError;
use crate::store::{RunFolder, StoredRun};

pub use again::{AgainError, StoredMatch};
pub(crate) use batch::{Output, PlayedBatch, play_batches};
use read::Reading;
pub use read::derive;
pub(crate) use read::faults_in;
pub use verify::{Findings, Replay, verify};

/// The report of a run.
#[derive(Debug)]
pub struct Report {
    /// Why the run ended before its end, if it did. Whole batches in canonical order count, and a run in a folder can be resumed.
    pub outcome: Result<(), PlayError>,
    /// The number of matches that count.
    pub matches: u64,
    /// The tables of these matches.
    pub derived: Derived,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The number of matches played in this session.
    pub played: u64,
    /// The number of matches of this session.
    pub of: u64,
    /// The sums of everything that was committed so far.
    pub digest: &'a Digest,
}

/// Plays plans. Batches are played in parallel and committed in canonical order.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, RunFolder, Runner};
///
/// let experiment = Experiment { deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-runner-{}", std::process::id()));
/// let mut folder = RunFolder::create(&path, &plan)?;
///
/// let executor = Executor::new(2)?;
/// let show = |progress: &cambio_sim::Progress<'_>| eprintln!("{} of {}", progress.played, progress.of);
/// let report = Runner::new(&executor).with_progress(&show).run(&plan, &mut folder)?;
///
/// report.outcome?;
/// assert_eq!(report.matches, 20);
/// let random = report.derived.summary.iter().find(|row| row.agent == "random").unwrap();
/// assert!(random.rank_points < 0.5);
///
/// // The same tables without a folder.
/// let report = Runner::new(&executor).play(&plan);
/// report.outcome?;
/// let pair = &report.derived.pairwise[0];
/// assert_eq!((pair.agent.as_str(), pair.other.as_str(), pair.deals), ("random", "greedy", 10));
/// assert!(pair.difference < 0.0);
///
/// // The folder has the experiment, from which `cambio run` makes the same folder.
/// let (again, _) = Experiment::read(&path.join("spec.toml"))?;
/// assert_eq!(again, experiment);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    executor: &'a Executor,
    progress: &'a dyn Fn(&Progress<'_>),
}

impl<'a> Runner<'a> {
    /// A runner on an executor, whose token stops it.
    pub fn new(executor: &'a Executor) -> Runner<'a> {
        Runner { executor, progress: &|_| () }
    }

    /// Calls `show` with the progress about ten times a second, on the thread that plays.
    #[must_use]
    pub fn with_progress(self, progress: &'a dyn Fn(&Progress<'_>)) -> Runner<'a> {
        Runner { progress, ..self }
    }

    /// Plays a plan and stores nothing.
    ///
    /// # Determinism
    /// The tables are the same as after [`Runner::run`], for any number of threads.
    pub fn play(&self, plan: &PlayablePlan) -> Report {
        let commit = |(matches, digest): &mut (u64, Digest), played: &mut PlayedBatch<'_>| {
            *matches += played.matches;
            digest.add(&played.blocks, &played.extract, &played.faults);
            Ok(())
        };
        let look = |(_, digest): &mut (u64, Digest), played| {
            (self.progress)(&Progress { played, of: plan.matches(), digest });
            Ok(())
        };
        let mut state = (0, Digest::new(plan));
        let batches = 0..plan.batch_count();
        let outcome = play_batches(self.executor, plan, batches, Output::Sums, &mut state, commit, look);
        Report { outcome, matches: state.0, derived: Derived::new(plan, state.1) }
    }

    /// Plays a plan into a folder, starting at the first batch that the folder does not have. The rows that it has are read
    /// for the summary. The record of a match that a fault stopped is written to `fault.jsonl`.
    ///
    /// # Errors
    /// If the rows that are there cannot be read. Whatever ends play, also a full disk, is the outcome of the [`Report`].
    ///
    /// # Determinism
    /// The files are the same for any number of threads, and however often the run was interrupted; `timing.csv` is not.
    pub fn run(&self, plan: &PlayablePlan, folder: &mut RunFolder) -> Result<Report, RunError> {
        let begun = Instant::now();
        let before = folder.matches();
        let mut reading = Reading::new(plan);
        if before > 0 {
            reading.add_all(&StoredRun::open(folder.path())?)?;
        }
        let mut digest = reading.end()?;
        let batches = folder.batches_left();
        let of = plan.matches_of(batches.clone());
        let commit = |(folder, digest): &mut (&mut RunFolder, &mut Digest), played: &mut PlayedBatch<'_>| {
            folder.append(played.entry.clone(), &played.files)?;
            digest.add(&played.blocks, &played.extract, &played.faults);
            Ok(())
        };
        let look = |(folder, digest): &mut (&mut RunFolder, &mut Digest), played| {
            (self.progress)(&Progress { played, of, digest });
            // With slow agents a batch takes longer than rows may wait for their commit.
            folder.commit_if_due()
        };
        let mut state = (&mut *folder, &mut digest);
        let mut outcome = play_batches(self.executor, plan, batches, Output::Rows, &mut state, commit, look);
        // Even if the disk is full: the ledger may still get the entries for the rows that were written.
        let committed = folder.commit();
        let derived = Derived::new(plan, digest);
        if !matches!(outcome, Err(PlayError::Run(_))) {
            let finish = || {
                committed?;
                derived.write(folder.path())?;
                write_timing(folder.path(), self.executor.threads(), folder.matches() - before, begun.elapsed())?;
                keep_fault(folder.path(), &mut outcome)?;
                folder.write_manifest(match &outcome {
                    Ok(()) => "complete",
                    Err(PlayError::Fault(_)) => "fault",
                    Err(_) => "interrupted",
                })
            };
            if let Err(error) = finish() {
                outcome = Err(error.into());
            }
        }
        Ok(Report { outcome, matches: folder.matches(), derived })
    }
}

/// Writes the record of a match that a fault stopped to `fault.jsonl`. A run that is complete has no such file: it may be there
/// from a fault before the run was resumed.
fn keep_fault(folder: &Path, outcome: &mut Result<(), PlayError>) -> Result<(), RunError> {
    let path = folder.join("fault.jsonl");
    match outcome {
        Err(PlayError::Fault(fault)) => {
            write_whole(&path, (fault.record.to_json() + "\n").as_bytes())?;
            fault.kept = Some(path.display().to_string());
        }
        Ok(()) if path.exists() => std::fs::remove_file(&path).map_err(RunError::unwritable(&path))?,
        _ => {}
    }
    Ok(())
}

/// Writes the row of this session to `timing.csv`, the only file that depends on the machine.
pub(crate) fn write_timing(folder: &Path, threads: usize, matches: u64, time: Duration) -> Result<(), RunError> {
    let path = folder.join("timing.csv");
    let mut text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "threads,matches,seconds\n".to_owned(),
        Err(error) => return Err(RunError::unreadable(&path)(error)),
    };
    text.extend([format!("{threads},{matches},{:.3}\n", time.as_secs_f64())]);
    Ok(write_whole(&path, text.as_bytes())?)
}
