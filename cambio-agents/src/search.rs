//! What every search has: a budget, a belief, a policy for playouts, and a measure of what a round is worth.

mod arm;
mod budget;

use cambio_core::rng::Stream;
use cambio_core::{Briefing, Standing};
use rand::Rng as _;

use crate::belief::{Belief, Likelihood};
use crate::heuristic::{HeuristicParams, Preset};
use crate::params;
use crate::playout::{Knows, Policy};
use crate::value::{Utility, Valuer};
pub use arm::{Arm, Final};
pub(crate) use arm::{best, choose, explained};
pub(crate) use budget::Budget;
pub use budget::TimeParams;

params! {
    /// The parameters that every search has.
    pub struct SearchParams {
        /// Who plays on in playouts, and whom it takes the others for.
        blueprint: Preset = Preset::Heuristic,
        /// At which expected sum the blueprint calls, if not at its own.
        call_at: Option<f64> in -1000.0..=1000.0,
        /// At which chance to be lowest the blueprint calls, if not at its own.
        call_chance: Option<f64> in 0.0..=1.0,
        /// What the others know in playouts: what they have seen, all or nothing; the last two are wrong, for
        /// comparison.
        knows: Knows = Knows::AsSeen,
        /// How much is explored: the constant of UCB on utilities from 0 to 1.
        c: f64 = 0.7 in 0.0..=10.0,
        /// Which decision is made: the one most often tried, the one of the best mean, or each by chance as often as it
        /// was tried, which is easier to exploit.
        last as "final": Final = Final::Visits,
    }
}

impl SearchParams {
    /// The parameters of the blueprint.
    fn blueprint(&self) -> HeuristicParams {
        let base = self.blueprint.params();
        let (call_at, call_chance) =
            (self.call_at.unwrap_or(base.call_at), self.call_chance.unwrap_or(base.call_chance));
        HeuristicParams { call_at, call_chance, ..base }
    }
}

/// How a search is set up.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) budget: Budget,
    pub(crate) utility: Utility,
    pub(crate) likelihood: Likelihood,
    pub(crate) blueprint: HeuristicParams,
    pub(crate) knows: Knows,
    pub(crate) exploration: f64,
    pub(crate) last: Final,
}

impl Settings {
    /// The settings of a search whose belief has this ε.
    pub(crate) fn new(budget: Budget, utility: Utility, epsilon: f64, search: &SearchParams) -> Settings {
        let blueprint = search.blueprint();
        Settings {
            budget,
            utility,
            likelihood: Likelihood { blueprint, epsilon },
            blueprint,
            knows: search.knows,
            exploration: search.c,
            last: search.last,
        }
    }

    /// The blueprint in every seat.
    pub(crate) fn policy(&self) -> Policy {
        Policy::Blueprint(self.blueprint, self.knows)
    }
}

/// A searching player at a table.
#[derive(Clone, Debug)]
pub(crate) struct Seated {
    pub(crate) stream: Stream,
    pub(crate) belief: Belief,
    pub(crate) valuer: Valuer,
}

impl Seated {
    pub(crate) fn new(briefing: &Briefing<'_>, settings: &Settings) -> Seated {
        Seated {
            stream: briefing.stream.clone(),
            belief: Belief::new(briefing, settings.likelihood),
            valuer: Valuer::new(settings.utility),
        }
    }

    /// Draws the base of the counter-based bits of one decision.
    pub(crate) fn base(&mut self) -> u64 {
        self.stream.next_u64()
    }

    pub(crate) fn round_begins(&mut self, standing: &Standing<'_>) {
        self.valuer.round_begins(standing);
    }
}
