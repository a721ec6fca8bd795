//! The folder of a study: its lock, and the scores of the deals that it has played.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use cambio_exec::{FileError, append_regular, build_aside, lock, read_text, read_up_to, write_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::disk::RunError;

/// The lock of a study: everything on which its deals depend.
const LOCK: &str = "study.json";

/// The scores of an unfinished study: a line `[stage, deal, scores]` for each deal.
const JOURNAL: &str = "deals.jsonl";

/// The claimed folder of a study.
pub(super) struct StudyFolder {
    path: PathBuf,
    journal: BufWriter<File>,
    /// The lines of earlier processes.
    stored: std::iter::Peekable<std::vec::IntoIter<String>>,
}

impl StudyFolder {
    /// Creates the folder, or continues the same study in it.
    pub(super) fn open(path: &Path, study: &Value) -> Result<StudyFolder, RunError> {
        let (lock_file, journal) = (path.join(LOCK), path.join(JOURNAL));
        let text = format!("{study:#}\n");
        // A process that is killed here leaves no folder, because the next one could not continue a folder without both files.
        let created = build_aside(path, |new| {
            write_whole(&new.join(LOCK), text.as_bytes())?;
            write_whole(&new.join(JOURNAL), b"")
        });
        if let Err(error) = created {
            let FileError::Exists(shown) = error else { return Err(error.into()) };
            let other = |what: &str| RunError::Other(format!("{shown} {what}; choose another --out"));
            if !journal.is_file() {
                return Err(other("already exists"));
            }
            if read_text(&lock_file).ok().as_ref() != Some(&text) {
                return Err(other("already exists with another study, or with a study of another program"));
            }
        }
        let file = append_regular(&journal).map_err(RunError::unwritable(&journal))?;
        lock(path, &file)?;
        // Only now, because another process may have written until it gave up the lock.
        let stored = read_up_to(&journal, u64::MAX).map_err(RunError::unreadable(&journal))?;
        // If a process was killed, its last line may not be complete.
        let complete = stored.rfind('\n').map_or("", |end| &stored[..=end]);
        file.set_len(complete.len() as u64).map_err(RunError::unwritable(&journal))?;
        let lines: Vec<String> = complete.lines().map(str::to_owned).collect();
        Ok(StudyFolder { path: path.to_owned(), journal: BufWriter::new(file), stored: lines.into_iter().peekable() })
    }

    /// The scores of this deal that an earlier process has kept.
    pub(super) fn stored<P: DeserializeOwned>(&mut self, stage: u64, deal: u64) -> Result<Option<Vec<P>>, RunError> {
        let damaged = || {
            RunError::damaged(&self.path.join(JOURNAL), format!("it has no scores of deal {deal} where they belong"))
        };
        let Some(line) = self.stored.peek() else { return Ok(None) };
        let (in_stage, of_deal, scores): (u64, u64, Vec<P>) = serde_json::from_str(line).map_err(|_| damaged())?;
        if (in_stage, of_deal) != (stage, deal) {
            return Err(damaged());
        }
        self.stored.next();
        Ok(Some(scores))
    }

    /// Keeps the scores of a deal.
    pub(super) fn keep(&mut self, stage: u64, deal: u64, scores: &impl Serialize) -> Result<(), RunError> {
        let line = serde_json::to_string(&(stage, deal, scores)).expect("scores are numbers");
        writeln!(self.journal, "{line}").map_err(RunError::unwritable(&self.path.join(JOURNAL)))
    }

    /// Hands the kept scores to the operating system, so that they survive the end of this process.
    pub(super) fn flush(&mut self) -> Result<(), RunError> {
        self.journal.flush().map_err(RunError::unwritable(&self.path.join(JOURNAL)))
    }

    /// Writes the files of the result. Only an interrupted study can be continued later.
    pub(super) fn finish(mut self, files: &[(&str, Vec<u8>)], is_interrupted: bool) -> Result<(), RunError> {
        self.flush()?;
        for (name, bytes) in files {
            write_whole(&self.path.join(name), bytes)?;
        }
        let journal = self.path.join(JOURNAL);
        if is_interrupted { Ok(()) } else { std::fs::remove_file(&journal).map_err(RunError::unwritable(&journal)) }
    }
}
