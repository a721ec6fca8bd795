//! Reads stored rows.

use std::path::{Path, PathBuf};

use cambio_core::rules::MAX_SEATS;
use rayon::prelude::*;

use crate::digest::{Derived, Digest, Extract};
use crate::disk::RunError;
use crate::plan::{Block, Payoff, Plan};
use crate::play::{BlockRows, rows_of_record};
use crate::rows::{FILES, RowReader};
use crate::store::{BatchEntry, ReadBatch, StoredRun, row_files};

/// The maximum number of batches that are parsed in parallel, and the number of bytes of rows from which no further batch is
/// added to them.
const AT_ONCE: usize = 64;
const MOST_WAITING: usize = 1 << 28;

/// Parses the rows of batches and adds them up in order. Batches are parsed in parallel, which does not affect the result. Errors
/// contain the `place` (folder or file) of a batch.
pub(crate) struct BatchReader<'p> {
    plan: &'p Plan,
    waiting: Vec<UnreadBatch>,
    /// The number of bytes in the waiting batches.
    bytes: usize,
    digest: Digest,
}

struct UnreadBatch {
    place: PathBuf,
    entry: BatchEntry,
    files: Vec<Vec<u8>>,
}

impl<'p> BatchReader<'p> {
    pub(crate) fn new(plan: &'p Plan) -> BatchReader<'p> {
        BatchReader { plan, waiting: Vec::new(), bytes: 0, digest: Digest::new(plan) }
    }

    /// Adds the next batch, with its rows. An error may belong to an earlier batch.
    pub(crate) fn add(&mut self, place: &Path, entry: BatchEntry, files: Vec<Vec<u8>>) -> Result<(), RunError> {
        self.bytes += files.iter().map(Vec::len).sum::<usize>();
        self.waiting.push(UnreadBatch { place: place.to_owned(), entry, files });
        if self.waiting.len() == AT_ONCE || self.bytes >= MOST_WAITING { self.read() } else { Ok(()) }
    }

    pub(crate) fn add_all(&mut self, stored: &StoredRun) -> Result<(), RunError> {
        for batch in stored.read_batches()? {
            let (entry, files) = batch?;
            self.add(&stored.path, entry.clone(), files)?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        let found: Vec<_> = self.waiting.par_iter().map(|waiting| waiting.read(plan)).collect();
        self.waiting.clear();
        self.bytes = 0;
        for found in found {
            let (batch, extract, faults) = found?;
            self.digest.add(plan, batch, &extract, &faults);
        }
        Ok(())
    }

    /// The sums of all batches. Further batches can be added to the digest.
    pub(crate) fn end(mut self) -> Result<Digest, RunError> {
        self.read()?;
        Ok(self.digest)
    }
}

impl UnreadBatch {
    /// The number of the batch, its extract, and the faults.
    fn read(&self, plan: &Plan) -> Result<(u64, Extract, Vec<String>), RunError> {
        let UnreadBatch { place, entry, files } = self;
        let mut extract = Extract::default();
        for (block, rows) in blocks_in((plan, place), entry, files)? {
            extract.add(plan, &block, &rows.matches, &rows.players);
        }
        Ok((entry.batch, extract, faults_in((plan, place), entry, files)?))
    }
}

/// The faults of a batch, as lines of JSON.
fn faults_in((plan, place): (&Plan, &Path), entry: &BatchEntry, files: &[Vec<u8>]) -> Result<Vec<String>, RunError> {
    let Some(number) = row_files(plan).iter().position(|file| file.name == "faults.jsonl") else {
        return Ok(Vec::new());
    };
    let text =
        std::str::from_utf8(&files[number]).map_err(|error| bad(place, entry, "faults.jsonl", &error.to_string()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn bad(place: &Path, entry: &BatchEntry, file: &str, what: &str) -> RunError {
    RunError::damaged(&place.join(file), format!("batch {}: {what}", entry.batch))
}

/// Reads the blocks of a batch. A block without rows is void.
fn blocks_in<'p>(
    (plan, place): (&'p Plan, &Path),
    entry: &BatchEntry,
    files: &[Vec<u8>],
) -> Result<Vec<(Block<'p>, BlockRows<'p>)>, RunError> {
    let bad = |file: &str, what: &str| bad(place, entry, file, what);
    let reader = |file: usize| RowReader::new(&files[file]).map_err(|what| bad(FILES[file].name, &what));
    let mut readers = [reader(0)?, reader(1)?, reader(2)?];
    let mut blocks = Vec::new();
    for block in plan.batch(entry.batch).map(|number| plan.block(number)) {
        let rows = BlockRows::read(plan, &block, &mut readers).map_err(|(file, what)| bad(file, &what))?;
        blocks.push((block, rows));
    }
    match FILES.iter().zip(&readers).find(|(_, reader)| reader.next().is_some()) {
        Some((file, _)) => Err(bad(file.name, "a row belongs to no block of the batch")),
        None => Ok(blocks),
    }
}

/// Replays the records of a batch without agents, and compares the rows that they give with the stored rows. Returns the number
/// of records.
pub(super) fn replay_records(
    (plan, place): (&Plan, &Path),
    entry: &BatchEntry,
    files: &[Vec<u8>],
) -> Result<u64, RunError> {
    let number = row_files(plan).iter().position(|file| file.name == "records.jsonl").expect("the plan has records");
    let bad = |what: &str| bad(place, entry, "records.jsonl", what);
    let text = std::str::from_utf8(&files[number]).map_err(|error| bad(&error.to_string()))?;
    let (mut lines, mut replayed) = (text.lines(), 0);
    for (block, rows) in blocks_in((plan, place), entry, files)? {
        // A forfeited match has no record.
        for (row, rounds, players) in rows.by_match().filter(|(.., players)| !players.iter().any(|row| row.forfeit)) {
            let mut lapses = [None; MAX_SEATS];
            lapses.iter_mut().zip(players).for_each(|(lapses, row)| *lapses = row.counts.lapses);
            let line = lines.next().unwrap_or_default();
            let found = rows_of_record(plan, (&block, row.key.rotation), line, &lapses);
            if !found.is_some_and(|found| {
                found.matches == std::slice::from_ref(row) && found.rounds == rounds && found.players == players
            }) {
                let (lineup, deal, rotation) = (row.key.lineup, row.key.deal, row.key.rotation);
                return Err(bad(&format!(
                    "the record of {lineup}, deal {deal}, rotation {rotation} does not give its rows"
                )));
            }
            replayed += 1;
        }
    }
    if lines.next().is_some() { Err(bad("a record belongs to no match of the batch")) } else { Ok(replayed) }
}

impl StoredRun {
    /// Iterates over the blocks of the run in canonical order, without records and faults. A block without rows is void.
    ///
    /// # Errors
    /// If a file cannot be read or does not match the ledger.
    pub fn blocks(&self) -> Result<impl Iterator<Item = Result<(Block<'_>, BlockRows<'_>), RunError>>, RunError> {
        let blocks = |batch: Result<ReadBatch<'_>, RunError>| {
            let (entry, files) = batch?;
            blocks_in((&self.plan, &self.path), entry, &files)
        };
        Ok(self.read_batches()?.flat_map(move |batch| match blocks(batch) {
            Ok(blocks) => blocks.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }))
    }
}

/// Computes the derived tables of a run from its rows.
///
/// # Errors
/// If a file cannot be read or does not match the ledger.
pub fn derive(stored: &StoredRun) -> Result<Derived, RunError> {
    Ok(Derived::new(&stored.plan, sums(stored, None)?))
}

/// The sums of a run. With a payoff, they include the sums of this payoff in each deal.
pub(crate) fn sums(stored: &StoredRun, keep: Option<Payoff>) -> Result<Digest, RunError> {
    let mut reading = BatchReader::new(&stored.plan);
    if let Some(payoff) = keep {
        reading.digest.cells.iter_mut().for_each(|cell| cell.keep_deals(payoff));
    }
    reading.add_all(stored)?;
    let mut digest = reading.end()?;
    digest.end_deal();
    Ok(digest)
}
