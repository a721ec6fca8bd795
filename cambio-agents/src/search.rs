//! The common parts of all searches: a budget, a belief, a policy for playouts, and a utility.

mod arm;
mod budget;
mod race;

use cambio_core::engine::Dice;
use cambio_core::rng::{SplitMix, Stream};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Briefing, Notice, Observation, Seat, Sighting, State};
use rand::Rng as _;

use crate::belief::{Belief, Likelihood};
use crate::heuristic::{HeuristicParams, Preset};
use crate::inference::{Inference, SamplingSettings};
use crate::playout::{PlayoutPolicy, Playouts};
use crate::policy::{Blueprint, NetworkPolicy, Policy, PublicHistory as _};
use crate::value::{Utility, Valuer};
use crate::{WordEnum, params, words};
pub use arm::{Arm, FinalChoice};
pub(crate) use arm::{best, choose, explained};
pub(crate) use budget::Budget;
pub use budget::TimeParams;
pub(crate) use race::{ActionRace, ActionRaceSettings, Trust};

params! {
    /// The common parameters of all searches.
    pub struct SearchParams {
        /// The policy used in playouts, and that the other seats are assumed to follow.
        blueprint: BlueprintName = BlueprintName::Preset(Preset::Heuristic),
        /// How worlds are sampled: by rules of thumb about the cards that the other seats kept and dropped, and about
        /// their calls (evidence), or by the likelihood of their decisions under the blueprint (policy).
        belief: BeliefKind = BeliefKind::Evidence,
        /// How the decision is chosen: most visits, best mean, or at random in proportion to the visits, which is
        /// easier to exploit.
        last as "final": FinalChoice = FinalChoice::Visits,
    }
}

words! {
    /// How a search samples worlds.
    #[derive(Default)]
    pub enum BeliefKind {
        /// A [`Belief`]: evidence by rules of thumb.
        #[default]
        Evidence = "evidence",
        /// An [`Inference`]: the likelihood of the other seats' decisions under the blueprint.
        Policy = "policy",
    }
}

/// The name of a search's blueprint: a preset of the heuristic, or `learned` for the bundled network.
///
/// ```
/// use cambio_agents::{BlueprintName, Preset, WordEnum as _};
///
/// assert_eq!(BlueprintName::Learned.word(), "learned");
/// assert_eq!(BlueprintName::Preset(Preset::Sharp).word(), "sharp");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlueprintName {
    /// A heuristic.
    Preset(Preset),
    /// The bundled network.
    Learned,
}

/// The number of names: one for each preset, and `learned`.
const NAMES: usize = Preset::ALL.len() + 1;

/// All names and their words.
const NAMED: ([BlueprintName; NAMES], [&str; NAMES]) = {
    let (mut names, mut words) = ([BlueprintName::Learned; NAMES], ["learned"; NAMES]);
    let mut index = 0;
    while index < Preset::ALL.len() {
        (names[index], words[index]) = (BlueprintName::Preset(Preset::ALL[index]), Preset::WORDS[index]);
        index += 1;
    }
    (names, words)
};

impl WordEnum for BlueprintName {
    const ALL: &'static [BlueprintName] = &NAMED.0;
    const WORDS: &'static [&'static str] = &NAMED.1;

    fn word(self) -> &'static str {
        match self {
            BlueprintName::Preset(preset) => preset.word(),
            BlueprintName::Learned => "learned",
        }
    }
}

impl BlueprintName {
    /// The policy of this name.
    pub fn policy(self) -> Blueprint {
        match self {
            BlueprintName::Preset(preset) => Blueprint::Heuristic(preset.params()),
            BlueprintName::Learned => Blueprint::Network(Box::new(NetworkPolicy::shipped())),
        }
    }
}

