//! Plays batches into memory, for this machine or for another.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cambio_exec::{Executor, Worker};
use serde::{Deserialize, Serialize};

use crate::digest::Extract;
use crate::disk::RunError;
use crate::plan::{FaultPolicy, Plan, PlanError, PlayablePlan};
use crate::play::{AgentFault, BlockPlayer, BlockRows, PlayError, TimeSpent, Timing};
use crate::rows::RowWriter;
use crate::store::{BatchEntry, Origin, Programs};

/// A played batch: everything that a run folder stores about it, and its sums for the tables. After its commit, its memory is
/// reused for a later batch.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct PlayedBatch {
    pub(crate) entry: BatchEntry,
    /// The number of matches, excluding void blocks.
    pub(crate) matches: u64,
    pub(crate) timing: Timing,
    pub(crate) extract: Extract,
    /// The faults, as lines of JSON.
    pub(crate) faults: Vec<String>,
    /// The rows of each file; empty with [`BatchOutput::Sums`].
    #[serde(skip)]
    pub(crate) files: Vec<Vec<u8>>,
}

/// Plays single batches of a plan, on any machine. [`RunFolder::commit`](crate::RunFolder::commit) takes the bytes.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{PlanPlayer, Experiment, Plan, RunFolder};
///
/// let experiment = Experiment { deals: 40, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-batches-{}", std::process::id()));
/// let mut folder = RunFolder::create(&path, &plan)?;
///
/// // Another machine needs only the lock.
/// let elsewhere = PlanPlayer::new(Plan::unlock(&folder.plan().lock())?.with_agents(&cambio_agents::roster())?);
/// for batch in folder.batches_left() {
///     folder.commit(&elsewhere.play(batch)?)?;
/// }
/// assert_eq!(folder.finish(None)?.summary.len(), 2);
/// assert_eq!(folder.matches(), 80);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PlanPlayer {
    plan: PlayablePlan,
    origin: Origin,
}

impl PlanPlayer {
    /// A player for the batches of a plan.
    pub fn new(plan: PlayablePlan) -> PlanPlayer {
        let origin = Origin::of(&plan, Programs::of(plan.specs()));
        PlanPlayer { plan, origin }
    }

    /// The plan.
    pub fn plan(&self) -> &PlayablePlan {
        &self.plan
    }

    /// Plays a batch on this thread, and returns it as bytes.
    ///
    /// # Errors
    /// If the plan has no such batch, an agent is at fault, or an agent lacks a resource.
    ///
    /// # Determinism
    /// If the agents are reproducible, all bytes but the times depend only on the plan and the batch.
    #[expect(clippy::missing_panics_doc, reason = "numbers and text can be serialized")]
    pub fn play(&self, batch: u64) -> Result<Vec<u8>, PlayError> {
        let batches = self.plan.batch_count();
        if batch >= batches {
            let allowed = format!("less than {batches}, the number of batches of the plan");
            return Err(PlanError::value("batch", batch.to_string(), allowed).into());
        }
        let mut played = PlayedBatch::default();
        played.play(BlockPlayer::new(&self.plan), batch, BatchOutput::Rows, None).expect("no worker stops it")?;
        // The rows follow as they are, because serde would visit each byte.
        let mut bytes = postcard::to_stdvec(&(&self.origin, &played)).expect("numbers and text can be serialized");
        bytes.extend(played.files.iter().flatten());
        bytes.extend(blake3::hash(&bytes).as_bytes());
        Ok(bytes)
    }
}

/// The output of a batch besides its [`Extract`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchOutput {
    /// The row files.
    Rows,
    /// No files.
    Sums,
}

/// Plays batches on an executor and commits them in order. Calls `look` about ten times a second with the number of matches
/// played.
pub(crate) fn play_batches<S: Send>(
    executor: &Executor,
    plan: &PlayablePlan,
    batches: Range<u64>,
    output: BatchOutput,
    state: &mut S,
    commit: impl Fn(&mut S, &PlayedBatch) -> Result<(), RunError> + Sync,
    mut look: impl FnMut(&mut S, u64) -> Result<(), RunError>,
) -> Result<(), PlayError> {
    let spare = Mutex::new(Vec::new());
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |batch, worker: &Worker<'_>| {
        let mut played: PlayedBatch = spare().pop().unwrap_or_default();
        played.play(BlockPlayer::new(plan), batch, output, Some(worker)).map(|done| done.map(|()| played))
    };
    let commit = |state: &mut S, _, played: Result<PlayedBatch, Box<AgentFault>>| {
        let played = played?;
        commit(state, &played)?;
        spare().push(played);
        Ok::<(), PlayError>(())
    };
    Ok(executor.run_watched(batches, state, work, commit, |state, played| Ok(look(state, played)?))?)
}

