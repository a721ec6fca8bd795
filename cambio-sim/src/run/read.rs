//! Reads stored rows back.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::digest::{Derived, Digest, Extract};
use crate::disk::RunError;
use crate::plan::{Block, Plan};
use crate::rows::{BadRow, MatchRow, PlayerRow, RoundRow, for_each_block};
use crate::store::{BatchEntry, StoredRun, row_files};

/// So many batches are read at once.
const AT_ONCE: usize = 64;

/// Reads the rows of batches and sums them up in order. Many batches are read at once, by all cores; what is found does not depend on
/// that. Errors call the folder or file of a batch by its place.
pub(crate) struct Reading<'p> {
    plan: &'p Plan,
    waiting: Vec<Waiting>,
    digest: Digest,
}

/// A batch that is not read yet.
struct Waiting {
    place: PathBuf,
    entry: BatchEntry,
    files: Vec<Vec<u8>>,
}

/// What the rows of a batch say. A block without rows was voided.
struct Found<'p> {
    blocks: Vec<Block<'p>>,
    extract: Extract,
    faults: Vec<String>,
}

impl<'p> Reading<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Reading<'p> {
        Reading { plan, waiting: Vec::new(), digest: Digest::new(plan) }
    }

    /// Takes the next batch; its rows are not compressed. An error may be that of a batch before it.
    pub(crate) fn add(&mut self, place: &Path, entry: BatchEntry, files: Vec<Vec<u8>>) -> Result<(), RunError> {
        self.waiting.push(Waiting { place: place.to_owned(), entry, files });
        if self.waiting.len() == AT_ONCE { self.read() } else { Ok(()) }
    }

    /// Reads all batches of a folder.
    pub(crate) fn add_all(&mut self, stored: &StoredRun) -> Result<(), RunError> {
        stored.for_each_batch(|entry, files| self.add(&stored.path, entry.clone(), files))
    }

    fn read(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        let found: Vec<_> = self.waiting.par_iter().map(|waiting| waiting.read(plan)).collect();
        self.waiting.clear();
        for found in found {
            let Found { blocks, extract, faults } = found?;
            self.digest.add(&blocks, &extract, &faults);
        }
        Ok(())
    }

    /// The sums so far, to which rows can be added.
    pub(crate) fn end(mut self) -> Result<Digest, RunError> {
        self.read()?;
        Ok(self.digest)
    }
}

impl Waiting {
    fn read<'p>(&self, plan: &'p Plan) -> Result<Found<'p>, RunError> {
        let Waiting { place, entry, files } = self;
        let mut found = Found { blocks: Vec::new(), extract: Extract::default(), faults: Vec::new() };
        for_each_block_in((plan, place), entry, files, |block, matches, rounds, players| {
            found.extract.add(block, matches, rounds, players);
            found.blocks.push(*block);
        })?;
        found.faults = faults_in((plan, place), entry, files)?;
        Ok(found)
    }
}

/// The faults of a batch, as lines of JSON; `files` are not compressed.
pub(crate) fn faults_in(
    (plan, place): (&Plan, &Path),
    entry: &BatchEntry,
    files: &[Vec<u8>],
) -> Result<Vec<String>, RunError> {
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

/// Reads the blocks of a batch. A block without rows was voided.
fn for_each_block_in<'p>(
    (plan, place): (&'p Plan, &Path),
    entry: &BatchEntry,
    files: &[Vec<u8>],
    take: impl FnMut(&Block<'p>, &[MatchRow<'_>], &[RoundRow<'_>], &[PlayerRow<'_>]),
) -> Result<(), RunError> {
    let read = for_each_block(plan, plan.batch(entry.batch), files, take);
    read.map_err(|BadRow { file, what }| bad(place, entry, file, &what))
}

/// Reads the blocks of a run in canonical order. A block without rows was voided.
///
/// # Errors
/// If a file cannot be read or does not agree with the ledger.
pub(crate) fn for_each_block_of<'p>(
    stored: &'p StoredRun,
    mut take: impl FnMut(&Block<'p>, &[MatchRow<'_>], &[RoundRow<'_>], &[PlayerRow<'_>]),
) -> Result<(), RunError> {
    stored.for_each_batch(|entry, files| for_each_block_in((&stored.plan, &stored.path), entry, &files, &mut take))
}

/// Makes the derived tables of a run from its rows.
///
/// # Errors
/// If a file cannot be read or does not agree with the ledger.
pub fn derive(stored: &StoredRun) -> Result<Derived, RunError> {
    let mut reading = Reading::new(&stored.plan);
    reading.add_all(stored)?;
    Ok(Derived::new(&stored.plan, reading.end()?))
}
