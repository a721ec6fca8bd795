//! Learned players of Cambio: a network teaches itself by playing, and learns to beat any agent.
//!
//! A [`Recipe`] says what to learn; a [`Learner`] does it, the same for any number of threads, and can be stopped and taken
//! up again.

mod chance;
mod checkpoint;
mod error;
mod evaluate;
mod folder;
mod learner;
mod play;
mod recipe;
mod samples;
mod trainer;

pub use error::{CheckpointError, LearnError};
pub use evaluate::{Judgement, judge};
pub use folder::{CurveRow, JudgedRow, LearnFolder, stored_recipe};
pub use learner::{Crew, Learner, Progress};
pub use recipe::{Evaluation, Play, Recipe, RecipeError, Training};
