//! The errors of run folders.

use std::path::Path;

use cambio_exec::FileError;

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
    /// The folder or a file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
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
    pub fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> RunError + use<> {
        let failed = FileError::unwritable(path);
        move |error| failed(error).into()
    }

    /// Makes the error of a path that cannot be read from the error of the operating system. For `map_err`.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> RunError + use<> {
        let failed = FileError::unreadable(path);
        move |error| failed(error).into()
    }

    /// Makes the error of a file that is not what its folder says.
    pub fn damaged(path: &Path, what: impl Into<String>) -> RunError {
        RunError::Damaged { path: path.display().to_string(), what: what.into() }
    }
}
