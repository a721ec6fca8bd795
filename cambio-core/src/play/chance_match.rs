//! A match in which the caller chooses the random outcomes.

use std::fmt::Write as _;

use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::engine::{IllegalAction, Setup};
use crate::play::observer::Observer;
use crate::play::playing::PendingDecision;
use crate::play::round::{Round, RoundLog};
use crate::rules::knob::Race as RaceKnob;
use crate::{Action, Card, Choices, Match, Rules, RulesError, Seat, Standing, State};

/// A random outcome at a chance node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChanceOutcome {
    /// The next face that a seat sees is this card.
    Card(Card),
    /// The seats snap in this order.
    Order(RaceOrder),
}

/// A match with chance nodes, for game trees, solvers and frameworks such as `OpenSpiel`.
///
/// Either chance decides ([`outcomes`](ChanceMatch::outcomes) is not empty, and [`resolve`](ChanceMatch::resolve)
/// continues), or a seat decides ([`turn`](ChanceMatch::turn) returns the seat, and [`act`](ChanceMatch::act)
/// continues), or the match is over. The faces are latent: chance decides each when it is first seen. A race with only
/// one possible order is not a chance node. Seat a has the first turn of the match.
///
/// ```
/// use cambio_core::{Rules, play::ChanceMatch};
///
/// let mut game = ChanceMatch::new(&Rules::preset("mini-m0").unwrap(), 2, &mut ()).unwrap();
/// while !game.is_over() {
///     match game.outcomes().first() {
///         Some(&(outcome, _)) => assert!(game.resolve(outcome, &mut ())),
///         None => {
///             let first = game.turn().unwrap().view.choices().nth(0).unwrap();
///             game.act(first, &mut ()).unwrap();
///         }
///     }
/// }
/// assert_eq!(game.standing().totals.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct ChanceMatch {
    game: Match,
    /// The round that was dealt last.
    round: Option<Round>,
    log: RoundLog,
    /// What each seat perceived and decided in earlier rounds, as text.
    before: Vec<String>,
    /// The decision that is being carried out; `None` for a deal.
    action: Option<Action>,
    /// The outcomes that have been resolved so far for this decision or deal.
    resolved: Vec<ChanceOutcome>,
    /// The possible outcomes of the current chance node, each with its probability.
    outcomes: Vec<(ChanceOutcome, f64)>,
}

impl ChanceMatch {
    /// Begins a match, up to its first chance node or decision.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats.
    pub fn new<W: Observer>(rules: &Rules, seats: usize, observer: &mut W) -> Result<ChanceMatch, RulesError> {
        let mut game = ChanceMatch {
            game: Match::new(rules, seats, Setup::new(rules, seats).starter)?,
            round: None,
            log: RoundLog::default(),
            before: vec![String::new(); seats],
            action: None,
            resolved: Vec::new(),
            outcomes: Vec::new(),
        };
        game.proceed(observer);
        Ok(game)
    }

    /// Carries out the decision, or deals, first on a copy of the round. If that needs an unresolved random outcome,
    /// stores the possible outcomes as the next chance node and discards the copy.
    fn proceed<W: Observer>(&mut self, observer: &mut W) {
        loop {
            let mut script = KnownOutcomes { resolved: &self.resolved, given: 0, outcomes: Vec::new() };
            take_step(&mut self.round.clone(), &self.game, self.action, &mut script, &mut ());
            self.outcomes = script.outcomes;
            if !self.outcomes.is_empty() {
                return;
            }
            let mut observers = (&mut self.log, &mut *observer);
            let mut script = KnownOutcomes { resolved: &self.resolved, given: 0, outcomes: Vec::new() };
            take_step(&mut self.round, &self.game, self.action, &mut script, &mut observers);
            self.action = None;
            self.resolved.clear();
            let Some(result) = self.round.as_ref().and_then(|round| round.end(&mut observers)) else { return };
            self.game.add(&result);
            if self.game.is_over() {
                observers.match_ends(&self.game);
                return;
            }
            for (seat, before) in Seat::ALL.into_iter().zip(&mut self.before) {
                write_memory(&self.log, seat, before);
                before.push('/');
            }
        }
    }

    /// The possible outcomes of the chance node, each with its probability: cards in ascending order, race orders in
    /// playing order. Empty if this is not a chance node.
    pub fn outcomes(&self) -> &[(ChanceOutcome, f64)] {
        &self.outcomes
    }

    /// Resolves the chance node with an outcome and continues to the next chance node or decision. Returns `false` and
    /// changes nothing if the outcome is not one of [`outcomes`](ChanceMatch::outcomes).
    #[must_use]
    pub fn resolve<W: Observer>(&mut self, outcome: ChanceOutcome, observer: &mut W) -> bool {
        let is_possible = self.outcomes.iter().any(|&(possible, _)| possible == outcome);
        if is_possible {
            self.resolved.push(outcome);
            self.proceed(observer);
        }
        is_possible
    }

    /// Carries out a decision of the seat to act and continues to the next chance node or decision. The observer
    /// receives the events of the decision when all random outcomes of the decision are resolved.
    ///
    /// # Errors
    /// If the decision is illegal, this is a chance node, or the match is over. The match is then unchanged.
    pub fn act<W: Observer>(&mut self, action: Action, observer: &mut W) -> Result<(), IllegalAction> {
        let state = self.state().filter(|_| self.outcomes.is_empty());
        state.ok_or(IllegalAction { action, actor: None, legal: Choices::NONE })?.check(action)?;
        self.action = Some(action);
        self.proceed(observer);
        Ok(())
    }

