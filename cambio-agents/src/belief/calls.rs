//! The evidence of calls: a caller expected a low sum. The evidence concerns the sum of a layout, not single cards.

use cambio_core::rules::MAX_SEATS;
use cambio_core::{Seat, SeatSet, Spot, SpotSet};

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
