//! The evidence of one round: how well each kind of card explains what was seen, spot by spot.

use cambio_core::{Card, MAX_KINDS, Spot, SpotSet};

/// As many spots as any table has.
pub(super) const SPOTS: usize = 128;

/// A weight for each kind of card in each spot. Weights are relative: only their ratios within a spot count.
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

    /// Forgets all evidence.
    pub(super) fn clear(&mut self) {
        self.weights.fill([1.0; MAX_KINDS]);
        self.marked = SpotSet::EMPTY;
    }

    /// Forgets the evidence for one spot.
    pub(super) fn flatten(&mut self, spot: Spot) {
        self.weights[spot.index()] = [1.0; MAX_KINDS];
        self.marked.remove(spot);
    }

    /// Takes in one decision: a kind with which it does not agree loses weight.
    ///
    /// The decision has probability 1 − ε/2 if the kind agrees with it and ε/2 if not.
    pub(super) fn weigh(&mut self, spot: Spot, kind: usize, agrees: bool, epsilon: f64) {
        const LEAST: f32 = 1e-12;
        self.marked.insert(spot);
        if !agrees {
            let miss = epsilon / (2.0 - epsilon);
            let weight = &mut self.weights[spot.index()][kind];
            *weight = (*weight * miss as f32).max(LEAST);
        }
    }

    /// Moves the evidence with two cards that change places.
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
