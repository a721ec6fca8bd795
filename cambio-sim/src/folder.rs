//! Run folders: rows on disk, and a ledger of those that are safely there.
//!
//! Rows are appended in canonical order. A line of the ledger covers some blocks and is written after their rows are on
//! disk and synced; it says how many rows and bytes each file has of them, and their BLAKE3. What is beyond the ledger's
//! last line counts for nothing: a resumed run cuts it off. So whatever happens, nothing is lost but unfinished lines, and
//! nothing else is ever taken for a row.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::experiment::FaultPolicy;
use crate::manifest::{self, Build};
use crate::plan::{Plan, lock_differences};
use crate::programs::Programs;
use crate::rows::{MatchRow, PlayerRow, RoundRow, header};

/// How long finished rows wait at most for being synced.
const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// Why a run folder cannot be written or read: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is something at the path.
    #[error("{0} exists; only a folder that does not exist is written to")]
    Exists(String),
    /// The folder or a file cannot be made or written.
    #[error("cannot write {path}: {what}")]
    Unwritable {
        /// The path.
        path: String,
        /// Why.
        what: String,
    },
    /// The folder or a file cannot be read.
    #[error("cannot read {path}: {what}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        what: String,
    },
    /// A file is not what its folder says of it.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The path.
        path: String,
        /// What was found, and what should be there.
        what: String,
    },
    /// Another process writes here.
    #[error("{0} is being written by another process; wait for it, or stop it and go on with --resume")]
    Busy(String),
    /// The experiment is another one than the folder's.
    #[error("{path} is a run of another experiment: {fields}; only the same experiment can be resumed")]
    Changed {
        /// The folder.
        path: String,
        /// The fields that differ.
        fields: String,
    },
    /// Runs do not go together.
    #[error("{0}")]
    Parts(String),
    /// The worker threads cannot be started.
    #[error("cannot start {threads} threads: {what}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        what: String,
    },
}

impl RunError {
    /// The error of a path that cannot be written, made of the operating system's: for `map_err`.
    pub fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> RunError {
        let path = path.display().to_string();
        move |error| RunError::Unwritable { path: path.clone(), what: error.to_string() }
    }

    /// The error of a path that cannot be read, made of the operating system's: for `map_err`.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> RunError {
        let path = path.display().to_string();
        move |error| RunError::Unreadable { path: path.clone(), what: error.to_string() }
    }

    /// The error of a file that is not what its folder says of it.
    pub fn damaged(path: &Path, what: impl Into<String>) -> RunError {
        RunError::Damaged { path: path.display().to_string(), what: what.into() }
    }
}

/// Which part of a run a folder holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Its number, from 0.
    pub index: u64,
    /// How many parts there are.
    pub of: u64,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number {} of {}", self.index, self.of)
    }
}

impl Share {
    /// The lines of the ledger that this part plays: neighbouring ones, as evenly as possible.
    pub fn lines(share: Option<Share>, plan: &Plan) -> Range<u64> {
        let lines = u128::from(plan.line_count());
        let from = |index: u64, of: u64| (u128::from(index) * lines / u128::from(of)) as u64;
        share.map_or(0..plan.line_count(), |Share { index, of }| from(index, of)..from(index + 1, of))
    }
}

/// How much of a run is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// How many shards are.
    pub shards: u64,
    /// How many there are to be.
    pub of: u64,
}

impl Extent {
    /// Whether all of them are there.
    pub fn is_whole(self) -> bool {
        self.shards == self.of
    }
}

/// A file of rows: its name without `.zst`, and the header that it begins with.
pub(crate) struct RowFile {
    pub(crate) name: &'static str,
    pub(crate) header: Vec<u8>,
}

