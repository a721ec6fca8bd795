//! Run folders that are read.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ledger::{BatchEntry, RowFile, file_name, packed, row_files, unpacked};
use super::manifest::{self, Build};
use super::programs::Programs;
use crate::disk::RunError;
use crate::plan::{Extent, Plan, PlayablePlan, Shard, lock_differences};

/// A run on disk, as its folder says.
#[derive(Debug)]
pub struct StoredRun {
    /// The folder.
    pub path: PathBuf,
    /// What is played.
    pub plan: Plan,
    /// Which shard of it is here; `None` for the whole.
    pub shard: Option<Shard>,
    /// The experiment file as it was given.
    pub spec: String,
    pub(crate) entries: Vec<BatchEntry>,
    /// How many bytes of the ledger are whole lines.
    pub(super) ledger_bytes: u64,
    /// Whether the manifest says that the run was finished.
    pub claims_complete: bool,
    /// Whether the ledger ends in the middle of a line.
    pub(crate) is_torn: bool,
    /// The bots' files as they were; `None` if the manifest does not say.
    pub(crate) programs: Option<Programs>,
    pub(super) manifest: Value,
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
        let plan =
            Plan::unlock(&lock).map_err(|error| RunError::damaged(&path.join("spec.lock.json"), error.to_string()))?;
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
        let shard = match (manifest["share"]["index"].as_u64(), manifest["share"]["of"].as_u64()) {
            (Some(index), Some(of)) if index < of => Some(Shard { index, of }),
            (None, None) => None,
            _ => return Err(RunError::damaged(&file, format!("its share is {}", manifest["share"]))),
        };
        let ledger = path.join("ledger.jsonl");
        let text = read("ledger.jsonl")?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let mut entries: Vec<BatchEntry> = Vec::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let expected = Shard::batches(shard, &plan).start + number as u64;
            let entry = BatchEntry::read(line, &plan).filter(|entry| entry.batch == expected);
            let what = || format!("line {} is not batch {expected} of this run", number + 1);
            entries.push(entry.ok_or_else(|| RunError::damaged(&ledger, what()))?);
        }
        let spec = read("spec.toml")?;
        let (path, ledger_bytes) = (path.to_owned(), whole as u64);
        let is_torn = whole < text.len();
        let claims_complete = manifest["outcome"].as_str().is_some_and(|outcome| outcome.starts_with("complete"));
        let programs = Programs::from_json(&manifest["programs"]);
        Ok(StoredRun { path, plan, shard, spec, entries, ledger_bytes, claims_complete, is_torn, programs, manifest })
    }

    /// What the manifest says that is not so.
    pub(crate) fn manifest_flaws(&self) -> Vec<String> {
        let matches = self.claims_complete.then(|| self.matches());
        manifest::flaws(&self.manifest, &self.path, (&self.plan, self.shard), &self.spec, matches)
    }

    /// The program that began the run.
    pub(crate) fn build(&self) -> Build {
        Build::of(&self.manifest)
    }

    /// The batches that this folder is to hold.
    pub fn batches(&self) -> Range<u64> {
        Shard::batches(self.shard, &self.plan)
    }

    /// Whether all of them are there.
    pub fn is_complete(&self) -> bool {
        self.entries.len() as u64 == self.batches().end - self.batches().start
    }

    /// How much of the run is there.
    pub fn extent(&self) -> Extent {
        Extent { batches: self.entries.len() as u64, of: self.batches().end - self.batches().start }
    }

    /// How many matches have their rows on disk.
    pub fn matches(&self) -> u64 {
        self.entries.iter().map(|entry| entry.segments[0].rows).sum()
    }

    /// Refuses another plan than this one.
    pub(crate) fn check_same(&self, plan: &PlayablePlan, shard: Option<Shard>) -> Result<(), RunError> {
        let mut fields = lock_differences(&self.plan.lock(), &plan.lock());
        if self.shard != shard {
            let named = |shard: Option<Shard>| shard.map_or("the whole".to_owned(), |shard| shard.to_string());
            fields.push(format!("the shard was {} and is now {}", named(self.shard), named(shard)));
        }
        if let Some(programs) = &self.programs {
            fields.extend(programs.changes(&Programs::of(plan.specs())));
        }
        if fields.is_empty() {
            return Ok(());
        }
        Err(RunError::Changed { path: self.path.display().to_string(), fields: fields.join(", ") })
    }

    /// Reads the rows of every batch in order, each file's checked against the ledger.
    ///
    /// # Errors
    /// If a file cannot be read or is not what the ledger says.
    pub(crate) fn for_each_batch(
        &self,
        mut take: impl FnMut(&BatchEntry, Vec<Vec<u8>>) -> Result<(), RunError>,
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
                let place = format!("bytes {at} to {}, batch {}", *at + segment.bytes, entry.batch);
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