impl PlayedBatch {
    /// Plays a batch and replaces the contents of `self`; `None` if the worker was stopped.
    fn play(
        &mut self,
        mut player: BlockPlayer<'_>,
        batch: u64,
        output: BatchOutput,
        worker: Option<&Worker<'_>>,
    ) -> Option<Result<(), Box<AgentFault>>> {
        let plan = player.plan();
        self.timing.clear();
        self.extract.clear();
        self.faults.clear();
        self.matches = 0;
        let mut writer = (output == BatchOutput::Rows).then(|| BatchWriter::over(&mut self.files));
        let mut rows = BlockRows::default();
        for number in plan.batch(batch) {
            if worker.is_some_and(Worker::is_stopped) {
                return None;
            }
            let block = plan.block(number);
            let begun = Instant::now();
            player.is_timed = plan.is_timed(block.deal);
            if let Err(fault) = player.play(&block, &mut rows) {
                return Some(Err(fault));
            }
            if let Some(writer) = &mut writer {
                writer.put(&rows);
            }
            self.extract.add(plan, &block, &rows.matches, &rows.players);
            self.faults.extend(rows.faults.iter().map(|fault| fault.to_json(plan, number)));
            let matches = rows.matches.len() as u64;
            self.matches += matches;
            let (time, decisions) = (begun.elapsed(), rows.matches.iter().map(|row| u64::from(row.decisions)).sum());
            self.timing.add(block.cell_index, None, &TimeSpent { blocks: 1, matches, decisions, time });
            if let Some(worker) = worker {
                worker.count(block.cell.seatings.len() as u64);
            }
        }
        self.timing.extend(&player.timing);
        let files = writer.map_or_else(Vec::new, |writer| writer.into_files(plan, &self.faults));
        self.entry = BatchEntry::new(batch, &files);
        self.files = files.into_iter().map(|(bytes, _)| bytes).collect();
        Some(Ok(()))
    }

    /// Reads the bytes of a batch of this run, whose hash follows them. The error is a clause about the batch.
    pub(super) fn read(bytes: &[u8], expected: &Origin) -> Result<PlayedBatch, String> {
        let whole = bytes.split_last_chunk::<32>().filter(|(own, hash)| blake3::hash(own).as_bytes() == *hash);
        let read = whole.and_then(|(own, _)| postcard::take_from_bytes::<(Origin, PlayedBatch)>(own).ok());
        let ((origin, mut played), mut rest) = read.ok_or("is damaged")?;
        if let Some(difference) = expected.difference(&origin) {
            return Err(difference);
        }
        for segment in &played.entry.segments {
            let (rows, others) = rest.split_at_checked(segment.bytes as usize).ok_or("is damaged")?;
            played.files.push(rows.to_vec());
            rest = others;
        }
        Ok(played)
    }
}

type Lines = (Vec<u8>, u64);

fn put_line(lines: &mut Lines, line: &str) {
    lines.0.extend_from_slice(line.as_bytes());
    lines.0.push(b'\n');
    lines.1 += 1;
}

struct BatchWriter {
    rows: [RowWriter; 3],
    records: Lines,
}

impl BatchWriter {
    /// An empty writer that reuses the memory of these files.
    fn over(files: &mut Vec<Vec<u8>>) -> BatchWriter {
        let mut used = files.drain(..);
        let rows = [0; 3].map(|_| RowWriter::over(used.next().unwrap_or_default()));
        BatchWriter { rows, records: Lines::default() }
    }

    fn put(&mut self, rows: &BlockRows<'_>) {
        rows.write(&mut self.rows);
        for record in &rows.records {
            put_line(&mut self.records, &record.to_json());
        }
    }

    /// The contents of the batch's files as stored on disk.
    fn into_files(self, plan: &Plan, faults: &[String]) -> Vec<(Vec<u8>, u64)> {
        let mut files = Vec::from(self.rows.map(RowWriter::into_bytes));
        files.extend(plan.records.then_some(self.records));
        if plan.faults != FaultPolicy::Stop {
            let mut lines = Lines::default();
            for fault in faults {
                put_line(&mut lines, fault);
            }
            files.push(lines);
        }
        files
    }
}

/// Plays a batch again and returns its entry for the ledger; `None` if an agent is not reproducible.
pub(super) fn replay_batch(plan: &PlayablePlan, batch: u64) -> Option<Result<BatchEntry, Box<AgentFault>>> {
    if !plan.batch(batch).all(|number| plan.is_reproducible(plan.block(number).lineup)) {
        return None;
    }
    let mut played = PlayedBatch::default();
    let done = played.play(BlockPlayer::playing_all(plan), batch, BatchOutput::Rows, None)?;
    Some(done.map(|()| played.entry))
}
