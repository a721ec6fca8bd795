//! The units of a distributed run, in a store that all machines share.
//!
//! A *unit* is a range of batches, that is, of lines of the ledger. Its file contains for each batch the line of the
//! ledger, the rows file by file, and a line with the length of the sums followed by the sums. The sums are the data for
//! the tables, so that a merge need not parse the rows. The file depends only on the plan and the range, and its name is
//! its BLAKE3 hash:
//!
//! ```text
//! plan.json                     the plan and the program
//! units/FROM-TO/BLAKE3          the batches FROM to TO (exclusive)
//! costs/FROM-TO.json            the seconds that these batches took, by lineup
//! timing/FROM-TO.csv            the seconds that these batches took, by agent: the rows of timing.csv
//! faults/FROM-TO.json           the record of the match in which a fault stopped the unit
//! ```
//!
//! Committing a unit twice therefore has no effect. If a repetition gives different bytes, the unit's folder has two
//! files. There is no lock, no index and no coordinator: the files in the store are the only state.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cambio_agents::Roster;
use cambio_exec::read_all;
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blobs::{Blobs, FolderBlobs};
use super::queue::{LineupCost, summed};
use crate::disk::RunError;
use crate::plan::{Plan, PlanError, PlayablePlan};
use crate::play::{TIMING_HEADER, Timing};
use crate::store::{BatchEntry, Build, LONGEST_LINE, MOST_TEXT, Programs, refuse_other, row_files};

/// The format identifier of stores.
const FORMAT: &str = "cambio-units/2";

/// The file with the plan and the program.
const PLAN: &str = "plan.json";

/// The number of attempts for a storage operation, and the first pause between them. Each further pause is twice as long.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(100);

/// The time without a change after which a temporary file is considered abandoned.
const FORGOTTEN: Duration = Duration::from_secs(3600);

/// The maximum number of bytes to allocate before reading, because a length in a damaged file may be wrong.
const MOST_ROOM: u64 = 1 << 26;

/// The maximum number of bytes of a batch's sums.
const MOST_SUMS: u64 = 1 << 30;

/// A store of units.
#[derive(Debug)]
pub struct UnitStore {
    blobs: Box<dyn Blobs>,
    place: String,
}

/// A unit in a store.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct WorkUnit {
    /// The first batch.
    pub from: u64,
    /// The exclusive end of the batches.
    pub to: u64,
    /// The BLAKE3 hash of the unit's file.
    pub hash: String,
}

impl WorkUnit {
    /// The batches.
    pub fn batches(&self) -> Range<u64> {
        self.from..self.to
    }

    /// The name of the unit's file in the store.
    pub fn name(&self) -> String {
        format!("{}/{}", folder("units", &self.batches()), self.hash)
    }

    fn read(name: &str) -> Option<WorkUnit> {
        let mut parts = name.strip_prefix("units/")?.split('/');
        let (from, to) = parts.next()?.split_once('-')?;
        let unit = WorkUnit { from: from.parse().ok()?, to: to.parse().ok()?, hash: parts.next()?.to_owned() };
        let is_hash = unit.hash.len() == 64 && unit.hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (unit.from < unit.to && is_hash && unit.name() == name).then_some(unit)
    }
}

fn folder(kind: &str, batches: &Range<u64>) -> String {
    format!("{kind}/{:010}-{:010}", batches.start, batches.end)
}

/// The content of `plan.json`.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StoreHeader {
    format: String,
    run_id: String,
    lock: String,
    pub(super) spec: String,
    pub(super) build: Build,
    pub(super) programs: Programs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

impl UnitStore {
    /// Opens the store at a place: the path of a folder, or, with the feature `cloud`, a URL such as `s3://bucket/folder`,
    /// `gs://bucket/folder` or `az://container/folder`. The folder need not exist; [`UnitStore::begin`] creates it.
    ///
    /// # Errors
    /// If the kind of URL is not supported, or the bucket cannot be opened.
    ///
    /// ```
    /// let store = cambio_sim::units::UnitStore::open("no/such/folder")?;
    /// assert!(store.units()?.is_empty());
    /// assert!(cambio_sim::units::UnitStore::open("ftp://there").is_err());
    /// # Ok::<(), cambio_sim::RunError>(())
    /// ```
    pub fn open(place: &str) -> Result<UnitStore, RunError> {
        let Some((scheme, _)) = place.split_once("://") else {
            return Ok(UnitStore::on(Box::new(FolderBlobs::at(Path::new(place))), place));
        };
        let unwritable = RunError::unwritable(Path::new(place));
        if !["s3", "s3a", "gs", "az", "abfs", "abfss", "azure"].contains(&scheme) {
            let what = format!("expected a folder, or a URL with s3://, gs:// or az://, found {scheme}://");
            return Err(unwritable(io::Error::other(what)));
        }
        #[cfg(feature = "cloud")]
        return Ok(UnitStore::on(Box::new(super::cloud::Bucket::open(place).map_err(unwritable)?), place));
        #[cfg(not(feature = "cloud"))]
        Err(unwritable(io::Error::other("this program was built without the feature `cloud`; use a folder")))
    }