    /// The seat to act and its observation; `None` at a chance node and when the match is over.
    pub fn turn(&self) -> Option<PendingDecision<'_>> {
        let seat = self.actor()?;
        Some(PendingDecision { seat, view: self.state()?.observe(seat) })
    }

    /// The seat to act; `None` at a chance node and when the match is over.
    pub fn actor(&self) -> Option<Seat> {
        self.state().filter(|_| self.outcomes.is_empty())?.actor()
    }

    /// The state of the round that was dealt last, with latent faces; `None` before the first round.
    pub fn state(&self) -> Option<&State> {
        self.round.as_ref().map(Round::state)
    }

    /// The events and decisions of the round that was dealt last.
    pub fn log(&self) -> &RoundLog {
        &self.log
    }

    /// The standing of the match: the rules, the seats, the number of rounds that have ended, and the totals.
    pub fn standing(&self) -> Standing<'_> {
        self.game.standing()
    }

    /// Whether the match is over.
    pub fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// The information state of a seat as text: everything that it has perceived and decided since the match began. Two
    /// positions have the same text if and only if the seat cannot distinguish them.
    ///
    /// For each round, the text contains the codes of the seat's sightings, a bar, and the codes of the seat's
    /// decisions. Slashes separate the rounds.
    pub fn information_state(&self, seat: Seat) -> String {
        let mut text = format!("{seat}{} {}", self.game.seats(), self.before[seat.index()]);
        if self.is_over() || self.round.as_ref().is_none_or(|round| !round.state().is_over()) {
            write_memory(&self.log, seat, &mut text);
        }
        text
    }
}

/// Writes what a seat perceived and decided in a round.
fn write_memory(log: &RoundLog, seat: Seat, text: &mut String) {
    for sighting in log.sightings(seat) {
        let _ = write!(text, "{:x} ", sighting.code());
    }
    text.push('|');
    for action in log.decisions(seat) {
        let _ = write!(text, "{:x} ", action.code());
    }
}

/// Carries out a decision, or deals the next round of the match.
fn take_step<W: Observer>(
    round: &mut Option<Round>,
    game: &Match,
    action: Option<Action>,
    script: &mut KnownOutcomes<'_>,
    observer: &mut W,
) {
    if let (Some(action), Some(round)) = (action, &mut *round) {
        round.act(action, script, observer).expect("the decision was checked");
    } else {
        let round = round.insert(Round::new(&game.setup()));
        let dealt = round.deal(&game.standing(), None, script, observer);
        dealt.expect("the match has checked the rules and the seats");
    }
}

/// A source of chance that replays resolved outcomes, and collects the possible outcomes of the first unresolved one.
struct KnownOutcomes<'a> {
    resolved: &'a [ChanceOutcome],
    given: usize,
    outcomes: Vec<(ChanceOutcome, f64)>,
}

impl KnownOutcomes<'_> {
    /// The next resolved outcome. If there is none, returns `None` and, the first time, stores the possible outcomes.
    fn next(&mut self, possible: impl FnOnce() -> Vec<(ChanceOutcome, f64)>) -> Option<ChanceOutcome> {
        let outcome = self.resolved.get(self.given).copied();
        self.given += 1;
        if outcome.is_none() && self.outcomes.is_empty() {
            self.outcomes = possible();
        }
        outcome
    }
}

impl Chance for KnownOutcomes<'_> {
    fn draw(&mut self, pool: &[Card]) -> usize {
        match self.next(|| cards(pool)) {
            Some(ChanceOutcome::Card(card)) => {
                pool.iter().position(|&other| other == card).expect("the card was possible")
            }
            _ => 0,
        }
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("a state with latent faces has no stock to order")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let orders = orders(race);
        let first = orders[0].0;
        if orders.len() == 1 {
            return first;
        }
        match self.next(|| orders.into_iter().map(|(order, share)| (ChanceOutcome::Order(order), share)).collect()) {
            Some(ChanceOutcome::Order(order)) => order,
            _ => first,
        }
    }
}

/// The distinct cards of a pool in ascending order, each with its probability.
fn cards(pool: &[Card]) -> Vec<(ChanceOutcome, f64)> {
    let mut sorted = pool.to_vec();
    sorted.sort_unstable();
    let alike = sorted.chunk_by(|one, other| one == other);
    alike.map(|cards| (ChanceOutcome::Card(cards[0]), cards.len() as f64 / pool.len() as f64)).collect()
}

/// Every order of a race with its probability. The seats are drawn one after the other, as the knob `race` prescribes.
fn orders(race: &SnapRace<'_>) -> Vec<(RaceOrder, f64)> {
    let spec = race.rules.spec();
    let weight = |seat: Seat| match spec.race {
        RaceKnob::Weighted => f64::from(spec.race_weights.of(seat)),
        RaceKnob::Uniform | RaceKnob::TurnOrder => 1.0,
    };
    let mut found = vec![(Vec::new(), 1.0)];
    for _ in race.snappers.each() {
        let extend = |(first, share): (Vec<Seat>, f64)| {
            let mut left: Vec<Seat> = race.snappers.iter_from(race.turn).filter(|seat| !first.contains(seat)).collect();
            if spec.race == RaceKnob::TurnOrder {
                left.truncate(1);
            }
            let all: f64 = left.iter().map(|&seat| weight(seat)).sum();
            let longer = |&seat: &Seat| ([&first[..], &[seat]].concat(), share * weight(seat) / all);
            left.iter().map(longer).collect::<Vec<_>>()
        };
        found = found.into_iter().flat_map(extend).collect();
    }
    found.into_iter().map(|(seats, share)| (RaceOrder::new(seats), share)).collect()
}
