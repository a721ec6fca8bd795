//! Reads run folders.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use cambio_agents::{AgentSpec, Roster};
use cambio_exec::{open_regular, read_line, read_up_to};
use serde_json::Value;

use super::ledger::{BatchEntry, LONGEST_LINE, row_files};
use super::manifest::{self, Build, Programs};
use crate::disk::RunError;
use crate::plan::{Plan, PlayablePlan, PlayedBatches};
use crate::play::{TIMING_FILE, Timing};

/// The maximum number of bytes of the lock, the manifest, the experiment file and the times.
const MOST_TEXT: u64 = 1 << 28;

/// A run on disk.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, RunFolder, Runner, StoredRun, derive, play_block};
///
/// let experiment =
///     Experiment { seed: Some(1.into()), deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-stored-{}", std::process::id()));
/// let mut folder = RunFolder::create(&path, &plan)?;
/// assert_eq!((folder.spec(), folder.matches(), folder.extent().batches), (plan.toml(), 0, 0));
/// assert!(RunFolder::create(&path, &plan).is_err(), "the folder exists already");
/// Runner::new(&Executor::new(1)?).run(&plan, &mut folder)?;
/// assert!(folder.extent().is_whole());
///
/// let stored = StoredRun::open(&path)?;
/// assert!(stored.is_complete());
/// assert_eq!((stored.matches(), stored.extent()), (20, folder.extent()));
/// assert_eq!(derive(&stored)?.summary.len(), 2);
/// for read in stored.blocks()? {
///     let (block, rows) = read?;
///     assert_eq!(rows, play_block(&plan, &plan.block(block.number)).unwrap());
/// }
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoredRun {
    /// The folder.
    pub path: PathBuf,
    /// The plan.
    pub plan: Plan,
    /// The text of the experiment file.
    pub spec: String,
    /// The times of the agents and of all blocks; empty if the run is older than the format of `timing.csv`.
    pub timing: Timing,
    pub(crate) entries: Vec<BatchEntry>,
    /// The number of bytes in the complete lines of the ledger.
    pub(super) ledger_bytes: u64,
    /// Whether the outcome in the manifest is `complete`.
    pub claims_complete: bool,
    /// Whether the ledger ends in the middle of a line.
    pub(crate) is_torn: bool,
    /// The hashes of the bots' files when the run began.
    pub(crate) programs: Programs,
    manifest: Value,
}

/// A batch read from disk: its entry, and the rows of each file.
pub(crate) type ReadBatch<'s> = (&'s BatchEntry, Vec<Vec<u8>>);

impl StoredRun {
    /// Whether a folder has a run, perhaps a damaged one.
    pub fn is_in(path: &Path) -> bool {
        ["spec.lock.json", "manifest.json"].iter().any(|name| path.join(name).exists())
    }

    /// Reads the experiment, the lock, the manifest and the ledger of a folder, but not its rows.
    ///
    /// # Errors
    /// If a file cannot be read or has been modified.
    pub fn open(path: &Path) -> Result<StoredRun, RunError> {
        let read = |name: &str| {
            let file = path.join(name);
            let text = read_up_to(&file, MOST_TEXT);
            text.map_err(RunError::unreadable(&file))
        };
        if path.exists() && !StoredRun::is_in(path) {
            return Err(RunError::Other(format!("{} is not a run folder: it has no spec.lock.json", path.display())));
        }
        let lock = read("spec.lock.json")?;
        let mut plan = Plan::unlock(&lock).map_err(|error| RunError::of_lock(&path.join("spec.lock.json"), &error))?;
        plan.cells.iter_mut().filter_map(|cell| cell.baseline.as_mut()).for_each(|baseline| baseline.find(path));
        if plan.compress {
            let what = "its rows are compressed with zstd, which this version of cambio does not support; use the version that \
                        wrote it";
            return Err(RunError::unreadable(path)(std::io::Error::other(what)));
        }
        let file = path.join("manifest.json");
        let manifest_text = read("manifest.json")?;
        let manifest: Value = serde_json::from_str(&manifest_text)
            .map_err(|error| RunError::damaged(&file, format!("not JSON: {error}")))?;
        if manifest["format"] != manifest::FORMAT {
            return Err(RunError::other_format(&file, &manifest["format"], manifest::FORMAT));
        }
        if manifest["run_id"] != plan.run_id().as_str() {
            let (listed, own) = (&manifest["run_id"], plan.run_id());
            return Err(if manifest::is_unchanged(&manifest_text) {
                let what = format!("it has been modified: its run id is {own}, but the manifest has {listed}");
                RunError::damaged(&path.join("spec.lock.json"), what)
            } else {
                RunError::damaged(&file, format!("its run id is {listed}, but the run id of the lock is {own}"))
            });
        }
        manifest::check(&manifest_text, &manifest, &plan).map_err(|what| RunError::damaged(&file, what))?;
        let spec = read("spec.toml")?;
        if manifest["spec"] != blake3::hash(spec.as_bytes()).to_string().as_str() {
            return Err(RunError::damaged(&path.join("spec.toml"), "it has been modified"));
        }
        let ledger = path.join("ledger.jsonl");
        let unreadable = RunError::unreadable(&ledger);
        let mut input = BufReader::new(open_regular(&ledger).map_err(&unreadable)?);
        let mut entries: Vec<BatchEntry> = Vec::new();
        let mut ledger_bytes = 0;
        let is_torn = loop {
            let line = read_line(&mut input, LONGEST_LINE).map_err(&unreadable)?;
            let Some(text) = line.strip_suffix(b"\n") else {
                break !line.is_empty();
            };
            let number = entries.len();
            let entry = std::str::from_utf8(text).ok().and_then(|text| BatchEntry::read(text, &plan));
            let what = || format!("line {} is not batch {number} of this run", number + 1);
            let entry = entry.filter(|entry| entry.batch == number as u64);
            entries.push(entry.ok_or_else(|| RunError::damaged(&ledger, what()))?);
            ledger_bytes += line.len() as u64;
        };
        // The times are only displayed, so a file that cannot be read is not an error.
        let mut timing = Timing::default();
        timing.read(&read(TIMING_FILE).unwrap_or_default(), &plan, entries.len() as u64);
        let path = path.to_owned();
        let claims_complete = manifest["outcome"] == "complete";
        let programs = Programs::from_json(&manifest).unwrap_or_default();
        Ok(StoredRun { path, plan, spec, timing, entries, ledger_bytes, claims_complete, is_torn, programs, manifest })
    }

