//! Whoever sits at the table.

use crate::rng::Stream;
use crate::{Action, Observation, RoundResult, Rules, Score, Seat, Sighting, Standing};

/// What an agent is told at the start of a match.
#[derive(Clone, Debug)]
pub struct Briefing<'a> {
    /// The rules in force.
    pub rules: &'a Rules,
    /// How many seats are at the table.
    pub seats: usize,
    /// The agent's own seat.
    pub seat: Seat,
    /// The agent's own stream of chance for the match. The only one that it may use.
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
/// The same briefing and the same sightings have to lead to the same decisions: chance comes from the briefing's
/// stream alone. [`testing::check_agent`](crate::testing::check_agent) checks it.
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
    /// A match begins: forget everything before.
    fn begin(&mut self, briefing: &Briefing<'_>);

    /// A round begins.
    fn round_begins(&mut self, standing: &Standing<'_>) {
        let _ = standing;
    }

    /// Something happened, as this seat perceived it.
    fn notice(&mut self, sighting: &Sighting) {
        let _ = sighting;
    }

    /// Decides. Must return one of [`Observation::choices`]; anything else is a fault.
    fn decide(&mut self, view: &Observation<'_>) -> Action;

    /// Why the agent cannot go on, if it cannot: one clause, such as "the bot has exited".
    ///
    /// For agents that live elsewhere, in another process or on another machine, and can be lost. The referee asks after
    /// [`begin`](Agent::begin) and after each [`decide`](Agent::decide); a reason ends the match, and what was decided
    /// with it counts for nothing.
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
