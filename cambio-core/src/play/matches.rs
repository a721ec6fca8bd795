//! Matches: the result of a round, what carries over to the next round, and the end of a match.

use crate::engine::event::EndReason;
use crate::engine::state::{Setup, State};
use crate::engine::table::CarryOver;
use crate::rng::{Bounded as _, Key, Purpose};
use crate::rules::knob::{Best, Bonus, CallerTie, Cap, FirstDealer, MatchEnd, Reset, Score as ScoreKnob, Starter};
use crate::rules::seat::{MAX_SEATS, Seat, SeatSet};
use crate::{Rules, RulesError, Score};

/// The standing of a match when a round begins.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The number of the round, counted from 0.
    pub round: usize,
    /// The setup of the round: its starter and carry-over.
    pub setup: Setup,
    /// The totals, seat a first.
    pub totals: &'a [Score],
}

/// The result of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundResult {
    /// The number of seats.
    pub seats: usize,
    /// The seat that had the first turn.
    pub starter: Seat,
    /// Why the round ended.
    pub ended: EndReason,
    /// The seats that called.
    pub callers: SeatSet,
    /// The first caller. The other callers called later, in playing order from the first caller on.
    pub first_caller: Option<Seat>,
    /// The callers whose call succeeded.
    pub succeeded: SeatSet,
    /// The seats that won the round.
    pub winners: SeatSet,
    /// The number of turns that began.
    pub turns: usize,
    pub(crate) points: [i32; MAX_SEATS],
    pub(crate) scores: [Score; MAX_SEATS],
}

impl RoundResult {
    /// The points of each seat's layout, seat a first; a safe seat has 0.
    pub fn points(&self) -> &[i32] {
        &self.points[..self.seats]
    }

    /// The score that the round adds to each seat's total, seat a first.
    pub fn scores(&self) -> &[Score] {
        &self.scores[..self.seats]
    }

    /// The callers in the order of their calls.
    pub fn callers_in_order(&self) -> impl Iterator<Item = Seat> {
        let callers = self.callers;
        self.first_caller.into_iter().flat_map(move |first| callers.iter_from(first))
    }

    /// Scores a round; `None` if the round is not over or a face is latent.
    pub fn of(state: &State) -> Option<RoundResult> {
        let table = state.table();
        let ended = table.ended()?;
        let mut points = [0; MAX_SEATS];
        for (seat, sum) in Seat::ALL.into_iter().zip(&mut points[..table.seats()]) {
            *sum = state.points(seat)?;
        }
        let unscored = RoundResult {
            seats: table.seats(),
            starter: table.starter(),
            ended,
            callers: table.callers(),
            first_caller: table.callers_in_order().next(),
            succeeded: SeatSet::EMPTY,
            winners: SeatSet::EMPTY,
            turns: table.turns(),
            points: [0; MAX_SEATS],
            scores: [Score::default(); MAX_SEATS],
        };
        Some(unscored.with_points(table.rules(), &points[..table.seats()]))
    }

    /// The result of the same round if the layouts had these points, seat a first.
    ///
    /// # Panics
    /// If there are more than [`MAX_SEATS`] points.
    #[must_use]
    pub fn with_points(&self, rules: &Rules, by_seat: &[i32]) -> RoundResult {
        let (seats, callers) = (self.seats, self.callers);
        let mut points = [0; MAX_SEATS];
        points[..by_seat.len()].copy_from_slice(by_seat);
        let succeeded = callers.each().filter(|&seat| succeeds(rules, &points[..seats], seat)).collect();
        let winners = winners(&points[..seats], callers, succeeded);
        let mut result = RoundResult { succeeded, winners, points, scores: [Score::default(); MAX_SEATS], ..*self };
        for seat in SeatSet::first(seats).each() {
            let share = if winners.contains(seat) { Score::share(winners.len()) } else { Score::default() };
            result.scores[seat.index()] = match rules.spec().score {
                ScoreKnob::Points => Score::points(result.bonus(rules, seat).of(points[seat.index()])),
                ScoreKnob::Share => share,
                ScoreKnob::WinLoss => Score::from_units(share.units() * seats as i32 - Score::UNITS),
            };
        }
        result
    }

    /// How the rules change the points of a seat to its score, with `score = "points"`.
    pub fn bonus(&self, rules: &Rules, seat: Seat) -> Bonus {
        let spec = rules.spec();
        let own = self.points[seat.index()];
        match (self.callers.contains(seat), self.succeeded.contains(seat)) {
            (true, true) => spec.call_success,
            (true, false) => spec.call_failure,
            (false, _) if self.points().iter().all(|&points| own <= points) => spec.lowest_bonus,
            (false, _) => Bonus::Add(0),
        }
    }
}

/// Whether a call succeeds: the caller has the fewest points, within the cap. Several calls are judged separately.
fn succeeds(rules: &Rules, points: &[i32], caller: Seat) -> bool {
    let own = points[caller.index()];
    let spec = rules.spec();
    let is_lowest = points.iter().enumerate().all(|(seat, &other)| {
        seat == caller.index() || own < other || (own == other && spec.caller_tie == CallerTie::Succeeds)
    });
    is_lowest && !matches!(spec.cap, Cap::Score(most) if own > i32::from(most))
}

/// The winners of a round: the successful callers, otherwise the seats with the fewest points among the seats that did
/// not call (003:17).
fn winners(points: &[i32], callers: SeatSet, succeeded: SeatSet) -> SeatSet {
    if !succeeded.is_empty() {
        return succeeded;
    }
    let all = SeatSet::first(points.len());
    let others = if callers == all { all } else { all.without(callers) };
    let fewest = others.each().map(|seat| points[seat.index()]).min();
    others.each().filter(|seat| Some(points[seat.index()]) == fewest).collect()
}

