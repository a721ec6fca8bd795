//! Reads stored rows back.

use std::path::Path;

use crate::digest::{BaselineRow, Derived, Digest, Extract, Page, Source, against};
use crate::disk::RunError;
use crate::plan::{Block, Plan};
use crate::rows::{BadRow, MatchRow, PlayerRow, RoundRow, for_each_block};
use crate::store::{BatchEntry, StoredRun, row_files};

/// Adds the rows of a batch to the digest; errors call the folder by `place`. A block without rows was voided.
pub(crate) fn read_batch(
    (plan, place): (&Plan, &Path),
    entry: &BatchEntry,
    files: &[Vec<u8>],
    digest: &mut Digest,
    faults: &mut Vec<String>,
) -> Result<(), RunError> {
    let (mut blocks, mut extract) = (Vec::new(), Extract::default());
    for_each_block_in((plan, place), entry, files, |block, matches, rounds, players| {
        extract.add(block, matches, rounds, players);
        blocks.push(*block);
    })?;
    digest.add_extract(&blocks, &extract);
    if let Some(number) = row_files(plan).iter().position(|file| file.name == "faults.jsonl") {
        let text = std::str::from_utf8(&files[number])
            .map_err(|error| bad(place, entry, "faults.jsonl", &error.to_string()))?;
        faults.extend(text.lines().map(str::to_owned));
    }
    Ok(())
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

/// Makes the derived tables and pages of a run from its rows.
///
/// # Errors
/// If a file cannot be read or does not agree with the ledger.
pub fn derive(stored: &StoredRun, pages: &[Page]) -> Result<Derived, RunError> {
    let (digest, faults) = digest(stored)?;
    let source = Source { plan: &stored.plan, spec: &stored.spec, extent: stored.extent() };
    Ok(Derived::new(&source, &digest, &faults, pages))
}

/// Compares every agent of a run with one, by its place in the plan, table by table (Dunnett 1955). The intervals of a table
/// hold together; they are narrower than those of all pairs.
///
/// # Errors
/// If something cannot be read or is not what the ledger says.
pub fn against_baseline(stored: &StoredRun, baseline: usize) -> Result<Vec<BaselineRow>, RunError> {
    Ok(against(&stored.plan, &digest(stored)?.0, baseline))
}

/// The sums of a run's rows, and its faults.
fn digest(stored: &StoredRun) -> Result<(Digest, Vec<String>), RunError> {
    let mut digest = Digest::new(&stored.plan);
    let mut faults = Vec::new();
    stored.for_each_batch(|entry, rows| {
        read_batch((&stored.plan, &stored.path), entry, &rows, &mut digest, &mut faults)
    })?;
    digest.finish();
    Ok((digest, faults))
}
