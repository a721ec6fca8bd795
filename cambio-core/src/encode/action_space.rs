//! Dense indices of decisions.

use std::ops::Range;

use crate::engine::action::{Action, Choices, PLAIN, Verb, plain_bit};
use crate::rules::seat::{Seat, Spot, set_bits};

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

/// The number of verbs that name own spots.
const OWN_VERBS: usize = 4;

/// The verbs of decisions that name one spot, in the order of their blocks of indices. The first name own spots.
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
        let number = VERBS.iter().position(|&other| other == verb).expect("each verb has a block");
        let (own, any) = (number.min(OWN_VERBS), number.saturating_sub(OWN_VERBS));
        let first = PLAIN.len() + own * self.slots + any * self.spots();
        first..first + if number < OWN_VERBS { self.slots } else { self.spots() }
    }

    fn first_swap(&self) -> usize {
        self.block(Verb::Touch).end
    }

    /// The place of a spot relative to `actor`: its own spots come first. `None` if the table does not have the spot.
    #[inline]
    fn place(&self, spot: Spot, actor: Seat) -> Option<usize> {
        let owner = spot.seat();
        (owner.index() < self.seats && spot.number() <= self.slots)
            .then(|| owner.distance_from(actor, self.seats) * self.slots + spot.number() - 1)
    }

    /// The index of a decision of `actor`. `None` if the table does not have a spot of the decision, or if the spot
    /// must be the actor's own and is not.
    pub fn to_index(&self, action: Action, actor: Seat) -> Option<usize> {
        match (action, action.aimed()) {
            (Action::Swap(one, other), _) => {
                let (one, other) = (self.place(one, actor)?, self.place(other, actor)?);
                let (low, high) = (one.min(other), one.max(other));
                (low < high).then(|| self.first_swap() + high * (high - 1) / 2 + low)
            }
            (_, Some((verb, spot))) => {
                let block = self.block(verb);
                self.place(spot, actor).filter(|&at| at < block.len()).map(|at| block.start + at)
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
        let (own_verbs, any_verbs) = VERBS.split_at(OWN_VERBS);
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
        const FITS: &str = "the choices must belong to a table of the space";
        set_bits(choices.plain().into()).for_each(|bit| visit(bit as usize));
        let (verb, spots) = choices.aimed();
        for (verb, spots) in [(verb, spots), (Verb::Touch, choices.touches())] {
            let first = self.block(verb).start;
            spots.iter_from(actor).for_each(|spot| visit(first + self.place(spot, actor).expect(FITS)));
        }
        choices.swaps().for_each(|swap| visit(self.to_index(swap, actor).expect(FITS)));
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