    /// A store in the given storage. `place` is the name of the store in messages.
    pub fn on(blobs: Box<dyn Blobs>, place: &str) -> UnitStore {
        UnitStore { blobs, place: place.trim_end_matches('/').to_owned() }
    }

    /// The name of the store in messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.place)
    }

    fn unreadable(&self, name: &str) -> impl Fn(io::Error) -> RunError {
        RunError::unreadable(Path::new(&self.path(name)))
    }

    fn unwritable(&self, name: &str) -> impl Fn(io::Error) -> RunError {
        RunError::unwritable(Path::new(&self.path(name)))
    }

    fn damaged(&self, name: &str, what: impl Into<String>) -> RunError {
        RunError::damaged(Path::new(&self.path(name)), what)
    }

    /// Begins a run, or checks that the store has the same run. Several machines may call this concurrently.
    ///
    /// # Errors
    /// If the store has another run, or other files but no run; the program or a bot's file has changed since the run
    /// began; the plan has a secret; or the store cannot be used.
    #[expect(clippy::missing_panics_doc, reason = "text and numbers can be serialized")]
    pub fn begin(&self, plan: &PlayablePlan) -> Result<(), RunError> {
        if plan.secret {
            let allowed = "false in a run on many machines, which share one seed";
            return Err(PlanError::value("secret", "true", allowed).into());
        }
        // The plan is a store's first file. The order matters, because another machine may begin the run at the same time.
        let has_files = patient(|| self.blobs.has_files()).map_err(RunError::unreadable(Path::new(&self.place)))?;
        if has_files && matches!(self.begun(), Err(RunError::NotBegun(_))) {
            let what = "already has files, but no plan.json; choose a new or empty folder for the store";
            return Err(RunError::Other(format!("{} {what}", self.place)));
        }
        let (format, lock, run_id, spec) = (FORMAT.to_owned(), plan.lock(), plan.run_id(), plan.toml().to_owned());
        let programs = Programs::of(plan.specs());
        let folder = programs.folder.clone();
        let about = StoreHeader { format, run_id, lock, spec, build: Build::this(), programs, folder };
        let text = serde_json::to_string_pretty(&about).expect("text and numbers can be serialized") + "\n";
        match patient(|| self.blobs.create(PLAN, text.as_bytes())) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(self.unwritable(PLAN)(error)),
            _ => self.refuse_other(&self.begun()?, plan),
        }
    }

    /// Fails if the plan, the program or a bot differs from the store's run.
    fn refuse_other(&self, (begun, about): &(Plan, StoreHeader), plan: &PlayablePlan) -> Result<(), RunError> {
        let [was, is] = [&about.build, &Build::this()].map(|build| build.revision().to_owned());
        let revision = (was != is).then(|| format!("the program had revision {was} and now has {is}"));
        refuse_other(&self.place, (begun, &about.programs), plan, revision)
    }

    /// The plan of the run.
    ///
    /// # Errors
    /// If the store has no run or cannot be read.
    pub fn plan(&self) -> Result<Plan, RunError> {
        Ok(self.begun()?.0)
    }

    /// The plan of the run with its agents.
    ///
    /// # Errors
    /// The errors of [`UnitStore::begin`]; or if the roster lacks an agent.
    pub fn playable(&self, roster: &Roster) -> Result<PlayablePlan, RunError> {
        let begun = self.begun()?;
        let plan = begun.0.clone().with_agents(&begun.1.programs.place(roster))?.with_toml(&*begun.1.spec);
        self.refuse_other(&begun, &plan)?;
        Ok(plan)
    }

    /// The plan and the description of the run.
    pub(super) fn begun(&self) -> Result<(Plan, StoreHeader), RunError> {
        let text = self.text(PLAN).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => RunError::NotBegun(self.place.clone()),
            _ => self.unreadable(PLAN)(error),
        })?;
        let bad = |what: String| self.damaged(PLAN, what);
        let about: Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let file = self.path(PLAN);
        if about["format"] != FORMAT {
            return Err(RunError::other_format(Path::new(&file), &about["format"], FORMAT));
        }
        let mut about: StoreHeader = serde_json::from_value(about).map_err(|error| bad(error.to_string()))?;
        about.programs.folder.clone_from(&about.folder);
        let plan = Plan::unlock(&about.lock).map_err(|error| RunError::of_lock(Path::new(&file), &error))?;
        if plan.run_id() != about.run_id {
            return Err(bad(format!("its run id is {}, but its lock has {}", about.run_id, plan.run_id())));
        }
        Ok((plan, about))
    }

    fn text(&self, name: &str) -> io::Result<String> {
        patient(|| {
            let bytes = read_all(self.blobs.open(name)?, MOST_TEXT)?;
            String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
        })
    }

    /// The committed units, in the order of their batches.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn units(&self) -> Result<Vec<WorkUnit>, RunError> {
        self.units_in("units")
    }

    fn units_in(&self, folder: &str) -> Result<Vec<WorkUnit>, RunError> {
        let names = patient(|| self.blobs.list(folder)).map_err(self.unreadable(folder))?;
        Ok(names.iter().filter_map(|name| WorkUnit::read(name)).sorted().collect())
    }

    /// The committed units with exactly these batches.
    pub(super) fn committed(&self, batches: &Range<u64>) -> Result<Vec<WorkUnit>, RunError> {
        self.units_in(&folder("units", batches))
    }

    /// The batches of a range that are in no unit of the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn missing(&self, batches: Range<u64>) -> Result<Vec<Range<u64>>, RunError> {
        let mut missing = Vec::new();
        let mut next = batches.start;
        for unit in self.units()? {
            if unit.from > next && next < batches.end {
                missing.push(next..unit.from.min(batches.end));
            }
            next = next.max(unit.to);
        }
        if next < batches.end {
            missing.push(next..batches.end);
        }
        Ok(missing)
    }

    /// Removes temporary files of killed machines, which have not changed for an hour. A running unit writes its file after
    /// each batch. Errors are ignored, because nothing depends on the removal.
    pub(super) fn tidy(&self) {
        let _ = self.blobs.tidy(FORGOTTEN);
    }

    /// Starts writing a unit to a temporary file.
    pub(super) fn write(&self, batches: Range<u64>) -> Result<UnitWriter, RunError> {
        let name = folder("units", &batches);
        let aside = patient(|| self.blobs.aside()).map_err(self.unwritable(&name))?;
        let file = File::create_new(&aside).map_err(self.unwritable(&name))?;
        Ok(UnitWriter { batches, file: BufWriter::new(file), aside, hasher: blake3::Hasher::new() })
    }

    /// Commits a written unit and returns it. If its agents are not reproducible (`is_repeatable` is false), an existing unit
    /// for these batches is kept and returned; otherwise, different bytes for these batches are a [`RunError::Conflict`].
    pub(super) fn commit(&self, mut writer: UnitWriter, is_repeatable: bool) -> Result<WorkUnit, RunError> {
        let unit = writer.unit();
        let name = unit.name();
        writer.file.flush().map_err(self.unwritable(&name))?;
        if !is_repeatable && let Some(first) = self.committed(&unit.batches())?.into_iter().next() {
            return Ok(first);
        }
        patient(|| match self.blobs.commit(&writer.aside, &name) {
            // A previous attempt may have succeeded although it reported an error.
            Err(error) if error.kind() == ErrorKind::NotFound && self.blobs.open(&name).is_ok() => Ok(()),
            committed => committed,
        })
        .map_err(self.unwritable(&name))?;
        let there = self.committed(&unit.batches())?;
        match there.iter().find(|other| **other != unit) {
            Some(other) if is_repeatable => Err(self.conflict(&unit.batches(), &unit, other)),
            _ => Ok(unit),
        }
    }

    /// The error for two units that differ in these batches.
    pub(super) fn conflict(&self, batches: &Range<u64>, one: &WorkUnit, other: &WorkUnit) -> RunError {
        let (from, last) = (batches.start, batches.end - 1);
        let [one, other] = [one, other].map(|unit| self.path(&unit.name()));
        RunError::Conflict(format!(
            "batches {from} to {last} were played twice and gave different bytes: {one} and {other}; an agent is not \
             reproducible, or a machine is faulty"
        ))
    }

    pub(super) fn read<'s>(&'s self, unit: &'s WorkUnit) -> Result<UnitReader<'s>, RunError> {
        let name = unit.name();
        let input = patient(|| self.blobs.open(&name)).map_err(self.unreadable(&name))?;
        let input = BufReader::with_capacity(1 << 18, input);
        Ok(UnitReader { store: self, unit, name, input, hasher: blake3::Hasher::new(), next: unit.from })
    }

    /// Writes the costs of a unit's lineups. They affect only the order in which the remaining batches are played.
    pub(super) fn write_costs(&self, batches: &Range<u64>, costs: &[LineupCost]) -> Result<(), RunError> {
        let text = serde_json::to_string(costs).expect("numbers can be serialized") + "\n";
        self.write_small(&(folder("costs", batches) + ".json"), &text)
    }

    /// Writes the times of a unit's agents.
    pub(super) fn write_timing(&self, batches: &Range<u64>, plan: &Plan, timing: &Timing) -> Result<(), RunError> {
        let text = TIMING_HEADER.to_owned() + &timing.to_csv(plan, batches.end);
        self.write_small(&(folder("timing", batches) + ".csv"), &text)
    }

    /// The times of the agents, summed over all units. Batches that were played twice count twice.
    pub(super) fn timing(&self, plan: &Plan) -> Result<Timing, RunError> {
        let names = patient(|| self.blobs.list("timing")).map_err(self.unreadable("timing"))?;
        let mut timing = Timing::default();
        for name in names {
            timing.read(&self.text(&name).map_err(self.unreadable(&name))?, plan, plan.batch_count());
        }
        Ok(timing)
    }

    /// Stores the record of the match in which a fault stopped a unit, up to the fault.
    pub(super) fn write_fault(&self, batches: &Range<u64>, record: &str) -> Result<String, RunError> {
        let name = folder("faults", batches) + ".json";
        self.write_small(&name, &format!("{record}\n"))?;
        Ok(self.path(&name))
    }

    fn write_small(&self, name: &str, text: &str) -> Result<(), RunError> {
        let write = || {
            let aside = self.blobs.aside()?;
            std::fs::write(&aside, text)?;
            self.blobs.commit(&aside, name)
        };
        patient(write).map_err(self.unwritable(name))
    }

    /// The costs of the lineups so far, summed over all units.
    ///
    /// # Errors
    /// If the store cannot be read, or has costs of a lineup that is not in its plan.
    pub fn costs(&self) -> Result<Vec<LineupCost>, RunError> {
        let plan = self.plan()?;
        let names = patient(|| self.blobs.list("costs")).map_err(self.unreadable("costs"))?;
        let mut all = Vec::new();
        for name in names {
            let text = self.text(&name).map_err(self.unreadable(&name))?;
            let found: Vec<LineupCost> =
                serde_json::from_str(&text).map_err(|error| self.damaged(&name, error.to_string()))?;
            if let Some(cost) = found.iter().find(|cost| !cost.fits(&plan)) {
                let LineupCost { cell, lineup, .. } = cost;
                let what = format!("lineup {lineup} of cell {cell} is not in the plan, or its numbers are too large");
                return Err(self.damaged(&name, what));
            }
            all.extend(found);
        }
        Ok(summed(all))
    }

    /// The paths of the records of faults that stopped units, ordered by batch.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn faults(&self) -> Result<Vec<String>, RunError> {
        let names = patient(|| self.blobs.list("faults")).map_err(self.unreadable("faults"))?;
        Ok(names.iter().sorted().map(|name| self.path(name)).collect())
    }
}

