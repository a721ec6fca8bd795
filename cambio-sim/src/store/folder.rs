//! Writes run folders.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cambio_exec::{FileError, append_regular, build_aside, lock, write_whole};

use super::ledger::{BatchEntry, RowFile, row_files};
use super::manifest::{Build, Manifest, Origin, Programs, refuse_other};
use super::stored::StoredRun;
use crate::digest::{Digest, Extract};
use crate::disk::RunError;
use crate::plan::{Plan, PlanError, PlayablePlan, PlayedBatches};
use crate::play::{TIMING_FILE, Timing};

/// The maximum number of pairs of agents over all tables. For each pair, a run keeps sums of about 150 bytes.
const MOST_PAIRS: usize = 10_000_000;

/// The interval between two syncs of finished rows.
const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// A run folder that is being written. [`StoredRun`] has an example.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    plan: Plan,
    spec: String,
    programs: Programs,
    origin: Origin,
    /// The program that began the run.
    build: Build,
    files: Vec<(PathBuf, File)>,
    ledger: (PathBuf, File),
    /// The times of all appended batches.
    timing: Timing,
    /// The open `timing.csv`, to which rows of single batches are appended.
    timing_file: Option<File>,
    pending: Vec<BatchEntry>,
    committed: Instant,
    matches: u64,
    next_batch: u64,
    /// The entry of the last appended batch.
    pub(crate) last: Option<BatchEntry>,
    /// The sums of all appended batches; `None` until the rows of earlier calls are read.
    pub(crate) digest: Option<Digest>,
    syncing: Option<JoinHandle<Result<(), RunError>>>,
    /// Whether writing to the ledger failed. Then no further entries may be written.
    has_failed: bool,
}

impl RunFolder {
    /// Creates a folder with the experiment, its lock and the manifest. The folder appears as soon as it can be resumed.
    ///
    /// # Errors
    /// If the path exists, the plan has too many agents, an agent cannot play one of its tables, or the folder cannot be
    /// written.
    pub fn create(path: &Path, plan: &PlayablePlan) -> Result<RunFolder, RunError> {
        let (agents, tables) = (plan.agents.len(), plan.cells.len());
        if agents * agents * tables > MOST_PAIRS {
            let found = format!("a list of {agents}");
            let most = (MOST_PAIRS / tables).isqrt();
            let allowed = format!("a list of at most {most} here, because a run keeps sums for each pair and table");
            return Err(PlanError::value("agents", found, allowed).into());
        }
        plan.check_agents()?;
        build_aside(path, |new| RunFolder::fill(new, plan))?;
        RunFolder::resume(path, plan)
    }

    /// Fills an empty folder.
    fn fill(path: &Path, plan: &PlayablePlan) -> Result<(), RunError> {
        write_whole(&path.join("spec.toml"), plan.toml().as_bytes())?;
        write_whole(&path.join("spec.lock.json"), plan.lock().as_bytes())?;
        plan.cells.iter().filter_map(|cell| cell.baseline.as_ref()).try_for_each(|baseline| baseline.write(path))?;
        let ledger = RowFile { name: "ledger.jsonl", header: Vec::new() };
        for RowFile { name, header } in row_files(plan).into_iter().chain([ledger]) {
            let file = path.join(name);
            std::fs::write(&file, header).map_err(RunError::unwritable(&file))?;
        }
        let (build, programs) = (&Build::this(), &Programs::of(plan.specs()));
        let spec = blake3::hash(plan.toml().as_bytes()).to_string();
        Manifest { build, outcome: "begun", matches: 0, spec, programs }.write(path, plan)
    }

