//! Counters of the actions of each seat in a match.

use cambio_core::engine::RaceOrder;
use cambio_core::play::RoundResult;
use cambio_core::record::Fingerprinter;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Observer, Rules, Seat, Standing, State};

use crate::rows::{CountingContext, Counts};

/// The result and the counts of one round.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RoundTally {
    /// The result.
    pub result: RoundResult,
    /// The number of decisions.
    pub decisions: u32,
    /// The number of reshuffles, in which the pile becomes a new stock.
    pub reshuffles: usize,
    /// The turn in which the first call was made, counted from 1 over all seats; `None` without a call.
    pub first_call_turn: Option<u32>,
}

/// An observer that counts the actions of each seat in a match.
#[derive(Clone, Debug)]
pub(crate) struct MatchTally {
    /// The counts of each seat, seat a first.
    pub seats: [Counts; MAX_SEATS],
    /// The finished rounds.
    pub rounds: Vec<RoundTally>,
    /// The fingerprint of play.
    pub fingerprinter: Fingerprinter,
    context: CountingContext,
    decisions: u32,
    begun: usize,
    first_call_turn: Option<u32>,
    /// The counts of each seat before the current round, if unfinished rounds may have to be removed.
    before: Option<Box<[Counts; MAX_SEATS]>>,
}

impl MatchTally {
    /// A tally for a match with these rules. If `forgets` is true, the counts of a round that is interrupted by a fault can be
    /// removed.
    pub(crate) fn new(rules: &Rules, forgets: bool) -> MatchTally {
        MatchTally {
            seats: [Counts::default(); MAX_SEATS],
            rounds: Vec::new(),
            fingerprinter: Fingerprinter::default(),
            context: CountingContext { rules: *rules, turn: None, turns: [0; MAX_SEATS] },
            decisions: 0,
            begun: 0,
            first_call_turn: None,
            before: forgets.then(Box::default),
        }
    }

    /// Resets the tally for a match with these rules. Reuses its memory.
    pub(crate) fn clear(&mut self, rules: &Rules) {
        let (rounds, forgets) = (std::mem::take(&mut self.rounds), self.before.is_some());
        *self = MatchTally::new(rules, forgets);
        self.rounds = rounds;
        self.rounds.clear();
    }

    /// Removes the counts of an unfinished round, if the tally was created with `forgets`.
    pub(crate) fn forget_round(&mut self) {
        if let Some(before) = &self.before
            && self.begun > self.rounds.len()
        {
            self.seats = **before;
        }
    }

    #[inline(never)]
    fn count_deal(&mut self, state: &State) {
        for (seat, counts) in Seat::ALL.into_iter().zip(&mut self.seats).take(state.table().seats()) {
            counts.deal(state, seat);
        }
    }
}

impl Observer for MatchTally {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.fingerprinter.round_begins(standing, deck);
        self.decisions = 0;
        self.begun += 1;
        if let Some(before) = &mut self.before {
            **before = self.seats;
        }
        self.context.turns = [0; MAX_SEATS];
        self.first_call_turn = None;
    }

    #[expect(clippy::inline_always, reason = "callers construct a known variant, so inlining removes the match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        match *event {
            Event::TurnBegan { seat } => {
                self.context.turn = Some(seat);
                self.context.turns[seat.index()] += 1;
            }
            Event::Called { .. } => {
                self.first_call_turn = self.first_call_turn.or(Some(self.context.turns.iter().sum()));
            }
            _ => {}
        }
        Counts::event(&mut self.seats, event, &self.context);
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.decisions == 0 {
            // No card has moved between the deal and the first decision.
            self.count_deal(state);
        }
        Counts::decision(&mut self.seats, state, seat, action);
        self.fingerprinter.decides(state, seat, action);
        self.decisions += 1;
    }

    fn race(&mut self, order: &RaceOrder) {
        self.fingerprinter.race(order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.fingerprinter.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.fingerprinter.round_ends(state, result);
        for (counts, seat) in self.seats.iter_mut().zip(Seat::ALL).take(result.seats) {
            counts.round(state, result, seat);
        }
        let reshuffles = state.table().reshuffles();
        let (decisions, first_call_turn) = (self.decisions, self.first_call_turn);
        self.rounds.push(RoundTally { result: *result, decisions, reshuffles, first_call_turn });
    }
}