    /// The plan with its agents.
    ///
    /// # Errors
    /// If the roster lacks an agent.
    pub fn playable(&self, roster: &Roster) -> Result<PlayablePlan, RunError> {
        let (plan, roster) = (self.plan.clone(), &self.programs.place(roster));
        Ok(plan.with_agents(roster)?.with_toml(&*self.spec))
    }

    /// A message if the manifest of a complete run has another number of matches.
    pub(crate) fn manifest_flaw(&self) -> Option<String> {
        let file = self.path.join("manifest.json");
        let is_other = self.claims_complete && self.manifest["matches"] != self.matches();
        is_other.then(|| format!("{}: `matches` does not match the lock and the ledger", file.display()))
    }

    /// The version of the program that began the run, and the first digits of its git revision.
    pub fn program(&self) -> String {
        let version = self.manifest["version"].as_str().unwrap_or("unknown");
        format!("{version} ({:.10})", self.build().revision())
    }

    pub(crate) fn build(&self) -> Build {
        Build::of(&self.manifest)
    }

    /// Whether all batches are on disk.
    pub fn is_complete(&self) -> bool {
        self.extent().is_whole()
    }

    /// The number of batches on disk.
    pub fn extent(&self) -> PlayedBatches {
        PlayedBatches { batches: self.entries.len() as u64, of: self.plan.batch_count() }
    }

    /// The number of matches on disk.
    pub fn matches(&self) -> u64 {
        self.entries.iter().map(|entry| entry.segments[0].rows).sum()
    }

    /// A message for each file of a bot or a network that has changed since the run began.
    pub fn changed_files(&self, agents: &[AgentSpec]) -> Vec<String> {
        self.programs.changes(&Programs::of(agents))
    }

    /// Whether the bots and networks of both runs had the same files.
    pub fn has_files_of(&self, other: &StoredRun) -> bool {
        self.programs.hashes == other.programs.hashes
    }

    /// Reads the rows of all batches in order, and checks each file against the ledger. Fails if a file cannot be read. A batch
    /// that does not match the ledger is an error, after which the next batch can be read.
    pub(crate) fn read_batches(&self) -> Result<impl Iterator<Item = Result<ReadBatch<'_>, RunError>>, RunError> {
        let mut files = Vec::new();
        for file in row_files(&self.plan) {
            let path = self.path.join(file.name);
            let mut reader = BufReader::new(open_regular(&path).map_err(RunError::unreadable(&path))?);
            let mut header = vec![0; file.header.len()];
            let read = reader.read_exact(&mut header);
            if read.is_err() || header != file.header {
                return Err(RunError::damaged(&path, "it does not begin with its header"));
            }
            files.push((file.name, path, reader, header.len() as u64));
        }
        let mut read = move |entry: &BatchEntry, place: usize| {
            let ((name, path, reader, at), segment) = (&mut files[place], &entry.segments[place]);
            let mut bytes = Vec::new();
            reader.take(segment.bytes).read_to_end(&mut bytes).map_err(RunError::unreadable(path))?;
            let (batch, place) = (entry.batch, format!("bytes {at} to {}", *at + segment.bytes));
            if bytes.len() as u64 != segment.bytes {
                let what = format!("it ends at byte {}, inside batch {batch} ({place})", *at + bytes.len() as u64);
                return Err(RunError::damaged(path, what));
            }
            *at += segment.bytes;
            let bad = |what| RunError::damaged(path, format!("{place} (batch {batch}) {what}"));
            segment.check(name, &bytes).map(|()| bytes).map_err(bad)
        };
        Ok(self.entries.iter().map(move |entry| {
            // Also after an error, so that the next batch begins at its rows.
            let files: Vec<_> = (0..entry.segments.len()).map(|place| read(entry, place)).collect();
            Ok((entry, files.into_iter().collect::<Result<_, _>>()?))
        }))
    }

    /// Messages about bytes that the ledger does not cover. Missing files are reported when they are read.
    pub(crate) fn uncovered(&self) -> Vec<String> {
        let torn = self.is_torn.then(|| format!("{}/ledger.jsonl ends in the middle of a line", self.path.display()));
        let rest = self.covered().into_iter().filter_map(|(path, bytes)| {
            let found = std::fs::metadata(&path).ok()?.len();
            (found > bytes).then(|| format!("{} has {found} bytes, but the ledger covers {bytes}", path.display()))
        });
        torn.into_iter().chain(rest).collect()
    }

    /// The number of bytes of each file that the ledger covers, including the header.
    pub(crate) fn covered(&self) -> Vec<(PathBuf, u64)> {
        let rows = |place: usize| self.entries.iter().map(|entry| entry.segments[place].bytes).sum::<u64>();
        let files = row_files(&self.plan).into_iter().enumerate();
        files.map(|(place, file)| (self.path.join(file.name), file.header.len() as u64 + rows(place))).collect()
    }
}
