//! Counts what each seat does in a match.

use cambio_core::{
    Action, Card, Event, MAX_SEATS, Printer, RaceOrder, RoundResult, Rules, Scribe, Seat, Setup, State, Verdict,
};

/// What one seat did in a match.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SeatTally {
    /// The points of its layouts, summed over the rounds.
    pub points: i64,
    /// Rounds won, shared or not.
    pub rounds_won: u32,
    /// Calls.
    pub calls: u32,
    /// Calls that succeeded.
    pub calls_succeeded: u32,
    /// The points of its layouts in rounds in which it called.
    pub points_at_calls: i64,
    /// Own cards snapped that matched first.
    pub snaps_right_own: u32,
    /// Foreign cards snapped that matched first.
    pub snaps_right_foreign: u32,
    /// Wrong snaps.
    pub snaps_wrong: u32,
    /// Late snaps, shown or aborted.
    pub snaps_late: u32,
    /// Touches.
    pub touches: u32,
    /// Penalty cards.
    pub penalties: u32,
    /// Gifts.
    pub gifts: u32,
    /// Looks.
    pub looks: u32,
    /// Swaps.
    pub swaps: u32,
    /// Turns.
    pub turns: u32,
    /// The turns of its calls, each its own turn counted from 1 within the round, summed.
    pub call_turns: u32,
    /// Cards of its layouts at the ends of the rounds.
    pub cards: u32,
    /// Those of them that it had seen.
    pub cards_known: u32,
    /// Cards dealt to it.
    pub dealt: u32,
    /// Their points.
    pub dealt_points: i64,
    /// Cards drawn from the stock.
    pub drawn: u32,
    /// Their points.
    pub drawn_points: i64,
}

/// How one round came out.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundTally {
    /// The result.
    pub result: RoundResult,
    /// How many decisions were made.
    pub decisions: u32,
    /// How often the pile became a new stock.
    pub reshuffles: usize,
    /// The turn of the first call, counted from 1.
    pub call_turn: Option<u32>,
}

/// Counts what happens in a match.
#[derive(Clone, Debug)]
pub struct Tally {
    /// What each seat did, seat a first.
    pub seats: [SeatTally; MAX_SEATS],
    /// The rounds.
    pub rounds: Vec<RoundTally>,
    /// The fingerprint of play.
    pub printer: Printer,
    rules: Rules,
    decisions: u32,
    begun: usize,
    shower: Option<Seat>,
    /// The turns that each seat began in this round.
    turns: [u32; MAX_SEATS],
    call_turn: Option<u32>,
    /// What each seat had done before this round, where rounds may have to be forgotten.
    before: Option<Box<[SeatTally; MAX_SEATS]>>,
}

impl Tally {
    /// A tally of a match by these rules; it can forget a round if it is told at first.
    pub fn new(rules: &Rules, forgets: bool) -> Tally {
        Tally {
            seats: [SeatTally::default(); MAX_SEATS],
            rounds: Vec::new(),
            printer: Printer::default(),
            rules: *rules,
            decisions: 0,
            begun: 0,
            shower: None,
            turns: [0; MAX_SEATS],
            call_turn: None,
            before: forgets.then(Box::default),
        }
    }

    /// Forgets everything, before a match by these rules.
    pub fn clear(&mut self, rules: &Rules) {
        let (rounds, forgets) = (std::mem::take(&mut self.rounds), self.before.is_some());
        *self = Tally::new(rules, forgets);
        self.rounds = rounds;
        self.rounds.clear();
    }

    /// Forgets what was done in a round that has not ended, if it can.
    pub fn forget_round(&mut self) {
        if let Some(before) = &self.before
            && self.begun > self.rounds.len()
        {
            self.seats = **before;
        }
    }

    #[inline(never)]
    fn count_dealt(&mut self, state: &State) {
        for (seat, tally) in Seat::ALL.into_iter().zip(&mut self.seats).take(state.table().seats()) {
            for spot in state.table().layout(seat) {
                tally.dealt += 1;
                tally.dealt_points += state.face(spot).map_or(0, |card| i64::from(self.rules.points(card)));
            }
        }
    }

    /// The round that is being played, counted from 1, 0 before the first; and how many decisions it has.
    pub fn place(&self) -> (usize, usize) {
        (self.begun, self.decisions as usize)
    }
}

impl Scribe for Tally {
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        self.printer.round_begins(setup, deck);
        self.decisions = 0;
        self.begun += 1;
        if let Some(before) = &mut self.before {
            **before = self.seats;
        }
        self.turns = [0; MAX_SEATS];
        self.call_turn = None;
    }

    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        let tally = |seat: Seat| seat.index();
        match *event {
            Event::TurnBegan { seat } => {
                self.shower = Some(seat);
                self.seats[tally(seat)].turns += 1;
                self.turns[tally(seat)] += 1;
            }
            Event::Drew { seat, face } => {
                let tally = &mut self.seats[tally(seat)];
                tally.drawn += 1;
                tally.drawn_points += i64::from(self.rules.points(face));
            }
            Event::Called { seat } => {
                self.seats[tally(seat)].calls += 1;
                self.seats[tally(seat)].call_turns += self.turns[tally(seat)];
                self.call_turn = self.call_turn.or(Some(self.turns.iter().sum()));
            }
            Event::Snapped { seat, spot, verdict, .. } => {
                let tally = &mut self.seats[tally(seat)];
                match verdict {
                    Verdict::Right if spot.seat() == seat => tally.snaps_right_own += 1,
                    Verdict::Right => tally.snaps_right_foreign += 1,
                    Verdict::Wrong => tally.snaps_wrong += 1,
                    Verdict::Late => tally.snaps_late += 1,
                }
            }
            Event::Aborted { seat } => self.seats[tally(seat)].snaps_late += 1,
            Event::Touched { seat, .. } => self.seats[tally(seat)].touches += 1,
            Event::Penalised { seat, .. } => self.seats[tally(seat)].penalties += 1,
            Event::Gave { seat, .. } => self.seats[tally(seat)].gifts += 1,
            Event::Looked { seat, .. } => self.seats[tally(seat)].looks += 1,
            Event::Shown { .. } => {
                if let Some(seat) = self.shower {
                    self.seats[tally(seat)].looks += 1;
                }
            }
            Event::Swapped { seat, .. } => self.seats[tally(seat)].swaps += 1,
            _ => {}
        }
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.decisions == 0 {
            // Nothing has moved since the deal.
            self.count_dealt(state);
        }
        self.printer.decides(state, seat, action);
        self.decisions += 1;
    }

    fn race(&mut self, order: &RaceOrder) {
        self.printer.race(order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.printer.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.printer.round_ends(state, result);
        for ((tally, seat), &points) in self.seats.iter_mut().zip(Seat::ALL).zip(result.points()) {
            let layout = state.table().layout(seat);
            tally.cards += layout.len() as u32;
            tally.cards_known += layout.intersection(state.table().seen(seat)).len() as u32;
            tally.points += i64::from(points);
            tally.rounds_won += u32::from(result.winners.contains(seat));
            tally.calls_succeeded += u32::from(result.succeeded.contains(seat));
            if result.callers.contains(seat) {
                tally.points_at_calls += i64::from(points);
            }
        }
        let reshuffles = state.table().reshuffles();
        let (decisions, call_turn) = (self.decisions, self.call_turn);
        self.rounds.push(RoundTally { result: *result, decisions, reshuffles, call_turn });
    }
}
