//! The errors of run folders.

use std::path::Path;

use cambio_exec::FileError;

use crate::plan::{LOCK_FORMAT, LockError, PlanError};

/// A run folder that cannot be written or read.
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
    /// The folder is not a run, or a run of another format or of another experiment.
    #[error("{0}")]
    Other(String),
    /// A file does not match the run.
    #[error("{0}")]
    Damaged(String),
    /// A batch was played twice and gave different rows.
    #[error("{0}")]
    Conflict(String),
    /// The plan of the folder cannot be played.
    #[error(transparent)]
    Plan(#[from] PlanError),
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
        RunError::Other(format!(
            "{} has the format {:.60}, but this version of cambio supports {supported}; use the version that wrote it",
            path.display(),
            found.to_string()
        ))
    }

    /// The error for a lock in this file.
    pub(crate) fn of_lock(path: &Path, error: &LockError) -> RunError {
        match error {
            LockError::Format(found) => RunError::other_format(path, found, LOCK_FORMAT),
            error => RunError::damaged(path, error.to_string()),
        }
    }

    /// The error for a damaged file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> RunError {
        RunError::Damaged(format!("{} is damaged: {}", path.display(), what.into()))
    }
}