/// Retries a storage operation if its error may be temporary.
fn patient<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = PAUSE;
    for _ in 1..TRIES {
        match operation() {
            Err(error) if may_pass(error.kind()) => std::thread::sleep(pause),
            done => return done,
        }
        pause *= 2;
    }
    operation()
}

/// Whether an error may be temporary. Errors such as a full disk or a missing permission are not.
fn may_pass(kind: ErrorKind) -> bool {
    use ErrorKind as Kind;
    !matches!(
        kind,
        Kind::NotFound
            | Kind::AlreadyExists
            | Kind::PermissionDenied
            | Kind::InvalidInput
            | Kind::InvalidData
            | Kind::StorageFull
            | Kind::QuotaExceeded
            | Kind::FileTooLarge
            | Kind::ReadOnlyFilesystem
            | Kind::NotADirectory
    )
}

/// Writes a unit to a temporary file, which is removed on drop if it was not committed.
#[derive(Debug)]
pub(super) struct UnitWriter {
    batches: Range<u64>,
    file: BufWriter<File>,
    aside: PathBuf,
    hasher: blake3::Hasher,
}

impl UnitWriter {
    /// Appends a batch: its entry, its rows, and its sums for the tables.
    pub(super) fn append(
        &mut self,
        plan: &Plan,
        entry: &BatchEntry,
        files: &[(Vec<u8>, u64)],
        sums: &[u8],
    ) -> Result<(), RunError> {
        let (line, length) = (entry.to_text(plan), format!("{}\n", sums.len()));
        let rows = files.iter().map(|(bytes, _)| &bytes[..]);
        for part in [line.as_bytes()].into_iter().chain(rows).chain([length.as_bytes(), sums]) {
            self.hasher.update(part);
            self.file.write_all(part).map_err(RunError::unwritable(&self.aside))?;
        }
        Ok(())
    }

