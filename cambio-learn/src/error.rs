//! Why learning stops.

use cambio_agents::NetworkError;
use cambio_core::MatchError;
use cambio_exec::{FileError, ThreadsError};

use crate::recipe::RecipeError;

/// Why learning stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The recipe is refused.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// A match of an evaluation could not be played.
    #[error("the evaluation: {0}")]
    Match(MatchError),
    /// A match of self-play could not be played.
    #[error("match {number} against `{against}`: {error}")]
    SelfPlay {
        /// The number of the match.
        number: u64,
        /// The rival, as the recipe names it.
        against: String,
        /// Why.
        error: MatchError,
    },
    /// A checkpoint cannot be taken up.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] FileError),
    /// A network cannot be gone on from.
    #[error("the network to go on from: {0}")]
    Network(#[from] NetworkError),
    /// Records cannot be learned from.
    #[error("{0}")]
    Records(String),
    /// A folder is not what it should be.
    #[error("{0}")]
    Folder(String),
    /// Somebody cancelled.
    #[error("interrupted")]
    Interrupted,
}

/// Why a checkpoint cannot be taken up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is no checkpoint, or its bytes are not those that were written.
    #[error("this is no checkpoint, or a damaged one: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// It is of another recipe.
    #[error("the checkpoint is of another recipe: `{field}` was {was}")]
    Recipe {
        /// The first field that differs.
        field: String,
        /// What it was.
        was: String,
    },
}