/// The files of rows that a plan's folder has, in the order of the ledger.
pub(crate) fn row_files(plan: &Plan) -> Vec<RowFile> {
    let mut files = vec![
        RowFile { name: "matches.csv", header: header::<MatchRow<'_>>() },
        RowFile { name: "rounds.csv", header: header::<RoundRow<'_>>() },
        RowFile { name: "players.csv", header: header::<PlayerRow<'_>>() },
    ];
    if plan.records {
        files.push(RowFile { name: "records.jsonl", header: Vec::new() });
    }
    if plan.faults != FaultPolicy::Stop {
        files.push(RowFile { name: "faults.jsonl", header: Vec::new() });
    }
    files
}

/// The name of a file of rows on disk.
pub(crate) fn file_name(plan: &Plan, name: &str) -> String {
    if plan.compress { format!("{name}.zst") } else { name.to_owned() }
}

/// What goes to disk for some rows.
pub(crate) fn packed(plan: &Plan, rows: Vec<u8>) -> Vec<u8> {
    if !plan.compress || rows.is_empty() {
        return rows;
    }
    #[cfg(feature = "zstd")]
    return zstd::bulk::compress(&rows, 3).expect("rows in memory can be compressed");
    #[cfg(not(feature = "zstd"))]
    unreachable!("a plan is not compressed without the feature")
}

/// The rows of what is on disk.
pub(crate) fn unpacked(plan: &Plan, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if !plan.compress || bytes.is_empty() {
        return Ok(bytes);
    }
    #[cfg(feature = "zstd")]
    return zstd::stream::decode_all(&bytes[..]);
    #[cfg(not(feature = "zstd"))]
    Err(std::io::Error::other("it is compressed, and this program was built without the feature `zstd`"))
}

/// What the ledger says of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) hash: String,
}

/// A line of the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) line: u64,
    pub(crate) segments: Vec<Segment>,
}

impl Entry {
    pub(crate) fn new(line: u64, files: &[(Vec<u8>, u64)]) -> Entry {
        let segment = |(bytes, rows): &(Vec<u8>, u64)| Segment {
            rows: *rows,
            bytes: bytes.len() as u64,
            hash: blake3::hash(bytes).to_hex().to_string(),
        };
        Entry { line, segments: files.iter().map(segment).collect() }
    }

    fn to_text(&self, plan: &Plan) -> String {
        let blocks = plan.line(self.line);
        let mut files = serde_json::Map::new();
        for (file, segment) in row_files(plan).iter().zip(&self.segments) {
            let told = json!({ "rows": segment.rows, "bytes": segment.bytes, "blake3": segment.hash });
            files.insert(file.name.to_owned(), told);
        }
        format!("{}\n", json!({ "shard": self.line, "blocks": [blocks.start, blocks.end], "files": files }))
    }

    fn read(text: &str, plan: &Plan) -> Option<Entry> {
        let value: Value = serde_json::from_str(text).ok()?;
        let segment = |file: &RowFile| {
            let told = &value["files"][file.name];
            Some(Segment {
                rows: told["rows"].as_u64()?,
                bytes: told["bytes"].as_u64()?,
                hash: told["blake3"].as_str()?.to_owned(),
            })
        };
        let segments = row_files(plan).iter().map(segment).collect::<Option<_>>()?;
        let entry = Entry { line: value["shard"].as_u64()?, segments };
        (entry.line < plan.line_count() && entry.to_text(plan).trim_end() == text).then_some(entry)
    }
}

/// A run on disk, as its folder says.
#[derive(Debug)]
pub struct StoredRun {
    /// The folder.
    pub path: PathBuf,
    /// What is played.
    pub plan: Plan,
    /// Which part of it is here.
    pub share: Option<Share>,
    /// The experiment file as it was given.
    pub spec: String,
    pub(crate) entries: Vec<Entry>,
    /// How many bytes of the ledger are whole lines.
    ledger_bytes: u64,
    /// Whether the manifest says that the run was finished.
    pub claims_complete: bool,
    /// Whether the ledger ends in the middle of a line.
    pub(crate) is_torn: bool,
    /// The bots' files as they were; `None` if the manifest does not say.
    pub(crate) programs: Option<Programs>,
    manifest: Value,
}

impl StoredRun {
    /// Reads what a folder says of itself: lock, manifest and ledger, not its rows.
    ///
    /// # Errors
    /// If something cannot be read or contradicts itself.
    pub fn open(path: &Path) -> Result<StoredRun, RunError> {
        let read = |name: &str| {
            let file = path.join(name);
            let text = std::fs::read_to_string(&file);
            text.map_err(RunError::unreadable(&file))
        };
        let lock = read("spec.lock.json")?;
        let plan = Plan::unlock(&lock).map_err(|what| RunError::damaged(&path.join("spec.lock.json"), what))?;
        if plan.compress && !cfg!(feature = "zstd") {
            let what = "its rows are compressed, and this program was built without the feature `zstd`";
            return Err(RunError::unreadable(path)(std::io::Error::other(what)));
        }
        let file = path.join("manifest.json");
        let manifest: Value = serde_json::from_str(&read("manifest.json")?)
            .map_err(|error| RunError::damaged(&file, format!("not JSON: {error}")))?;
        if manifest["format"] != manifest::FORMAT {
            return Err(RunError::damaged(
                &file,
                format!("its format is {}; this program knows \"{}\"", manifest["format"], manifest::FORMAT),
            ));
        }
        if manifest["run_id"] != plan.run_id().as_str() {
            return Err(RunError::damaged(
                &file,
                format!("its run id is {}, that of the lock {}", manifest["run_id"], plan.run_id()),
            ));
        }
        let share = match (manifest["share"]["index"].as_u64(), manifest["share"]["of"].as_u64()) {
            (Some(index), Some(of)) if index < of => Some(Share { index, of }),
            (None, None) => None,
            _ => return Err(RunError::damaged(&file, format!("its share is {}", manifest["share"]))),
        };
        let ledger = path.join("ledger.jsonl");
        let text = read("ledger.jsonl")?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let expected = Share::lines(share, &plan).start + number as u64;
            let entry = Entry::read(line, &plan).filter(|entry| entry.line == expected);
            let what = || format!("line {} is not the shard {expected} of this run", number + 1);
            entries.push(entry.ok_or_else(|| RunError::damaged(&ledger, what()))?);
        }
        let spec = read("spec.toml")?;
        let (path, ledger_bytes) = (path.to_owned(), whole as u64);
        let is_torn = whole < text.len();
        let claims_complete = manifest["outcome"].as_str().is_some_and(|outcome| outcome.starts_with("complete"));
        let programs = Programs::from_json(&manifest["programs"]);
        Ok(StoredRun { path, plan, share, spec, entries, ledger_bytes, claims_complete, is_torn, programs, manifest })
    }

    /// What the manifest says that is not so.
    pub(crate) fn manifest_flaws(&self) -> Vec<String> {
        let matches = self.claims_complete.then(|| self.matches());
        manifest::flaws(&self.manifest, &self.path, (&self.plan, self.share), &self.spec, matches)
    }

    /// The program that began the run.
    pub(crate) fn build(&self) -> Build {
        Build::of(&self.manifest)
    }

    /// The lines that this folder is to hold.
    pub fn lines(&self) -> Range<u64> {
        Share::lines(self.share, &self.plan)
    }

    /// Whether all of them are there.
    pub fn is_complete(&self) -> bool {
        self.entries.len() as u64 == self.lines().end - self.lines().start
    }

    /// How much of the run is there.
    pub fn extent(&self) -> Extent {
        Extent { shards: self.entries.len() as u64, of: self.lines().end - self.lines().start }
    }

    /// How many matches have their rows on disk.
    pub fn matches(&self) -> u64 {
        self.entries.iter().map(|entry| entry.segments[0].rows).sum()
    }

    /// Refuses another plan than this one.
    pub(crate) fn check_same(&self, plan: &Plan, share: Option<Share>) -> Result<(), RunError> {
        let mut fields = lock_differences(&self.plan.lock(), &plan.lock());
        if self.share != share {
            let named = |share: Option<Share>| share.map_or("the whole".to_owned(), |share| share.to_string());
            fields.push(format!("the part was {} and is now {}", named(self.share), named(share)));
        }
        if let Some(programs) = &self.programs {
            fields.extend(programs.changes(&Programs::of(&plan.agents)));
        }
        if fields.is_empty() {
            return Ok(());
        }
        Err(RunError::Changed { path: self.path.display().to_string(), fields: fields.join(", ") })
    }

    /// Reads the rows of every line in order, each file's checked against the ledger.
    ///
    /// # Errors
    /// If a file cannot be read or is not what the ledger says.
    pub(crate) fn for_each_line(
        &self,
        mut take: impl FnMut(&Entry, Vec<Vec<u8>>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut files = Vec::new();
        for file in row_files(&self.plan) {
            let path = self.path.join(file_name(&self.plan, file.name));
            let mut reader = BufReader::new(File::open(&path).map_err(RunError::unreadable(&path))?);
            let mut header = vec![0; packed(&self.plan, file.header.clone()).len()];
            let read = reader.read_exact(&mut header);
            if read.is_err() || header != packed(&self.plan, file.header) {
                return Err(RunError::damaged(&path, "it does not begin with the header of its rows"));
            }
            files.push((path, reader, header.len() as u64));
        }
        for entry in &self.entries {
            let mut rows = Vec::new();
            for ((path, reader, at), segment) in files.iter_mut().zip(&entry.segments) {
                let mut bytes = Vec::new();
                reader.take(segment.bytes).read_to_end(&mut bytes).map_err(RunError::unreadable(path))?;
                let place = format!("bytes {at} to {}, shard {}", *at + segment.bytes, entry.line);
                if bytes.len() as u64 != segment.bytes {
                    let what = format!("it ends after byte {}; {place} should be there", *at + bytes.len() as u64);
                    return Err(RunError::damaged(path, what));
                }
                if blake3::hash(&bytes).to_hex().as_str() != segment.hash {
                    return Err(RunError::damaged(path, format!("{place} are not those of the ledger")));
                }
                *at += segment.bytes;
                rows.push(unpacked(&self.plan, bytes).map_err(RunError::unreadable(path))?);
            }
            take(entry, rows)?;
        }
        Ok(())
    }

    /// How many bytes of each file the ledger covers, header included.
    pub(crate) fn covered(&self) -> Vec<(PathBuf, u64)> {
        let covered = |(place, file): (usize, RowFile)| {
            let header = packed(&self.plan, file.header).len() as u64;
            let bytes: u64 = self.entries.iter().map(|entry| entry.segments[place].bytes).sum();
            (self.path.join(file_name(&self.plan, file.name)), header + bytes)
        };
        row_files(&self.plan).into_iter().enumerate().map(covered).collect()
    }
}

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    plan: Plan,
    spec: String,
    share: Option<Share>,
    programs: Programs,
    /// The program that began the run.
    build: Build,
    files: Vec<(PathBuf, File)>,
    ledger: (PathBuf, File),
    pending: Vec<Entry>,
    committed: Instant,
    matches: u64,
    next_line: u64,
    syncing: Option<JoinHandle<Result<(), RunError>>>,
    /// Whether lines of the ledger were lost: none may follow them.
    has_failed: bool,
}