impl Rules {
    /// A seat's total after a round with this score: the sum, or the value to which the rules reset that sum.
    pub fn total_after(&self, total: Score, score: Score) -> Score {
        let sum = total + score;
        match self.spec().total_reset {
            Reset::To(from, to) if sum == Score::points(i32::from(from)) => Score::points(i32::from(to)),
            _ => sum,
        }
    }
}

/// A match: rounds until the end condition is met.
///
/// A `Match` contains the state between rounds: the starter, the carry-over and the totals.
///
/// ```
/// use cambio_core::{Match, Rules, Seat, State, engine::Dice, play::RoundResult};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut game = Match::new(&rules, 2, Seat::A).unwrap();
/// let mut dice = Dice(Key::new(42, 0).stream(Purpose::Deck, 0));
/// while !game.is_over() {
///     let mut round = State::deal(&game.setup(), rules.deck(), &mut dice, &mut ()).unwrap();
///     while !round.is_over() {
///         round.apply(round.choices().nth(0).unwrap(), &mut dice, &mut ()).unwrap();
///     }
///     game.add(&RoundResult::of(&round).unwrap());
/// }
/// assert_eq!(game.totals().len(), 2);
/// assert!(game.ranks().any(|rank| rank == 1));
/// ```
#[derive(Clone, Debug)]
pub struct Match {
    setup: Setup,
    rounds: usize,
    totals: [Score; MAX_SEATS],
    is_over: bool,
}

impl Match {
    /// A match in which `starter` has the first turn.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats.
    pub fn new(rules: &Rules, seats: usize, starter: Seat) -> Result<Match, RulesError> {
        rules.covers(seats)?;
        let setup = Setup { starter, ..Setup::new(rules, seats) };
        Ok(Match { setup, rounds: 0, totals: [Score::default(); MAX_SEATS], is_over: false })
    }

    /// Restarts with the match that the random key determines, with the same rules and seats.
    pub(crate) fn again(&mut self, key: Key) {
        let Setup { rules, seats, .. } = self.setup;
        let starter = Match::first_starter(&rules, seats, key);
        *self = Match::new(&rules, seats, starter).expect("the rules allow the seats of this match");
    }

    /// The starter of the first round. The starter depends on the first dealer: seat a, or drawn from the key.
    pub fn first_starter(rules: &Rules, seats: usize, key: Key) -> Seat {
        let dealer = match rules.spec().first_dealer {
            FirstDealer::A => Seat::A,
            FirstDealer::Drawn => Seat::A.ahead(key.stream(Purpose::Dealer, 0).below(seats as u32) as usize, seats),
        };
        match rules.spec().starter {
            Starter::Dealer | Starter::Winner => dealer,
            Starter::AfterDealer => dealer.next(seats),
        }
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.setup.rules
    }

    /// The number of seats.
    pub fn seats(&self) -> usize {
        self.setup.seats
    }

    /// The setup of the next round.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// The standing of the match, which agents get when the next round begins.
    pub fn standing(&self) -> Standing<'_> {
        Standing { round: self.rounds, setup: self.setup, totals: self.totals() }
    }

    /// The number of rounds that have been played.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The totals, seat a first.
    pub fn totals(&self) -> &[Score] {
        &self.totals[..self.setup.seats]
    }

    /// Whether the match is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds the result of a round.
    ///
    /// # Panics
    /// May panic if the result is from a table with a different number of seats.
    pub fn add(&mut self, result: &RoundResult) {
        let Setup { rules, seats, .. } = self.setup;
        let spec = rules.spec();
        self.rounds += 1;
        for (total, &score) in self.totals.iter_mut().zip(result.scores()) {
            *total = rules.total_after(*total, score);
        }
        if spec.carry_over {
            self.setup.carry =
                CarryOver { extra_peek: result.succeeded, extra_card: result.callers.without(result.succeeded) };
        }
        self.setup.starter = match spec.starter {
            Starter::Dealer | Starter::AfterDealer => result.starter.next(seats),
            Starter::Winner => {
                let from = result.first_caller.map_or(result.starter, |caller| caller.next(seats));
                let winners = result.winners;
                from.round(seats).find(|&seat| winners.contains(seat)).expect("a round has a winner")
            }
        };
        self.is_over = self.rounds >= spec.round_limit.count()
            || match spec.match_end {
                MatchEnd::Total(most) => self.totals().iter().any(|&t| t >= Score::points(i32::from(most))),
                MatchEnd::Rounds(number) => self.rounds >= usize::from(number),
            };
    }

    /// The ranks by total, seat a first: 1 plus the number of seats that are strictly better.
    pub fn ranks(&self) -> impl Iterator<Item = usize> {
        let best = self.rules().spec().best;
        let is_better = move |one: Score, other: Score| match best {
            Best::Fewest => one < other,
            Best::Most => one > other,
        };
        self.totals().iter().map(move |&own| 1 + self.totals().iter().filter(|&&other| is_better(other, own)).count())
    }
}

/// The result of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchResult {
    /// The number of rounds.
    pub rounds: usize,
    /// The totals, seat a first.
    pub totals: Vec<Score>,
    /// The ranks by total, seat a first; equal totals share a rank.
    pub ranks: Vec<usize>,
}

impl MatchResult {
    /// The current totals and ranks of a match; its result if the match is over.
    pub(crate) fn of(game: &Match) -> MatchResult {
        MatchResult { rounds: game.rounds(), totals: game.totals().to_vec(), ranks: game.ranks().collect() }
    }
}
