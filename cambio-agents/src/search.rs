//! What every search has: a budget, a belief, a policy for playouts, and a measure of what a round is worth.

mod arm;
mod budget;

use cambio_core::knob::MatchEnd;
use cambio_core::rng::Stream;
use cambio_core::{Briefing, Dice, MAX_SEATS, Notice, Observation, Rules, Seat, Sighting, Standing, State, Table};
use rand::Rng as _;

use crate::belief::{Belief, Likelihood};
use crate::bits::Bits;
use crate::heuristic::{HeuristicParams, Preset};
use crate::inference::{Draw, Inference};
use crate::playout::{Knows, Leaf, Playouts, Twist, ValueOf};
use crate::policy::{Blueprint, NetworkPolicy, Past as _, Policy};
use crate::value::{Utility, Valuer};
use crate::{Words, params, words};
pub use arm::{Arm, Final};
pub(crate) use arm::{best, choose, explained};
pub(crate) use budget::Budget;
pub use budget::TimeParams;

params! {
    /// The parameters that every search has.
    pub struct SearchParams {
        /// Who plays on in playouts, and whom it takes the others for.
        blueprint: BlueprintName = BlueprintName::Preset(Preset::Heuristic),
        /// At which expected sum the blueprint calls, if not at its own.
        call_at: Option<f64> in -1000.0..=1000.0,
        /// At which chance to be lowest the blueprint calls, if not at its own.
        call_chance: Option<f64> in 0.0..=1.0,
        /// Where worlds come from: what others kept, dropped and called, read by rules of thumb, or how likely the
        /// blueprint makes each of their decisions.
        belief: BeliefKind = BeliefKind::Evidence,
        /// What the others know in playouts: what they have seen, all or nothing; the last two are wrong, for
        /// comparison, and only with a heuristic for blueprint.
        knows: Knows = Knows::AsSeen,
        /// Stops a playout at the searching seat's own decision of this number and takes what the blueprint expects there,
        /// if not at the end of the round. The blueprint has to be `learned`, and the utility its own: win, of a match match.
        leaf: Option<u32> in 1..=1000,
        /// How much is explored: the constant of UCB on utilities from 0 to 1.
        c: f64 = 0.7 in 0.0..=10.0,
        /// Which decision is made: the one most often tried, the one of the best mean, or each by chance as often as it
        /// was tried, which is easier to exploit.
        last as "final": Final = Final::Visits,
    }
}

words! {
    /// Where a search's worlds come from.
    #[derive(Default)]
    pub enum BeliefKind {
        /// A [`Belief`]: evidence by rules of thumb.
        #[default]
        Evidence = "evidence",
        /// An [`Inference`]: how likely the blueprint makes what the others did.
        Policy = "policy",
    }
}

/// The name of a search's blueprint: a preset of the heuristic, or `learned` for the network that comes with the cards.
///
/// ```
/// use cambio_agents::{BlueprintName, Preset, Words as _};
///
/// assert_eq!(BlueprintName::Learned.word(), "learned");
/// assert_eq!(BlueprintName::Preset(Preset::Sharp).word(), "sharp");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlueprintName {
    /// A heuristic.
    Preset(Preset),
    /// The network that comes with the cards.
    Learned,
}

/// The presets, and after them `learned`.
const NAMES: usize = Preset::ALL.len() + 1;

impl Words for BlueprintName {
    const ALL: &'static [BlueprintName] = &const {
        let mut names = [BlueprintName::Learned; NAMES];
        let mut place = 0;
        while place < Preset::ALL.len() {
            names[place] = BlueprintName::Preset(Preset::ALL[place]);
            place += 1;
        }
        names
    };
    const WORDS: &'static [&'static str] = &const {
        let mut words = ["learned"; NAMES];
        let mut place = 0;
        while place < Preset::ALL.len() {
            words[place] = Preset::WORDS[place];
            place += 1;
        }
        words
    };

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
    /// The heuristic that it names; the default one if it names a network.
    fn heuristic(&self) -> HeuristicParams {
        let base = match self.blueprint {
            BlueprintName::Preset(preset) => preset.params(),
            BlueprintName::Learned => HeuristicParams::default(),
        };
        let (call_at, call_chance) =
            (self.call_at.unwrap_or(base.call_at), self.call_chance.unwrap_or(base.call_chance));
        HeuristicParams { call_at, call_chance, ..base }
    }

    /// The blueprint that it names, and how it values positions, if it does.
    pub(crate) fn blueprint(&self) -> (Blueprint, Option<ValueOf<Blueprint>>) {
        match self.blueprint {
            BlueprintName::Preset(_) => (Blueprint::Heuristic(self.heuristic()), None),
            BlueprintName::Learned => (self.blueprint.policy(), Some(Blueprint::network_value)),
        }
    }

    /// How playouts differ from the blueprint in every seat.
    pub(crate) fn twist(&self) -> Twist {
        if self.knows == Knows::AsSeen { Twist::None } else { Twist::Fancied(self.heuristic(), self.knows) }
    }
}