impl RunFolder {
    /// Makes the folder, with the experiment as it was given, its lock, and the manifest, before anything is played.
    ///
    /// # Errors
    /// If there is something at the path already, or it cannot be written.
    pub fn create(path: &Path, spec: &str, plan: &Plan, share: Option<Share>) -> Result<RunFolder, RunError> {
        create_folder(path)?;
        write_whole(&path.join("spec.toml"), spec.as_bytes())?;
        write_whole(&path.join("spec.lock.json"), plan.lock().as_bytes())?;
        let create = |name: &str, header: &[u8]| {
            let file = path.join(name);
            let mut open = File::create_new(&file).map_err(RunError::unwritable(&file))?;
            open.write_all(header).map_err(RunError::unwritable(&file))?;
            Ok((file, open))
        };
        let files = row_files(plan)
            .into_iter()
            .map(|file| create(&file_name(plan, file.name), &packed(plan, file.header)))
            .collect::<Result<Vec<_>, RunError>>()?;
        let folder = RunFolder {
            path: path.to_owned(),
            plan: plan.clone(),
            spec: spec.to_owned(),
            share,
            programs: Programs::of(&plan.agents),
            build: Build::this(),
            files,
            ledger: create("ledger.jsonl", b"")?,
            pending: Vec::new(),
            committed: Instant::now(),
            matches: 0,
            next_line: Share::lines(share, plan).start,
            syncing: None,
            has_failed: false,
        };
        lock(path, &folder.ledger.1)?;
        // Last: a folder with a manifest has everything that resuming needs.
        folder.write_manifest("begun")?;
        Ok(folder)
    }

