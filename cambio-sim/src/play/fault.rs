//! Errors of play, in particular faults of agents with the record of the match up to the fault.

use std::fmt;

use cambio_agents::SpecError;
use cambio_core::play::MatchError;
use cambio_core::{Action, AgentError, Deal, Playing, Record, Recorder, Seat};
use cambio_exec::ExecutorError;

use crate::disk::RunError;
use crate::plan::{Block, Plan, PlanError, PlayablePlan};

/// Why a match was stopped: an agent decided illegally, failed or panicked.
///
/// If `halt` is set, the agent failed for a reason that is not its fault, such as an exhausted resource.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentFault {
    /// The match: rule system, lineup, deal and rotation.
    pub place: String,
    /// The seat whose agent stopped the match.
    pub seat: Seat,
    /// The round, counted from 1; 0 before the first round.
    pub round: usize,
    /// The decision within the round, counted from 1.
    pub decision: usize,
    /// Whether the agent made an illegal decision; otherwise it failed or panicked.
    pub is_illegal: bool,
    /// The description of the fault.
    pub what: String,
    /// The record of the match up to the fault.
    pub record: Record,
    /// The error, if the agent failed for a reason that is not its fault. Then the run stops under any fault policy.
    pub halt: Option<AgentError>,
    /// The path of the record, if it was written.
    pub kept: Option<String>,
}

impl fmt::Display for AgentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)?;
        self.kept.as_ref().map_or(Ok(()), |kept| write!(f, "; the match up to the fault is in {kept}"))
    }
}

/// An error that stops play.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The plan or an agent is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An agent was at fault. If the agents are reproducible, repeating the match gives the same fault.
    #[error("fault: {0}")]
    Fault(Box<AgentFault>),
    /// A resource that an agent needs is exhausted; the message names it. No agent is at fault, and play can continue later.
    #[error("{0}")]
    Halted(String),
    /// The executor was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A run folder cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl<E> From<ExecutorError<E>> for PlayError
where
    PlayError: From<E>,
{
    fn from(stopped: ExecutorError<E>) -> PlayError {
        match stopped {
            ExecutorError::Cancelled => PlayError::Interrupted,
            ExecutorError::Failed(error) => error.into(),
        }
    }
}

impl From<SpecError> for PlayError {
    fn from(error: SpecError) -> PlayError {
        PlanError::from(error).into()
    }
}

impl From<Box<AgentFault>> for PlayError {
    fn from(fault: Box<AgentFault>) -> PlayError {
        match fault.halt {
            None => PlayError::Fault(fault),
            Some(ref error) => PlayError::halted(error, fault.what),
        }
    }
}

impl PlayError {
    /// The error of an agent that could not go on and is not at fault, with its message.
    pub(crate) fn halted(error: &AgentError, what: String) -> PlayError {
        if matches!(error, AgentError::Interrupted) { PlayError::Interrupted } else { PlayError::Halted(what) }
    }
}

impl AgentFault {
    /// The line of `faults.jsonl`: the record up to the fault, with the position and description of the fault.
    pub(crate) fn to_json(&self, plan: &Plan, block: u64) -> String {
        let block = plan.block(block);
        let mut record = self.record.clone();
        let rotation = record.fields.get("rotation").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let about = serde_json::json!({
            "rules": block.cell.rules.name(),
            "seats": block.cell.seats,
            "lineup": block.lineup.label(),
            "seat": self.seat.to_string(),
            "agent": plan.agents[block.agent(self.seat.index(), rotation as usize)].label,
            "round": self.round,
            "decision": self.decision,
            "policy": plan.faults,
        });
        record.fields.insert("x-fault-of".to_owned(), about);
        record.to_json()
    }
}

/// Creates the record of a stopped match by replaying its decisions. The agents do not play again, because they might decide
/// differently.
pub(super) fn fault(
    plan: &PlayablePlan,
    block: &Block<'_>,
    rotation: usize,
    labels: &[&str],
    actions: &[Action],
    error: &MatchError,
) -> Box<AgentFault> {
    let (rules, seats, deal) = (&block.cell.rules, block.cell.seats, block.deal);
    let (illegal, seat, round, decision, cause) = match error {
        MatchError::Fault(fault) => (Some(&**fault), fault.seat, fault.round, fault.decision, None),
        MatchError::Failed(failure) => (None, failure.seat, failure.round, failure.decision, Some(&failure.error)),
        MatchError::Rules(_) => unreachable!("a plan has valid rules and seats: {error}"),
    };
    let mut recorder = Recorder::new(rules);
    let again = Playing::observed(Deal::new(rules, plan.key(deal)), seats, &mut recorder);
    let mut again = again.expect("a plan has valid rules and seats");
    // If the match failed before round 1, `actions` still has the decisions of the previous match.
    for &action in actions.iter().filter(|_| round > 0) {
        again.act_observed(action, &mut recorder).expect("the decision was legal in the match");
    }
    let place = format!("{}, {seats} seats, {}, deal {deal}, rotation {rotation}", rules.name(), labels.join(" | "));
    let is_illegal = illegal.is_some();
    let mut record = recorder.stop(plan.key(deal), rotation, labels, illegal);
    record.fields.insert("x-fault".to_owned(), error.to_string().into());
    let halt = cause.filter(|error| !error.is_fault()).cloned();
    let what = error.to_string();
    Box::new(AgentFault { place, seat, round, decision, is_illegal, what, record, halt, kept: None })
}