/// How a search is set up.
#[derive(Clone, Debug)]
pub(crate) struct Settings<P: Policy> {
    pub(crate) budget: Budget,
    pub(crate) utility: Utility,
    pub(crate) likelihood: Likelihood,
    pub(crate) belief: BeliefKind,
    pub(crate) playouts: Playouts<P>,
    pub(crate) exploration: f64,
    pub(crate) last: Final,
    /// At which decision playouts are to stop, and how the blueprint values positions, if it does.
    leaf: Option<(u32, Option<ValueOf<P>>)>,
}

impl<P: Policy> Settings<P> {
    /// The settings of a search over this blueprint, which may value positions, whose belief has this ε.
    pub(crate) fn new(
        blueprint: P,
        values: Option<ValueOf<P>>,
        budget: Budget,
        utility: Utility,
        epsilon: f64,
        search: &SearchParams,
    ) -> Settings<P> {
        Settings {
            budget,
            utility,
            likelihood: Likelihood { blueprint: search.heuristic(), epsilon },
            belief: search.belief,
            playouts: Playouts { blueprint, twist: search.twist(), leaf: None },
            exploration: search.c,
            last: search.last,
            leaf: search.leaf.map(|decision| (decision, values)),
        }
    }

    /// Where playouts stop by these rules, or why they cannot stop there.
    fn leaf(&self, rules: &Rules) -> Result<Option<Leaf<P>>, String> {
        let Some((decision, values)) = self.leaf else { return Ok(None) };
        let Some(value) = values else {
            return Err("`leaf` needs a blueprint that values positions, such as `learned`".to_owned());
        };
        let (own, what) = match rules.spec().match_end {
            MatchEnd::Rounds(1) => (Utility::Win, "shares of the win"),
            _ => (Utility::Match, "chances to win the match"),
        };
        if self.utility != own {
            let word = own.word();
            return Err(format!("the values at leaves are {what} here, so that `utility` has to be `{word}`"));
        }
        Ok(Some(Leaf { decision, value }))
    }

    /// A match begins: seats the player, or says why it cannot play there.
    pub(crate) fn seat(&mut self, briefing: &Briefing<'_>) -> Result<Seated<P>, String> {
        self.playouts.leaf = self.leaf(briefing.rules)?;
        let past = self.playouts.blueprint.begin(briefing.rules, briefing.seats)?;
        let worlds = match self.belief {
            BeliefKind::Evidence => Worlds::Evidence(Box::new(Belief::new(briefing, self.likelihood))),
            BeliefKind::Policy => Worlds::Policy(Box::new(Inferred::new(briefing, past.clone()))),
        };
        Ok(Seated { stream: briefing.stream.clone(), worlds, past, valuer: Valuer::new(self.utility) })
    }

    pub(crate) fn round_begins(&mut self, seated: &mut Seated<P>, standing: &Standing<'_>) {
        seated.valuer.round_begins(standing);
        self.playouts.blueprint.round_begins(standing);
    }

    /// Plays a world on, and says what that is worth to each seat. At a leaf the others share equally what the searching seat
    /// does not expect.
    #[inline]
    pub(crate) fn outcome(
        &mut self,
        valuer: &Valuer,
        world: &mut State,
        searcher: Seat,
        past: &mut P::Past,
        dice: &mut Dice<Bits>,
    ) -> [f64; MAX_SEATS] {
        let Some(own) = self.playouts.finish(world, searcher, past, dice) else { return valuer.values(world) };
        let others = world.table().seats() - 1;
        let mut expected = [(1.0 - own) / others as f64; MAX_SEATS];
        expected[searcher.index()] = own;
        expected
    }

