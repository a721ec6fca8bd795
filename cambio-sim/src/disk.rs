//! The errors of run folders and stores.

use std::path::Path;

use cambio_exec::FileError;

use crate::plan::{LockError, PlanError};

/// A run folder or a store that cannot be written or read.
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
    /// The folder or a file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The path is not a run folder.
    #[error("{0} is not a run folder: it has no spec.lock.json")]
    NoRun(String),
    /// The store of units has no run.
    #[error("{0} has no run: it has no plan.json; begin one with `cambio units begin`")]
    NotBegun(String),
    /// The folder for a new store has other files.
    #[error("{0} already has files, but no plan.json; choose a new or empty folder for the store")]
    Occupied(String),
    /// A file does not match the run.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The path.
        path: String,
        /// The damage.
        what: String,
    },
    /// A file has another format.
    #[error(
        "{path} has the format {found}, but this version of cambio supports {supported}; use the version that wrote it"
    )]
    Format {
        /// The path.
        path: String,
        /// The format of the file, as JSON.
        found: String,
        /// The format that this program supports.
        supported: String,
    },
    /// The run belongs to another experiment.
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

/// Units that cannot be merged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// Two files have different bytes for the same batches.
    #[error(
        "batches {from} to {last} were played twice and gave different bytes: {one} and {other}; an agent is not reproducible, or a machine is faulty"
    )]
    Conflict {
        /// The first batch.
        from: u64,
        /// The last batch.
        last: u64,
        /// The path of one file.
        one: String,
        /// The path of the other file.
        other: String,
    },
    /// Batches are missing.
    #[error("units are missing; of {of} batches, the store lacks {}; `cambio units play` plays them", missing.join(", "))]
    Missing {
        /// A phrase for each missing range.
        missing: Vec<String>,
        /// The number of batches of the run.
        of: u64,
    },
}

impl RunError {
    /// Converts an error of the operating system while writing a path. For `map_err`.
    pub fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> RunError + use<> {
        let failed = FileError::unwritable(path);
        move |error| failed(error).into()
    }

    /// Converts an error of the operating system while reading a path. For `map_err`.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> RunError + use<> {
        let failed = FileError::unreadable(path);
        move |error| failed(error).into()
    }

    /// The error for a file of another format. `found` is the field that names the format.
    pub fn other_format(path: &Path, found: &serde_json::Value, supported: &str) -> RunError {
        let found: String = found.to_string().chars().take(60).collect();
        RunError::Format { path: path.display().to_string(), found, supported: supported.to_owned() }
    }

    /// The error for a lock in this file.
    pub(crate) fn of_lock(path: &Path, error: &LockError) -> RunError {
        match error {
            LockError::Format { found, supported } => RunError::other_format(path, found, supported),
            error => RunError::damaged(path, error.to_string()),
        }
    }

    /// The error for a damaged file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> RunError {
        RunError::Damaged { path: path.display().to_string(), what: what.into() }
    }
}
