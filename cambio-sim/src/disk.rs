//! Files that are written as a whole or not at all, and the errors of run folders.

use std::fs::File;
use std::io::Write as _;
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
    /// The folders cannot be merged.
    #[error(transparent)]
    Parts(#[from] PartsError),
}

/// Why folders cannot be merged: one sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// No folder was given.
    #[error("there is nothing to merge; name the folders of a run's shards")]
    Nothing,
    /// A folder is of another run than the first.
    #[error("{path} is of run {found}, {first} of run {run_id}; they do not go together")]
    OtherRun {
        /// The folder.
        path: String,
        /// Its run id.
        found: String,
        /// The first folder.
        first: String,
        /// The run id of the first.
        run_id: String,
    },
    /// A folder was played by another program than the first.
    #[error("{first} was played by revision {revision}, {path} by {found}; they do not go together")]
    OtherRevision {
        /// The folder.
        path: String,
        /// The revision that played it.
        found: String,
        /// The first folder.
        first: String,
        /// The revision that played the first.
        revision: String,
    },
    /// A folder was played with another bot than the first.
    #[error("{first} and {path} do not go together: {change}")]
    OtherBot {
        /// The folder.
        path: String,
        /// The first folder.
        first: String,
        /// Which file of a bot differs.
        change: String,
    },
    /// A folder was not played to its end.
    #[error("{0} is not complete; finish it with --resume")]
    Unfinished(String),
    /// Two folders have the same batches.
    #[error("{0} and {1} overlap; each shard may be given once")]
    Overlap(String, String),
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

/// Builds a folder under the name `NAME.new` and renames it once it is whole. After a failure nothing is left. `build` gets
/// the path and has to make the folder with [`create_folder`].
pub(crate) fn build_aside(out: &Path, build: impl FnOnce(&Path) -> Result<(), RunError>) -> Result<(), RunError> {
    let mut name = out.file_name().ok_or_else(|| RunError::Exists(out.display().to_string()))?.to_owned();
    name.push(".new");
    let new = out.with_file_name(name);
    if let Some(taken) = [out, &new].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(RunError::Exists(taken.display().to_string()));
    }
    let made = build(&new).and_then(|()| std::fs::rename(&new, out).map_err(RunError::unwritable(out)));
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
