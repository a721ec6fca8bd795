//! Training of networks that play Cambio: by self-play, against a given agent, or by imitation of an agent.
//!
//! A [`Recipe`] configures a training run, and a [`Learner`] executes it. The result is the same for any number of
//! threads, and a run can be stopped and resumed. [`Recipe::exploiting`] trains a responder to one agent,
//! [`Recipe::imitating`] a clone of an agent from records. With [`Recipe::systems`], the network is general: it plays under all
//! rules.

mod checkpoint;
mod error;
mod evaluate;
mod folder;
mod imitate;
mod learner;
mod outcome;
mod play;
mod recipe;
mod records;
mod rng;
mod sampler;
mod samples;
mod trainer;

pub use error::{CheckpointError, LearnError};
pub use evaluate::{EvaluationResult, judge};
pub use folder::{AgreedRow, CurveRow, JudgedRow, LearnFolder, StoredResponder, starting_network, stored_recipe};
pub use imitate::Agreement;
pub use learner::{LearnProgress, LearnThreads, Learner};
pub use outcome::{OutcomeRecipe, train_outcome_model};
pub use recipe::{Bound, Evaluation, Imitation, Method, Play, PolicyTraining, Recipe, RecipeError, Training};
pub use sampler::sampled_rules;
