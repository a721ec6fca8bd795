//! Exact solutions of small Cambio games, and the exploitability of any agent.
//!
//! A win rate depends on the opponents, so win rates against one's own players prove little. A game that is small enough to be
//! solved has a ground truth: its value, an equilibrium, and for any player the exact amount that a perfect opponent wins
//! from it. The small games here are rule tables of the same engine ([`cambio_core::MINI_GAMES`]). What is proved about an
//! agent, a search or a belief therefore holds for the code that plays the large games.
//!
//! # A tour
//!
//! **Compile** a game: the rules, two seats, one round that seat a starts.
//!
//! ```
//! use cambio_core::{Rules, Seat};
//! use cambio_solve::{Cfr, Game, Limits, Method, Until};
//!
//! let rules = Rules::preset("mini-m1")?;
//! let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
//! assert_eq!(game.histories(), 28_301);
//!
//! // Solve it, until a best responder gains at most 0.001 on average over both seats.
//! let until = Until { iterations: 10_000, exploitability: 1e-3 };
//! let equilibrium = Cfr::new(&game, Method::DCFR).run(&until, &mut |_| {});
//! assert!((game.value(&equilibrium) - 11.0 / 280.0).abs() < 2e-3);
//!
//! // Ask any agent at every information set that it can reach.
//! use cambio_core::testing::RandomAgent;
//! use cambio_solve::Asked;
//! let answers = game.ask(&mut Asked::new(RandomAgent::default, 0, 10), &mut |_| {})?;
//! let found = game.exploit(&answers.strategy, &equilibrium);
//! assert!(found.exploitability() > 0.4 && found.lost.iter().all(|lost| *lost > 0.0));
//!
//! // A search may answer with the shares of its visits instead.
//! use cambio_solve::Moment;
//! let mut visits = |moment: &Moment<'_>| vec![1.0 / moment.view.choices().len() as f64; moment.view.choices().len()];
//! let uniform = game.ask(&mut visits, &mut |_| {})?;
//! assert!((game.nash_conv(&uniform.strategy) - 1.08371).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On the command line the same is `cambio solve --game mini-m1` and `cambio exploit --game mini-m1 --agent greedy`.
//!
//! # Words
//!
//! - A **history** is a node of the game tree: everything that has happened, chance and secret declarations included. Its
//!   number counts decisions, outcomes of chance and ends, the root included. A decision with one choice is no node.
//! - An **information set** is the histories that a seat cannot tell apart when it is asked: those with the same
//!   sightings and the same own decisions in the same order (Kuhn 1953, "Extensive Games and the Problem of
//!   Information"). A seat forgets nothing (*perfect recall*); when a game is compiled that is asserted: histories of one
//!   set have the same choices, and the same own decision before them.
//! - **Lazy chance**: a card is an outcome of chance when somebody first sees it, not when it is dealt. Cards that nobody
//!   has seen are exchangeable, so nothing is lost: a face that stays unseen is averaged over at the end. A tree with lazy
//!   chance is smaller by the orders of all cards that stay unseen, up to 2,520 times in M1, whose deck has that
//!   many orders; that both are the same game is a test. The engine does it by holding latent faces
//!   ([`State::deal_latent`](cambio_core::State::deal_latent), [`Chance`](cambio_core::Chance)).
//! - A **strategy** has a probability for each choice at each information set of both seats. Its **best response** is the
//!   other seat's perfect answer; **`NashConv`** is what both seats together gain by theirs, **exploitability** half of
//!   it. Payoffs are half the difference of the scores: 1 for a win, 0 for a tie, -1 for a loss in the mini games.
//!
//! # How it works
//!
//! The tree is walked through the engine's own `choices` and `apply` and is not kept. What is kept is the sequence form
//! (von Stengel 1996, "Efficient Computation of Behavior Strategies"): each seat's own tree of decisions, and a sparse
//! matrix of the payoffs between them. An iteration of [`Cfr`] goes over this matrix twice and over both trees up and
//! down, all in flat arrays, and yields what going over all histories yields. [`Mccfr`] walks the engine instead and
//! keeps only the information sets that it comes to. [`Game::posteriors`] is Bayes' rule over all histories: what a
//! belief is tested against.
//!
//! # Other programs
//!
//! [`Game::write_efg`] writes the tree of histories, with exact probabilities and payoffs, as an extensive-form file that
//! Gambit and `OpenSpiel` read; on the command line, `cambio solve --game mini-m1 --efg m1.efg`. Its information sets bear
//! the keys of strategy files, so a strategy found here can be measured there.
//!
//! # A game of one's own
//!
//! Any rule table that seats two can be compiled, for instance one that starts from a mini game:
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
//! A game grows by about the number of choices and outcomes of a turn with each turn: a short `turn_limit`, few ranks and
//! small hands keep it small. One that is **too large** is refused in a sentence, before anything large is taken if an
//! [`Estimate`] sees it, else when it has grown beyond the [`Limits`]:
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
//! Everything here is a function of its arguments: no clock, no threads, no hash order. The sampling solver and the
//! agents that are asked draw from keyed streams.

#![expect(clippy::similar_names, reason = "a seat and its information set stand side by side everywhere")]

mod abstraction;
mod ask;
mod belief;
mod cfr;
mod efg;
mod estimate;
mod game;
mod key;
mod mccfr;
mod respond;
mod strategy;
mod walk;

