//! A wrapper that catches the panics of an agent.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cambio_core::play::Explanation;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Observer};

/// Wraps an agent and turns its panics into errors of the agent.
///
/// After a panic in [`notice`](Agent::notice), the next decision returns the error. After any panic, the agent is not
/// called until the next match begins.
#[derive(Debug)]
pub struct Guarded<A> {
    agent: A,
    panicked: Option<AgentError>,
}

impl<A: Agent> Guarded<A> {
    /// Wraps an agent.
    pub fn new(agent: A) -> Guarded<A> {
        Guarded { agent, panicked: None }
    }

    fn guard<T>(&mut self, call: impl FnOnce(&mut A) -> T) -> Result<T, AgentError> {
        if let Some(error) = &self.panicked {
            return Err(error.clone());
        }
        catch_unwind(AssertUnwindSafe(|| call(&mut self.agent)))
            .map_err(|panic| self.panicked.insert(AgentError::Failed(panic_message(&*panic))).clone())
    }
}

/// The message of a panic, as the reason of an agent's failure.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.map_or("it panicked".to_owned(), |text| format!("it panicked: {text}"))
}

impl<A: Agent> Agent for Guarded<A> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.panicked = None;
        self.guard(|agent| agent.begin(briefing))?
    }

    fn notice(&mut self, notice: Notice<'_>) {
        // The next decision returns the error.
        let _ = self.guard(|agent| agent.notice(notice));
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        self.guard(|agent| agent.decide(view))?
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        self.guard(|agent| agent.probabilities(view))?
    }

    fn draws(&self) -> bool {
        self.agent.draws()
    }

    fn is_spectator(&self) -> bool {
        self.agent.is_spectator()
    }

    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        self.agent.explain(view, decided)
    }

    fn lapses(&self) -> Option<u32> {
        self.agent.lapses()
    }

    fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        self.agent.observer()
    }
}
