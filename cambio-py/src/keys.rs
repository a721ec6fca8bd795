//! Keys of the information sets of a match, as in strategy files.

use cambio_core::rules::MAX_SEATS;
use cambio_core::testing::Relabelling;
use cambio_core::{Action, Card, Event, Observer, Rules, Seat, Standing, State};
use cambio_solve::HistoryKey;

/// The largest deck whose keys every match computes. Games with larger decks are too large for strategy files.
const MOST_CARDS: usize = 24;

/// The names of the seats in keys: the seat with the first turn is seat a, as in solved games.
pub(crate) fn from_starter(standing: &Standing<'_>) -> Relabelling {
    let seats = standing.setup.seats;
    Relabelling::new(seats, seats - standing.setup.starter.index())
}

/// Computes the key of each seat's information set in the current round.
#[derive(Clone, Debug)]
pub(crate) struct SeatKeys(
    /// `None` if no keys are computed, because they take a third of the time of a step.
    Option<Box<RoundKeys>>,
);

#[derive(Clone, Debug)]
struct RoundKeys {
    seats: usize,
    keys: [HistoryKey; MAX_SEATS],
    relabelling: Relabelling,
}

impl SeatKeys {
    /// Keys for tables that are small enough for strategy files: two seats and a small deck.
    pub(crate) fn of_small(rules: &Rules, seats: usize) -> SeatKeys {
        SeatKeys::when(SeatKeys::is_small(rules, seats), seats)
    }

    /// Whether a table is small enough for strategy files.
    pub(crate) fn is_small(rules: &Rules, seats: usize) -> bool {
        seats == 2 && rules.deck().len() <= MOST_CARDS
    }

    /// Keys if they are wanted.
    pub(crate) fn when(is_wanted: bool, seats: usize) -> SeatKeys {
        let (keys, relabelling) = ([HistoryKey::START; MAX_SEATS], Relabelling::new(seats, 0));
        SeatKeys(is_wanted.then(|| Box::new(RoundKeys { seats, keys, relabelling })))
    }

    /// The key of a seat, if keys are computed.
    pub(crate) fn of(&self, seat: Seat) -> Option<HistoryKey> {
        self.0.as_ref().map(|round| round.keys[seat.index()])
    }
}

impl RoundKeys {
    fn event(&mut self, event: &Event<Card>) {
        for (key, seat) in self.keys[..self.seats].iter_mut().zip(Seat::ALL) {
            key.perceive(self.relabelling.event(&event.seen_from(seat)));
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if state.choices().len() > 1 {
            self.keys[seat.index()].decide(self.relabelling.action(action).canonical());
        }
    }
}

impl Observer for SeatKeys {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        if let Some(round) = &mut self.0 {
            (round.keys, round.relabelling) = ([HistoryKey::START; MAX_SEATS], from_starter(standing));
        }
    }

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        if let Some(round) = &mut self.0 {
            round.event(event);
        }
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if let Some(round) = &mut self.0 {
            round.decides(state, seat, action);
        }
    }
}
