//! Hints: the decision of an agent in a person's place, and the candidates that it considers.

use cambio_agents::AgentSpec;
use cambio_core::play::{ConsideredAction, MatchError};
use cambio_core::{Action, Agent as _, Players, Referee};
use serde::Serialize;

use crate::config::SessionConfig;
use crate::session::{STOPPED, SessionError};

/// A candidate decision with its value.
#[derive(Serialize, Clone, Debug)]
struct ConsideredView {
    action: String,
    value: f64,
    visits: Option<u32>,
}

/// The decision of an agent in a person's place, and the candidates that it considered, with the unit of their values: the most
/// visited first, or without visits the most valuable first.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct Hint {
    /// The decision.
    pub(crate) action: String,
    unit: Option<&'static str>,
    considered: Vec<ConsideredView>,
}

/// Asks an agent to decide in the person's place. The hint contains the decision and, if the agent can explain itself,
/// the candidates that it compared. The agent receives only the events that the person has seen. The agent also decides
/// at each earlier decision of the person, so that its random stream has the same position as in a match.
///
/// The computation stops between two decisions when `goes_on` returns false.
///
/// # Errors
/// If it is not the person's turn to decide, the agent fails, or the computation is stopped.
///
/// # Panics
/// If the agent panics.
pub(crate) fn hint(
    config: &SessionConfig,
    actions: &[Action],
    adviser: &AgentSpec,
    goes_on: &dyn Fn() -> bool,
) -> Result<Hint, SessionError> {
    let failed = |error: MatchError| {
        SessionError(match error {
            MatchError::Fault(fault) => format!("{adviser} suggests `{}`, which is illegal", fault.action),
            MatchError::Failed(failure) => format!("{adviser} failed: {}", failure.error),
            MatchError::Rules(error) => error.to_string(),
        })
    };
    let (person, seats) = (config.person, config.opponents.len() + 1);
    let players = Players::only(adviser.make(), person, seats);
    let mut referee = Referee::new(config.deal.clone(), players, ()).map_err(failed)?;
    for &action in actions {
        if !goes_on() {
            return Err(SessionError(STOPPED.to_owned()));
        }
        referee.ask().map_err(failed)?;
        referee.act(action).map_err(|illegal| SessionError(illegal.to_string()))?;
    }
    let action = referee.ask().map_err(failed)?;
    let action = action.ok_or_else(|| SessionError("it is not your turn to decide".to_owned()))?;
    let turn = referee.turn().expect("an agent was asked");
    let explanation = referee.players().agent(person).and_then(|agent| agent.explain(&turn.view, action));
    let unit = explanation.as_ref().map(|explanation| explanation.unit);
    let mut considered = explanation.map_or(Vec::new(), |explanation| explanation.considered);
    considered.sort_by(|one, other| other.visits.cmp(&one.visits).then(other.value.total_cmp(&one.value)));
    let view =
        |ConsideredAction { action, value, visits, .. }| ConsideredView { action: action.to_string(), value, visits };
    Ok(Hint { action: action.to_string(), unit, considered: considered.into_iter().map(view).collect() })
}

#[cfg(test)]
mod tests;
