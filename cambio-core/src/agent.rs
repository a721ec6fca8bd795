//! Agents: players at the table.

use crate::rng::Stream;
use crate::{Action, Observation, RoundResult, Rules, Score, Seat, Sighting, Standing, Table};

/// The briefing of an agent at the start of a match.
#[derive(Clone, Debug)]
pub struct Briefing<'a> {
    /// The rules in force.
    pub rules: &'a Rules,
    /// The number of seats.
    pub seats: usize,
    /// The agent's own seat.
    pub seat: Seat,
    /// The agent's random stream for the match, the only source of chance that it may use.
    pub stream: &'a Stream,
}

/// A player.
///
/// The referee calls [`begin`](Agent::begin) once a match, [`round_begins`](Agent::round_begins) and
/// [`round_ends`](Agent::round_ends) around each round, [`notice`](Agent::notice) for everything that the seat
/// perceives, in order, and [`decide`](Agent::decide) when the seat is asked. Nothing that an agent receives tells a
/// hidden card.
///
/// # Determinism
/// The same briefing and the same sightings must lead to the same decisions, so chance comes only from the stream of the
/// briefing. The letters of the seats must not matter either: an agent that chooses among other seats goes in playing order
/// from its own ([`SpotSet::iter_from`](crate::SpotSet::iter_from)), as [`Observation::choices`] does.
/// [`testing::check_agent`](crate::testing::check_agent) checks both.
///
/// # Examples
/// ```
/// use cambio_core::{Action, Agent, Briefing, Observation};
///
/// /// Takes the first legal decision, which draws, drops and never snaps.
/// struct First;
///
/// impl Agent for First {
///     fn begin(&mut self, _: &Briefing<'_>) {}
///
///     fn decide(&mut self, view: &Observation<'_>) -> Action {
///         view.choices().nth(0).expect("who is asked has a choice")
///     }
/// }
/// ```
pub trait Agent: Send {
    /// A match begins. The agent has to forget everything before.
    fn begin(&mut self, briefing: &Briefing<'_>);

    /// A round begins.
    fn round_begins(&mut self, standing: &Standing<'_>) {
        let _ = standing;
    }

    /// Something happened; `sighting` is what this seat perceived of it.
    fn notice(&mut self, sighting: &Sighting) {
        let _ = sighting;
    }

    /// Whether the agent wants [`spectate`](Agent::spectate). Asked once a match, after [`begin`](Agent::begin).
    fn spectates(&self) -> bool {
        false
    }

    /// Another seat is asked for a decision; this is the table then, as every spectator sees it.
    ///
    /// For agents that infer from a decision what the seat knew: what it decided comes with the sightings. In a snap window
    /// every seat that may snap is asked, and the table tells nothing of what was declared.
    fn spectate(&mut self, table: &Table) {
        let _ = table;
    }

    /// Decides. Must return one of [`Observation::choices`]; anything else is a fault.
    fn decide(&mut self, view: &Observation<'_>) -> Action;

    /// Why the agent cannot go on, as a clause such as "the bot has exited"; `None` if it can.
    ///
    /// For agents in another process or on another machine, which can be lost. The referee asks after [`begin`](Agent::begin)
    /// and after each [`decide`](Agent::decide). A reason ends the match, and the last decision is ignored.
    fn trouble(&mut self) -> Option<String> {
        None
    }

    /// A round has ended.
    fn round_ends(&mut self, result: &RoundResult) {
        let _ = result;
    }

    /// The match has ended with these totals, seat a first.
    fn match_ends(&mut self, totals: &[Score]) {
        let _ = totals;
    }
}

impl<T: Agent + ?Sized> Agent for Box<T> {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        (**self).begin(briefing);
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        (**self).round_begins(standing);
    }

    fn notice(&mut self, sighting: &Sighting) {
        (**self).notice(sighting);
    }

    fn spectates(&self) -> bool {
        (**self).spectates()
    }

    fn spectate(&mut self, table: &Table) {
        (**self).spectate(table);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        (**self).decide(view)
    }

    fn trouble(&mut self) -> Option<String> {
        (**self).trouble()
    }

    fn round_ends(&mut self, result: &RoundResult) {
        (**self).round_ends(result);
    }

    fn match_ends(&mut self, totals: &[Score]) {
        (**self).match_ends(totals);
    }
}
