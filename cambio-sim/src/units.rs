//! One run on many machines: units of it are played wherever there is room, and put together in a run folder.
//!
//! A [`UnitStore`] lies where all machines reach it. [`play_unit`] plays a range of batches and commits it, [`merge_units`] makes the
//! run folder, and a [`Queue`] chooses the next unit.

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
use std::time::Duration;

use cambio_exec::{Executor, build_aside};

use crate::digest::{Derived, Digest, Extract};
use crate::disk::{PartsError, RunError};
use crate::plan::{Block, FaultPolicy, Plan, PlayablePlan};
use crate::play::PlayError;
use crate::run::{Output, PlayedBatch, faults_in, play_batches, write_timing};
use crate::store::{BatchEntry, RunFolder, StoredRun, unpacked_all};
use queue::summed;
use store::{StoredBatch, UnitWriter};

pub use blobs::{Blobs, FolderBlobs};
pub use queue::{LineupCost, Queue, SECONDS};
pub use store::{UnitStore, WorkUnit};

/// So many batches are read before they are written, at most.
const AHEAD: usize = 4;

/// A unit that was played.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedUnit {
    /// The unit as the store has it.
    pub unit: WorkUnit,
    /// The number of its matches.
    pub matches: u64,
    /// What its lineups cost.
    pub costs: Vec<LineupCost>,
}

struct Sheet {
    writer: UnitWriter,
    matches: u64,
    costs: Vec<LineupCost>,
}

/// Plays the batches of a unit and commits it to a store. `progress` gets the number of matches that were played, now and then.
///
/// A unit that the store has already is played and compared: the same bytes change nothing.
///
/// # Errors
/// [`PlayError::Fault`], whose record is kept in the store, [`PartsError::Conflict`] if the store has other bytes for these batches,
/// or that it was interrupted or the store cannot be used.
///
/// # Determinism
/// The bytes of a unit depend on the plan and its batches alone.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::units::{UnitStore, merge_units, play_unit};
/// use cambio_sim::{Executor, Experiment};
///
/// let experiment = Experiment { deals: 40, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let place = std::env::temp_dir().join(format!("cambio-play-unit-{}", std::process::id()));
/// let store = UnitStore::open(place.join("store").to_str().unwrap())?;
/// store.begin(&plan)?;
///
/// // Two machines, one unit each.
/// let executor = Executor::new(1)?;
/// let whole = store.missing(0..plan.batch_count())?.remove(0);
/// let middle = whole.end / 2;
/// let first = play_unit(&executor, &plan, 0..middle, &store, |_| ())?;
/// play_unit(&executor, &plan, middle..whole.end, &store, |_| ())?;
/// let again = play_unit(&executor, &plan, 0..middle, &store, |_| ())?;
/// assert_eq!(again.unit, first.unit, "the same bytes change nothing");
///
/// let (run, _) = merge_units(&store, &place.join("run"), |_, _| ())?;
/// assert_eq!(run.matches(), 80);
/// # std::fs::remove_dir_all(&place)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play_unit(
    executor: &Executor,
    plan: &PlayablePlan,
    batches: Range<u64>,
    store: &UnitStore,
    progress: impl FnMut(u64),
) -> Result<PlayedUnit, PlayError> {
    let Sheet { writer, matches, costs } = play(executor, plan, &batches, store, progress)?;
    let unit = store.commit(writer, is_repeatable(plan, &batches))?;
    let costs = summed(costs);
    store.write_costs(&batches, &costs)?;
    Ok(PlayedUnit { unit, matches, costs })
}

/// Plays a unit of a store again and compares its bytes. Returns the unit as it was found now, and `None` if its agents do not
/// decide the same each time.
///
/// # Errors
/// As [`play_unit`]; [`PartsError::Conflict`] if the bytes differ.
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
) -> Result<Sheet, PlayError> {
    let mut sheet = Sheet { writer: store.write(batches.clone())?, matches: 0, costs: Vec::new() };
    let commit = |sheet: &mut Sheet, played: &mut PlayedBatch<'_>| {
        sheet.writer.append(plan, &played.entry, &played.files, &played.extract.to_bytes())?;
        sheet.matches += played.matches;
        sheet.costs.extend(played.blocks.iter().zip(&played.took).map(|(block, took)| LineupCost {
            cell: block.place,
            lineup: block.lineup_place,
            blocks: 1,
            matches: block.cell.seatings.len() as u64,
            seconds: took.as_secs_f64(),
        }));
        Ok(())
    };
    let look = |_: &mut Sheet, played| {
        progress(played);
        Ok(())
    };
    let played = play_batches(executor, plan, batches.clone(), Output::Rows, &mut sheet, commit, look);
    match played {
        Err(PlayError::Fault(mut fault)) => {
            fault.kept = Some(store.write_fault(batches, &fault.record.to_json())?);
            Err(PlayError::Fault(fault))
        }
        played => played.map(|()| sheet),
    }
}