    pub(super) fn unit(&self) -> WorkUnit {
        let hash = self.hasher.finalize().to_hex().to_string();
        WorkUnit { from: self.batches.start, to: self.batches.end, hash }
    }
}

impl Drop for UnitWriter {
    fn drop(&mut self) {
        // The file was renamed or is useless, so ignore errors.
        let _ = std::fs::remove_file(&self.aside);
    }
}

pub(super) struct StoredBatch {
    pub(super) entry: BatchEntry,
    /// The bytes of the batch in each file.
    pub(super) files: Vec<Vec<u8>>,
    pub(super) sums: Vec<u8>,
}

pub(super) struct UnitReader<'s> {
    store: &'s UnitStore,
    unit: &'s WorkUnit,
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    hasher: blake3::Hasher,
    next: u64,
}

impl UnitReader<'_> {
    /// Reads the next batch. After the last batch, checks the hash of the file against its name and returns `None`.
    pub(super) fn next(&mut self, plan: &Plan) -> Result<Option<StoredBatch>, RunError> {
        let batch = self.next;
        if batch == self.unit.to {
            let rest = self.input.fill_buf().map_err(self.store.unreadable(&self.name))?;
            if !rest.is_empty() || self.hasher.finalize().to_hex().as_str() != self.unit.hash {
                return Err(self.bad("its content does not match the hash in its name".to_owned()));
            }
            return Ok(None);
        }
        let entry = self.line()?.and_then(|line| BatchEntry::read(&line, plan)).filter(|entry| entry.batch == batch);
        let entry = entry.ok_or_else(|| self.bad(format!("the entry of batch {batch} is missing")))?;
        let mut files = Vec::new();
        for (segment, file) in entry.segments.iter().zip(row_files(plan)) {
            let bytes = self.bytes(segment.bytes)?;
            segment
                .check(file.name, &bytes)
                .map_err(|what| self.bad(format!("the rows of {} in batch {batch} {what}", file.name)))?;
            files.push(bytes);
        }
        let length = self.line()?.and_then(|line| line.parse().ok()).filter(|&length: &u64| length <= MOST_SUMS);
        let sums = length.map(|length| self.bytes(length)).transpose()?;
        let sums = sums.filter(|sums| Some(sums.len() as u64) == length);
        let sums = sums.ok_or_else(|| self.bad(format!("the sums of batch {batch} are missing")))?;
        self.next += 1;
        Ok(Some(StoredBatch { entry, files, sums }))
    }

    fn bad(&self, what: String) -> RunError {
        self.store.damaged(&self.name, what)
    }

    /// The next line without its line feed; `None` if there is none.
    fn line(&mut self) -> Result<Option<String>, RunError> {
        let mut line = Vec::new();
        let unreadable = self.store.unreadable(&self.name);
        Read::by_ref(&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
        self.hasher.update(&line);
        let text = String::from_utf8(line).ok();
        Ok(text.and_then(|text| text.strip_suffix('\n').map(str::to_owned)))
    }

    /// The next `length` bytes, or fewer if the file ends.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, RunError> {
        let mut bytes = Vec::with_capacity(length.min(MOST_ROOM) as usize);
        let unreadable = self.store.unreadable(&self.name);
        Read::by_ref(&mut self.input).take(length).read_to_end(&mut bytes).map_err(unreadable)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }
}
