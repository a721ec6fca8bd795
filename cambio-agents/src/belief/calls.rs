//! What calls tell: the caller expected a low sum. This evidence is joint over the cards of a layout.

use cambio_core::{MAX_SEATS, Seat, SeatSet, Spot, SpotSet};

/// A call surprises nobody if the caller's sum is at most this.
const EXPECTED_CALL: f64 = 6.0;

/// The calls of a round so far, as one seat sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    callers: SeatSet,
    observer: Seat,
    spots: SpotSet,
    /// For each caller the points that its other cards were worth to it.
    rest: [f64; MAX_SEATS],
    /// The probability of the most surprising call.
    least: f64,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls::new(Seat::A, 0.0)
    }
}

impl Calls {
    /// No calls yet. No call is less probable than `least`, for nobody knows another player's threshold.
    pub(super) fn new(observer: Seat, least: f64) -> Calls {
        Calls { observer, callers: SeatSet::EMPTY, spots: SpotSet::EMPTY, rest: [0.0; MAX_SEATS], least }
    }

    /// Adds a call. The caller knew the cards in `hidden`, which the observer does not know; its other cards were worth
    /// `rest` points to it.
    pub(super) fn add(&mut self, caller: Seat, hidden: SpotSet, rest: f64) {
        self.rest[caller.index()] = rest;
        self.callers.insert(caller);
        self.spots = self.spots.union(hidden);
    }

    /// Whether any call tells something.
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        !self.callers.is_empty()
    }

    /// The spots whose cards the calls tell something about.
    pub(super) fn spots(&self) -> SpotSet {
        self.spots
    }

    /// The probability of the calls if these cards lie there, as numbers into `points`.
    ///
    /// It is 1 up to [`EXPECTED_CALL`], and falls to `least` over the next eight points.
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
