//! A player's model of the cards on the table.

use cambio_core::engine::PointSummary;
use cambio_core::{Card, Rules, Seat, Spot, SpotSet, View};

/// A player's model of the cards on the table: the cards that it remembers, or all cards that it has seen.
pub(crate) trait CardModel {
    /// The card that the player believes to be in this spot.
    fn face(&self, spot: Spot) -> Option<Card>;

    /// The spots whose cards the player believes to know.
    fn known(&self) -> SpotSet;

    /// The known cards in these spots, for results that do not depend on the order.
    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        spots.intersection(self.known()).iter_from(Seat::A).filter_map(|spot| Some((spot, self.face(spot)?)))
    }

    /// The known cards of `owner` in these spots, in the order of the slots.
    #[inline]
    fn known_cards_of(&self, owner: Seat, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        spots.intersection(self.known()).iter_of(owner).filter_map(|spot| Some((spot, self.face(spot)?)))
    }

    /// The points of the known cards of `owner` in these spots.
    #[inline]
    fn tally(&self, owner: Seat, spots: SpotSet, rules: &Rules) -> PointSummary {
        PointSummary::of(self.known_cards_of(owner, spots).map(|(_, card)| rules.points(card)))
    }

    /// The total points of all known cards.
    fn known_points(&self, rules: &Rules) -> i32 {
        self.known_cards(self.known()).map(|(_, card)| rules.points(card)).sum()
    }
}

impl<V: View> CardModel for V {
    #[inline]
    fn face(&self, spot: Spot) -> Option<Card> {
        View::face(self, spot)
    }

    #[inline]
    fn known(&self) -> SpotSet {
        View::known(self)
    }

    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        View::known_cards(self, spots)
    }

    #[inline]
    fn known_cards_of(&self, owner: Seat, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        View::known_cards_of(self, owner, spots)
    }

    #[inline]
    fn tally(&self, owner: Seat, spots: SpotSet, _: &Rules) -> PointSummary {
        View::tally(self, owner, spots)
    }

    #[inline]
    fn known_points(&self, _: &Rules) -> i32 {
        View::known_points(self)
    }
}

/// The mean points of the cards that the player has not seen: not on the pile, not held, not in its model. 0 if there
/// are none.
#[inline]
pub(crate) fn mean_elsewhere(view: &impl View, model: &impl CardModel) -> f64 {
    let (rules, table) = (view.rules(), view.table());
    let held = view.held();
    let here = model.known_points(rules) + held.map_or(0, |card| rules.points(card));
    let points = rules.deck_points() - table.pile_points() - here;
    let cards =
        rules.deck().len() as i32 - table.pile_len() as i32 - model.known().len() as i32 - i32::from(held.is_some());
    if cards > 0 { f64::from(points) / f64::from(cards) } else { 0.0 }
}
