//! The heuristic: a player that decides by expected points.

mod decision;

use cambio_core::rng::Stream;
use cambio_core::rules::knob::{Best, MatchEnd, Score as ScoreKnob};
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Phase, Score, Seat, Standing};

use crate::memory::{Memory, MemoryParams};
use crate::{params, words};
pub(crate) use decision::{HeuristicDecision, blueprint};

params! {
    /// The parameters of a [`Heuristic`](crate::Heuristic).
    pub struct HeuristicParams {
        /// Calls when its expected sum is at most this and its estimated chance is at least `call_chance`.
        call_at: f64 = 1000.0 in -1000.0..=1000.0,
        /// Calls only if its expected sum is at least this much below the lowest expected sum of another seat. -1000
        /// turns this condition off.
        call_margin: f64 = -1000.0 in -1000.0..=1000.0,
        /// Calls only if its estimated chance to end below another seat, as the geometric mean over the other seats, is
        /// at least this. 0 turns this condition off.
        call_chance: f64 = 0.7 in 0.0..=1.0,
        /// For `call_chance`: the points that it expects each other seat to save in its last turn.
        last_turn: f64 = 3.0 in 0.0..=20.0,
        /// In a match decided by totals of points: raises `call_at` by this much for each 10 points that it trails.
        chase: f64 = 0.0 in -20.0..=20.0,
        /// How many points below the mean it expects an unknown card to be if the owner of the card knows it.
        hoard: f64 = 2.0 in 0.0..=20.0,
        /// Keeps a card only if that saves more points than this.
        keep_gain: f64 = 0.0 in -20.0..=20.0,
        /// The value of using a power, in points: a card with a power is kept only if it saves this much more.
        power_worth: f64 = 2.0 in 0.0..=20.0,
        /// The value of learning one of its own unknown cards, in points.
        curiosity: f64 = 4.0 in 0.0..=20.0,
        /// Takes the top card of the pile if that saves at least this many points.
        take_gain: f64 = 8.0 in 0.0..=30.0,
        /// Swaps if that saves at least this many points.
        swap_gain: f64 = 0.0 in 0.0..=30.0,
        /// The value of moving a card that only its owner knows, in points. With 0 it makes no such swaps.
        disrupt: f64 = 0.0 in 0.0..=20.0,
        /// Snaps unknown cards of its own if the expected gain exceeds this many times the expected loss; never with 0.
        gamble: f64 = 0.0 in 0.0..=100.0,
        /// Snaps cards of other seats if that saves at least this many points.
        foreign_gain: f64 = 0.5 in 0.0..=30.0,
        /// Touches a card as a bluff with this probability, if the rules allow it.
        bluff: f64 = 0.0 in 0.0..=1.0,
        /// The parameters of its memory.
        ..memory: MemoryParams,
    }
}

/// Declares the presets, each with a description, a name and the parameters that differ from the defaults.
macro_rules! presets {
    ($($(#[doc = $about:literal])+ $variant:ident = $name:literal { $($field:ident: $value:expr),* },)+) => {
        words! {
            /// A named set of parameters of the heuristic. Each is an agent of the roster, and a blueprint of searches.
            pub enum Preset {
                $($(#[doc = $about])+ $variant = $name,)+
            }
        }

        impl Preset {
            /// A description in one sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Preset::$variant => const { concat!($($about),+).trim_ascii() },)+
                }
            }

            /// The parameters.
            ///
            /// ```
            /// use cambio_agents::{HeuristicParams, Preset};
            ///
            /// assert_eq!(Preset::Heuristic.params(), HeuristicParams::default());
            /// assert_eq!(Preset::Bold.params().call_at, 11.0);
            /// ```
            pub fn params(self) -> HeuristicParams {
                let base = HeuristicParams::default();
                match self {
                    $(Preset::$variant => HeuristicParams { $($field: $value,)* ..base },)+
                }
            }
        }
    };
}

presets! {
    /// The defaults.
    Heuristic = "heuristic" {},
    /// Calls only with almost no points.
    Cautious = "cautious" { call_at: 1.0, call_chance: 0.0 },
    /// Calls early.
    Bold = "bold" { call_at: 11.0, call_chance: 0.0 },
    /// Calls when it expects to be clearly lowest.
    Patient = "patient" { call_at: 12.0, call_margin: 4.0, call_chance: 0.0 },
    /// Gambles on unknown cards.
    Snapper = "snapper" { gamble: 0.15, foreign_gain: 0.0 },
    /// Swaps cards that their owners know.
    Disruptor = "disruptor" { disrupt: 3.0 },
    /// Takes every card from the pile that saves two points.
    Collector = "collector" { take_gain: 2.0 },
    /// Drops cards with a power to use it, even if they would save a few points.
    Looker = "looker" { power_worth: 6.0 },
    /// Touches cards as a bluff.
    Bluffer = "bluffer" { bluff: 0.2 },
    /// The strongest known heuristic on `classic`: uses powers, learns its cards, and calls at a lower chance.
    Sharp = "sharp" { call_chance: 0.57, curiosity: 5.0, keep_gain: 1.0, power_worth: 3.0 },
    /// Never calls.
    NeverCalls = "never-calls" { call_at: -1000.0 },
}

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
                self.current.call_at =
                    self.params.call_at + self.params.chase * tenth_of_deficit(standing, memory.seat());
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

    fn draws(&self) -> bool {
        self.params.bluff > 0.0 || self.params.memory.draws()
    }

    fn lapses(&self) -> Option<u32> {
        self.memory.as_ref().map(Memory::lapses)
    }
}

/// A tenth of the points by which this seat trails the best other seat; 0 if totals of points do not decide the match.
fn tenth_of_deficit(standing: &Standing<'_>, seat: Seat) -> f64 {
    let spec = standing.setup.rules.spec();
    if spec.score != ScoreKnob::Points || spec.best != Best::Fewest || !matches!(spec.match_end, MatchEnd::Total(_)) {
        return 0.0;
    }
    let others = standing.totals.iter().enumerate().filter(|(other, _)| *other != seat.index());
    let best = others.map(|(_, total)| total.units()).min().unwrap_or(0);
    f64::from(standing.totals[seat.index()].units() - best) / f64::from(10 * Score::UNITS)
}
