//! Runs: play a plan into a folder or into memory, read a folder, and verify it.

mod batch;
mod read;
mod replay;
mod verify;

use cambio_core::Record;
use cambio_exec::{Executor, write_whole};

use crate::digest::{Derived, Digest};
use crate::disk::RunError;
use crate::plan::PlayablePlan;
use crate::play::{PlayError, Timing};
use crate::store::{RunFolder, StoredRun};

pub use batch::PlanPlayer;
use batch::{BatchOutput, PlayedBatch, play_batches};
use read::BatchReader;
pub use read::derive;
pub(crate) use read::sums;
pub use verify::{CheckOutcome, Findings, ReplayScope, verify};

/// The report of a run.
#[derive(Debug)]
pub struct Report {
    /// The error that stopped the run, if any. The batches before it are kept, and a run in a folder can be resumed.
    pub outcome: Result<(), PlayError>,
    /// The number of matches in the kept batches.
    pub matches: u64,
    /// The tables of these matches.
    pub derived: Derived,
    /// The times of the agents and of all blocks in these matches.
    pub timing: Timing,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct PlayProgress {
    /// The number of matches played in this call.
    pub played: u64,
    /// The number of matches to play in this call.
    pub of: u64,
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
/// let show = |progress: &cambio_sim::PlayProgress| eprintln!("{} of {}", progress.played, progress.of);
/// let report = Runner::new(&executor).with_progress(&show).run(&plan, &mut folder)?;
///
/// report.outcome?;
/// assert_eq!(report.matches, 20);
/// let random = report.derived.summary.iter().find(|row| row.agent == "random").unwrap();
/// assert!(random.rank_points.mean < 0.5);
///
/// // `play` returns the same tables without a folder.
/// let report = Runner::new(&executor).play(&plan);
/// report.outcome?;
/// let pair = &report.derived.pairwise[0];
/// assert_eq!((pair.agent.as_str(), pair.other.as_str(), pair.deals), ("random", "greedy", 10));
/// assert!(pair.difference.mean < 0.0);
///
/// // The folder contains the experiment, so that `cambio run` can reproduce the folder.
/// let (again, _) = Experiment::read(&path.join("spec.toml"))?;
/// assert_eq!(again, experiment);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    executor: &'a Executor,
    progress: &'a dyn Fn(&PlayProgress),
}

impl<'a> Runner<'a> {
    /// A runner on an executor. The executor's token stops the runner.
    pub fn new(executor: &'a Executor) -> Runner<'a> {
        Runner { executor, progress: &|_| () }
    }

    /// Calls `progress` about ten times a second, on the calling thread.
    #[must_use]
    pub fn with_progress(self, progress: &'a dyn Fn(&PlayProgress)) -> Runner<'a> {
        Runner { progress, ..self }
    }

    /// Plays a plan and stores nothing.
    ///
    /// # Determinism
    /// The tables are the same as after [`Runner::run`], for any number of threads.
    pub fn play(&self, plan: &PlayablePlan) -> Report {
        let commit = |(matches, digest, timing): &mut (u64, Digest, Timing), played: &PlayedBatch| {
            *matches += played.matches;
            timing.extend(&played.timing);
            digest.add(plan, played.entry.batch, &played.extract, &played.faults);
            Ok(())
        };
        let look = |_: &mut (u64, Digest, Timing), played| {
            (self.progress)(&PlayProgress { played, of: plan.matches() });
            Ok(())
        };
        let mut state = (0, Digest::new(plan), Timing::default());
        let batches = 0..plan.batch_count();
        let outcome = plan
            .check_agents()
            .map_err(PlayError::from)
            .and_then(|()| play_batches(self.executor, plan, batches, BatchOutput::Sums, &mut state, commit, look));
        Report { outcome, matches: state.0, derived: Derived::new(plan, state.1), timing: state.2 }
    }

    /// Plays a plan into a folder, starting at the first batch that the folder lacks. Existing rows are read for the summary.
    /// If a fault stops a match, its record is written to `fault.jsonl`.
    ///
    /// # Errors
    /// If the existing rows cannot be read. Errors while playing, including a full disk, are in [`Report::outcome`].
    ///
    /// # Determinism
    /// Except for `timing.csv`, the files do not depend on the machine, on the number of threads or on interruptions.
    pub fn run(&self, plan: &PlayablePlan, folder: &mut RunFolder) -> Result<Report, RunError> {
        folder.read_sums()?;
        let batches = folder.batches_left();
        let of = plan.matches_of(batches.clone());
        let look = |folder: &mut RunFolder, played| {
            (self.progress)(&PlayProgress { played, of });
            // With slow agents, the next batch may finish long after a commit is due.
            folder.commit_if_due()
        };
        let commit = |folder: &mut RunFolder, played: &PlayedBatch| folder.add(played);
        let mut outcome = play_batches(self.executor, plan, batches, BatchOutput::Rows, &mut *folder, commit, look);
        // Commit even after an error such as a full disk: the entries of the written rows may still fit on the disk.
        let committed = folder.flush();
        let derived = Derived::new(plan, folder.digest.take().unwrap_or_default());
        if !matches!(outcome, Err(PlayError::Run(_))) {
            let fault = match &mut outcome {
                Err(PlayError::Fault(fault)) => {
                    fault.kept = Some(folder.path().join(FAULT_FILE).display().to_string());
                    Some(&fault.record)
                }
                _ => None,
            };
            if let Err(error) = committed.and_then(|()| folder.write_tables(&derived, fault)) {
                outcome = Err(error.into());
            }
        }
        Ok(Report { outcome, matches: folder.matches(), derived, timing: folder.timing().clone() })
    }
}

/// The file with the match that was stopped by a fault.
const FAULT_FILE: &str = "fault.jsonl";

impl RunFolder {
    /// Commits a batch that a [`PlanPlayer`] has played, on this machine or another. Batches are committed in order. The last
    /// committed batch may be committed again: its bytes are compared, unless its agents are not reproducible.
    ///
    /// # Errors
    /// If the batch is of another plan or program, damaged, or not the next one; [`RunError::Conflict`] if the last batch is
    /// committed again with other rows; or if the folder cannot be written.
    pub fn commit(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let other =
            |what: String| RunError::Other(format!("cannot commit to {}: the batch {what}", self.path().display()));
        let played = PlayedBatch::read(bytes, self.origin()).map_err(other)?;
        let (batch, next) = (played.entry.batch, self.batches_left().start);
        if batch + 1 == next {
            let mut blocks = self.plan().batch(batch).map(|number| self.plan().block(number));
            let is_same = self.last.as_ref().is_none_or(|last| *last == played.entry);
            if is_same || !blocks.all(|block| self.plan().is_reproducible(block.lineup)) {
                return Ok(());
            }
            return Err(RunError::Conflict(format!(
                "batch {batch} ({}) was played twice and gave different rows; an agent is not reproducible, or a machine is \
                 faulty",
                self.plan().describe(batch)
            )));
        }
        if batch != next {
            return Err(other(format!("must be number {next}, found {batch}")));
        }
        self.read_sums()?;
        self.add(&played)
    }

    /// Writes the tables, the times and the manifest. If not all batches are committed, the run can be resumed. `fault` is the
    /// record of the match in which an agent stopped the run.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    pub fn finish(&mut self, fault: Option<&Record>) -> Result<Derived, RunError> {
        self.read_sums()?;
        self.flush()?;
        let digest = self.digest.take().unwrap_or_default();
        let derived = Derived::new(self.plan(), digest);
        self.write_tables(&derived, fault)?;
        Ok(derived)
    }

    /// Reads the sums of the batches that earlier calls have committed.
    fn read_sums(&mut self) -> Result<(), RunError> {
        if self.digest.is_none() {
            let mut reading = BatchReader::new(self.plan());
            if self.matches() > 0 {
                reading.add_all(&StoredRun::open(self.path())?)?;
            }
            self.digest = Some(reading.end()?);
        }
        Ok(())
    }

    /// Appends a batch.
    fn add(&mut self, played: &PlayedBatch) -> Result<(), RunError> {
        let batch = played.entry.batch;
        self.add_timing(&played.timing, batch + 1)?;
        self.append(&played.entry, &played.files)?;
        self.add_sums(batch, &played.extract, &played.faults);
        Ok(())
    }

    fn write_tables(&mut self, derived: &Derived, fault: Option<&Record>) -> Result<(), RunError> {
        derived.write(self.path())?;
        self.write_timing()?;
        let path = self.path().join(FAULT_FILE);
        let is_complete = self.batches_left().is_empty();
        if let Some(record) = fault {
            write_whole(&path, (record.to_json() + "\n").as_bytes())?;
        } else if is_complete && path.exists() {
            // It may be left from before the run was resumed.
            std::fs::remove_file(&path).map_err(RunError::unwritable(&path))?;
        }
        self.write_manifest(match fault {
            Some(_) => "fault",
            None if is_complete => "complete",
            None => "interrupted",
        })
    }
}
