//! Tie-breaking: which spot a player chooses among equally good ones.
//!
//! A rule such as "the first" would favour a letter, a neighbour or a slot, and this bias shows in results: if all
//! players choose "the lowest seat" in blind swaps, seat a loses against three other players with the same policy. A
//! draw from the player's own stream would be fair, but then a decision would not depend on the view alone, as
//! searches, belief and the exact solver require. So ties are broken by a hash of the pile.

use std::cmp::Ordering;
use std::mem::discriminant;

use cambio_core::engine::CardSource;
use cambio_core::rng::mix;
use cambio_core::{Action, Phase, Spot, SpotSet, Table, View};

/// Chooses one of these equally good spots. Over many deals, all spots are equally likely. `None` if the set is empty.
///
/// A hash of the pile's points, the top card and the turn gives the number of the spot in playing order from the
/// player's seat. The same view always gives the same spot. While the pile is empty, the first spot is chosen.
#[inline]
pub(crate) fn one_of(view: &impl View, spots: SpotSet) -> Option<Spot> {
    let first = spots.first_from(view.seat())?;
    // Fast path: usually there is no tie.
    if spots == SpotSet::only(first) {
        return Some(first);
    }
    spots.nth_from(view.seat(), index(view.table(), spots.len()))
}

/// The least value offered so far, and the spots that have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeastSpots {
    pub(crate) value: f64,
    pub(crate) spots: SpotSet,
}

impl LeastSpots {
    /// No spots yet.
    pub(crate) const NONE: LeastSpots = LeastSpots { value: f64::INFINITY, spots: SpotSet::EMPTY };

    #[inline]
    pub(crate) fn offer(&mut self, value: f64, spot: Spot) {
        match value.partial_cmp(&self.value) {
            Some(Ordering::Less) => *self = LeastSpots { value, spots: SpotSet::only(spot) },
            Some(Ordering::Equal) => self.spots.insert(spot),
            _ => {}
        }
    }
}

/// The index of the chosen option among `equals` tied options.
#[inline]
pub(crate) fn index(table: &Table, equals: usize) -> usize {
    let shown = match table.phase() {
        Phase::Held(CardSource::Pile(card)) => Some(card),
        _ => table.top(),
    };
    let Some(shown) = shown.filter(|_| equals > 1) else { return 0 };
    let pile = (u64::from(table.pile_points() as u32) << 8) | shown.kind() as u64;
    let coin = mix(pile ^ ((table.turns() as u64) << 40)) >> 32;
    ((coin * equals as u64) >> 32) as usize
}

/// The decision that costs least. Among ties, the kind that comes first in the order of the choices wins; within that
/// kind, the tie is broken by a hash of the pile ([`index`]).
pub(crate) fn least_of(view: &impl View, cost: impl Fn(&Action) -> f64) -> Option<Action> {
    let choices = view.choices();
    let first = choices.iter().reduce(|least, action| if cost(&action) < cost(&least) { action } else { least })?;
    let is_equal = |action: &Action| discriminant(action) == discriminant(&first) && cost(action) <= cost(&first);
    let equals = choices.iter().filter(is_equal).count();
    choices.iter().filter(is_equal).nth(index(view.table(), equals))
}