    /// Opens a folder to continue its run. Creates the folder if it does not exist or is empty.
    ///
    /// # Errors
    /// If the folder has a run of another experiment, is damaged, or cannot be written, or an agent cannot play one of its
    /// tables.
    pub fn reopen(path: &Path, plan: &PlayablePlan) -> Result<RunFolder, RunError> {
        if StoredRun::is_in(path) {
            return RunFolder::resume(path, plan);
        }
        let here = std::env::current_dir().and_then(std::fs::canonicalize);
        if !here.is_ok_and(|here| std::fs::canonicalize(path).is_ok_and(|path| here.starts_with(path))) {
            // Fails unless the folder is empty.
            let _ = std::fs::remove_dir(path);
        }
        match RunFolder::create(path, plan) {
            // Another process has created the folder in the meantime.
            Err(RunError::File(FileError::Exists(_))) if StoredRun::is_in(path) => RunFolder::resume(path, plan),
            created => created,
        }
    }

    /// Resumes a run. Truncates the files to the rows that the ledger covers.
    fn resume(path: &Path, plan: &PlayablePlan) -> Result<RunFolder, RunError> {
        // Lock the ledger before reading, so that no other process can append.
        let ledger = path.join("ledger.jsonl");
        let held = append_regular(&ledger).map_err(RunError::unwritable(&ledger))?;
        lock(path, &held)?;
        let stored = &StoredRun::open(path)?;
        refuse_other(&path.display().to_string(), (&stored.plan, &stored.programs), plan)?;
        if !stored.is_complete() {
            plan.check_agents()?;
        }
        // Only an interruption leaves rows that the ledger does not cover.
        if let Some(rest) =
            stored.uncovered().into_iter().next().filter(|_| stored.claims_complete && stored.is_complete())
        {
            let what = format!("{rest}, and the run is complete");
            return Err(RunError::Damaged(format!("{} is damaged: {what}", path.display())));
        }
        held.set_len(stored.ledger_bytes).map_err(RunError::unwritable(&ledger))?;
        let open = |path: &Path, bytes: u64| {
            let file = append_regular(path).map_err(RunError::unwritable(path))?;
            let found = file.metadata().map_err(RunError::unreadable(path))?.len();
            if found < bytes {
                return Err(RunError::damaged(path, format!("it has {found} bytes, but the ledger covers {bytes}")));
            }
            file.set_len(bytes).map_err(RunError::unwritable(path))?;
            Ok((path.to_owned(), file))
        };
        let files = stored.covered().iter().map(|(path, bytes)| open(path, *bytes)).collect::<Result<_, _>>()?;
        let programs = &stored.programs;
        Ok(RunFolder {
            path: stored.path.clone(),
            plan: stored.plan.clone(),
            spec: stored.spec.clone(),
            origin: Origin::of(&stored.plan, programs.clone()),
            programs: programs.clone(),
            build: stored.build(),
            files,
            ledger: (ledger, held),
            timing: stored.timing.clone(),
            timing_file: None,
            pending: Vec::new(),
            committed: Instant::now(),
            matches: stored.matches(),
            next_batch: stored.entries.len() as u64,
            last: stored.entries.last().cloned(),
            digest: None,
            syncing: None,
            has_failed: false,
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The folder in which relative paths of bots start; `None` if there are none.
    pub fn agents_folder(&self) -> Option<&Path> {
        self.programs.folder.as_deref().map(Path::new)
    }

    /// The origin that a committed batch must have.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The revision of the program that began the run, if it is not the revision of this program.
    pub fn other_revision(&self) -> Option<&str> {
        Some(self.build.revision()).filter(|revision| *revision != Build::this().revision())
    }

    /// The text of the experiment file.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The number of appended batches.
    pub fn extent(&self) -> PlayedBatches {
        PlayedBatches { batches: self.next_batch, of: self.plan.batch_count() }
    }

    /// The batches that are still to be committed.
    pub fn batches_left(&self) -> Range<u64> {
        self.next_batch..self.plan.batch_count()
    }

    /// The number of appended matches.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// The times of all appended batches.
    pub(crate) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// Replaces `timing.csv` by the sums of all appended batches.
    pub(crate) fn write_timing(&mut self) -> Result<(), RunError> {
        let text = self.timing.to_csv(&self.plan, self.next_batch);
        self.timing_file = None;
        Ok(write_whole(&self.path.join(TIMING_FILE), text.as_bytes())?)
    }

    /// Adds the times of the first `batches` batches, or of some of them, and appends them to `timing.csv`. After a kill, the
    /// ledger shows which of the appended rows are valid.
    pub(crate) fn add_timing(&mut self, timing: &Timing, batches: u64) -> Result<(), RunError> {
        let path = self.path.join(TIMING_FILE);
        let mut file = if let Some(file) = self.timing_file.take() {
            file
        } else {
            self.write_timing()?;
            OpenOptions::new().append(true).open(&path).map_err(RunError::unwritable(&path))?
        };
        let text = timing.to_csv(&self.plan, batches);
        let (_, rows) = text.split_once('\n').expect("a table has a header");
        file.write_all(rows.as_bytes()).map_err(RunError::unwritable(&path))?;
        self.timing.extend(timing);
        self.timing_file = Some(file);
        Ok(())
    }

    pub(crate) fn append(&mut self, entry: &BatchEntry, files: &[Vec<u8>]) -> Result<(), RunError> {
        for ((path, file), bytes) in self.files.iter_mut().zip(files) {
            file.write_all(bytes).map_err(RunError::unwritable(path))?;
        }
        self.matches += entry.segments[0].rows;
        self.next_batch = entry.batch + 1;
        self.last = Some(entry.clone());
        self.pending.push(entry.clone());
        self.commit_if_due()
    }

    pub(crate) fn add_sums(&mut self, batch: u64, extract: &Extract, faults: &[String]) {
        self.digest.get_or_insert_default().add(&self.plan, batch, extract, faults);
    }

    /// Starts a background commit of the appended rows, unless the last commit is too recent or still running.
    pub(crate) fn commit_if_due(&mut self) -> Result<(), RunError> {
        if self.has_failed || self.committed.elapsed() < COMMIT_EVERY || self.pending.is_empty() {
            return Ok(());
        }
        if self.syncing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        self.await_sync()?;
        let sync = self.sync()?;
        let spawned = std::thread::Builder::new().spawn(sync);
        self.has_failed = spawned.is_err();
        self.syncing = Some(spawned.map_err(RunError::unwritable(&self.path))?);
        Ok(())
    }

    /// Returns a closure that syncs the appended rows, and then appends their lines to the ledger.
    fn sync(&mut self) -> Result<impl FnOnce() -> Result<(), RunError> + use<>, RunError> {
        let clone =
            |(path, file): &(PathBuf, File)| Ok((path.clone(), file.try_clone().map_err(RunError::unwritable(path))?));
        let files: Vec<(PathBuf, File)> = self.files.iter().map(clone).collect::<Result<_, RunError>>()?;
        let (path, mut ledger) = clone(&self.ledger)?;
        let text: String = self.pending.drain(..).map(|entry| entry.to_text(&self.plan)).collect();
        self.committed = Instant::now();
        Ok(move || {
            files.iter().try_for_each(|(path, file)| file.sync_data().map_err(RunError::unwritable(path)))?;
            ledger.write_all(text.as_bytes()).map_err(RunError::unwritable(&path))?;
            ledger.sync_data().map_err(RunError::unwritable(&path))
        })
    }

    fn await_sync(&mut self) -> Result<(), RunError> {
        let synced = self.syncing.take().map_or(Ok(()), |thread| thread.join().expect("syncing does not panic"));
        self.has_failed |= synced.is_err();
        synced
    }

    /// Commits the appended rows and waits for the result. After a failure, writes no further lines to the ledger.
    pub(crate) fn flush(&mut self) -> Result<(), RunError> {
        self.await_sync()?;
        if self.pending.is_empty() || self.has_failed { Ok(()) } else { self.sync()?() }
    }

    /// Writes the manifest: the plan, the program and the outcome.
    pub(crate) fn write_manifest(&self, outcome: &str) -> Result<(), RunError> {
        let RunFolder { build, matches, programs, .. } = self;
        let spec = blake3::hash(self.spec.as_bytes()).to_string();
        Manifest { build, outcome, matches: *matches, spec, programs }.write(&self.path, &self.plan)
    }
}

#[cfg(test)]
mod tests;
