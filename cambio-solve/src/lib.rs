//! Exact solutions of small Cambio games, and the exploitability of any agent.
//!
//! A win rate depends on the opponents, so win rates against one's own agents prove little. A game that is small enough
//! to be solved has a ground truth: its value, an equilibrium, and, for any agent, the exact amount that a best
//! response wins from it. The small games here are rule systems of the same engine
//! ([`cambio_core::rules::MINI_GAMES`]), so results about an agent, a search or a belief hold for the code that plays
//! the large games.
//!
//! # A tour
//!
//! **Compile** a game: one round of a rule system between two seats, in which seat a has the first turn.
//!
//! ```
//! use cambio_core::{Rules, Seat};
//! use cambio_solve::{Cfr, CfrMethod, Game, Limits, StopCondition};
//!
//! let rules = Rules::preset("mini-m1")?;
//! let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
//! assert_eq!(game.histories(), 28_301);
//!
//! // Solve it, until a best response gains at most 0.001 on average over both seats.
//! let until = StopCondition { iterations: 10_000, exploitability: 1e-3 };
//! let equilibrium = Cfr::new(&game, CfrMethod::DCFR).run(&until, &mut |_| {});
//! assert!((game.value(&equilibrium) - 11.0 / 280.0).abs() < 2e-3);
//!
//! // Query any agent at every information set that it can reach.
//! use cambio_core::testing::RandomAgent;
//! use cambio_solve::AgentPolicy;
//! let answers = game.ask(&mut AgentPolicy::new(RandomAgent::default, 0, 10), &mut |_| {})?;
//! let found = game.exploit(&answers.strategy, &equilibrium);
//! assert!(found.exploitability() > 0.4 && found.lost.iter().all(|lost| *lost > 0.0));
//!
//! // A policy may also return probabilities, such as the visit shares of a search.
//! use cambio_solve::InfosetView;
//! let mut visits = |moment: &InfosetView<'_>| vec![1.0 / moment.view.choices().len() as f64; moment.view.choices().len()];
//! let uniform = game.ask(&mut visits, &mut |_| {})?;
//! assert!((game.nash_conv(&uniform.strategy) - 1.08371).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The equivalent commands are `cambio solve --game mini-m1` and `cambio exploit --game mini-m1 --agent greedy`.
//!
//! # Terms
//!
//! - A **history** is a node of the game tree: all decisions and chance outcomes so far, including secret declarations.
//!   Decision nodes, chance nodes and terminal nodes are counted, but a decision with a single choice is not a node.
//! - An **information set** is a set of histories that the seat to act cannot distinguish: in all of them, the seat has
//!   had the same sightings and made the same decisions, in the same order (Kuhn 1953, "Extensive Games and the Problem
//!   of Information"). Seats have *perfect recall*. Compilation checks this: all histories of an information set must
//!   have the same choices and the same previous decision of the seat.
//! - **Lazy chance**: a card is drawn when a seat first sees it, not when it is dealt. The game stays the same, because
//!   unseen cards are exchangeable; the payoff of a round is the average over the faces that stay unseen. The tree is
//!   smaller by a factor of up to the number of orders of the deck, which is 2,520 in M1. A test compares the values of
//!   strategies with their values over all dealt decks. The engine implements lazy chance with latent faces
//!   ([`State::deal_latent`](cambio_core::State::deal_latent), [`Chance`](cambio_core::engine::Chance)).
//! - A **strategy** has a probability for each choice at each information set of both seats. A **best response** is
//!   optimal against the other seat's strategy; **`NashConv`** is the sum of both seats' gains from a best response,
//!   and **exploitability** is half of it. Payoffs are half the score difference: 1, 0 or -1 in the mini games.
//!
//! # How it works
//!
//! The tree is walked through the engine's own `choices` and `apply` and is not stored. The stored game is its sequence
//! form (von Stengel 1996, "Efficient Computation of Behavior Strategies"): one tree of decisions for each seat, and a
//! sparse matrix of the payoffs. An iteration of [`Cfr`] passes twice over this matrix, and up and down both trees,
//! which are flat arrays. The iteration computes the same values as a pass over all histories. [`Mccfr`] samples the
//! engine instead and stores only the information sets that it reaches.
//!
//! # Custom games
//!
//! Any rule system for two seats can be compiled, for instance a variant of a mini game:
//!
//! ```
//! use cambio_core::RulesSpec;
//! use cambio_solve::{Game, Limits};
//!
//! let text = "base = 'mini-m3'\nname = 'mine'\nturn_limit = 2\ncaller_tie = 'succeeds'";
//! let rules = RulesSpec::from_toml(text)?.validate()?;
//! let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
//! assert!(game.histories() > 10_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each turn multiplies the size of a game by about its number of choices and chance outcomes: a short `turn_limit`,
//! few ranks and small hands keep it small. A game that is **too large** is rejected: before any large allocation if
//! its [`SizeEstimate`] is far beyond the [`Limits`], otherwise as soon as the compiled part exceeds them:
//!
//! ```
//! use cambio_core::Rules;
//! use cambio_solve::{Game, Limits};
//!
//! let error = Game::compile(&Rules::preset("classic").unwrap(), &Limits::default(), &mut |_| {}).unwrap_err();
//! assert!(error.to_string().starts_with("`classic` is too large to be solved exactly: about 10^"));
//! ```
//!
//! # Determinism
//!
//! All results depend only on the arguments: the code uses no clock, no threads and no hash order. The sampling solver
//! and queried agents draw from keyed streams.

