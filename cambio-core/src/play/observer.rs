//! Observers of a match: records, counters, transcripts.

use crate::engine::chance::RaceOrder;
use crate::play::RoundResult;
use crate::{Action, Card, Event, Match, Seat, Standing, State};

/// Receives everything that happens in a match, hidden cards included: for records, statistics and transcripts.
///
/// By default, every method does nothing. A pair of observers is an observer, and so is a mutable reference to one.
#[expect(unused_variables, reason = "the default methods do nothing")]
pub trait Observer {
    /// A round begins with this deck, whose first card is dealt first.
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {}

    /// An event happened.
    fn event(&mut self, event: &Event<Card>) {}

    /// It is now this seat's turn to decide.
    fn asks(&mut self, state: &State, seat: Seat) {}

    /// The seat has made a legal decision, which is carried out next.
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {}

    /// Two or more seats snapped in one window, in this order.
    fn race(&mut self, order: &RaceOrder) {}

    /// The pile was shuffled into a new stock. The last card of `stock` is the top.
    fn reshuffle(&mut self, stock: &[Card]) {}

    /// The round has ended.
    fn round_ends(&mut self, state: &State, result: &RoundResult) {}

    /// The match has ended.
    fn match_ends(&mut self, game: &Match) {}
}

impl Observer for () {}

/// Implements the methods of an observer that forwards everything to other observers.
macro_rules! forward {
    ($self:ident => $($observer:expr),+) => {
        fn round_begins(&mut $self, standing: &Standing<'_>, deck: &[Card]) {
            $($observer.round_begins(standing, deck);)+
        }

        #[inline]
        fn event(&mut $self, event: &Event<Card>) {
            $($observer.event(event);)+
        }

        #[inline]
        fn asks(&mut $self, state: &State, seat: Seat) {
            $($observer.asks(state, seat);)+
        }

        #[inline]
        fn decides(&mut $self, state: &State, seat: Seat, action: Action) {
            $($observer.decides(state, seat, action);)+
        }

        fn race(&mut $self, order: &RaceOrder) {
            $($observer.race(order);)+
        }

        fn reshuffle(&mut $self, stock: &[Card]) {
            $($observer.reshuffle(stock);)+
        }

        fn round_ends(&mut $self, state: &State, result: &RoundResult) {
            $($observer.round_ends(state, result);)+
        }

        fn match_ends(&mut $self, game: &Match) {
            $($observer.match_ends(game);)+
        }
    };
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self => self.0, self.1);
}

impl<W: Observer + ?Sized> Observer for &mut W {
    forward!(self => (**self));
}

impl<W: Observer + ?Sized> Observer for Box<W> {
    forward!(self => (**self));
}
