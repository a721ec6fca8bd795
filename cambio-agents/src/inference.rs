//! Inference: draws worlds in proportion to the likelihood of the other seats' decisions.

mod decisions;
mod worlds;

use cambio_core::{Briefing, Card, Knowledge, Observation, Sighting, Spot, State, Table};

use crate::bits::Bits;
use crate::policy::Policy;
use decisions::DecisionLog;
use worlds::DecisionModel;
pub(crate) use worlds::WorldSample;

/// The settings for drawing worlds.
///
/// ```
/// use cambio_agents::SamplingSettings;
///
/// let draw = SamplingSettings { worlds: 100, ..SamplingSettings::default() };
/// assert_eq!((draw.proposals, draw.last), (1500, 64));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplingSettings {
    /// The number of worlds to draw.
    pub worlds: usize,
    /// The number of uniformly drawn worlds from which the result is resampled; raised to `worlds` if it is lower.
    pub proposals: usize,
    /// The number of the other seats' latest decisions that are used as evidence, at most 64.
    pub last: usize,
    /// The probability that another seat deviates from the policy at a decision.
    pub epsilon: f64,
}

impl Default for SamplingSettings {
    fn default() -> SamplingSettings {
        SamplingSettings { worlds: 240, proposals: 1500, last: 64, epsilon: 0.01 }
    }
}

/// A seat's inference from the decisions of the other seats, if they play by a known policy.
///
/// For each decision, the table, the history and the location of each card are stored, to compute the likelihood of the
/// decision in any sampled world. Pass each sighting of the seat to [`Inference::notice`], and the table before each
/// decision of another seat to [`Inference::spectate`]; then draw worlds with [`Inference::draw`].
///
/// ```
/// use cambio_agents::{Inference, Policy, Preset, SamplingSettings};
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Briefing, Card, Event, Rules, Seat, State, engine::{Dice, Setup}};
///
/// let rules = Rules::preset("classic").unwrap();
/// let key = Key::new(1, 0);
/// let stream = key.agent(Seat::B);
/// let mut policy = Preset::Sharp.params();
/// let past = policy.begin(&rules, 2).unwrap();
/// let mut inference = Inference::new(&Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream }, past);
///
/// let mut dice = Dice(key.stream(Purpose::Deck, 0));
/// let mut sink = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut sink).unwrap();
/// for decision in ["draw", "keep a1"] {
///     inference.spectate(state.table());
///     let mut sink = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
///     state.apply(decision.parse().unwrap(), &mut dice, &mut sink).unwrap();
/// }
///
/// // Seat a kept a card: in most worlds, this card is low.
/// let worlds = inference.draw(&state.observe(Seat::B), &mut policy, &SamplingSettings::default(), 7);
/// let points = |world: &State| rules.points(world.face("a1".parse().unwrap()).unwrap());
/// assert!(worlds.iter().map(points).sum::<i32>() < 4 * worlds.len() as i32);
/// ```
#[derive(Clone, Debug)]
pub struct Inference<P: Policy> {
    knowledge: Knowledge,
    moments: DecisionLog<P::History>,
}

impl<P: Policy> Inference<P> {
    /// The inference of a seat at the beginning of a match. `past` is the result of [`Policy::begin`].
    pub fn new(briefing: &Briefing<'_>, past: P::History) -> Inference<P> {
        let Briefing { rules, seats, seat, .. } = *briefing;
        Inference { knowledge: Knowledge::new(rules, seats, seat), moments: DecisionLog::new(past) }
    }

    /// Adds a sighting of the seat.
    pub fn notice(&mut self, sighting: &Sighting) {
        self.knowledge.notice(sighting);
        self.moments.notice(sighting);
    }

    /// Adds the table as it is before another seat decides.
    pub fn spectate(&mut self, table: &Table) {
        self.moments.spectate(table);
    }

    /// The public history of the round.
    pub fn past(&self) -> &P::History {
        &self.moments.past
    }

    /// The world with these cards on the table and an unordered stock. It must be in the seat's information set.
    pub(crate) fn around(&self, view: &Observation<'_>, face: impl Fn(Spot) -> Option<Card>) -> State {
        let mut placed: Vec<(Spot, usize)> = Vec::new();
        for spot in view.table().occupied().without(view.known()).iter_from(view.seat()) {
            let mut unseen = self.knowledge.unseen(spot).enumerate();
            let is_it = |&(index, (card, fits)): &(usize, (Card, bool))| {
                fits && Some(card) == face(spot) && placed.iter().all(|&(_, other)| other != index)
            };
            let (index, _) = unseen.find(is_it).expect("the seat has not seen this card");
            placed.push((spot, index));
        }
        // No card remains to be drawn: every spot has its card, and only the seat to act can have a held card.
        let world = self.knowledge.sample_around(view, &mut Bits::new(0, 0_u32), &placed);
        debug_assert!(
            view.table().occupied().iter_from(view.seat()).all(|spot| world.face(spot) == face(spot)),
            "the world has the given cards"
        );
        world
    }

    /// Draws worlds from the seat's information set. Uniformly drawn worlds are resampled by the likelihood of the
    /// other seats' decisions that depend on unknown cards (sampling importance resampling: Rubin 1987). Without such
    /// decisions, worlds are drawn uniformly. Equal worlds are adjacent. The same `base` gives the same worlds.
    pub fn draw(&self, view: &Observation<'_>, policy: &mut P, draw: &SamplingSettings, base: u64) -> Vec<State> {
        let WorldSample { worlds, draws, .. } = self.sample(view, policy, draw, (0.0, 0), base);
        draws.into_iter().map(|index| worlds[index].clone()).collect()
    }

    /// Like [`Inference::draw`], with the different worlds and their effective number. Proposes up to `most` worlds, until
    /// the effective number is at least `least`.
    pub(crate) fn sample(
        &self,
        view: &Observation<'_>,
        policy: &mut P,
        draw: &SamplingSettings,
        (least, most): (f64, usize),
        base: u64,
    ) -> WorldSample {
        let mut others = DecisionModel { policy, epsilon: draw.epsilon };
        worlds::draw(view, &self.knowledge, &self.moments, &mut others, draw, (least, most), base)
    }
}