#![expect(clippy::similar_names, reason = "`seat` and `set` are both needed in most functions")]

mod ask;
mod cfr;
mod estimate;
mod game;
mod key;
mod mccfr;
mod respond;
mod strategy;
mod walk;

pub use ask::{AgentPolicy, Exploitability, InfosetPolicy, InfosetView, PolicyAnswers};
pub use cfr::{Cfr, CfrMethod};
pub use estimate::{Limits, SizeEstimate};
pub use game::Game;
pub use key::HistoryKey;
pub use mccfr::Mccfr;
pub use respond::{AgentFactory, Responder, ResponderEffort};
pub use strategy::{BestResponse, ProbabilityError, Strategy, StrategyError, read_strategy};

use cambio_core::{Action, AgentError, Choices, Seat};

/// When a solver stops: as soon as it reaches one of these two limits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopCondition {
    /// The maximum number of iterations.
    pub iterations: u64,
    /// The exploitability of the average strategy at which to stop; 0 disables the measurement.
    pub exploitability: f64,
}

/// The progress of a long computation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SolverProgress {
    /// The estimated size of the game, before any large allocation.
    Estimated(SizeEstimate),
    /// The walk of the tree has made progress.
    Compiling {
        /// The number of histories walked.
        histories: u64,
        /// The maximum memory in bytes for this part of the game and a solver.
        bytes: u64,
    },
    /// A solver finished an iteration.
    Iterated {
        /// The number of iterations so far.
        iterations: u64,
        /// The exploitability of the average strategy, if it was measured.
        exploitability: Option<f64>,
    },
    /// A policy was queried at one more information set.
    Asked {
        /// The number of information sets at which the policy was queried so far.
        sets: u64,
    },
}

/// An error in solving a game or in measuring an agent.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum SolveError {
    /// The rules do not support two seats.
    #[error("{0}")]
    Unfit(String),
    /// The game is too large for the limits. The walk stopped after `walked` histories and bytes, unless it had not begun.
    #[error("{}", too_large(.name, .estimate, .limits, *.walked))]
    TooLarge { name: String, estimate: SizeEstimate, limits: Limits, walked: Option<(u64, u64)> },
    /// The information sets of the sampling solver have reached the memory limit.
    #[error(
        "the information sets take {}, which may double; the limit is {} (iterations done: {iterations})",
        estimate::bytes(*.bytes as f64), estimate::bytes(.limits.memory as f64)
    )]
    Sampled { iterations: u64, bytes: u64, limits: Limits },
    /// A seat lacks perfect recall: two histories of one information set differ in its decisions or its choices.
    #[error(
        "seat {seat} lacks perfect recall: two histories of one information set differ in its decisions or its choices"
    )]
    Recall { seat: Seat },
    /// The answer of a policy is not a probability distribution.
    #[error("seat {seat} answered {probabilities:?}; expected {choices} probabilities that add up to 1")]
    NoDistribution { seat: Seat, choices: usize, probabilities: Vec<f64> },
    /// An agent made an illegal decision.
    #[error("seat {seat} decided `{action}`, which is illegal; legal: {legal}")]
    Illegal { seat: Seat, action: Action, legal: Box<Choices> },
    /// An agent could not continue.
    #[error("seat {seat} cannot go on: {error}")]
    Failed { seat: Seat, error: AgentError },
    /// A strategy file was rejected.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
}

fn too_large(name: &str, estimate: &SizeEstimate, limits: &Limits, walked: Option<(u64, u64)>) -> String {
    let memory = estimate::bytes(limits.memory as f64);
    let allowed = format!("the limits are {} histories and {memory}", limits.histories);
    match walked {
        None => format!("`{name}` is too large to be solved exactly: {estimate}; {allowed}"),
        Some((histories, bytes)) => format!(
            "`{name}` is too large to be solved exactly: after {histories} histories it may take up to {} (estimated: {estimate}); {allowed}",
            estimate::bytes(bytes as f64)
        ),
    }
}
