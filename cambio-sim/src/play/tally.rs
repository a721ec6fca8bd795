//! Counts what each seat does in a match.

use cambio_core::{
    Action, Card, Event, Fingerprinter, MAX_SEATS, Observer, RaceOrder, RoundResult, Rules, Seat, Standing, State,
};

use crate::rows::{Context, Counts};

/// The result and the counts of one round.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundTally {
    /// The result.
    pub result: RoundResult,
    /// How many decisions were made.
    pub decisions: u32,
    /// How often the pile became a new stock.
    pub reshuffles: usize,
    /// The turn in which the first call was made, counted from 1; `None` without a call.
    pub call_turn: Option<u32>,
}

/// An observer that counts what each seat does in a match.
///
/// ```
/// use cambio_core::{Pairing, Rules, play_match, rng::Key, testing::RandomAgent};
/// use cambio_sim::Tally;
///
/// let rules = Rules::preset("classic").unwrap();
/// let pairing = Pairing { rules, seats: 2, key: Key::new(42, 0) };
/// let mut tally = Tally::new(&rules, false);
/// let result = play_match(&pairing, &mut [RandomAgent::default(), RandomAgent::default()], &mut tally).unwrap();
/// assert_eq!(tally.rounds.len(), result.rounds);
/// assert!(tally.seats[0].turns > 0);
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    /// The counts of each seat, seat a first.
    pub seats: [Counts; MAX_SEATS],
    /// The rounds that ended.
    pub rounds: Vec<RoundTally>,
    /// The fingerprint of play.
    pub fingerprinter: Fingerprinter,
    context: Context,
    decisions: u32,
    begun: usize,
    call_turn: Option<u32>,
    /// The counts of each seat before this round, if a round may have to be forgotten.
    before: Option<Box<[Counts; MAX_SEATS]>>,
}

impl Tally {
    /// A tally of a match by these rules. With `forgets`, it also keeps what a run needs to take back a round that a fault cut
    /// off.
    pub fn new(rules: &Rules, forgets: bool) -> Tally {
        Tally {
            seats: [Counts::default(); MAX_SEATS],
            rounds: Vec::new(),
            fingerprinter: Fingerprinter::default(),
            context: Context { rules: *rules, turn: None, turns: [0; MAX_SEATS] },
            decisions: 0,
            begun: 0,
            call_turn: None,
            before: forgets.then(Box::default),
        }
    }

    /// Starts over with a match by these rules, in the same memory.
    pub(crate) fn clear(&mut self, rules: &Rules) {
        let (rounds, forgets) = (std::mem::take(&mut self.rounds), self.before.is_some());
        *self = Tally::new(rules, forgets);
        self.rounds = rounds;
        self.rounds.clear();
    }

    /// Forgets the counts of a round that has not ended. Without `forgets` it does nothing.
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

impl Observer for Tally {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.fingerprinter.round_begins(standing, deck);
        self.decisions = 0;
        self.begun += 1;
        if let Some(before) = &mut self.before {
            **before = self.seats;
        }
        self.context.turns = [0; MAX_SEATS];
        self.call_turn = None;
    }

    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        match *event {
            Event::TurnBegan { seat } => {
                self.context.turn = Some(seat);
                self.context.turns[seat.index()] += 1;
            }
            Event::Called { .. } => self.call_turn = self.call_turn.or(Some(self.context.turns.iter().sum())),
            _ => {}
        }
        Counts::event(&mut self.seats, event, &self.context);
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.decisions == 0 {
            // Before the first decision nothing has moved since the deal.
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
        let (decisions, call_turn) = (self.decisions, self.call_turn);
        self.rounds.push(RoundTally { result: *result, decisions, reshuffles, call_turn });
    }
}