/// Whether all agents of some batches decide the same each time.
fn is_repeatable(plan: &Plan, batches: &Range<u64>) -> bool {
    let blocks = plan.batch(batches.start).start..plan.batch(batches.end - 1).end;
    plan.agents.iter().all(|agent| agent.reproducible)
        || blocks.into_iter().all(|number| plan.is_reproducible(plan.block(number).lineup))
}

/// Puts the units of a store together in a new run folder. It has the same bytes as a run in one piece. Units are read as streams, a
/// batch at a time, so memory does not grow with the run, and their rows are copied, not read: the tables come from the sums that
/// each unit has beside its rows. [`verify`](crate::verify) compares the two. Returns the run and its tables. `progress` gets the number of batches that are done, and of all.
///
/// # Errors
/// [`PartsError::Missing`] if units are missing, [`PartsError::Conflict`] if two units do not agree on a batch; or if the store
/// cannot be read or the folder not be written. Nothing is left of the folder then.
pub fn merge_units(
    store: &UnitStore,
    out: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<(StoredRun, Derived), RunError> {
    let (plan, about) = &store.begun()?;
    let all = plan.batch_count();
    let missing = store.missing(0..all)?;
    if !missing.is_empty() {
        let mut missing: Vec<String> = missing
            .iter()
            .map(|batches| format!("batches {} to {} of the ledger", batches.start, batches.end - 1))
            .collect();
        let beyond = missing.len().saturating_sub(8);
        missing.truncate(8);
        if beyond > 0 {
            missing.push(format!("{beyond} more ranges"));
        }
        missing.extend(store.faults()?.iter().take(3).map(|fault| format!("what the fault in {fault} stopped")));
        return Err(PartsError::Missing { missing, of: all }.into());
    }
    let units = store.units()?;
    let derived = build_aside(out, |new| {
        let players = (about.programs.clone(), about.build.clone());
        let folder = RunFolder::fill(new, plan, (&about.spec, None), players)?;
        let mut together = Together { store, units: &units, plan, folder, digest: Digest::new(plan), seen: Vec::new() };
        thread::scope(|scope| {
            // One thread reads while this one writes.
            let (sender, batches) = mpsc::sync_channel(AHEAD);
            let (units, sender) = (&units, sender);
            let reader = scope.spawn(move || read_units(store, units, plan, &sender));
            for (place, batch) in batches {
                together.add(place, batch)?;
                progress(together.seen.len() as u64, all);
            }
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        let Together { mut folder, digest, .. } = together;
        folder.commit()?;
        let derived = Derived::new(plan, digest);
        derived.write(new)?;
        let costs = store.costs()?;
        let matches = costs.iter().map(|cost| cost.matches).sum();
        let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
        write_timing(new, 1, matches, Duration::from_secs_f64(seconds))?;
        folder.write_manifest("complete")?;
        Ok::<_, RunError>(derived)
    })?;
    store.tidy();
    Ok((StoredRun::open(out)?, derived))
}

/// Reads the batches of units in order, each with the place of its unit. It ends where nobody takes them any more.
fn read_units(
    store: &UnitStore,
    units: &[WorkUnit],
    plan: &Plan,
    sender: &mpsc::SyncSender<(usize, StoredBatch)>,
) -> Result<(), RunError> {
    for (place, unit) in units.iter().enumerate() {
        let batches = unit.batches();
        let mut twins = units[..place].iter().rev().take_while(|other| other.from == unit.from);
        if twins.any(|other| other.to == unit.to) && !is_repeatable(plan, &batches) {
            continue;
        }
        let mut reader = store.read(unit)?;
        while let Some(batch) = reader.next(plan)? {
            if sender.send((place, batch)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The folder of a run while its units are put together.
struct Together<'s> {
    store: &'s UnitStore,
    units: &'s [WorkUnit],
    plan: &'s Plan,
    folder: RunFolder,
    digest: Digest,
    /// The entry of each batch so far, and the place of the unit that it came from.
    seen: Vec<(BatchEntry, usize)>,
}

impl Together<'_> {
    /// Adds the next batch of the unit at a place, or compares it with the one that is there already.
    fn add(&mut self, place: usize, batch: StoredBatch) -> Result<(), RunError> {
        let (store, plan, unit) = (self.store, self.plan, &self.units[place]);
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
            .ok_or_else(|| RunError::damaged(&at, format!("the sums of batch {number} are not those of its blocks")))?;
        let mut faults = Vec::new();
        if plan.faults != FaultPolicy::Stop {
            let unpacked = unpacked_all(plan, files.clone()).map_err(RunError::unreadable(&at))?;
            faults = faults_in((plan, &at), &entry, &unpacked)?;
        }
        self.digest.add(&blocks, &extract, &faults);
        let files: Vec<(Vec<u8>, u64)> =
            files.into_iter().zip(entry.segments.iter().map(|segment| segment.rows)).collect();
        self.seen.push((entry.clone(), place));
        self.folder.append(entry, &files)
    }
}
