//! The evidence of one round: for each spot, how well each kind of card explains the decisions of its owner.

use cambio_core::rules::{MAX_KINDS, SPOTS};
use cambio_core::{Card, Spot, SpotSet};

/// A weight for each kind of card in each spot. Only the ratios of weights within a spot have a meaning.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    weights: Vec<[f32; MAX_KINDS]>,
    marked: SpotSet,
}

impl Evidence {
    /// No evidence: every kind has weight 1 everywhere.
    pub(super) fn new() -> Evidence {
        Evidence { weights: vec![[1.0; MAX_KINDS]; SPOTS], marked: SpotSet::EMPTY }
    }

    pub(super) fn clear(&mut self) {
        self.weights.fill([1.0; MAX_KINDS]);
        self.marked = SpotSet::EMPTY;
    }

    /// Removes the evidence for one spot.
    pub(super) fn flatten(&mut self, spot: Spot) {
        self.weights[spot.index()] = [1.0; MAX_KINDS];
        self.marked.remove(spot);
    }

    /// Adds one decision: a kind that contradicts the decision loses weight.
    ///
    /// The decision has probability 1 − ε/2 if the kind agrees with it, otherwise ε/2.
    pub(super) fn weigh(&mut self, spot: Spot, kind: usize, agrees: bool, epsilon: f64) {
        const LEAST: f32 = 1e-12;
        self.marked.insert(spot);
        if !agrees {
            let miss = epsilon / (2.0 - epsilon);
            let weight = &mut self.weights[spot.index()][kind];
            *weight = (*weight * miss as f32).max(LEAST);
        }
    }

    /// Swaps the evidence of two spots, whose cards are swapped.
    pub(super) fn swap(&mut self, one: Spot, other: Spot) {
        self.weights.swap(one.index(), other.index());
        self.marked.swap(one, other);
    }

    /// The weight of a card in a spot; 1 without evidence.
    pub(super) fn weight(&self, spot: Spot, card: Card) -> f64 {
        f64::from(self.weights[spot.index()][card.kind()])
    }

    /// The spots with evidence.
    pub(super) fn marked(&self) -> SpotSet {
        self.marked
    }
}
