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
