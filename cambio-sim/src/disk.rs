//! Files that are written as a whole or not at all, and the errors of run folders.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::plan::PlanError;

/// Why a run folder cannot be written or read: one sentence.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::RunError;
///
/// let error = RunError::damaged(Path::new("run/matches.csv"), "its last row is cut");
/// assert_eq!(error.to_string(), "run/matches.csv is damaged: its last row is cut");
/// let error = std::fs::read("no/such/file").map_err(RunError::unreadable(Path::new("no/such/file"))).unwrap_err();
/// assert!(error.to_string().starts_with("cannot read no/such/file: "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The path exists already.
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
    /// The path is no run folder.
    #[error("{0} is not a run folder: it has no spec.lock.json")]
    NoRun(String),
    /// The store of units has no run.
    #[error("{0} has no run: it has no plan.json; `cambio units begin` begins one")]
    NotBegun(String),
    /// A file is not what its folder says that it is.
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
    /// The folder belongs to another experiment.
    #[error("{path} is a run of another experiment: {fields}; only the same experiment can be resumed")]
    Changed {
        /// The folder.
        path: String,
        /// The fields that differ.
        fields: String,
    },
    /// The plan of the folder cannot be played.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The units cannot be merged.
    #[error(transparent)]
    Parts(#[from] PartsError),
}

/// Why units cannot be merged: one sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// Two files have other bytes for the same batches.
    #[error(
        "batches {from} to {last} were played twice and gave other bytes: {one} and {other}; an agent does not decide the same each time, or a machine is at fault"
    )]
    Conflict {
        /// The first batch.
        from: u64,
        /// The last batch.
        last: u64,
        /// One file.
        one: String,
        /// The other file.
        other: String,
    },
    /// Batches are missing.
    #[error("{} of {of} are missing", missing.join(" and "))]
    Missing {
        /// The ranges that are missing, a phrase each.
        missing: Vec<String>,
        /// The number of batches of the whole run.
        of: u64,
    },
}

impl RunError {
    /// Makes the error of a path that cannot be written from the error of the operating system. For `map_err`.
    pub fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> RunError {
        let path = path.display().to_string();
        move |error| RunError::Unwritable { path: path.clone(), what: error.to_string() }
    }

    /// Makes the error of a path that cannot be read from the error of the operating system. For `map_err`.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> RunError {
        let path = path.display().to_string();
        move |error| RunError::Unreadable { path: path.clone(), what: error.to_string() }
    }

    /// Makes the error of a file that is not what its folder says.
    pub fn damaged(path: &Path, what: impl Into<String>) -> RunError {
        RunError::Damaged { path: path.display().to_string(), what: what.into() }
    }
}

/// Makes a folder, which must not exist, and the folders above it.
pub(crate) fn create_folder(path: &Path) -> Result<(), RunError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(RunError::unwritable(parent))?;
    }
    std::fs::create_dir(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => RunError::Exists(path.display().to_string()),
        _ => RunError::unwritable(path)(error),
    })
}

/// The right to make or remove a folder: a locked file `NAME.lock` beside it. The file goes with the right. The operating
/// system takes the lock from a process that is killed; the file that it leaves is taken over by the next process.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    file: File,
    /// Whether a process was killed while it built `NAME.new`.
    is_left_building: bool,
}

/// What the file of a claim says while `NAME.new` is built.
const BUILDING: &str = "NAME.new is being built\n";

impl Claim {
    /// Claims a folder, which need not exist. Makes the folders above it.
    ///
    /// # Errors
    /// If another process has claimed it, or the file cannot be written.
    pub fn on(folder: &Path) -> Result<Claim, RunError> {
        // All names of a folder have one lock.
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let path = beside(&folder, ".lock")?;
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(RunError::unwritable(parent))?;
        }
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = opened.map_err(RunError::unwritable(&path))?;
            lock(&folder, &file)?;
            // Whoever had the lock before has removed the file: then this is the lock of a file that is gone.
            if is_at(&path, &file) {
                let mut said = Vec::new();
                (&file).take(64).read_to_end(&mut said).map_err(RunError::unreadable(&path))?;
                return Ok(Claim { path, file, is_left_building: said == BUILDING.as_bytes() });
            }
        }
    }

    /// Notes that `NAME.new` is built from now on, for whoever finds it after a kill.
    fn note_building(&self) -> Result<(), RunError> {
        let write = || {
            let mut file = &self.file;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(BUILDING.as_bytes())
        };
        write().map_err(RunError::unwritable(&self.path))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While the file is locked: nobody else has locked it by this name. If it stays, the next process takes it over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether an open file is the one at this path.
#[cfg(unix)]
fn is_at(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let found = std::fs::symlink_metadata(path).map(number);
    found.is_ok_and(|found| file.metadata().is_ok_and(|open| number(open) == found))
}

/// Whether an open file is the one at this path. A file that is open cannot be replaced here.
#[cfg(not(unix))]
fn is_at(path: &Path, _: &File) -> bool {
    path.exists()
}

/// Locks an open file against other processes that write a folder. File systems without locks are not protected.
pub(crate) fn lock(folder: &Path, file: &File) -> Result<(), RunError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RunError::Busy(folder.display().to_string())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// The path with this ending after its name.
fn beside(path: &Path, ending: &str) -> Result<PathBuf, RunError> {
    let mut name = path.file_name().ok_or_else(|| RunError::Exists(path.display().to_string()))?.to_owned();
    name.push(ending);
    Ok(path.with_file_name(name))
}

/// Builds a folder under the name `NAME.new` and renames it once it is whole. After a failure nothing is left; what a killed
/// process has left under that name is removed. `build` gets the path and has to make the folder with [`create_folder`].
pub(crate) fn build_aside<T>(out: &Path, build: impl FnOnce(&Path) -> Result<T, RunError>) -> Result<T, RunError> {
    let new = beside(out, ".new")?;
    let claim = Claim::on(out)?;
    if out.symlink_metadata().is_ok() {
        return Err(RunError::Exists(out.display().to_string()));
    }
    if new.symlink_metadata().is_ok() {
        // Somebody's own folder of that name is left alone.
        if !claim.is_left_building {
            return Err(RunError::Exists(new.display().to_string()));
        }
        std::fs::remove_dir_all(&new).map_err(RunError::unwritable(&new))?;
    }
    claim.note_building()?;
    let made = build(&new).and_then(|made| match std::fs::rename(&new, out) {
        Ok(()) => Ok(made),
        Err(error) => Err(RunError::unwritable(out)(error)),
    });
    // Leave alone what somebody else made in the meantime.
    if made.as_ref().is_err_and(|error| !matches!(error, RunError::Exists(_))) {
        // If it cannot be removed either, the first error is the one to report.
        let _ = std::fs::remove_dir_all(&new);
    }
    made
}

/// Writes a file as a whole or not at all: it is written under another name, synced and renamed.
///
/// # Errors
/// If it cannot be written.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("cambio-whole-{}", std::process::id()));
/// cambio_sim::write_whole(&path, b"deals = 10\n")?;
/// assert_eq!(std::fs::read(&path)?, b"deals = 10\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        // If the remains cannot be removed either, the first error is the one to report.
        let _ = std::fs::remove_file(&new);
        RunError::unwritable(path)(error)
    })
}
