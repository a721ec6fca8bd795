//! Matches: the sequence of rounds, the deal, the agents at the table, the observers and the referee.

pub(crate) mod agent;
pub(crate) mod chance_match;
pub(crate) mod deal;
pub(crate) mod matches;
pub(crate) mod observer;
pub(crate) mod players;
pub(crate) mod playing;
pub(crate) mod referee;
pub(crate) mod round;

pub use agent::{Agent, AgentError, Briefing, ConsideredAction, Explanation, Notice};
pub use chance_match::{ChanceMatch, ChanceOutcome};
pub use deal::Deal;
pub use matches::{Match, MatchResult, RoundResult, Standing};
pub use observer::Observer;
pub use players::{Failure, Players};
pub use playing::{PendingDecision, Playing};
pub use referee::{Fault, MatchError, MatchSetup, Referee, StepResult, play_match};
pub use round::RoundLog;
