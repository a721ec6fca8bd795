//! The heuristic: a player that decides by expected points.

mod decision;
mod params;
mod preset;

use cambio_core::rng::Stream;
use cambio_core::rules::knob::{Best, MatchEnd, Score as ScoreKnob};
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Phase, Score, Seat, Standing};

use crate::memory::Memory;
pub(crate) use decision::{HeuristicDecision, blueprint};
pub use params::HeuristicParams;
pub use preset::Preset;

/// A player that keeps, takes, snaps, swaps and calls by expected points of the cards that it remembers.
///
/// The player breaks ties between cards by a hash of the pile's points, the top card and the turn. The hash selects a
/// card by its number in playing order from the player's seat; while the pile is empty, the first card is chosen. A
/// decision therefore depends on the view alone, and no seat letter, neighbour or slot is preferred. Cards may still be
/// treated differently: for example, the player prefers to swap for a card that its owner has seen.
///
/// ```
/// use cambio_agents::{Heuristic, HeuristicParams, MemoryParams, Preset};
/// use cambio_core::{MatchSetup, Rules, play_match, rng::Key};
///
/// let memory = MemoryParams { decay: Some(0.1), ..MemoryParams::default() };
/// let forgetful = HeuristicParams { memory, ..HeuristicParams::default() };
/// let mut agents = [Heuristic::new(&forgetful), Heuristic::new(&Preset::Sharp.params())];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Heuristic {
    params: HeuristicParams,
    /// The parameters for the current round, in which `chase` and the totals of the match have changed `call_at`.
    current: HeuristicParams,
    memory: Option<Memory>,
    stream: Option<Stream>,
}

impl Heuristic {
    /// A heuristic player.
    pub fn new(params: &HeuristicParams) -> Heuristic {
        Heuristic { params: *params, current: *params, memory: None, stream: None }
    }
}

impl Agent for Heuristic {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.memory = Some(Memory::new(self.params.memory, briefing));
        self.stream = Some(briefing.stream.clone());
        self.current = self.params;
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let memory = self.memory.as_mut().expect("a match begins with a briefing");
        match notice {
            Notice::Event(sighting) => memory.notice(sighting),
            Notice::RoundBegins(standing) => {
                self.current.call_at = self.params.call_at + self.params.chase * behind(standing, memory.seat());
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let memory = self.memory.as_ref().expect("a match begins with a briefing");
        let mind = HeuristicDecision::new(view, memory, &self.current);
        let action = mind.decide();
        if action == Action::Pass
            && view.table().phase() == Phase::Window
            && let Some(touch) = self.stream.as_mut().and_then(|stream| mind.bluff(stream))
        {
            return Ok(touch);
        }
        Ok(action)
    }

    fn lapses(&self) -> Option<u32> {
        self.memory.as_ref().map(Memory::lapses)
    }
}

/// A tenth of the points by which this seat trails the best other seat; 0 if totals of points do not decide the match.
fn behind(standing: &Standing<'_>, seat: Seat) -> f64 {
    let spec = standing.setup.rules.spec();
    if spec.score != ScoreKnob::Points || spec.best != Best::Fewest || !matches!(spec.match_end, MatchEnd::Total(_)) {
        return 0.0;
    }
    let others = standing.totals.iter().enumerate().filter(|(other, _)| *other != seat.index());
    let best = others.map(|(_, total)| total.units()).min().unwrap_or(0);
    f64::from(standing.totals[seat.index()].units() - best) / f64::from(10 * Score::UNITS)
}
