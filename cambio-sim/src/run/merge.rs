//! Merges the shards of a run.

use std::path::{Path, PathBuf};

use cambio_exec::build_aside;

use super::read::Reading;
use crate::digest::{Derived, Page, Source};
use crate::disk::{PartsError, RunError};
use crate::store::{RunFolder, StoredRun, packed};

/// Merges the shards of a run into a new folder. It has the same bytes as a run in one piece. Returns the run and its tables.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, Replay, RunFolder, Runner, Shard, merge, verify};
///
/// let experiment = Experiment {
///     seed: Some(0.into()),
///     deals: 20,
///     rules: vec!["classic".into()],
///     seats: vec![2],
///     agents: vec!["random".into(), "greedy".into()],
///     ..Experiment::default()
/// };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let place = std::env::temp_dir().join(format!("cambio-merge-{}", std::process::id()));
/// let executor = Executor::new(1)?;
/// let mut folders = Vec::new();
/// for index in 0..2 {
///     let path = place.join(index.to_string());
///     let mut folder = RunFolder::create(&path, "", &plan, Some(Shard { index, of: 2 }))?;
///     Runner::new(&executor).run(&plan, &mut folder)?;
///     folders.push(path);
/// }
/// let (whole, _) = merge(&folders, &place.join("whole"), &[])?;
/// assert_eq!(whole.matches(), 40);
///
/// let findings = verify(&whole, &plan, Replay::All, &[])?;
/// assert!(findings.wrong.is_empty() && findings.replayed > 0);
/// # std::fs::remove_dir_all(&place)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the folders belong to different runs, overlap, or are not all shards; the sentence names what is missing. If a folder
/// cannot be read, or the new one cannot be written; nothing is left of it then. The new folder has the name `OUT.new` until
/// it is whole.
pub fn merge(folders: &[PathBuf], out: &Path, pages: &[Page]) -> Result<(StoredRun, Derived), RunError> {
    let parts = parts(folders)?;
    let mut derived = Derived::default();
    build_aside(out, |new| {
        derived = merge_into(&parts, new, pages)?;
        Ok::<_, RunError>(())
    })?;
    Ok((StoredRun::open(out)?, derived))
}

/// The shards in order, if together they are the whole run.
fn parts(folders: &[PathBuf]) -> Result<Vec<StoredRun>, RunError> {
    let mut parts = folders.iter().map(|folder| StoredRun::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let first = parts.first().ok_or(PartsError::Nothing)?;
    let shown = |part: &StoredRun| part.path.display().to_string();
    for part in &parts {
        let (path, first_path) = (shown(part), shown(first));
        let [run_id, found] = [first, part].map(|part| part.plan.run_id());
        if found != run_id {
            return Err(PartsError::OtherRun { path, found, first: first_path, run_id }.into());
        }
        let [revision, found] = [first, part].map(|part| part.build().revision().to_owned());
        if found != revision {
            return Err(PartsError::OtherRevision { path, found, first: first_path, revision }.into());
        }
        if let Some(change) = first.programs.changes(&part.programs).into_iter().next() {
            return Err(PartsError::OtherBot { path, first: first_path, change }.into());
        }
        if !part.is_complete() || part.is_torn {
            return Err(PartsError::Unfinished(path).into());
        }
    }
    // An empty shard comes before the shard that begins at the same batch.
    parts.sort_by_key(|part| (part.batches().start, part.batches().end));
    let mut neighbours = parts.iter().zip(&parts[1..]);
    if let Some((one, other)) = neighbours.find(|(one, other)| one.batches().end > other.batches().start) {
        return Err(PartsError::Overlap(shown(one), shown(other)).into());
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
            missing.push(format!("batches {next} to {} of the ledger{named}", batches.start - 1));
        }
        next = next.max(batches.end);
    }
    if !missing.is_empty() {
        return Err(PartsError::Missing { missing, of: all }.into());
    }
    Ok(parts)
}

fn merge_into(parts: &[StoredRun], out: &Path, pages: &[Page]) -> Result<Derived, RunError> {
    let mut folder = RunFolder::create_for_parts(out, &parts[0])?;
    let mut reading = Reading::new(&parts[0].plan);
    for part in parts {
        for batch in part.read_batches()? {
            let (entry, rows) = batch?;
            reading.add(&part.path, entry.clone(), rows.clone())?;
            let counted = rows.into_iter().zip(&entry.segments);
            let files: Vec<(Vec<u8>, u64)> =
                counted.map(|(rows, segment)| (packed(&part.plan, rows), segment.rows)).collect();
            folder.append(entry.clone(), &files)?;
        }
    }
    folder.commit()?;
    let (mut digest, faults) = reading.end()?;
    digest.finish();
    let source = Source { plan: &parts[0].plan, spec: &parts[0].spec, extent: folder.extent() };
    let derived = Derived::new(&source, &digest, &faults, pages);
    derived.write(out)?;
    folder.write_manifest("complete")?;
    Ok(derived)
}
