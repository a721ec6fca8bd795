//! Learned players of Cambio: a network teaches itself by playing, and learns to beat any agent.
//!
//! A [`Recipe`] says what to learn; a [`Learner`] does it, the same for any number of threads, and can be stopped and taken
//! up again. [`Recipe::exploiting`] is for a responder to one agent, [`Recipe::imitating`] for a clone of one from records.

mod chance;
mod checkpoint;
mod error;
mod evaluate;
mod folder;
mod imitate;
mod learner;
mod play;
mod recipe;
mod records;
mod samples;
mod start;
mod trainer;

pub use error::{CheckpointError, LearnError};
pub use evaluate::{Judgement, judge};
pub use folder::{AgreedRow, CurveRow, JudgedRow, LearnFolder, stored_recipe};
pub use imitate::Agreement;
pub use learner::{Crew, Learner, Progress};
pub use recipe::{Bound, Evaluation, Imitation, Play, Recipe, RecipeError, Training};
pub use records::Survey;
pub use start::starting_network;
