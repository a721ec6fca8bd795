//! Inference: worlds drawn in proportion to how likely they make what the other seats decided.

mod moments;
mod worlds;

use cambio_core::{Briefing, Card, Knowledge, Observation, Sighting, Spot, State, Table};

use crate::bits::Bits;
use crate::policy::Policy;
use moments::Moments;
use worlds::Likely;

/// How worlds are drawn.
///
/// ```
/// use cambio_agents::Draw;
///
/// let draw = Draw { worlds: 100, ..Draw::default() };
/// assert_eq!((draw.proposals, draw.last), (1500, 64));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Draw {
    /// How many worlds.
    pub worlds: usize,
    /// Out of how many evenly drawn ones, at least as many.
    pub proposals: usize,
    /// How many of the others' last decisions tell of their cards, at most 64.
    pub last: usize,
    /// How likely it is that a decision is any other than the policy's.
    pub epsilon: f64,
}

impl Default for Draw {
    fn default() -> Draw {
        Draw { worlds: 240, proposals: 1500, last: 64, epsilon: 0.01 }
    }
}

/// What a seat infers from the decisions of the others, if they play by a policy.
///
/// For each of their decisions it keeps the table, the past and which card lay where, and can ask the policy in any sampled world how
/// likely that decision was. Tell it what the seat perceives ([`Inference::notice`]), show it the table before others decide
/// ([`Inference::spectate`]), and draw worlds ([`Inference::draw`]).
///
/// ```
/// use cambio_agents::{Draw, Inference, Policy, Preset};
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Briefing, Card, Dice, Event, Rules, Seat, Setup, State};
///
/// let rules = Rules::preset("classic").unwrap();
/// let key = Key::new(1, 0);
/// let stream = key.agent(Seat::B);
/// let mut policy = Preset::Sharp.params();
/// let past = policy.begin(&rules, 2).unwrap();
/// let mut inference = Inference::new(&Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream }, past);
///
/// let mut dice = Dice(key.stream(Purpose::Deck, 0));
/// let mut heard = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut heard).unwrap();
/// for decision in ["draw", "keep a1"] {
///     inference.spectate(state.table());
///     let mut heard = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
///     state.apply(decision.parse().unwrap(), &mut dice, &mut heard).unwrap();
/// }
///
/// // Seat a kept a card: in most worlds it is a low one.
/// let worlds = inference.draw(&state.observe(Seat::B), &mut policy, &Draw::default(), 7);
/// let points = |world: &State| rules.points(world.face("a1".parse().unwrap()).unwrap());
/// assert!(worlds.iter().map(points).sum::<i32>() < 4 * worlds.len() as i32);
/// ```
#[derive(Clone, Debug)]
pub struct Inference<P: Policy> {
    knowledge: Knowledge,
    moments: Moments<P::Past>,
}

impl<P: Policy> Inference<P> {
    /// For a seat at the beginning of a match; `past` is what [`Policy::begin`] gave.
    pub fn new(briefing: &Briefing<'_>, past: P::Past) -> Inference<P> {
        let Briefing { rules, seats, seat, .. } = *briefing;
        Inference { knowledge: Knowledge::new(rules, seats, seat), moments: Moments::new(past) }
    }

    /// Takes in what the seat perceives.
    pub fn notice(&mut self, sighting: &Sighting) {
        self.knowledge.notice(sighting);
        self.moments.notice(sighting);
    }

    /// Another seat is asked, at this table.
    pub fn spectate(&mut self, table: &Table) {
        self.moments.spectate(table);
    }

    /// What everybody saw of the round.
    pub fn past(&self) -> &P::Past {
        &self.moments.past
    }

    /// The world in which the cards on the table are these, with the stock in no order. The seat has to be able to take it for the true
    /// one.
    pub(crate) fn around(&self, view: &Observation<'_>, face: impl Fn(Spot) -> Option<Card>) -> State {
        let mut placed: Vec<(Spot, usize)> = Vec::new();
        for spot in view.table().occupied().without(view.known()).iter_from(view.seat()) {
            let mut unseen = self.knowledge.unseen(spot).enumerate();
            let is_it = |&(place, (card, fits)): &(usize, (Card, bool))| {
                fits && Some(card) == face(spot) && placed.iter().all(|&(_, other)| other != place)
            };
            let (place, _) = unseen.find(is_it).expect("a card on the table is one that the seat has not seen");
            placed.push((spot, place));
        }
        // Nothing is left to chance: whoever holds a card is the one that is asked.
        let world = self.knowledge.sample_around(view, &mut Bits::new(0, 0_u32), &placed);
        debug_assert!(
            view.table().occupied().iter_from(view.seat()).all(|spot| world.face(spot) == face(spot)),
            "the cards lie as they do"
        );
        world
    }

    /// Draws worlds that the seat cannot tell from the true one: evenly first, and from these in proportion to how likely each makes
    /// the others' decisions that depend on what the seat does not know (sampling, importance resampling: Rubin 1987). Without such
    /// decisions they are drawn evenly. Equal worlds lie side by side. The same `base` draws the same worlds.
    pub fn draw(&self, view: &Observation<'_>, policy: &mut P, draw: &Draw, base: u64) -> Vec<State> {
        worlds::draw(view, &self.knowledge, &self.moments, &mut Likely { policy, epsilon: draw.epsilon }, draw, base)
    }
}
