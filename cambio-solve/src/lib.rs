//! Exact solutions of small Cambio games, and the exploitability of any agent.

#![expect(clippy::similar_names, reason = "a seat and its information set stand side by side everywhere")]

mod ask;
mod belief;
mod cfr;
mod estimate;
mod game;
mod key;
mod mccfr;
mod strategy;
mod walk;

pub use ask::{Answers, Asked, Exploitability, Moment, Policy};
pub use belief::Posterior;
pub use cfr::{Cfr, Method};
pub use estimate::Estimate;
pub use game::{Game, Limits};
pub use key::Key;
pub use mccfr::Mccfr;
pub use strategy::{BestResponse, STRATEGY_FORMAT, Strategy, StrategyError};

use cambio_core::{Action, Choices, Rules, Seat};

/// When a solver stops: at whichever comes first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Until {
    /// After so many iterations.
    pub iterations: u64,
    /// When the average strategy is at most this exploitable; 0 never looks.
    pub exploitability: f64,
}

/// What a long computation tells while it goes on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Progress {
    /// How large the game seems to be, before anything large is taken.
    Estimated(Estimate),
    /// So many histories were walked, and the game takes so many bytes so far.
    Compiling {
        /// Histories walked.
        histories: u64,
        /// Bytes that it takes so far, the solver's included.
        bytes: u64,
    },
    /// A solver made an iteration.
    Iterated {
        /// How many it has made.
        iterations: u64,
        /// How exploitable the average strategy now is, where that was measured.
        exploitability: Option<f64>,
    },
    /// An agent was asked at so many information sets.
    Asked {
        /// Information sets.
        sets: u64,
    },
}

/// Why a game cannot be solved or an agent not measured.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SolveError {
    /// The rules do not fit two seats.
    #[error("{0}")]
    Unfit(String),
    /// The game is too large for the limits.
    #[error("{}", too_large(.name, .estimate, .limits, *.walked))]
    TooLarge {
        /// What the rules are called.
        name: String,
        /// How large it seems to be.
        estimate: Estimate,
        /// What is allowed.
        limits: Limits,
        /// How many histories were walked and how many bytes were due when that was found, if any were.
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
    /// Two histories that a seat cannot tell apart differ in what it did or may do.
    #[error(
        "seat {seat} forgets: two histories look alike to it after other decisions of its own, or with other choices"
    )]
    Recall {
        /// The seat.
        seat: Seat,
    },
    /// A policy's probabilities are none.
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
    /// An agent could not go on.
    #[error("seat {seat} cannot go on: {reason}")]
    Trouble {
        /// The seat.
        seat: Seat,
        /// Why.
        reason: String,
    },
    /// A strategy file is no good.
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
    let memory = estimate::bytes((limits.memory as f64).log10());
    let allowed = format!("allowed are {} histories and {memory}", limits.histories);
    match walked {
        None => format!("`{name}` is too large to be solved exactly: {estimate}; {allowed}"),
        Some((histories, bytes)) => format!(
            "`{name}` is too large to be solved exactly: after {histories} of {estimate} it takes {}; {allowed}",
            estimate::bytes((bytes as f64).log10())
        ),
    }
}
