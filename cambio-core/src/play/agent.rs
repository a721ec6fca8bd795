//! Agents: the players of a match.

use crate::play::RoundResult;
use crate::play::observer::Observer;
use crate::rng::Stream;
use crate::{Action, MatchResult, Observation, Rules, Seat, Sighting, Standing, Table};

/// What an agent gets at the start of a match.
#[derive(Clone, Debug)]
pub struct Briefing<'a> {
    /// The rules in force.
    pub rules: &'a Rules,
    /// The number of seats.
    pub seats: usize,
    /// The agent's own seat.
    pub seat: Seat,
    /// The agent's random stream for the match, the only source of randomness that it may use.
    pub stream: &'a Stream,
}

/// A notification to an agent between its decisions.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// A round begins. The standing contains its number, its starter and the totals so far.
    RoundBegins(&'a Standing<'a>),
    /// An event, as the agent's seat perceived it.
    Event(&'a Sighting),
    /// Another seat is about to decide; this is the public table at that moment.
    ///
    /// Only [spectators](Agent::is_spectator) get this notice. They can infer from a decision what the seat knew; the
    /// decision itself follows as an event. In a snap window every seat that may snap decides, and the table does not
    /// show what the seats before it declared.
    Table(&'a Table),
    /// The round has ended.
    RoundEnds(&'a RoundResult),
    /// The match has ended.
    MatchEnds(&'a MatchResult),
}

/// Why an agent cannot continue a match.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The agent failed; the text is a clause such as "the bot has exited". The agent is at fault.
    #[error("{0}")]
    Failed(String),
    /// The machine lacks a resource: file descriptors, processes, memory. The agent is not at fault.
    #[error("{0}")]
    Machine(String),
    /// The program was interrupted. The agent is not at fault.
    #[error("interrupted")]
    Interrupted,
}

impl AgentError {
    /// Whether the agent itself is at fault.
    pub fn is_fault(&self) -> bool {
        matches!(self, AgentError::Failed(_))
    }
}

impl From<String> for AgentError {
    fn from(reason: String) -> AgentError {
        AgentError::Failed(reason)
    }
}

impl From<&str> for AgentError {
    fn from(reason: &str) -> AgentError {
        AgentError::Failed(reason.to_owned())
    }
}

/// A decision that an agent considered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConsideredAction {
    /// The decision.
    pub action: Action,
    /// The agent's estimate of the value of the decision, in the unit of the [`Explanation`].
    pub value: f64,
    /// The standard error of the value, in the same unit; `None` if the agent does not search or tried the decision
    /// less than twice.
    pub error: Option<f64>,
    /// The number of times that a search tried the decision; `None` for an agent that does not search.
    pub visits: Option<u32>,
}

/// What an agent considered at one decision. See [`Agent::explain`].
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The unit of the values, as a noun phrase such as "estimated chance to win".
    pub unit: &'static str,
    /// The decisions, in no particular order. Decisions that are equivalent for the agent appear once.
    pub considered: Vec<ConsideredAction>,
}

/// The player in one seat.
///
/// The [`Referee`](crate::Referee) calls [`begin`](Agent::begin) once per match, [`notice`](Agent::notice) for
/// everything that the seat perceives, in order, and [`decide`](Agent::decide) when it is the seat's turn to decide.
/// None of these calls reveals a hidden card. The other methods are optional.
///
/// # Determinism
/// The same briefing and the same notices must lead to the same decisions, so all randomness must come from the stream
/// of the briefing. Decisions must not depend on seat letters either: an agent that iterates over other seats must do
/// so in playing order from its own ([`SpotSet::iter_from`](crate::SpotSet::iter_from)), as [`Observation::choices`]
/// does. [`testing::check_agent`](crate::testing::check_agent) checks both.
///
/// # Examples
/// ```
/// use cambio_core::{Action, Agent, AgentError, Observation};
///
/// /// Takes the first legal decision: it draws, drops and never snaps.
/// struct First;
///
/// impl Agent for First {
///     fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
///         view.choices().nth(0).ok_or_else(|| "there is no legal decision".into())
///     }
/// }
/// ```
#[expect(unused_variables, reason = "the default methods do nothing")]
pub trait Agent: Send {
    /// A match begins. An agent with memory must forget all earlier matches.
    ///
    /// # Errors
    /// If the agent cannot play this match.
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        Ok(())
    }

    /// Receives a notice about the match.
    fn notice(&mut self, notice: Notice<'_>) {}

    /// Makes a decision. It must be one of [`Observation::choices`]; any other decision is a fault.
    ///
    /// # Errors
    /// If the agent cannot continue. The match ends then.
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError>;

    /// The probability with which [`decide`](Agent::decide) would take each of [`Observation::choices`], in their order;
    /// `None` if the agent does not know it. The call must not change later decisions.
    ///
    /// # Errors
    /// If the agent cannot continue.
    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        Ok(None)
    }

    /// Whether the decisions may depend on the stream of the briefing. An agent that draws no random numbers should return
    /// false: its strategy in a small game is then computed with one stream instead of several.
    fn draws(&self) -> bool {
        true
    }

    /// Whether the agent wants [`Notice::Table`]. The referee asks once per match, after [`begin`](Agent::begin).
    fn is_spectator(&self) -> bool {
        false
    }

    /// What the agent considered at its last decision, in which it saw `view` and decided `decided`; `None` if it
    /// cannot explain the decision. Agents should do any extra work only when this method is called.
    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        None
    }

    /// How many cards the agent has forgotten or confused since the match began; `None` if it does not count them.
    fn lapses(&self) -> Option<u32> {
        None
    }

    /// An observer that shows the agent every card. The program that runs the match must attach the observer.
    ///
    /// An agent that returns an observer is an analysis tool and not a player: only experiments with `analysis = true`
    /// accept such an agent.
    fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        None
    }
}

macro_rules! forward_agent {
    ($type:ty) => {
        impl<T: Agent + ?Sized> Agent for $type {
            fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
                (**self).begin(briefing)
            }

            fn notice(&mut self, notice: Notice<'_>) {
                (**self).notice(notice);
            }

            fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
                (**self).decide(view)
            }

            fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
                (**self).probabilities(view)
            }

            fn draws(&self) -> bool {
                (**self).draws()
            }

            fn is_spectator(&self) -> bool {
                (**self).is_spectator()
            }

            fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
                (**self).explain(view, decided)
            }

            fn lapses(&self) -> Option<u32> {
                (**self).lapses()
            }

            fn observer(&self) -> Option<Box<dyn Observer + Send>> {
                (**self).observer()
            }
        }
    };
}

forward_agent!(Box<T>);
forward_agent!(&mut T);
