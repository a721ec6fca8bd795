//! Distributed runs: many machines play units of one run, which are then merged to a run folder.
//!
//! All machines access one [`UnitStore`]. [`play_unit`] plays a range of batches and commits it, [`merge_units`] creates the
//! run folder, and a [`UnitQueue`] selects the next unit.

mod blobs;
#[cfg(feature = "cloud")]
mod cloud;
mod queue;
mod store;

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use cambio_exec::{Executor, build_aside};

use crate::digest::{Derived, Digest, Extract};
use crate::disk::RunError;
use crate::plan::{Block, FaultPolicy, Plan, PlayablePlan};
use crate::play::{PlayError, Timing};
use crate::run::{BatchOutput, PlayedBatch, faults_in, play_batches};
use crate::store::{BatchEntry, RunFolder, StoredRun};
use queue::summed;
use store::{StoredBatch, UnitWriter};

pub use blobs::{Blobs, FolderBlobs};
pub use queue::{LineupCost, SECONDS, UnitQueue};
pub use store::{UnitStore, WorkUnit};

/// The maximum number of batches that are read ahead of writing.
const AHEAD: usize = 4;

/// A played unit.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedUnit {
    /// The unit in the store.
    pub unit: WorkUnit,
    /// The number of matches in the unit.
    pub matches: u64,
    /// The costs of the unit's lineups.
    pub costs: Vec<LineupCost>,
}

struct UnitSheet {
    writer: UnitWriter,
    matches: u64,
    costs: Vec<LineupCost>,
    timing: Timing,
}

/// Plays the batches of a unit and commits it to a store. Calls `progress` regularly with the number of matches played.
///
/// If the store already has the unit, its bytes are compared. Committing the same bytes again has no effect.
///
/// # Errors
/// [`PlayError::Fault`] if an agent is at fault; the record of the match is kept in the store. [`RunError::Conflict`]
/// if the store has different bytes for these batches. Other errors if play was interrupted or the store cannot be
/// used.
///
/// # Determinism
/// The bytes of a unit depend only on the plan and its batches.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::units::{UnitStore, merge_units, play_unit};
/// use cambio_sim::{Executor, Experiment};
///
/// let experiment = Experiment { deals: 40, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let index = std::env::temp_dir().join(format!("cambio-play-unit-{}", std::process::id()));
/// let store = UnitStore::open(index.join("store").to_str().unwrap())?;
/// store.begin(&plan)?;
///
/// // Two machines, one unit each.
/// let executor = Executor::new(1)?;
/// let whole = store.missing(0..plan.batch_count())?.remove(0);
/// let middle = whole.end / 2;
/// let first = play_unit(&executor, &plan, 0..middle, &store, |_| ())?;
/// play_unit(&executor, &plan, middle..whole.end, &store, |_| ())?;
/// let again = play_unit(&executor, &plan, 0..middle, &store, |_| ())?;
/// assert_eq!(again.unit, first.unit, "the same bytes have no effect");
///
/// let (run, _) = merge_units(&store, &index.join("run"), |_, _| ())?;
/// assert_eq!(run.matches(), 80);
/// # std::fs::remove_dir_all(&index)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play_unit(
    executor: &Executor,
    plan: &PlayablePlan,
    batches: Range<u64>,
    store: &UnitStore,
    progress: impl FnMut(u64),
) -> Result<PlayedUnit, PlayError> {
    let UnitSheet { writer, matches, costs, timing } = play(executor, plan, &batches, store, progress)?;
    let unit = store.commit(writer, is_repeatable(plan, &batches))?;
    let costs = summed(costs);
    store.write_costs(&batches, &costs)?;
    store.write_timing(&batches, plan, &timing)?;
    Ok(PlayedUnit { unit, matches, costs })
}

/// Replays a unit of a store and compares its bytes. Returns the replayed unit; `None` if its agents are not reproducible.
///
/// # Errors
/// The errors of [`play_unit`]; [`RunError::Conflict`] if the bytes differ.
pub fn replay_unit(
    executor: &Executor,
    plan: &PlayablePlan,
    unit: &WorkUnit,
    store: &UnitStore,
) -> Result<Option<WorkUnit>, PlayError> {
    let batches = unit.batches();
    if !is_repeatable(plan, &batches) {
        return Ok(None);
    }
    let again = play(executor, plan, &batches, store, |_| ())?.writer.unit();
    if again != *unit {
        return Err(store.conflict(&batches, unit, &again).into());
    }
    Ok(Some(again))
}

fn play(
    executor: &Executor,
    plan: &PlayablePlan,
    batches: &Range<u64>,
    store: &UnitStore,
    mut progress: impl FnMut(u64),
) -> Result<UnitSheet, PlayError> {
    let writer = store.write(batches.clone())?;
    let mut sheet = UnitSheet { writer, matches: 0, costs: Vec::new(), timing: Timing::default() };
    let commit = |sheet: &mut UnitSheet, played: &mut PlayedBatch<'_>| {
        sheet.writer.append(plan, &played.entry, &played.files, &played.extract.to_bytes())?;
        sheet.matches += played.matches;
        sheet.timing.extend(&played.timing);
        sheet.costs.extend(played.blocks.iter().zip(&played.took).map(|(block, took)| LineupCost {
            cell: block.cell_index,
            lineup: block.lineup_index,
            blocks: 1,
            matches: block.cell.seatings.len() as u64,
            seconds: took.as_secs_f64(),
        }));
        Ok(())
    };
    let look = |_: &mut UnitSheet, played| {
        progress(played);
        Ok(())
    };
    let played = play_batches(executor, plan, batches.clone(), BatchOutput::Rows, &mut sheet, commit, look);
    match played {
        Err(PlayError::Fault(mut fault)) => {
            fault.kept = Some(store.write_fault(batches, &fault.record.to_json())?);
            Err(PlayError::Fault(fault))
        }
        played => played.map(|()| sheet),
    }
}