    /// Opens a folder to go on with its run, or makes it if there is none, or nothing in it but the beginning of one.
    ///
    /// # Errors
    /// If it is the run of another experiment, is damaged, or cannot be written.
    pub fn reopen(path: &Path, spec: &str, plan: &Plan, share: Option<Share>) -> Result<RunFolder, RunError> {
        if path.is_dir() && !path.join("manifest.json").exists() {
            // The manifest is written last: the run was stopped before anything was played.
            let is_begun = std::fs::read_to_string(path.join("spec.lock.json")).is_ok_and(|lock| lock == plan.lock());
            let rows = row_files(plan);
            let mut own = vec!["spec.toml.new".to_owned(), "spec.toml".to_owned(), "spec.lock.json.new".to_owned()];
            if is_begun {
                own.extend(rows.iter().map(|file| file_name(plan, file.name)));
                own.extend(["ledger.jsonl", "manifest.json.new", "spec.lock.json"].map(str::to_owned));
            }
            let header = rows.iter().map(|file| packed(plan, file.header.clone()).len()).max().unwrap_or(0);
            for name in own.iter().map(|name| path.join(name)).filter(|name| name.exists()) {
                let length = std::fs::metadata(&name).map_err(RunError::unreadable(&name))?.len() as usize;
                let is_spec = name.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spec."));
                if !is_spec && length > header {
                    return Err(RunError::damaged(&path.join("manifest.json"), "it is missing, and there are rows"));
                }
                std::fs::remove_file(&name).map_err(RunError::unwritable(&name))?;
            }
            std::fs::remove_dir(path).map_err(|_| RunError::Exists(path.display().to_string()))?;
        }
        if !path.exists() {
            return RunFolder::create(path, spec, plan, share);
        }
        let stored = StoredRun::open(path)?;
        stored.check_same(plan, share)?;
        RunFolder::resume(&stored)
    }

