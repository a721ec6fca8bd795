//! Dense indices of decisions.

use std::ops::Range;

use crate::engine::action::{Action, Choices, PLAIN, Verb, plain_bit};
use crate::rules::seat::{MAX_SEATS, Seat, Spot, SpotSet, set_bits};

/// Dense indices of decisions for learning code: fixed per rules and number of seats.
///
/// Indices are relative to the seat to act: its own spots come first, then the spots of the next seat, and so on. One
/// policy can therefore play every seat.
///
/// ```
/// use cambio_core::{Action, Rules, Seat, encode::ActionSpace};
///
/// let space = ActionSpace::new(&Rules::preset("classic").unwrap(), 2);
/// let snap: Action = "snap b3".parse().unwrap();
/// let index = space.to_index(snap, Seat::B).unwrap();
/// assert_eq!(space.from_index(index, Seat::B), Some(snap));
/// // For seat a, the same index means spot 3 of seat a.
/// assert_eq!(space.from_index(index, Seat::A), Some("snap a3".parse().unwrap()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionSpace {
    seats: usize,
    slots: usize,
}

/// The verbs of decisions that name one spot, in the order of their blocks of indices. The first four name own spots.
const VERBS: [Verb; 8] =
    [Verb::Peek, Verb::Keep, Verb::Give, Verb::Cheat, Verb::Look, Verb::Show, Verb::Snap, Verb::Touch];

impl ActionSpace {
    /// The space for a table of `seats` seats under these rules.
    pub fn new(rules: &crate::Rules, seats: usize) -> ActionSpace {
        ActionSpace { seats, slots: rules.slots() }
    }

    fn spots(&self) -> usize {
        self.seats * self.slots
    }

    /// The number of indices.
    pub fn action_count(&self) -> usize {
        let spots = self.spots();
        self.first_swap() + spots * (spots - 1) / 2
    }

    /// The indices of the decisions with this verb.
    #[inline]
    fn block(&self, verb: Verb) -> Range<usize> {
        let block = |first: usize, len: usize| PLAIN.len() + first..PLAIN.len() + first + len;
        let own = |number: usize| block(number * self.slots, self.slots);
        let any = |number: usize| block(4 * self.slots + number * self.spots(), self.spots());
        match verb {
            Verb::Peek => own(0),
            Verb::Keep => own(1),
            Verb::Give => own(2),
            Verb::Cheat => own(3),
            Verb::Look => any(0),
            Verb::Show => any(1),
            Verb::Snap => any(2),
            Verb::Touch => any(3),
        }
    }

    fn first_swap(&self) -> usize {
        self.block(Verb::Touch).end
    }

    /// The index of a decision of `actor`. `None` if the table does not have a spot of the decision, or if the spot
    /// must be the actor's own and is not.
    pub fn to_index(&self, action: Action, actor: Seat) -> Option<usize> {
        let place = |spot: Spot| {
            let seat = spot.seat().index();
            (seat < self.seats && spot.number() <= self.slots)
                .then(|| spot.seat().distance_from(actor, self.seats) * self.slots + spot.number() - 1)
        };
        match (action, action.aimed()) {
            (Action::Swap(one, other), _) => {
                let (one, other) = (place(one)?, place(other)?);
                let (low, high) = (one.min(other), one.max(other));
                (low < high).then(|| self.first_swap() + high * (high - 1) / 2 + low)
            }
            (_, Some((verb, spot))) => {
                let block = self.block(verb);
                place(spot).filter(|&at| at < block.len()).map(|at| block.start + at)
            }
            (plain, None) => plain_bit(plain).map(|bit| bit as usize),
        }
    }