    /// Gives a notice to a seated player.
    pub(crate) fn notice(&mut self, seated: Option<&mut Seated<P>>, notice: Notice<'_>) {
        let Some(seated) = seated else { return };
        match notice {
            Notice::Event(sighting) => seated.notice(sighting),
            Notice::Table(table) => seated.spectate(table),
            Notice::RoundBegins(standing) => self.round_begins(seated, standing),
            _ => {}
        }
    }

    /// Makes ready to draw the worlds of one decision.
    pub(crate) fn prepare(&mut self, seated: &mut Seated<P>) {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.prepare(),
            Worlds::Policy(inferred) => {
                inferred.worlds.clear();
                inferred.base = seated.stream.next_u64();
                inferred.most = (self.budget.most_iterations() as usize).min(BLOCK);
            }
        }
    }

    /// Draws the world of an iteration.
    #[inline]
    pub(crate) fn world(
        &mut self,
        seated: &mut Seated<P>,
        view: &Observation<'_>,
        iteration: u32,
        bits: &mut Bits,
    ) -> State {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.sample(view, bits),
            Worlds::Policy(inferred) => {
                let epsilon = self.likelihood.epsilon;
                inferred.world(view, &mut self.playouts.blueprint, epsilon, iteration)
            }
        }
    }
}

/// A searching player at a table.
#[derive(Clone, Debug)]
pub(crate) struct Seated<P: Policy> {
    pub(crate) stream: Stream,
    worlds: Worlds<P>,
    /// What everybody saw of the round, for the blueprint.
    pub(crate) past: P::Past,
    pub(crate) valuer: Valuer,
}

/// Where worlds come from.
#[derive(Clone, Debug)]
enum Worlds<P: Policy> {
    Evidence(Box<Belief>),
    Policy(Box<Inferred<P>>),
}

impl<P: Policy> Seated<P> {
    /// Draws the base of the counter-based bits of one decision.
    pub(crate) fn base(&mut self) -> u64 {
        self.stream.next_u64()
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.past.notice(sighting);
        match &mut self.worlds {
            Worlds::Evidence(belief) => belief.notice(sighting),
            Worlds::Policy(inferred) => inferred.inference.notice(sighting),
        }
    }

    fn spectate(&mut self, table: &Table) {
        if let Worlds::Policy(inferred) = &mut self.worlds {
            inferred.inference.spectate(table);
        }
    }
}

/// So many worlds at most are drawn at a time, out of three times as many.
const BLOCK: usize = 500;

/// An inference, and the worlds that were drawn from it for the decision at hand.
#[derive(Clone, Debug)]
struct Inferred<P: Policy> {
    inference: Inference<P>,
    base: u64,
    /// How many worlds make a block.
    most: usize,
    worlds: Vec<State>,
}

impl<P: Policy> Inferred<P> {
    fn new(briefing: &Briefing<'_>, past: P::Past) -> Inferred<P> {
        Inferred { inference: Inference::new(briefing, past), base: 0, most: 1, worlds: Vec::new() }
    }

    fn world(&mut self, view: &Observation<'_>, policy: &mut P, epsilon: f64, iteration: u32) -> State {
        let (block, place) = (iteration as usize / self.most, iteration as usize % self.most);
        if place == 0 {
            let draw = Draw { worlds: self.most, proposals: 3 * self.most, epsilon, ..Draw::default() };
            let base = self.base.wrapping_add((block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            self.worlds = self.inference.draw(view, policy, &draw, base);
        }
        // Equal worlds lie side by side, and neighbouring iterations should not have the same.
        self.worlds[strided(place, self.most)].clone()
    }
}

/// The place that comes at this place of an order in which neighbours are far apart.
pub(crate) fn strided(place: usize, number: usize) -> usize {
    const PRIME: usize = 7919;
    let step = if number.is_multiple_of(PRIME) { 1 } else { PRIME };
    place * step % number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_visit_every_place_once() {
        for number in [1, 2, 240, 7919, 2 * 7919] {
            let mut places: Vec<usize> = (0..number).map(|place| strided(place, number)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..number).collect::<Vec<_>>());
        }
    }
}