fn is_repeatable(plan: &Plan, batches: &Range<u64>) -> bool {
    let blocks = plan.batch(batches.start).start..plan.batch(batches.end - 1).end;
    plan.agents.iter().all(|agent| agent.reproducible)
        || blocks.into_iter().all(|number| plan.is_reproducible(plan.block(number).lineup))
}

/// Merges the units of a store to a new run folder, with the same bytes as a run on one machine. Returns the run and its tables.
/// Calls `progress` with the number of merged batches and the total.
///
/// Units are streamed batch by batch, so memory does not grow with the run. Rows are copied without parsing; the tables are
/// computed from the sums that each unit contains. [`verify`](crate::verify) checks that rows and tables match.
///
/// # Errors
/// [`RunError::Missing`] if units are missing; [`RunError::Conflict`] if two units differ in a batch; or if the store cannot
/// be read or the folder cannot be written. After an error, the unfinished folder is removed.
pub fn merge_units(
    store: &UnitStore,
    out: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<(StoredRun, Derived), RunError> {
    let (plan, about) = &store.begun()?;
    let all = plan.batch_count();
    let missing = store.missing(0..all)?;
    if !missing.is_empty() {
        let mut missing: Vec<String> =
            missing.iter().map(|batches| format!("batches {} to {}", batches.start, batches.end - 1)).collect();
        let beyond = missing.len().saturating_sub(8);
        missing.truncate(8);
        if beyond > 0 {
            missing.push(format!("{beyond} more"));
        }
        missing.extend(store.faults()?.iter().take(3).map(|fault| format!("the unit stopped by the fault in {fault}")));
        return Err(RunError::Missing { missing, of: all });
    }
    let units = store.units()?;
    let derived = build_aside(out, |new| {
        let players = (about.programs.clone(), about.build.clone());
        let folder = RunFolder::fill(new, plan, (&about.spec, None), players)?;
        let mut together =
            UnitMerge { store, units: &units, plan, folder, digest: Digest::new(plan), seen: Vec::new() };
        thread::scope(|scope| {
            // Another thread reads while this thread writes.
            let (sender, batches) = mpsc::sync_channel(AHEAD);
            let (units, sender) = (&units, sender);
            let reader = scope.spawn(move || read_units(store, units, plan, &sender));
            for (index, batch) in batches {
                together.add(index, batch)?;
                progress(together.seen.len() as u64, all);
            }
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        let UnitMerge { mut folder, digest, .. } = together;
        folder.commit()?;
        let derived = Derived::new(plan, digest);
        derived.write(new)?;
        folder.add_timing(&store.timing(plan)?, all)?;
        folder.write_timing()?;
        folder.write_manifest("complete")?;
        Ok::<_, RunError>(derived)
    })?;
    store.tidy();
    Ok((StoredRun::open(out)?, derived))
}

/// Sends the batches of all units in order, each with the index of its unit. Stops early if the receiver is dropped.
fn read_units(
    store: &UnitStore,
    units: &[WorkUnit],
    plan: &Plan,
    sender: &mpsc::SyncSender<(usize, StoredBatch)>,
) -> Result<(), RunError> {
    for (index, unit) in units.iter().enumerate() {
        let batches = unit.batches();
        let mut twins = units[..index].iter().rev().take_while(|other| other.from == unit.from);
        if twins.any(|other| other.to == unit.to) && !is_repeatable(plan, &batches) {
            continue;
        }
        let mut reader = store.read(unit)?;
        while let Some(batch) = reader.next(plan)? {
            if sender.send((index, batch)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The run folder during a merge.
struct UnitMerge<'s> {
    store: &'s UnitStore,
    units: &'s [WorkUnit],
    plan: &'s Plan,
    folder: RunFolder,
    digest: Digest,
    /// The entry of each merged batch, and the index of its unit.
    seen: Vec<(BatchEntry, usize)>,
}

impl UnitMerge<'_> {
    /// Adds a batch of the unit with index `index`, or compares it if the batch was already added.
    fn add(&mut self, index: usize, batch: StoredBatch) -> Result<(), RunError> {
        let (store, plan, unit) = (self.store, self.plan, &self.units[index]);
        let StoredBatch { entry, files, sums } = batch;
        let number = entry.batch;
        if let Some((known, other)) = self.seen.get(number as usize) {
            if *known != entry && is_repeatable(plan, &(number..number + 1)) {
                return Err(store.conflict(&(number..number + 1), &self.units[*other], unit));
            }
            return Ok(());
        }
        let at = PathBuf::from(store.place()).join(unit.name());
        let blocks: Vec<Block<'_>> = plan.batch(number).map(|number| plan.block(number)).collect();
        let extract = Extract::read(&sums, plan, &blocks)
            .ok_or_else(|| RunError::damaged(&at, format!("the sums of batch {number} do not match its blocks")))?;
        let mut faults = Vec::new();
        if plan.faults != FaultPolicy::Stop {
            faults = faults_in((plan, &at), &entry, &files)?;
        }
        self.digest.add(&blocks, &extract, &faults);
        let files: Vec<(Vec<u8>, u64)> =
            files.into_iter().zip(entry.segments.iter().map(|segment| segment.rows)).collect();
        self.seen.push((entry.clone(), index));
        self.folder.append(entry, &files)
    }
}
