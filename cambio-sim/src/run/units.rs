//! Plays the units of a run that many machines share, checks them, and puts them together.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cambio_exec::{Executor, Stopped, Worker, build_aside};

use super::batch::{PlayedBatch, SpareBuffers, play_batch};
use super::outcome::RunOutcome;
use super::read::faults_in;
use super::runner::write_timing;
use crate::digest::{Derived, Digest, Extract, Page, Source};
use crate::disk::{PartsError, RunError};
use crate::plan::{Block, FaultPolicy, Plan, PlayablePlan};
use crate::play::{AgentFault, Arena};
use crate::store::{
    BatchEntry, LineupCost, RunFolder, StoredBatch, StoredRun, UnitStore, UnitWriter, WorkUnit, unpacked_all,
};

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

/// Why a unit was not played to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// An agent was at fault. To play the unit again gives the same fault, if the agent decides the same each time.
    #[error("{}: {}; the match up to the fault is in {kept}", fault.place, fault.what)]
    Fault {
        /// The fault.
        fault: Box<AgentFault>,
        /// Where its record is.
        kept: String,
    },
    /// It was interrupted.
    #[error("the unit was interrupted; nothing of it is kept, and whoever plays it next begins it anew")]
    Interrupted,
    /// The machine has no more of what an agent needs.
    #[error("{0}")]
    Halted(String),
    /// The store or the disk failed, or the store has other bytes for the unit.
    #[error(transparent)]
    Store(#[from] RunError),
}

/// How a unit ends before its last batch.
enum Early {
    Fault(Box<AgentFault>),
    Unwritable(RunError),
}

/// A unit while it is played.
struct Sheet<'p> {
    plan: &'p Plan,
    writer: UnitWriter,
    matches: u64,
    costs: BTreeMap<(usize, usize), LineupCost>,
}

impl Sheet<'_> {
    fn add(&mut self, played: &PlayedBatch<'_>) -> Result<(), RunError> {
        let buffers = &played.buffers;
        self.writer.append(self.plan, &played.entry, &buffers.files, &buffers.extract.to_bytes())?;
        self.matches += played.entry.segments[0].rows;
        for (block, took) in buffers.blocks.iter().zip(&buffers.took) {
            let (cell, lineup) = (block.place, block.lineup_place);
            let cost = LineupCost { cell, lineup, blocks: 0, matches: 0, seconds: 0.0 };
            let sum = self.costs.entry((cell, lineup)).or_insert(cost);
            sum.blocks += 1;
            sum.matches += block.cell.seatings.len() as u64;
            sum.seconds += took.as_secs_f64();
        }
        Ok(())
    }
}

