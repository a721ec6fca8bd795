//! Draws the cards that have evidence: exactly if there are few, otherwise with a Markov chain.

use cambio_core::{Card, Seat, Spot};
use rand::Rng;

use super::alias::AliasTables;
use super::calls::Calls;
use super::evidence::SPOTS;

/// Up to this many cards with evidence are drawn exactly.
const EXACT: usize = 5;

/// The number of exact draws that are tried before sweeps are used instead. Most tries fail if the evidence favours the
/// same few cards in many spots, or if a call was improbable.
const TRIES: usize = 64;

/// The number of sweeps for a world.
const SWEEPS: usize = 3;

/// A placeholder for unused entries.
const ANYWHERE: Spot = Spot::new(Seat::A, 1).expect("a seat has a first slot");

/// The cards with evidence at one decision, and their weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    spots: Vec<Spot>,
    /// One table for each spot, over the unseen cards.
    tables: AliasTables,
    /// For each spot the weight of each unseen card.
    weights: Vec<f64>,
    /// The points of the unseen cards.
    points: Vec<f64>,
    calls: Calls,
}

impl Sampler {
    /// Prepares the draws for one decision.
    ///
    /// `unseen` returns the unseen cards, each with whether it can lie in the spot. The cards and their order are the
    /// same for every spot.
    pub(super) fn prepare<I: Iterator<Item = (Card, bool)>>(
        &mut self,
        spots: impl Iterator<Item = Spot>,
        calls: Calls,
        unseen: impl Fn(Spot) -> I,
        weight: impl Fn(Spot, Card) -> f64,
        points: impl Fn(Card) -> f64,
    ) {
        self.spots.clear();
        self.spots.extend(spots);
        self.points.clear();
        if let Some(&spot) = self.spots.first() {
            self.points.extend(unseen(spot).map(|(card, _)| points(card)));
        }
        self.weights.clear();
        self.tables.clear(self.points.len());
        for &spot in &self.spots {
            let from = self.weights.len();
            self.weights.extend(unseen(spot).map(|(card, fits)| if fits { weight(spot, card) } else { 0.0 }));
            self.tables.append(&self.weights[from..]);
        }
        self.calls = calls;
    }

    /// Draws a card for each spot with evidence, and passes the spots and the indices of their cards to `then`.
    /// It allocates nothing.
    #[inline]
    pub(super) fn draw<R: Rng, T>(&self, rng: &mut R, then: impl FnOnce(&[(Spot, usize)], &mut R) -> T) -> T {
        let cards = self.spots.len();
        // Clearing an array for every spot of the table would take longer than a draw of five cards.
        let (mut few, mut many);
        let placed = if cards <= EXACT {
            few = [(ANYWHERE, 0); EXACT];
            &mut few[..cards]
        } else {
            many = [(ANYWHERE, 0); SPOTS];
            &mut many[..cards]
        };
        let is_drawn = cards <= EXACT && (0..TRIES).any(|_| self.draw_exactly(placed, rng));
        if !is_drawn {
            self.draw_by_sweeps(placed, rng);
        }
        then(placed, rng)
    }

    /// Whether no card has evidence.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    /// Draws a card for each spot independently, and returns whether the draw is accepted: all cards must differ, and
    /// then the draw is accepted with the probability of the calls. Accepted draws have exactly the distribution of the
    /// evidence.
    #[inline]
    fn draw_exactly(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) -> bool {
        for number in 0..placed.len() {
            let card = self.tables.draw(number, rng);
            if placed[..number].iter().any(|&(_, other)| other == card) {
                return false;
            }
            placed[number] = (self.spots[number], card);
        }
        !self.calls.is_any() || happens(self.calls.probability(placed, &self.points), rng)
    }

    /// Draws different cards for the spots one by one, then corrects the draw by sweeps: for each spot another card is
    /// proposed in proportion to its evidence. If another spot has the proposed card, the two spots exchange their
    /// cards (Metropolis et al. 1953, Hastings 1970).
    fn draw_by_sweeps(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) {
        for number in 0..placed.len() {
            let is_free = |placed: &[(Spot, usize)], card| placed[..number].iter().all(|&(_, other)| other != card);
            let drawn = (0..8).map(|_| self.tables.draw(number, rng)).find(|&card| is_free(placed, card));
            let row = &self.weights[number * self.points.len()..][..self.points.len()];
            let any = || (0..row.len()).find(|&card| row[card] > 0.0 && is_free(placed, card));
            let card = drawn.or_else(any).expect("an epoch has an unseen card for each spot that holds one");
            placed[number] = (self.spots[number], card);
        }
        let weight = |number: usize, card: usize| self.weights[number * self.points.len() + card];
        let mut called = self.calls.probability(placed, &self.points);
        for _ in 0..SWEEPS {
            for number in 0..placed.len() {
                let (old, new) = (placed[number].1, self.tables.draw(number, rng));
                let holder = placed.iter().position(|&(_, card)| card == new);
                // The proposal is in proportion to the evidence, so the evidence cancels if the card is free.
                let ratio = holder.map_or(1.0, |holder| {
                    let (gives, gets) = (weight(holder, new), weight(holder, old));
                    gets / gives
                });
                placed[number].1 = new;
                if let Some(holder) = holder.filter(|&holder| holder != number) {
                    placed[holder].1 = old;
                }
                let now = self.calls.probability(placed, &self.points);
                if happens(ratio * now / called, rng) {
                    called = now;
                } else {
                    if let Some(holder) = holder.filter(|&holder| holder != number) {
                        placed[holder].1 = new;
                    }
                    placed[number].1 = old;
                }
            }
        }
    }
}

/// Returns true with this probability; always if the probability is above 1.
#[inline]
fn happens(probability: f64, rng: &mut impl Rng) -> bool {
    const SCALE: f64 = 4_294_967_296.0;
    probability >= 1.0 || f64::from(rng.next_u32()) < probability * SCALE
}
