//! Runs: play a plan into a folder or into memory, read a folder, and verify it.

mod batch;
mod read;
mod replay;
mod verify;

use std::path::Path;

use cambio_exec::{Executor, write_whole};

use crate::digest::{Derived, Digest};
use crate::disk::RunError;
use crate::plan::PlayablePlan;
use crate::play::{PlayError, Timing};
use crate::store::{RunFolder, StoredRun};

pub(crate) use batch::{BatchOutput, PlayedBatch, play_batches};
use read::BatchReader;
pub use read::derive;
pub(crate) use read::{faults_in, sums};
pub use replay::{ReplayError, StoredMatch};
pub use verify::{Findings, ReplayScope, verify, verify_with};

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
pub struct PlayProgress<'a> {
    /// The number of matches played in this call.
    pub played: u64,
    /// The number of matches to play in this call.
    pub of: u64,
    /// The sums of all committed batches.
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
/// let show = |progress: &cambio_sim::PlayProgress<'_>| eprintln!("{} of {}", progress.played, progress.of);
/// let report = Runner::new(&executor).with_progress(&show).run(&plan, &mut folder)?;
///
/// report.outcome?;
/// assert_eq!(report.matches, 20);
/// let random = report.derived.summary.iter().find(|row| row.agent == "random").unwrap();
/// assert!(random.rank_points < 0.5);
///
/// // `play` returns the same tables without a folder.
/// let report = Runner::new(&executor).play(&plan);
/// report.outcome?;
/// let pair = &report.derived.pairwise[0];
/// assert_eq!((pair.agent.as_str(), pair.other.as_str(), pair.deals), ("random", "greedy", 10));
/// assert!(pair.difference < 0.0);
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
    progress: &'a dyn Fn(&PlayProgress<'_>),
}

impl<'a> Runner<'a> {
    /// A runner on an executor. The executor's token stops the runner.
    pub fn new(executor: &'a Executor) -> Runner<'a> {
        Runner { executor, progress: &|_| () }
    }

    /// Calls `progress` about ten times a second, on the calling thread.
    #[must_use]
    pub fn with_progress(self, progress: &'a dyn Fn(&PlayProgress<'_>)) -> Runner<'a> {
        Runner { progress, ..self }
    }

    /// Plays a plan and stores nothing.
    ///
    /// # Determinism
    /// The tables are the same as after [`Runner::run`], for any number of threads.
    pub fn play(&self, plan: &PlayablePlan) -> Report {
        let commit = |(matches, digest, timing): &mut (u64, Digest, Timing), played: &mut PlayedBatch<'_>| {
            *matches += played.matches;
            timing.extend(&played.timing);
            digest.add(&played.blocks, &played.extract, &played.faults);
            Ok(())
        };
        let look = |(_, digest, _): &mut (u64, Digest, Timing), played| {
            (self.progress)(&PlayProgress { played, of: plan.matches(), digest });
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
        let before = folder.matches();
        let mut reading = BatchReader::new(plan);
        if before > 0 {
            reading.add_all(&StoredRun::open(folder.path())?)?;
        }
        let mut digest = reading.end()?;
        let batches = folder.batches_left();
        let of = plan.matches_of(batches.clone());
        let commit = |(folder, digest): &mut (&mut RunFolder, &mut Digest), played: &mut PlayedBatch<'_>| {
            folder.add_timing(&played.timing, played.entry.batch + 1)?;
            folder.append(played.entry.clone(), &played.files)?;
            digest.add(&played.blocks, &played.extract, &played.faults);
            Ok(())
        };
        let look = |(folder, digest): &mut (&mut RunFolder, &mut Digest), played| {
            (self.progress)(&PlayProgress { played, of, digest });
            // With slow agents, the next batch may finish long after a commit is due.
            folder.commit_if_due()
        };
        let mut state = (&mut *folder, &mut digest);
        let mut outcome = play_batches(self.executor, plan, batches, BatchOutput::Rows, &mut state, commit, look);
        // Commit even after an error such as a full disk: the entries of the written rows may still fit on the disk.
        let committed = folder.commit();
        let derived = Derived::new(plan, digest);
        if !matches!(outcome, Err(PlayError::Run(_))) {
            let finish = || {
                committed?;
                derived.write(folder.path())?;
                folder.write_timing()?;
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
        Ok(Report { outcome, matches: folder.matches(), derived, timing: folder.timing().clone() })
    }
}

/// Writes the record of the match that was stopped by a fault to `fault.jsonl`. If the run is complete, removes this
/// file, which may be left from before the run was resumed.
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