    /// Opens a folder to go on with its run: what is beyond its ledger is cut off.
    ///
    /// # Errors
    /// If it cannot be written, or a file of rows is shorter than its ledger says.
    pub fn resume(stored: &StoredRun) -> Result<RunFolder, RunError> {
        let ledger = stored.path.join("ledger.jsonl");
        let held = OpenOptions::new().append(true).open(&ledger).map_err(RunError::unwritable(&ledger))?;
        // Before anything is cut off.
        lock(&stored.path, &held)?;
        held.set_len(stored.ledger_bytes).map_err(RunError::unwritable(&ledger))?;
        let open = |path: &Path, bytes: u64| {
            let file = OpenOptions::new().append(true).open(path).map_err(RunError::unwritable(path))?;
            let found = file.metadata().map_err(RunError::unreadable(path))?.len();
            if found < bytes {
                return Err(RunError::damaged(path, format!("it has {found} bytes; its ledger covers {bytes}")));
            }
            file.set_len(bytes).map_err(RunError::unwritable(path))?;
            Ok((path.to_owned(), file))
        };
        let files = stored.covered().iter().map(|(path, bytes)| open(path, *bytes)).collect::<Result<_, _>>()?;
        Ok(RunFolder {
            path: stored.path.clone(),
            plan: stored.plan.clone(),
            spec: stored.spec.clone(),
            share: stored.share,
            programs: stored.programs.clone().unwrap_or_else(|| Programs::of(&stored.plan.agents)),
            build: stored.build(),
            files,
            ledger: (ledger, held),
            pending: Vec::new(),
            committed: Instant::now(),
            matches: stored.matches(),
            next_line: stored.lines().start + stored.entries.len() as u64,
            syncing: None,
            has_failed: false,
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that its rows come from another run's folder: who played them, and with which files of bots.
    pub(crate) fn come_from(&mut self, stored: &StoredRun) {
        self.build = stored.build();
        if let Some(programs) = &stored.programs {
            self.programs = programs.clone();
        }
    }

    /// The revision that began the run, if this program is of another.
    pub fn other_revision(&self) -> Option<&str> {
        Some(self.build.revision()).filter(|revision| *revision != Build::this().revision())
    }

    /// The experiment file as it was given.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// How much of the run was handed in.
    pub fn extent(&self) -> Extent {
        let lines = Share::lines(self.share, &self.plan);
        Extent { shards: self.next_line - lines.start, of: lines.end - lines.start }
    }

    /// The lines that are still to be played.
    pub fn lines_left(&self) -> Range<u64> {
        self.next_line..Share::lines(self.share, &self.plan).end
    }

    /// Which part of the run this is.
    pub fn share(&self) -> Option<Share> {
        self.share
    }

    /// How many matches were handed in.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// Takes the rows of the next line.
    pub(crate) fn append(&mut self, entry: Entry, files: &[(Vec<u8>, u64)]) -> Result<(), RunError> {
        for ((path, file), (bytes, _)) in self.files.iter_mut().zip(files) {
            file.write_all(bytes).map_err(RunError::unwritable(path))?;
        }
        self.matches += entry.segments[0].rows;
        self.next_line = entry.line + 1;
        self.pending.push(entry);
        self.commit_if_due()
    }

    /// Has the rows that were handed in synced, and then written down in the ledger, if that was not done lately; in the
    /// background, and one after the other.
    pub(crate) fn commit_if_due(&mut self) -> Result<(), RunError> {
        if self.has_failed || self.committed.elapsed() < COMMIT_EVERY || self.pending.is_empty() {
            return Ok(());
        }
        if self.syncing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        self.await_sync()?;
        let clone =
            |(path, file): &(PathBuf, File)| Ok((path.clone(), file.try_clone().map_err(RunError::unwritable(path))?));
        let files: Vec<(PathBuf, File)> = self.files.iter().map(clone).collect::<Result<_, RunError>>()?;
        let ledger = clone(&self.ledger)?;
        let text: String = self.pending.drain(..).map(|entry| entry.to_text(&self.plan)).collect();
        self.committed = Instant::now();
        let spawned = std::thread::Builder::new().spawn(move || sync(&files, ledger, &text));
        self.has_failed = spawned.is_err();
        self.syncing = Some(spawned.map_err(RunError::unwritable(&self.path))?);
        Ok(())
    }

    fn await_sync(&mut self) -> Result<(), RunError> {
        let synced = self.syncing.take().map_or(Ok(()), |thread| thread.join().expect("syncing does not panic"));
        self.has_failed |= synced.is_err();
        synced
    }

    /// Syncs the rows that were handed in, then writes their lines of the ledger, and waits for that; not behind lines that
    /// were lost.
    pub(crate) fn commit(&mut self) -> Result<(), RunError> {
        self.await_sync()?;
        if !self.pending.is_empty() && !self.has_failed {
            let text: String = self.pending.drain(..).map(|entry| entry.to_text(&self.plan)).collect();
            let (path, file) = &self.ledger;
            let ledger = (path.clone(), file.try_clone().map_err(RunError::unwritable(path))?);
            sync(&self.files, ledger, &text)?;
        }
        self.committed = Instant::now();
        Ok(())
    }

    /// Writes down what is played, with what, and how far it came.
    pub(crate) fn write_manifest(&self, outcome: &str) -> Result<(), RunError> {
        let mut manifest = manifest::facts(&self.plan, self.share);
        self.build.tell(&mut manifest);
        for (field, value) in [
            ("outcome", outcome.into()),
            ("matches", self.matches.into()),
            ("spec", blake3::hash(self.spec.as_bytes()).to_string().into()),
            ("programs", self.programs.to_json()),
        ] {
            manifest[field] = value;
        }
        write_whole(&self.path.join("manifest.json"), format!("{manifest:#}\n").as_bytes())
    }
}

/// Keeps other processes from writing into a folder, as long as its ledger is open. Where there are no locks, nothing does.
fn lock(folder: &Path, ledger: &File) -> Result<(), RunError> {
    match ledger.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RunError::Busy(folder.display().to_string())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Syncs rows, and then says so in the ledger.
fn sync(files: &[(PathBuf, File)], (path, mut ledger): (PathBuf, File), text: &str) -> Result<(), RunError> {
    for (path, file) in files {
        file.sync_data().map_err(RunError::unwritable(path))?;
    }
    ledger.write_all(text.as_bytes()).map_err(RunError::unwritable(&path))?;
    ledger.sync_data().map_err(RunError::unwritable(&path))
}

/// Makes a folder, which must not exist, and those above it.
pub(crate) fn create_folder(path: &Path) -> Result<(), RunError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(RunError::unwritable(parent))?;
    }
    std::fs::create_dir(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => RunError::Exists(path.display().to_string()),
        _ => RunError::unwritable(path)(error),
    })
}

/// Builds a folder so that it has its name once it is whole, and until then `NAME.new`; what fails leaves nothing. `build`
/// makes the folder that it is given with [`create_folder`].
pub(crate) fn build_aside(out: &Path, build: impl FnOnce(&Path) -> Result<(), RunError>) -> Result<(), RunError> {
    let mut name = out.file_name().ok_or_else(|| RunError::Exists(out.display().to_string()))?.to_owned();
    name.push(".new");
    let new = out.with_file_name(name);
    if let Some(taken) = [out, &new].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(RunError::Exists(taken.display().to_string()));
    }
    let made = build(&new).and_then(|()| std::fs::rename(&new, out).map_err(RunError::unwritable(out)));
    // What somebody else made in the meantime is not ours to remove.
    if made.as_ref().is_err_and(|error| !matches!(error, RunError::Exists(_))) {
        // That what is of no use cannot be removed either says nothing new.
        let _ = std::fs::remove_dir_all(&new);
    }
    made
}

