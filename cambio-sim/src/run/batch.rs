//! Plays batches into memory.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cambio_exec::{Executor, Worker};

use crate::digest::Extract;
use crate::disk::RunError;
use crate::plan::{Block, FaultPolicy, Plan, PlayablePlan};
use crate::play::{AgentFault, BlockPlayer, BlockRows, PlayError, TimeSpent, Timing};
use crate::rows::RowWriter;
use crate::store::BatchEntry;

/// A played batch. After its commit, its memory is reused for a later batch.
#[derive(Default)]
pub(crate) struct PlayedBatch<'p> {
    pub(crate) entry: BatchEntry,
    pub(crate) blocks: Vec<Block<'p>>,
    /// The number of matches, excluding void blocks.
    pub(crate) matches: u64,
    /// The time that each block took.
    pub(crate) took: Vec<Duration>,
    pub(crate) timing: Timing,
    pub(crate) extract: Extract,
    /// The bytes and the number of rows of each file; empty with [`BatchOutput::Sums`].
    pub(crate) files: Vec<(Vec<u8>, u64)>,
    /// The faults, as lines of JSON.
    pub(crate) faults: Vec<String>,
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
pub(crate) fn play_batches<'p, S: Send>(
    executor: &Executor,
    plan: &'p PlayablePlan,
    batches: Range<u64>,
    output: BatchOutput,
    state: &mut S,
    commit: impl Fn(&mut S, &mut PlayedBatch<'p>) -> Result<(), RunError> + Sync,
    mut look: impl FnMut(&mut S, u64) -> Result<(), RunError>,
) -> Result<(), PlayError> {
    let spare = Mutex::new(Vec::new());
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |batch, worker: &Worker<'_>| {
        let mut played: PlayedBatch<'p> = spare().pop().unwrap_or_default();
        played.play(BlockPlayer::new(plan), batch, output, Some(worker)).map(|done| done.map(|()| played))
    };
    let commit = |state: &mut S, _, played: Result<PlayedBatch<'p>, Box<AgentFault>>| {
        let mut played = played?;
        commit(state, &mut played)?;
        spare().push(played);
        Ok::<(), PlayError>(())
    };
    Ok(executor.run_watched(batches, state, work, commit, |state, played| Ok(look(state, played)?))?)
}

impl<'p> PlayedBatch<'p> {
    /// Plays a batch and replaces the contents of `self`; `None` if the worker was stopped.
    fn play(
        &mut self,
        mut player: BlockPlayer<'p>,
        batch: u64,
        output: BatchOutput,
        worker: Option<&Worker<'_>>,
    ) -> Option<Result<(), Box<AgentFault>>> {
        let plan = player.plan();
        self.blocks.clear();
        self.took.clear();
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
            self.extract.add(plan, &block, &rows.matches, &rows.rounds, &rows.players);
            self.faults.extend(rows.faults.iter().map(|fault| fault.to_json(plan, number)));
            self.blocks.push(block);
            let matches = rows.matches.len() as u64;
            self.matches += matches;
            let (time, decisions) = (begun.elapsed(), rows.matches.iter().map(|row| u64::from(row.decisions)).sum());
            self.timing.add(block.cell_index, None, &TimeSpent { blocks: 1, matches, decisions, time });
            self.took.push(time);
            if let Some(worker) = worker {
                worker.count(block.cell.seatings.len() as u64);
            }
        }
        self.timing.extend(&player.timing);
        if let Some(writer) = writer {
            self.files = writer.into_files(plan, &self.faults);
            self.entry = BatchEntry::new(batch, &self.files);
        }
        Some(Ok(()))
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
    fn over(files: &mut Vec<(Vec<u8>, u64)>) -> BatchWriter {
        let mut used = files.drain(..).map(|(bytes, _)| bytes);
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