    /// The decision of `actor` with this index; `None` if the index is not below [`ActionSpace::action_count`].
    pub fn from_index(&self, index: usize, actor: Seat) -> Option<Action> {
        if let Some(&plain) = PLAIN.get(index) {
            return Some(plain);
        }
        if index >= self.action_count() {
            return None;
        }
        let spot = |at: usize| Spot::new(actor.ahead(at / self.slots, self.seats), at % self.slots + 1);
        let (own_verbs, any_verbs) = VERBS.split_at(4);
        let mut at = index - PLAIN.len();
        for (verbs, targets) in [(own_verbs, self.slots), (any_verbs, self.spots())] {
            if let Some(verb) = verbs.get(at / targets) {
                return Some(verb.of(spot(at % targets)?));
            }
            at -= verbs.len() * targets;
        }
        let mut high = 1;
        while at >= high {
            at -= high;
            high += 1;
        }
        (high < self.spots()).then(|| Some(Action::swap(spot(at)?, spot(high)?)))?
    }

    /// Calls `visit` with the index of each of the choices of `actor`. Faster than one [`ActionSpace::to_index`] per choice.
    ///
    /// ```
    /// use cambio_core::{Playing, Rules, encode::ActionSpace, rng::Key};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
    /// let turn = playing.turn().unwrap();
    /// let space = ActionSpace::new(&rules, 2);
    /// let mut indices = Vec::new();
    /// space.each(&turn.view.choices(), turn.seat, |index| indices.push(index));
    /// assert_eq!(space.from_index(indices[0], turn.seat), turn.view.choices().nth(0));
    /// ```
    ///
    /// # Panics
    /// If the choices belong to a table with more seats or slots.
    #[inline]
    pub fn each(&self, choices: &Choices, actor: Seat, mut visit: impl FnMut(usize)) {
        set_bits(choices.plain().into()).for_each(|bit| visit(bit as usize));
        let (verb, spots) = choices.aimed();
        if !spots.is_empty() {
            let (first, places) = (self.block(verb).start, self.places(spots, actor));
            each_bit(places, |place| visit(first + place));
            if !choices.touches().is_empty() {
                let first = self.block(Verb::Touch).start;
                each_bit(places, |place| visit(first + place));
            }
        }
        if !choices.swappable().is_empty() {
            self.each_swap(choices, actor, visit);
        }
    }

    fn each_swap(&self, choices: &Choices, actor: Seat, mut visit: impl FnMut(usize)) {
        let mut outside = choices.swappable();
        // The place of each seat's first slot, indexed by the distance from the actor at a table of eight seats.
        let mut first = [0; MAX_SEATS];
        for (distance, seat) in actor.round(self.seats).enumerate() {
            outside = outside.without(SpotSet::row(seat, self.slots));
            first[seat.distance_from(actor, MAX_SEATS)] = distance * self.slots;
        }
        assert!(outside.is_empty(), "the choices must belong to a table of the space");
        let place = |spot: Spot| first[spot.seat().index()] + spot.number() - 1;
        let base = self.first_swap();
        for (low, partners) in choices.swaps_from(actor) {
            let low = place(low);
            for high in partners.each() {
                // Relabelling keeps the playing order, so `high` is the greater place.
                let high = place(high);
                visit(base + high * (high - 1) / 2 + low);
            }
        }
    }

    /// The spots relative to `actor` as bits, the actor's own first. Only slots and seats of the table take a bit.
    #[inline]
    fn places(&self, spots: SpotSet, actor: Seat) -> u128 {
        let mut places = 0;
        for (distance, seat) in actor.round(self.seats).enumerate() {
            places |= u128::from(spots.slots_of(seat)) << (distance * self.slots);
        }
        places
    }

    /// Fills a mask over the indices: true for the choices of `actor`, false elsewhere.
    ///
    /// # Panics
    /// If the length of `mask` is not [`ActionSpace::action_count`].
    pub fn mask(&self, choices: &Choices, actor: Seat, mask: &mut [bool]) {
        assert_eq!(mask.len(), self.action_count(), "the mask must have one entry per index");
        mask.fill(false);
        self.each(choices, actor, |index| mask[index] = true);
    }
}

/// Calls `visit` with the position of each set bit, lowest first.
#[inline]
fn each_bit(bits: u128, mut visit: impl FnMut(usize)) {
    // Works on 64-bit words, because an instruction finds the lowest set bit of a word.
    for (word, first) in [(bits as u64, 0), ((bits >> 64) as u64, 64)] {
        let mut left = word;
        while left != 0 {
            visit(first + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}