/// Writes a file so that it is there as a whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| {
        // What is left of it is of no use; that it cannot be removed either says nothing new.
        let _ = std::fs::remove_file(&new);
        RunError::unwritable(path)(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    #[test]
    fn nothing_follows_lines_of_the_ledger_that_were_lost() {
        let path = std::env::temp_dir().join(format!("cambio-lost-{}", std::process::id()));
        let experiment = Experiment {
            deals: 4,
            rules: vec!["classic".into()],
            seats: vec![2],
            agents: vec!["random".into()],
            ..Experiment::default()
        };
        let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let mut folder = RunFolder::create(&path, "", &plan, None).unwrap();
        let files = vec![(Vec::new(), 0); 3];
        let lost = || Err(RunError::unwritable(Path::new("rows"))(std::io::Error::other("no room")));
        folder.syncing = Some(std::thread::spawn(lost));
        folder.append(Entry::new(1, &files), &files).unwrap();
        assert!(folder.commit().is_err());
        folder.append(Entry::new(2, &files), &files).unwrap();
        folder.committed = Instant::now().checked_sub(2 * COMMIT_EVERY).unwrap();
        assert!(folder.commit_if_due().is_ok() && folder.commit().is_ok());
        assert_eq!(std::fs::read_to_string(path.join("ledger.jsonl")).unwrap(), "");
        assert_eq!(StoredRun::open(&path).unwrap().matches(), 0);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
