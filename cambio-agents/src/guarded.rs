//! A guard against panics of agents.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cambio_core::{Action, Agent, Briefing, Observation, RoundResult, Score, Sighting, Standing, Table};

/// An agent whose panics become [trouble](Agent::trouble) of its seat, and do not unwind into the program that plays it.
#[derive(Debug)]
pub struct Guarded<A> {
    agent: A,
    panic: Option<String>,
}

impl<A: Agent> Guarded<A> {
    /// Guards an agent.
    pub fn new(agent: A) -> Guarded<A> {
        Guarded { agent, panic: None }
    }

    /// The agent's answer. After a panic it is `None` until the next match begins.
    fn guard<T>(&mut self, call: impl FnOnce(&mut A) -> T) -> Option<T> {
        if self.panic.is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| call(&mut self.agent))) {
            Ok(answer) => Some(answer),
            Err(panic) => {
                self.panic = Some(panic_message(panic.as_ref()));
                None
            }
        }
    }
}

/// The message of a panic, as trouble of an agent.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.map_or("it panicked".to_owned(), |text| format!("it panicked: {text}"))
}

impl<A: Agent> Agent for Guarded<A> {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.panic = None;
        self.guard(|agent| agent.begin(briefing));
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.guard(|agent| agent.round_begins(standing));
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.guard(|agent| agent.notice(sighting));
    }

    fn spectates(&self) -> bool {
        self.agent.spectates()
    }

    fn spectate(&mut self, table: &Table) {
        self.guard(|agent| agent.spectate(table));
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        // The decision of an agent in trouble is ignored.
        self.guard(|agent| agent.decide(view)).unwrap_or(Action::Pass)
    }

    fn trouble(&mut self) -> Option<String> {
        let told = self.guard(Agent::trouble).flatten();
        self.panic.clone().or(told)
    }

    fn round_ends(&mut self, result: &RoundResult) {
        self.guard(|agent| agent.round_ends(result));
    }

    fn match_ends(&mut self, totals: &[Score]) {
        self.guard(|agent| agent.match_ends(totals));
    }
}
