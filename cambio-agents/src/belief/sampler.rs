//! Draws the cards that have evidence: exactly if there are few, otherwise with a Markov chain.

use cambio_core::rules::{MAX_SEATS, SPOTS};
use cambio_core::{Card, Seat, SeatSet, Spot, SpotSet};
use rand::Rng;

/// Up to this many cards with evidence are drawn exactly.
const MAX_EXACT_SPOTS: usize = 5;

/// The number of exact draws that are tried before sweeps are used instead. Most tries fail if the evidence favours the
/// same few cards in many spots, or if a call was improbable.
const EXACT_TRIES: usize = 64;

/// The number of sweeps for a world.
const SWEEPS: usize = 3;

/// A placeholder for unused entries.
const UNUSED_SPOT: Spot = Spot::new(Seat::A, 1).expect("a seat has a first slot");

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
        let placed = if cards <= MAX_EXACT_SPOTS {
            few = [(UNUSED_SPOT, 0); MAX_EXACT_SPOTS];
            &mut few[..cards]
        } else {
            many = [(UNUSED_SPOT, 0); SPOTS];
            &mut many[..cards]
        };
        let is_drawn = cards <= MAX_EXACT_SPOTS && (0..EXACT_TRIES).any(|_| self.draw_exactly(placed, rng));
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
        !self.calls.is_any() || bernoulli(self.calls.probability(placed, &self.points), rng)
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
                if bernoulli(ratio * now / called, rng) {
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
fn bernoulli(probability: f64, rng: &mut impl Rng) -> bool {
    probability >= 1.0 || f64::from(rng.next_u32()) < probability * SCALE
}

/// 2³², the scale of thresholds.
const SCALE: f64 = 4_294_967_296.0;

/// Alias tables over the same items, stored one after the other.
#[derive(Clone, Debug, Default)]
struct AliasTables {
    items: usize,
    /// For each item of each table, a threshold out of 2³², and the item that is drawn above the threshold.
    columns: Vec<(u32, u16)>,
    // Buffers of `append`, kept to avoid allocations.
    scaled: Vec<f64>,
    small: Vec<u16>,
    large: Vec<u16>,
}

impl AliasTables {
    /// Removes all tables. The next tables are over `items` items.
    fn clear(&mut self, items: usize) {
        self.items = items;
        self.columns.clear();
    }

    fn append(&mut self, weights: &[f64]) {
        let items = weights.len();
        let total: f64 = weights.iter().sum();
        self.scaled.clear();
        self.small.clear();
        self.large.clear();
        for (index, weight) in weights.iter().enumerate() {
            let scaled = weight * (items as f64 / total);
            self.scaled.push(scaled);
            if scaled < 1.0 { self.small.push(index as u16) } else { self.large.push(index as u16) }
        }
        let first = self.columns.len();
        self.columns.extend((0..items).map(|index| (u32::MAX, index as u16)));
        while let (Some(small), Some(&large)) = (self.small.pop(), self.large.last()) {
            let share = self.scaled[usize::from(small)];
            self.columns[first + usize::from(small)] = ((share * SCALE) as u32, large);
            let rest = &mut self.scaled[usize::from(large)];
            *rest -= 1.0 - share;
            if *rest < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
    }

    /// Draws an item from the table with this number.
    #[inline]
    fn draw(&self, number: usize, rng: &mut impl Rng) -> usize {
        let (items, word) = (self.items, rng.next_u64());
        let column = (((word >> 32) * items as u64) >> 32) as usize;
        let (threshold, other) = self.columns[number * items + column];
        if (word as u32) < threshold { column } else { usize::from(other) }
    }
}

/// A call has probability 1 if the caller's expected sum is at most this.
const EXPECTED_CALL: f64 = 6.0;

/// The calls of a round so far, as one seat sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    callers: SeatSet,
    observer: Seat,
    spots: SpotSet,
    /// For each caller, the points that it expected from its other cards.
    rest: [f64; MAX_SEATS],
    /// The lower bound on the probability of a call.
    least: f64,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls::new(Seat::A, 0.0)
    }
}

impl Calls {
    /// No calls yet. A call has at least the probability `least`, because the caller's threshold is unknown.
    pub(super) fn new(observer: Seat, least: f64) -> Calls {
        Calls { observer, callers: SeatSet::EMPTY, spots: SpotSet::EMPTY, rest: [0.0; MAX_SEATS], least }
    }

    /// Adds a call. The caller knew the cards in `hidden`, which the observer does not know; it expected `rest` points
    /// from its other cards.
    pub(super) fn add(&mut self, caller: Seat, hidden: SpotSet, rest: f64) {
        self.rest[caller.index()] = rest;
        self.callers.insert(caller);
        self.spots = self.spots.union(hidden);
    }

    /// Whether any call has been added.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        !self.callers.is_empty()
    }

    /// The spots whose cards the calls give evidence about.
    pub(super) fn spots(&self) -> SpotSet {
        self.spots
    }

    /// The probability of the calls if these cards lie in these spots. The cards are indices into `points`.
    ///
    /// For each call, the factor is 1 up to [`EXPECTED_CALL`], and falls to `least` over the next eight points.
    #[inline]
    pub(super) fn probability(&self, placed: &[(Spot, usize)], points: &[f64]) -> f64 {
        const FALLS_OVER: f64 = 8.0;
        let mut probability = 1.0;
        for seat in self.callers.iter_from(self.observer) {
            let of_seat = placed.iter().filter(|(spot, _)| spot.seat() == seat && self.spots.contains(*spot));
            let sum: f64 = of_seat.map(|&(_, card)| points[card]).sum();
            let over = sum + self.rest[seat.index()] - EXPECTED_CALL;
            probability *= (1.0 - over / FALLS_OVER).clamp(self.least, 1.0);
        }
        probability
    }
}
