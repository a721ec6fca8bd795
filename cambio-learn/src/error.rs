//! Errors of training.

use cambio_agents::NetworkError;
use cambio_core::play::MatchError;
use cambio_exec::{FileError, ThreadsError};

use crate::recipe::RecipeError;

/// An error that stops training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum LearnError {
    /// The recipe was rejected.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// A match of an evaluation could not be played.
    #[error("evaluation: {0}")]
    Match(MatchError),
    /// A match of self-play could not be played.
    #[error("match {number} against `{against}`: {error}")]
    SelfPlay { number: u64, against: String, error: MatchError },
    /// A checkpoint cannot be resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] FileError),
    /// The starting network cannot be used.
    #[error("starting network: {0}")]
    Network(#[from] NetworkError),
    /// The folder cannot be used.
    #[error("{0}")]
    Folder(String),
    /// The run was cancelled.
    #[error("interrupted")]
    Interrupted,
}

/// Why a checkpoint cannot be resumed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum CheckpointError {
    /// The bytes are not a checkpoint, or are damaged.
    #[error("not a checkpoint, or a damaged one: {what}")]
    Damaged { what: &'static str },
    /// The checkpoint is for another recipe.
    #[error("the checkpoint is for another recipe: its `{field}` is {was}")]
    Recipe { field: String, was: String },
}
