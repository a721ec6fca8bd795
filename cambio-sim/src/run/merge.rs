//! Puts the parts of a run together.

use std::path::{Path, PathBuf};

use super::read::read_batch;
use crate::digest::{Derived, Digest, Page, Source};
use crate::disk::{RunError, build_aside};
use crate::store::{RunFolder, StoredRun, packed};

/// Puts the shards of a run together, in a folder of their own: the same bytes as of a run in one piece.
///
/// # Errors
/// If the folders are of different runs, overlap, or do not make a whole; the sentence names what is missing. If they cannot
/// be read, or the whole cannot be written; then nothing is left of it. Until it is whole its name is `OUT.new`.
pub fn merge(folders: &[PathBuf], out: &Path, pages: &[Page]) -> Result<StoredRun, RunError> {
    let parts = parts(folders)?;
    build_aside(out, |new| merge_into(&parts, new, pages))?;
    StoredRun::open(out)
}

/// The shards of a run, in order, if they make a whole.
fn parts(folders: &[PathBuf]) -> Result<Vec<StoredRun>, RunError> {
    let mut parts = folders.iter().map(|folder| StoredRun::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(RunError::Parts("there is nothing to merge; name the folders of a run's shares".to_owned()));
    };
    let shown = |part: &StoredRun| part.path.display().to_string();
    let (id, name) = (first.plan.run_id(), shown(first));
    for part in &parts {
        if part.plan.run_id() != id {
            let what = format!(
                "{} is of run {}, {name} of run {id}; they do not go together",
                shown(part),
                part.plan.run_id()
            );
            return Err(RunError::Parts(what));
        }
        let [one, other] = [first, part].map(StoredRun::build);
        if one.revision() != other.revision() {
            let (other_name, one, other) = (shown(part), one.revision(), other.revision());
            let what = format!("{name} was played by revision {one}, {other_name} by {other}; they do not go together");
            return Err(RunError::Parts(what));
        }
        if let (Some(one), Some(other)) = (&first.programs, &part.programs)
            && let Some(change) = one.changes(other).first()
        {
            return Err(RunError::Parts(format!("{name} and {} do not go together: {change}", shown(part))));
        }
        if !part.is_complete() || part.is_torn {
            let what = format!("{} is not complete; finish it with --resume", shown(part));
            return Err(RunError::Parts(what));
        }
    }
    // An empty shard comes before the one that begins where it is.
    parts.sort_by_key(|part| (part.batches().start, part.batches().end));
    let mut neighbours = parts.iter().zip(&parts[1..]);
    if let Some((one, other)) = neighbours.find(|(one, other)| one.batches().end > other.batches().start) {
        let what = format!("{} and {} overlap; each shard may be there once", shown(one), shown(other));
        return Err(RunError::Parts(what));
    }
    let all = parts[0].plan.batch_count();
    let mut missing = Vec::new();
    let mut next = 0;
    for batches in parts.iter().map(StoredRun::batches).chain(std::iter::once(all..all)) {
        if batches.start > next {
            let of = parts[0].shard.map(|shard| shard.of);
            let shards = of.into_iter().flat_map(|of| {
                (0..of).filter(move |&index| {
                    let from = |index: u64| (u128::from(index) * u128::from(all) / u128::from(of)) as u64;
                    from(index) >= next && from(index + 1) <= batches.start && from(index) < from(index + 1)
                })
            });
            let named: Vec<String> = shards.map(|index| index.to_string()).collect();
            let named = if named.is_empty() { String::new() } else { format!(" (--index {})", named.join(", ")) };
            missing.push(format!("shards {next} to {} of the ledger{named}", batches.start - 1));
        }
        next = next.max(batches.end);
    }
    if !missing.is_empty() {
        return Err(RunError::Parts(format!("{} of {all} are missing", missing.join(" and "))));
    }
    Ok(parts)
}

fn merge_into(parts: &[StoredRun], out: &Path, pages: &[Page]) -> Result<(), RunError> {
    let mut folder = RunFolder::create_for_parts(out, &parts[0])?;
    let mut digest = Digest::new(&parts[0].plan);
    let mut faults = Vec::new();
    for part in parts {
        part.for_each_batch(|entry, rows| {
            read_batch(part, entry, &rows, &mut digest, &mut faults)?;
            let counted = rows.into_iter().zip(&entry.segments);
            let files: Vec<(Vec<u8>, u64)> =
                counted.map(|(rows, segment)| (packed(&part.plan, rows), segment.rows)).collect();
            folder.append(entry.clone(), &files)
        })?;
    }
    folder.commit()?;
    digest.finish();
    let source = Source { plan: &parts[0].plan, spec: &parts[0].spec, extent: folder.extent() };
    Derived::new(&source, &digest, &faults, pages).write(out)?;
    folder.write_manifest("complete")
}