pub use abstraction::{Abstraction, Perceived};
pub use ask::{Answers, Asked, Exploitability, Moment, Policy};
pub use belief::Posterior;
pub use cfr::{Cfr, Method};
pub use estimate::{Estimate, Limits};
pub use game::Game;
pub use key::Key;
pub use mccfr::Mccfr;
pub use respond::{Effort, Maker, Responder};
pub use strategy::{BestResponse, STRATEGY_FORMAT, Strategy, StrategyError};

use cambio_core::{Action, AgentError, Choices, Rules, Seat};

/// When a solver stops: at whichever of the two comes first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Until {
    /// The most iterations.
    pub iterations: u64,
    /// The exploitability of the average strategy at which to stop; with 0 it is never measured.
    pub exploitability: f64,
}

/// The progress of a long computation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Progress {
    /// The estimated size of the game, before much memory is taken.
    Estimated(Estimate),
    /// A part of the tree was walked.
    Compiling {
        /// Histories walked.
        histories: u64,
        /// The bytes of the game so far, with those of a solver.
        bytes: u64,
    },
    /// A solver finished an iteration.
    Iterated {
        /// The number of iterations so far.
        iterations: u64,
        /// The exploitability of the average strategy, if it was measured.
        exploitability: Option<f64>,
    },
    /// An agent was asked at some more information sets.
    Asked {
        /// Information sets.
        sets: u64,
    },
}

/// Why a game cannot be solved, or an agent cannot be measured.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SolveError {
    /// The rules do not fit two seats.
    #[error("{0}")]
    Unfit(String),
    /// The game is too large for the limits.
    #[error("{}", too_large(.name, .estimate, .limits, *.walked))]
    TooLarge {
        /// The name of the rules.
        name: String,
        /// The estimated size.
        estimate: Estimate,
        /// What is allowed.
        limits: Limits,
        /// The numbers of histories and bytes at which the walk stopped, if it had begun.
        walked: Option<(u64, u64)>,
    },
    /// The walk has reached a limit; told as [`SolveError::TooLarge`].
    #[error("{histories} histories take {bytes} bytes; allowed are {} and {}", .limits.histories, .limits.memory)]
    Grown {
        /// Histories walked.
        histories: u64,
        /// Bytes due.
        bytes: u64,
        /// What is allowed.
        limits: Limits,
    },
    /// The information sets of the sampling solver have reached the limit.
    #[error(
        "after {iterations} iterations the information sets take {}, and may double at once; allowed is {}",
        estimate::bytes(libm::log10(*.bytes as f64)), estimate::bytes(libm::log10(.limits.memory as f64))
    )]
    Sampled {
        /// Iterations made.
        iterations: u64,
        /// Bytes taken.
        bytes: u64,
        /// What is allowed.
        limits: Limits,
    },
    /// Two histories that a seat cannot tell apart differ in what it did or may do.
    #[error(
        "seat {seat} forgets: two histories look alike to it after other decisions of its own, or with other choices"
    )]
    Recall {
        /// The seat.
        seat: Seat,
    },
    /// The answer of a policy is no probability distribution.
    #[error("seat {seat} answers {probabilities:?}; allowed are {choices} probabilities that add up to 1")]
    NoDistribution {
        /// The seat.
        seat: Seat,
        /// How many choices there are.
        choices: usize,
        /// What the policy answered.
        probabilities: Vec<f64>,
    },
    /// An agent decided what is not legal.
    #[error("seat {seat} decided `{action}`, which is illegal; legal: {legal}")]
    Illegal {
        /// The seat.
        seat: Seat,
        /// What was decided.
        action: Action,
        /// What was legal.
        legal: Box<Choices>,
    },
    /// What a player perceives of an information set does not fit.
    #[error(
        "what seat {seat} perceives at a set of {choices} choices does not fit; allowed is a candidate for each choice, at least one \
         that is taken, and as many candidates wherever it perceives the same"
    )]
    Unlike {
        /// The seat.
        seat: Seat,
        /// How many choices there are.
        choices: usize,
    },
    /// An agent could not continue.
    #[error("seat {seat} cannot go on: {error}")]
    Failed {
        /// The seat.
        seat: Seat,
        /// Why.
        error: AgentError,
    },
    /// The tree could not be written.
    #[error("cannot write the game tree: {0}")]
    Unwritten(String),
    /// A strategy file is refused.
    #[error("{0}")]
    Strategy(StrategyError),
}

impl SolveError {
    /// The error with what is known of the game.
    fn about(self, rules: &Rules, estimate: &Estimate) -> SolveError {
        match self {
            SolveError::Grown { histories, bytes, limits } => SolveError::TooLarge {
                name: rules.name().to_owned(),
                estimate: *estimate,
                limits,
                walked: Some((histories, bytes)),
            },
            other => other,
        }
    }
}

fn too_large(name: &str, estimate: &Estimate, limits: &Limits, walked: Option<(u64, u64)>) -> String {
    let memory = estimate::bytes(libm::log10(limits.memory as f64));
    let allowed = format!("allowed are {} histories and {memory}", limits.histories);
    match walked {
        None => format!("`{name}` is too large to be solved exactly: {estimate}; {allowed}"),
        Some((histories, bytes)) => format!(
            "`{name}` is too large to be solved exactly: after {histories} histories it may take up to {} (estimated: {estimate}); {allowed}",
            estimate::bytes(libm::log10(bytes as f64))
        ),
    }
}
