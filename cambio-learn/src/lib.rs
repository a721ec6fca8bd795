//! Training of networks that play Cambio: by self-play, or against a given agent.
//!
//! A [`Recipe`] configures a training run, and a [`Learner`] executes it. The result is the same for any number of
//! threads, and a run can be stopped and resumed. [`Recipe::exploiting`] trains a responder to one agent. With
//! [`Recipe::systems`], the network is general: it plays under all rules.

mod checkpoint;
mod error;
mod evaluate;
mod folder;
mod learner;
mod play;
mod recipe;
mod rng;
mod sampler;
mod samples;
mod trainer;

pub use error::{CheckpointError, LearnError};
pub use evaluate::{EvaluationResult, judge};
pub use folder::{CurveRow, JudgedRow, LearnFolder, StoredResponder, starting_network, stored_recipe};
pub use learner::{LearnProgress, LearnThreads, Learner};
pub use recipe::{Bound, Evaluation, Method, Play, PolicyTraining, Recipe, RecipeError, Training};
pub use sampler::sampled_rules;
