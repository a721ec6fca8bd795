//! Keeps an agent's panic from being taken for ours.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use cambio_core::{Action, Agent, Briefing, Observation, RoundResult, Score, Seat, Sighting, Standing};

/// An agent of which a panic is trouble of its seat, not a bug of the program that plays it.
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

    /// What the agent answers; `None` from its panic on, until the next match begins.
    fn guard<T>(&mut self, call: impl FnOnce(&mut A) -> T) -> Option<T> {
        if self.panic.is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| call(&mut self.agent))) {
            Ok(answer) => Some(answer),
            Err(panic) => {
                self.panic = Some(message(panic.as_ref()));
                None
            }
        }
    }
}

/// Says of a panic what trouble it is.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
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

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        // In trouble what is decided counts for nothing.
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

/// Notes which agent of a match is being asked, so that one guard around the whole match can say whose panic it was. That
/// costs next to nothing, where a guard around each call costs a tenth of a fast match.
#[derive(Debug)]
pub(crate) struct Watch {
    busy: AtomicUsize,
}

/// Nobody is being asked.
const NOBODY: usize = usize::MAX;
/// The bit of a seat that is deciding.
const DECIDING: usize = 1 << 8;

impl Watch {
    pub(crate) fn new() -> Watch {
        Watch { busy: AtomicUsize::new(NOBODY) }
    }

    /// The agents of a match under this watch, seat a first.
    pub(crate) fn over<'w>(&'w self, agents: &'w mut [Box<dyn Agent>]) -> Vec<Watched<'w>> {
        let seated = agents.iter_mut().enumerate();
        seated.map(|(seat, agent)| Watched { agent: &mut **agent, seat, busy: &self.busy }).collect()
    }

    /// The seat that was being asked, and whether for a decision.
    pub(crate) fn busy(&self) -> Option<(Seat, bool)> {
        let busy = self.busy.load(Ordering::Relaxed);
        let seat = Seat::new(busy & (DECIDING - 1)).filter(|_| busy != NOBODY)?;
        Some((seat, busy & DECIDING > 0))
    }
}

/// An agent under a [`Watch`].
pub(crate) struct Watched<'w> {
    agent: &'w mut dyn Agent,
    seat: usize,
    busy: &'w AtomicUsize,
}

impl Watched<'_> {
    #[inline]
    fn ask<T>(&mut self, what: usize, call: impl FnOnce(&mut dyn Agent) -> T) -> T {
        self.busy.store(self.seat | what, Ordering::Relaxed);
        let answer = call(self.agent);
        self.busy.store(NOBODY, Ordering::Relaxed);
        answer
    }
}

impl Agent for Watched<'_> {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.ask(0, |agent| agent.begin(briefing));
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.ask(0, |agent| agent.round_begins(standing));
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.ask(0, |agent| agent.notice(sighting));
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        self.ask(DECIDING, |agent| agent.decide(view))
    }

    fn trouble(&mut self) -> Option<String> {
        self.ask(0, |agent| agent.trouble())
    }

    fn round_ends(&mut self, result: &RoundResult) {
        self.ask(0, |agent| agent.round_ends(result));
    }

    fn match_ends(&mut self, totals: &[Score]) {
        self.ask(0, |agent| agent.match_ends(totals));
    }
}
