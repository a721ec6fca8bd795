//! Ties: which spot a player takes of several that it likes equally.
//!
//! A rule such as "the first" would favour a letter, a neighbour or a slot, and a table of equal players would show it: with
//! "the lowest seat" in blind swaps, seat a of four players of one policy loses. A draw from the player's own stream would be
//! fair, but then a decision would not depend on the view alone, as searches, belief and the exact solver want it.
//! So the table throws the coin: what lies on the pile says which of the equal spots it is.

use std::cmp::Ordering;
use std::mem::discriminant;

use cambio_core::{Action, Phase, Source, Spot, SpotSet, Table, View};

use crate::bits::mix;

/// One of these spots, which the player likes equally: over many deals each is as likely as any other. `None` if there is
/// none.
///
/// Counted in playing order from the player's seat on, it is the spot whose number the pile, its top and the turn give. The
/// same view always gives the same spot. Before a card has come to the pile it is the first.
#[inline]
pub(crate) fn one_of(view: &impl View, spots: SpotSet) -> Option<Spot> {
    let first = spots.first_from(view.seat())?;
    // Most often there is no tie.
    if spots == SpotSet::only(first) {
        return Some(first);
    }
    spots.nth_from(view.seat(), place(view.table(), spots.len()))
}

/// The spots of the least value that was offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Least {
    pub(crate) value: f64,
    pub(crate) spots: SpotSet,
}

impl Least {
    /// Nothing yet.
    pub(crate) const NONE: Least = Least { value: f64::INFINITY, spots: SpotSet::EMPTY };

    #[inline]
    pub(crate) fn offer(&mut self, value: f64, spot: Spot) {
        match value.partial_cmp(&self.value) {
            Some(Ordering::Less) => *self = Least { value, spots: SpotSet::only(spot) },
            Some(Ordering::Equal) => self.spots.insert(spot),
            _ => {}
        }
    }
}

/// Which of so many equals it is, counted from 0.
#[inline]
pub(crate) fn place(table: &Table, equals: usize) -> usize {
    let shown = match table.phase() {
        Phase::Held(Source::Pile(card)) => Some(card),
        _ => table.top(),
    };
    let Some(shown) = shown.filter(|_| equals > 1) else { return 0 };
    let pile = (u64::from(table.pile_points() as u32) << 8) | shown.kind() as u64;
    let coin = mix(pile ^ ((table.turns() as u64) << 40)) >> 32;
    ((coin * equals as u64) >> 32) as usize
}

/// The decision that costs least. Of several it is the kind that comes first in the order of the choices, and of that kind
/// the one that the table's coin says.
pub(crate) fn least_of(view: &impl View, cost: impl Fn(&Action) -> f64) -> Option<Action> {
    let choices = view.choices();
    let first = choices.iter().reduce(|least, action| if cost(&action) < cost(&least) { action } else { least })?;
    let is_equal = |action: &Action| discriminant(action) == discriminant(&first) && cost(action) <= cost(&first);
    let equals = choices.iter().filter(is_equal).count();
    choices.iter().filter(is_equal).nth(place(view.table(), equals))
}