impl SearchParams {
    /// The heuristic blueprint; the default heuristic if the blueprint is a network.
    fn heuristic(&self) -> HeuristicParams {
        match self.blueprint {
            BlueprintName::Preset(preset) => preset.params(),
            BlueprintName::Learned => HeuristicParams::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SearchSettings<P: Policy> {
    pub(crate) budget: Budget,
    pub(crate) utility: Utility,
    pub(crate) likelihood: Likelihood,
    pub(crate) belief: BeliefKind,
    pub(crate) playouts: Playouts<P>,
    pub(crate) last: FinalChoice,
}

impl<P: Policy> SearchSettings<P> {
    /// The settings of a search over this blueprint, with the ε of the belief.
    pub(crate) fn new(
        blueprint: P,
        budget: Budget,
        utility: Utility,
        epsilon: f64,
        search: &SearchParams,
    ) -> SearchSettings<P> {
        SearchSettings {
            budget,
            utility,
            likelihood: Likelihood { blueprint: search.heuristic(), epsilon },
            belief: search.belief,
            playouts: Playouts { blueprint, policy: PlayoutPolicy::None },
            last: search.last,
        }
    }

    /// Begins a match. The error is the reason why the player cannot play this match.
    pub(crate) fn seat(&mut self, briefing: &Briefing<'_>) -> Result<SearchState<P>, String> {
        let past = self.playouts.blueprint.begin(briefing.rules, briefing.seats)?;
        let worlds = match self.belief {
            BeliefKind::Evidence => Worlds::Evidence(Box::new(Belief::new(briefing, self.likelihood))),
            BeliefKind::Policy => Worlds::Policy(Box::new(InferredWorlds::new(briefing, past.clone()))),
        };
        Ok(SearchState { stream: briefing.stream.clone(), worlds, past, valuer: Valuer::new(self.utility) })
    }

    /// Plays out a world, and returns the utility for each seat.
    #[inline]
    pub(crate) fn outcome(
        &mut self,
        valuer: &Valuer,
        world: &mut State,
        searcher: Seat,
        past: &mut P::History,
        dice: &mut Dice<SplitMix>,
    ) -> [f64; MAX_SEATS] {
        self.playouts.finish(world, searcher, past, dice);
        valuer.values(world)
    }

    /// Passes a notice to the state of a player that has begun a match.
    pub(crate) fn notice(&mut self, seated: Option<&mut SearchState<P>>, notice: Notice<'_>) {
        let Some(seated) = seated else { return };
        match notice {
            Notice::Event(sighting) => seated.notice(sighting),
            Notice::Table(table) => {
                if let Worlds::Policy(inferred) = &mut seated.worlds {
                    inferred.inference.spectate(table);
                }
            }
            Notice::RoundBegins(standing) => {
                seated.valuer.round_begins(standing);
                self.playouts.blueprint.round_begins(standing);
            }
            _ => {}
        }
    }

    /// Prepares to draw the worlds of one decision.
    pub(crate) fn prepare(&mut self, seated: &mut SearchState<P>) {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.prepare(),
            Worlds::Policy(inferred) => {
                let worlds = (self.budget.most_iterations() as usize).min(BLOCK);
                let epsilon = self.likelihood.epsilon;
                let block = SamplingSettings { worlds, proposals: 3 * worlds, epsilon, ..SamplingSettings::default() };
                inferred.prepare(seated.stream.next_u64(), block);
            }
        }
    }

    /// Draws the world of an iteration.
    #[inline]
    pub(crate) fn world(
        &mut self,
        seated: &mut SearchState<P>,
        view: &Observation<'_>,
        iteration: u32,
        bits: &mut SplitMix,
    ) -> State {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.sample(view, bits),
            Worlds::Policy(inferred) => inferred.world(view, &mut self.playouts.blueprint, iteration).0.clone(),
        }
    }
}

/// The state of a searching player during a match.
#[derive(Clone, Debug)]
pub(crate) struct SearchState<P: Policy> {
    pub(crate) stream: Stream,
    worlds: Worlds<P>,
    /// The public history of the round, for the blueprint.
    pub(crate) past: P::History,
    pub(crate) valuer: Valuer,
}

/// The source of sampled worlds.
#[derive(Clone, Debug)]
enum Worlds<P: Policy> {
    Evidence(Box<Belief>),
    Policy(Box<InferredWorlds<P>>),
}

impl<P: Policy> SearchState<P> {
    fn notice(&mut self, sighting: &Sighting) {
        self.past.notice(sighting);
        match &mut self.worlds {
            Worlds::Evidence(belief) => belief.notice(sighting),
            Worlds::Policy(inferred) => inferred.inference.notice(sighting),
        }
    }
}

/// The maximum number of worlds that are drawn at a time, from three times as many proposals.
const BLOCK: usize = 500;

/// An inference, and a block of worlds that were drawn from it for the current decision.
#[derive(Clone, Debug)]
pub(crate) struct InferredWorlds<P: Policy> {
    pub(crate) inference: Inference<P>,
    base: u64,
    block: SamplingSettings,
    worlds: Vec<State>,
    styles: Vec<[u8; MAX_SEATS]>,
}

impl<P: Policy> InferredWorlds<P> {
    pub(crate) fn new(briefing: &Briefing<'_>, past: P::History) -> InferredWorlds<P> {
        let inference = Inference::new(briefing, past);
        let (worlds, styles) = (Vec::new(), Vec::new());
        InferredWorlds { inference, base: 0, block: SamplingSettings::default(), worlds, styles }
    }

    /// Prepares to draw the worlds of one decision, in blocks with these settings.
    pub(crate) fn prepare(&mut self, base: u64, block: SamplingSettings) {
        (self.base, self.block) = (base, block);
        self.worlds.clear();
    }

    /// The world with this number, and the style of each seat in it. The numbers must be requested in order.
    pub(crate) fn world(&mut self, view: &Observation<'_>, policy: &mut P, number: u32) -> (&State, [u8; MAX_SEATS]) {
        let (block, index) = (number as usize / self.block.worlds, number as usize % self.block.worlds);
        if index == 0 {
            let base = self.base.wrapping_add((block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let sample = self.inference.sample(view, policy, &self.block, (0.0, 0), base);
            (self.worlds, self.styles) = sample.into_draws();
        }
        // Equal worlds are adjacent, but successive numbers should get different worlds.
        let draw = strided(index, self.block.worlds);
        (&self.worlds[draw], self.styles.get(draw).copied().unwrap_or_default())
    }
}

/// The element at `index` of a permutation of `0..number` in which neighbours are far apart.
pub(crate) fn strided(index: usize, number: usize) -> usize {
    const PRIME: usize = 7919;
    let step = if number.is_multiple_of(PRIME) { 1 } else { PRIME };
    index * step % number
}

#[cfg(test)]
mod tests;
