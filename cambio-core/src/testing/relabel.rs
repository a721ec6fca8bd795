//! Relabelling of seats, to test that an agent does not depend on seat letters.

use crate::engine::Setup;
use crate::engine::observation::Private;
use crate::engine::table::{CarryOver, Table};
use crate::play::RoundResult;
use crate::rules::seat::{MAX_SEATS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::{Action, Event, Observation, State};

/// Renames all seats by shifting their letters by the same number of places. The order of the seats does not change.
///
/// The game is symmetric under such a shift. An agent that plays a relabelled match with the same stream must therefore
/// make the relabelled decisions; [`check_agent`](super::check_agent) checks this.
///
/// ```
/// use cambio_core::Seat;
/// use cambio_core::testing::Relabelling;
///
/// let two_on = Relabelling::new(4, 2);
/// assert_eq!(two_on.seat(Seat::D), Seat::B);
/// assert_eq!(two_on.action("swap a1 d2".parse().unwrap()), "swap b2 c1".parse().unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relabelling {
    seats: usize,
    places: usize,
}

impl Relabelling {
    /// Shifts the letters of a table of `seats` seats by `places` places.
    ///
    /// # Panics
    /// If `seats` is 0 or above [`MAX_SEATS`].
    pub fn new(seats: usize, places: usize) -> Relabelling {
        assert!((1..=MAX_SEATS).contains(&seats), "a table must have 1 to 8 seats, found {seats}");
        Relabelling { seats, places: places % seats }
    }

    /// The seat's new letter.
    pub fn seat(self, seat: Seat) -> Seat {
        seat.ahead(self.places, self.seats)
    }

    /// The same spot, with its seat relabelled.
    pub fn spot(self, spot: Spot) -> Spot {
        Spot::new(self.seat(spot.seat()), spot.number()).unwrap_or(spot)
    }

    /// The decision with all seats relabelled.
    pub fn action(self, action: Action) -> Action {
        match (action, action.aimed()) {
            (Action::Swap(one, other), _) => Action::swap(self.spot(one), self.spot(other)),
            (_, Some((verb, spot))) => verb.of(self.spot(spot)),
            _ => action,
        }
    }

    /// The event with all seats relabelled. The event may be a sighting.
    pub fn event<Face: Copy>(self, event: &Event<Face>) -> Event<Face> {
        match event.map(|seat| self.seat(seat), |spot| self.spot(spot), |_, face| face) {
            Event::Swapped { seat, one, other } => Event::Swapped { seat, one: one.min(other), other: one.max(other) },
            other => other,
        }
    }

    /// The setup with all seats relabelled. The rules do not change, so race weights are not relabelled.
    pub fn setup(self, setup: &Setup) -> Setup {
        Setup { starter: self.seat(setup.starter), carry: self.carry(setup.carry), ..*setup }
    }

    /// Reorders a list with one item per seat, seat a's first, so that each item moves with its relabelled seat.
    pub fn by_seat<T: Clone>(self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        items.rotate_right(self.places);
        items
    }

    /// The result with all seats relabelled.
    pub fn result(self, result: &RoundResult) -> RoundResult {
        let mut moved = RoundResult {
            starter: self.seat(result.starter),
            callers: self.seats(result.callers),
            first_caller: result.first_caller.map(|seat| self.seat(seat)),
            succeeded: self.seats(result.succeeded),
            winners: self.seats(result.winners),
            ..*result
        };
        moved.points[..self.seats].rotate_right(self.places);
        moved.scores[..self.seats].rotate_right(self.places);
        moved
    }

    /// The table with all seats relabelled.
    pub fn table(self, table: &Table) -> Table {
        let mut moved = Table {
            occupied: self.spots(table.occupied),
            pointed: self.spots(table.pointed),
            named: self.spots(table.named),
            seen: table.seen.map(|seen| self.spots(seen)),
            starter: self.seat(table.starter),
            turn: self.seat(table.turn),
            asked: table.asked.map(|seat| self.seat(seat)),
            gap: table.gap.map(|spot| self.spot(spot)),
            callers: self.seats(table.callers),
            first_caller: table.first_caller.map(|seat| self.seat(seat)),
            safe: self.seats(table.safe),
            carry: self.carry(table.carry),
            ..*table
        };
        moved.seen[..self.seats].rotate_right(self.places);
        moved
    }

    /// The observation of `seat`, with all seats relabelled. `table` must be the relabelled table of the state.
    pub(crate) fn observe<'t>(self, state: &State, seat: Seat, table: &'t Table) -> Observation<'t> {
        let view = state.observe(seat);
        let mut faces = [None; SPOTS];
        for spot in view.known().each() {
            faces[self.spot(spot).index()] = view.face(spot);
        }
        Observation::new(table, Private { seat: self.seat(seat), faces, held: view.held() })
    }

    fn seats(self, seats: SeatSet) -> SeatSet {
        seats.each().map(|seat| self.seat(seat)).collect()
    }

    fn spots(self, spots: SpotSet) -> SpotSet {
        spots.each().map(|spot| self.spot(spot)).collect()
    }

    fn carry(self, carry: CarryOver) -> CarryOver {
        CarryOver { extra_card: self.seats(carry.extra_card), extra_peek: self.seats(carry.extra_peek) }
    }
}