/// Plays the batches of a unit and commits it to a store. `progress` gets the number of matches that were played, now and then.
///
/// A unit that the store has already is played and compared: the same bytes change nothing.
///
/// # Errors
/// [`UnitError::Fault`] with the place of the match, [`PartsError::Conflict`] if the store has other bytes for these batches,
/// or that it was interrupted or the store cannot be used.
///
/// # Determinism
/// The bytes of a unit depend on the plan and its batches alone.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, UnitStore, merge_units, play_unit};
///
/// let experiment = Experiment {
///     seed: Some(0.into()),
///     deals: 40,
///     rules: vec!["classic".into()],
///     seats: vec![2],
///     agents: vec!["random".into(), "greedy".into()],
///     ..Experiment::default()
/// };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let place = std::env::temp_dir().join(format!("cambio-play-unit-{}", std::process::id()));
/// let store = UnitStore::open(place.join("store").to_str().unwrap())?;
/// store.begin("", &plan)?;
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
/// let (run, _) = merge_units(&store, &place.join("run"), &[], |_, _| ())?;
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
) -> Result<PlayedUnit, UnitError> {
    let sheet = play(executor, plan, &batches, store, progress)?;
    let unit = store.commit(sheet.writer, is_repeatable(plan, &batches))?;
    let costs: Vec<LineupCost> = sheet.costs.into_values().collect();
    store.write_costs(&batches, &costs)?;
    Ok(PlayedUnit { unit, matches: sheet.matches, costs })
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
) -> Result<Option<WorkUnit>, UnitError> {
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

fn play<'p>(
    executor: &Executor,
    plan: &'p PlayablePlan,
    batches: &Range<u64>,
    store: &UnitStore,
    mut progress: impl FnMut(u64),
) -> Result<Sheet<'p>, UnitError> {
    let writer = store.write(batches.clone())?;
    let mut sheet = Sheet { plan, writer, matches: 0, costs: BTreeMap::new() };
    let spare = SpareBuffers::default();
    let work = |batch, worker: &Worker<'_>| {
        play_batch(Arena::new(plan), batch, spare.take(), || worker.is_stopped(), |matches| worker.count(matches))
    };
    let commit = |sheet: &mut Sheet<'_>, _, played: Result<PlayedBatch<'p>, Box<AgentFault>>| {
        let played = played.map_err(Early::Fault)?;
        sheet.add(&played).map_err(Early::Unwritable)?;
        spare.give(played.buffers);
        Ok(())
    };
    let look = |_: &mut Sheet<'_>, played| {
        progress(played);
        Ok(())
    };
    match executor.run_watched(batches.clone(), &mut sheet, work, commit, look) {
        Ok(()) => Ok(sheet),
        Err(Stopped::Cancelled) => Err(UnitError::Interrupted),
        Err(Stopped::Failed(Early::Unwritable(error))) => Err(error.into()),
        Err(Stopped::Failed(Early::Fault(fault))) => Err(match RunOutcome::of(fault) {
            RunOutcome::Fault(fault) => {
                let kept = store.write_fault(batches, &fault.record.to_json())?;
                UnitError::Fault { fault, kept }
            }
            RunOutcome::Halted(what) => UnitError::Halted(what),
            _ => UnitError::Interrupted,
        }),
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
    pages: &[Page],
    mut progress: impl FnMut(u64, u64),
) -> Result<(StoredRun, Derived), RunError> {
    let begun = store.begun()?;
    let all = begun.plan.batch_count();
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
    let plan = &begun.plan;
    let mut derived = Derived::default();
    build_aside(out, |new| {
        let mut together = Together::new(store, &units, plan, RunFolder::create_for_units(new, &begun)?);
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
        let Together { mut folder, mut digest, faults, .. } = together;
        folder.commit()?;
        digest.finish();
        let source = Source { plan, spec: &begun.spec, extent: folder.extent() };
        derived = Derived::new(&source, &digest, &faults, pages);
        derived.write(new)?;
        let costs = store.costs()?;
        let matches = costs.iter().map(|cost| cost.matches).sum();
        let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
        write_timing(new, 1, matches, Duration::from_secs_f64(seconds))?;
        folder.write_manifest("complete")
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
    faults: Vec<String>,
    /// The entry of each batch so far, and the place of the unit that it came from.
    seen: Vec<(BatchEntry, usize)>,
}

impl<'s> Together<'s> {
    fn new(store: &'s UnitStore, units: &'s [WorkUnit], plan: &'s Plan, folder: RunFolder) -> Together<'s> {
        Together { store, units, plan, folder, digest: Digest::new(plan), faults: Vec::new(), seen: Vec::new() }
    }

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
        self.digest.add_extract(&blocks, &extract);
        if plan.faults != FaultPolicy::Stop {
            let unpacked = unpacked_all(plan, files.clone()).map_err(RunError::unreadable(&at))?;
            self.faults.extend(faults_in((plan, &at), &entry, &unpacked)?);
        }
        let files: Vec<(Vec<u8>, u64)> =
            files.into_iter().zip(entry.segments.iter().map(|segment| segment.rows)).collect();
        self.seen.push((entry.clone(), place));
        self.folder.append(entry, &files)
    }
}
