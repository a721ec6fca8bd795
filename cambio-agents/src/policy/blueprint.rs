//! The policies that a spec can name as a search's blueprint.

use cambio_core::engine::Chance;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Event, Rules, Standing, State, View};

use super::{NetworkPolicy, Policy, PublicHistory};
use crate::heuristic::{HeuristicParams, blueprint};

/// The heuristic with perfect memory. Its decisions depend on the view alone.
impl Policy for HeuristicParams {
    type History = ();

    fn begin(&mut self, _: &Rules, _: usize) -> Result<(), String> {
        Ok(())
    }

    #[inline]
    fn decide(&mut self, view: &impl View, (): &()) -> Action {
        blueprint(self, view)
    }

    fn gambles(&self) -> bool {
        self.gamble > 0.0
    }
}

/// A search's blueprint: a heuristic or a network.
///
/// ```
/// use cambio_agents::{Blueprint, PolicyAgent, Preset, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let sharp = Blueprint::Heuristic(Preset::Sharp.params());
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(PolicyAgent::new(sharp)), roster().parse("learned").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub enum Blueprint {
    /// A heuristic.
    Heuristic(HeuristicParams),
    /// A network.
    Network(Box<NetworkPolicy>),
}

/// The public history that a [`Blueprint`] needs: the card history for a network, nothing for a heuristic.
///
/// The card history is boxed, so that a heuristic's history, which is empty, is cheap to copy: searches copy it for each world.
#[derive(Clone, Debug)]
pub struct BlueprintHistory(Option<Box<CardHistory>>);

impl PublicHistory for BlueprintHistory {
    #[expect(clippy::inline_always, reason = "without a history, events need not be made")]
    #[inline(always)]
    fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        if let Some(history) = &mut self.0 {
            history.notice(event);
        }
    }
}

impl BlueprintHistory {
    fn history(&self) -> &CardHistory {
        self.0.as_ref().expect("a network keeps the history")
    }
}

impl Policy for Blueprint {
    type History = BlueprintHistory;

    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<BlueprintHistory, String> {
        Ok(BlueprintHistory(match self {
            Blueprint::Heuristic(_) => None,
            Blueprint::Network(network) => Some(Box::new(network.begin(rules, seats)?)),
        }))
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        if let Blueprint::Network(network) = self {
            network.round_begins(standing);
        }
    }

    #[inline]
    fn decide(&mut self, view: &impl View, past: &BlueprintHistory) -> Action {
        match self {
            Blueprint::Heuristic(params) => blueprint(params, view),
            Blueprint::Network(network) => network.decide(view, past.history()),
        }
    }

    fn likelihood(&mut self, view: &impl View, past: &BlueprintHistory, action: Action, epsilon: f64) -> f64 {
        match self {
            Blueprint::Heuristic(params) => params.likelihood(view, &(), action, epsilon),
            Blueprint::Network(network) => network.likelihood(view, past.history(), action, epsilon),
        }
    }

    fn gambles(&self) -> bool {
        match self {
            Blueprint::Heuristic(params) => params.gambles(),
            Blueprint::Network(network) => network.gambles(),
        }
    }

    fn has_values(&self) -> bool {
        matches!(self, Blueprint::Network(_))
    }

    fn value(&mut self, view: &impl View, past: &BlueprintHistory) -> f64 {
        let Blueprint::Network(network) = self else { unreachable!("a heuristic has no values") };
        network.value(view, past.history())
    }

    /// Matches on the variant once, not at every decision.
    #[inline]
    fn play_out(&mut self, world: &mut State, past: &mut BlueprintHistory, chance: &mut impl Chance) {
        match self {
            Blueprint::Heuristic(params) => params.play_out(world, &mut (), chance),
            Blueprint::Network(network) => {
                network.play_out(world, past.0.as_mut().expect("a network keeps the history"), chance);
            }
        }
    }
}
