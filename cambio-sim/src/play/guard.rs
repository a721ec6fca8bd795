//! Says whose a panic was.

use cambio_agents::{Halt, Player, is_interrupted};
use cambio_core::{Action, Agent, Briefing, Observation, RoundResult, Score, Sighting, Standing, Table};

/// What an agent was called for. It is as long as a pointer, because agents are moved between seats with every match and
/// shorter fields are moved in pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Asked {
    /// A decision.
    Decision,
    /// A notice of a sighting.
    Notice,
}

/// An agent that notes its panics, so that one guard around a whole match can tell whose panic it was. This costs nothing
/// until a panic; a guard around each call would cost a tenth of a fast match.
pub(crate) struct Watched {
    player: Player,
    panicked: Option<Asked>,
}

/// Notes a panic when it is dropped, which happens only during unwinding.
struct Blame<'w> {
    panicked: &'w mut Option<Asked>,
    asked: Asked,
}

impl Drop for Blame<'_> {
    fn drop(&mut self) {
        *self.panicked = Some(self.asked);
    }
}

impl Watched {
    pub(crate) fn new(player: Player) -> Watched {
        Watched { player, panicked: None }
    }

    /// The call in which the agent panicked; `None` if it did not.
    pub(crate) fn panicked(&self) -> Option<Asked> {
        self.panicked
    }

    /// How many cards the agent has forgotten or confused, if it counts them.
    pub(crate) fn lapses(&mut self) -> Option<u32> {
        self.watch(Asked::Notice, |player| player.lapses())
    }

    /// Whose doing the agent's trouble is, if not its own.
    pub(crate) fn halt(&self) -> Option<Halt> {
        if is_interrupted() { Some(Halt::Interrupted) } else { self.player.halt() }
    }

    #[inline]
    fn ask<T>(&mut self, asked: Asked, call: impl FnOnce(&mut dyn Agent) -> T) -> T {
        self.watch(asked, |player| call(player.agent()))
    }

    #[inline]
    fn watch<T>(&mut self, asked: Asked, call: impl FnOnce(&mut Player) -> T) -> T {
        let blame = Blame { panicked: &mut self.panicked, asked };
        let answer = call(&mut self.player);
        std::mem::forget(blame);
        answer
    }
}

impl Agent for Watched {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.panicked = None;
        self.ask(Asked::Notice, |agent| agent.begin(briefing));
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.ask(Asked::Notice, |agent| agent.round_begins(standing));
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.ask(Asked::Notice, |agent| agent.notice(sighting));
    }

    fn spectates(&self) -> bool {
        self.player.spectates()
    }

    fn spectate(&mut self, table: &Table) {
        self.ask(Asked::Notice, |agent| agent.spectate(table));
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        self.ask(Asked::Decision, |agent| agent.decide(view))
    }

    fn trouble(&mut self) -> Option<String> {
        let told = self.ask(Asked::Notice, |agent| agent.trouble());
        // The referee asks after every decision, so an interrupt waits for one at most.
        told.or_else(|| is_interrupted().then(|| "interrupted".to_owned()))
    }

    fn round_ends(&mut self, result: &RoundResult) {
        self.ask(Asked::Notice, |agent| agent.round_ends(result));
    }

    fn match_ends(&mut self, totals: &[Score]) {
        self.ask(Asked::Notice, |agent| agent.match_ends(totals));
    }
}
