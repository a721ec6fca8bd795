//! Observers of a match: records, counters, transcripts.

use crate::chance::RaceOrder;
use crate::{Action, Card, Event, RoundResult, Seat, Setup, Sink, State};

/// Is told everything that happens in a match, for records, statistics and transcripts.
///
/// By default every method does nothing.
pub trait Observer {
    /// A round begins with this deck, the first card dealt first.
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        let _ = (setup, deck);
    }

    /// An event happened, as the referee sees it.
    fn event(&mut self, event: &Event<Card>) {
        let _ = event;
    }

    /// The seat that `state` asks is about to be asked.
    fn asks(&mut self, state: &State, seat: Seat) {
        let _ = (state, seat);
    }

    /// The seat that `state` asks has decided, legally; the decision is carried out next.
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let _ = (state, seat, action);
    }

    /// Two or more seats snapped, and chance ordered them so.
    fn race(&mut self, order: &RaceOrder) {
        let _ = order;
    }

    /// Chance ordered a new stock so, its last card on top.
    fn reshuffle(&mut self, stock: &[Card]) {
        let _ = stock;
    }

    /// The round has ended.
    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        let _ = (state, result);
    }
}

impl Observer for () {}

impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for (&mut A, &mut B) {
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        self.0.round_begins(setup, deck);
        self.1.round_begins(setup, deck);
    }

    #[expect(clippy::inline_always, reason = "it only passes on")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.0.event(event);
        self.1.event(event);
    }

    fn asks(&mut self, state: &State, seat: Seat) {
        self.0.asks(state, seat);
        self.1.asks(state, seat);
    }

    #[expect(clippy::inline_always, reason = "it only passes on")]
    #[inline(always)]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.0.decides(state, seat, action);
        self.1.decides(state, seat, action);
    }

    fn race(&mut self, order: &RaceOrder) {
        self.0.race(order);
        self.1.race(order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.0.reshuffle(stock);
        self.1.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.0.round_ends(state, result);
        self.1.round_ends(state, result);
    }
}

/// Passes the engine's events on to an observer.
pub(crate) struct Heard<'o, W>(pub(crate) &'o mut W);

impl<W: Observer> Sink for Heard<'_, W> {
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.0.event(event);
    }
}
