//! Steps one round, with any source of decisions and any source of chance.

use crate::engine::IllegalAction;
use crate::engine::chance::{Chance, Race, RaceOrder};
use crate::engine::state::DealError;
use crate::play::RoundResult;
use crate::play::observer::{Observer, ObserverSink};
use crate::{Action, Card, Event, Seat, Sighting, Standing, State};

/// A round that is played one decision at a time, with an observer.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    state: State,
    decisions: usize,
}

/// A source of chance that can report its outcomes to an observer.
pub(crate) trait ReportingChance: Chance {
    /// Reports the races and new stocks that were drawn since the last call.
    fn report<W: Observer>(&mut self, observer: &mut W);
}

impl Round {
    /// Deals a round and continues to its first decision.
    pub(crate) fn begin<C: Chance, W: Observer>(
        standing: &Standing<'_>,
        deck: &[Card],
        chance: &mut C,
        observer: &mut W,
    ) -> Result<Round, DealError> {
        observer.round_begins(standing, deck);
        let state = State::deal(&standing.setup, deck, chance, &mut ObserverSink(observer))?;
        let round = Round { state, decisions: 0 };
        round.announce(observer);
        Ok(round)
    }

    /// Deals a round in which chance decides each face when it is first seen. The observer gets an empty deck.
    pub(crate) fn begin_latent<C: Chance, W: Observer>(
        standing: &Standing<'_>,
        chance: &mut C,
        observer: &mut W,
    ) -> Result<Round, DealError> {
        observer.round_begins(standing, &[]);
        let state = State::deal_latent(&standing.setup, chance, &mut ObserverSink(observer))?;
        let round = Round { state, decisions: 0 };
        round.announce(observer);
        Ok(round)
    }

    /// Deals another round, reusing memory, and continues to its first decision.
    pub(crate) fn again<C: Chance, W: Observer>(
        &mut self,
        standing: &Standing<'_>,
        deck: &[Card],
        chance: &mut C,
        observer: &mut W,
    ) -> Result<(), DealError> {
        observer.round_begins(standing, deck);
        self.decisions = 0;
        self.state.redeal(&standing.setup, deck, chance, &mut ObserverSink(observer))?;
        self.announce(observer);
        Ok(())
    }

    #[inline]
    fn announce<W: Observer>(&self, observer: &mut W) {
        if let Some(seat) = self.state.actor() {
            observer.asks(&self.state, seat);
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn decisions(&self) -> usize {
        self.decisions
    }

    /// Carries out a decision and continues to the next one.
    pub(crate) fn act<C: ReportingChance, W: Observer>(
        &mut self,
        action: Action,
        chance: &mut C,
        observer: &mut W,
    ) -> Result<(), IllegalAction> {
        let action = action.canonical();
        let seat = self.state.check(action)?;
        observer.decides(&self.state, seat, action);
        self.state.carry_out(action, chance, &mut ObserverSink(observer));
        self.decisions += 1;
        chance.report(observer);
        self.announce(observer);
        Ok(())
    }

    /// Scores the round and reports the result to the observer; `None` if the round is not over.
    pub(crate) fn end<W: Observer>(&self, observer: &mut W) -> Option<RoundResult> {
        let result = RoundResult::of(&self.state)?;
        observer.round_ends(&self.state, &result);
        Some(result)
    }
}

/// A source of chance that keeps the race orders and new stocks that it draws until they are reported.
pub(crate) struct RecordingChance<C> {
    chance: C,
    races: Vec<RaceOrder>,
    stocks: Vec<Vec<Card>>,
}

impl<C: Chance> RecordingChance<C> {
    pub(crate) fn new(chance: C) -> RecordingChance<C> {
        RecordingChance { chance, races: Vec::new(), stocks: Vec::new() }
    }
}

impl<C: Chance> Chance for RecordingChance<C> {
    const SETTLES: bool = C::SETTLES;

    fn draw(&mut self, pool: &[Card]) -> usize {
        self.chance.draw(pool)
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.chance.shuffle(stock);
        self.stocks.push(stock.to_vec());
    }

    fn race(&mut self, race: &Race<'_>) -> RaceOrder {
        let order = self.chance.race(race);
        self.races.push(order);
        order
    }
}

impl<C: Chance> ReportingChance for RecordingChance<C> {
    #[inline]
    fn report<W: Observer>(&mut self, observer: &mut W) {
        self.races.drain(..).for_each(|order| observer.race(&order));
        self.stocks.drain(..).for_each(|stock| observer.reshuffle(&stock));
    }
}

/// The events and decisions of the current round: everything that a seat with perfect recall has perceived and decided.
///
/// Use a `RoundLog` as the [`Observer`] of a match.
///
/// ```
/// use cambio_core::{Deal, Event, Playing, Rules, Seat, play::RoundLog, rng::Key};
///
/// let mut log = RoundLog::default();
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let mut playing = Playing::observed(deal, 2, &mut log).unwrap();
/// playing.act_observed("draw".parse().unwrap(), &mut log).unwrap();
/// assert!(matches!(log.sightings(Seat::B).last(), Some(Event::Drew { seat: Seat::A, face: None })));
/// assert_eq!(log.decisions(Seat::A).count(), 1);
/// assert_eq!(log.decisions(Seat::B).count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RoundLog {
    events: Vec<Event<Card>>,
    decisions: Vec<(Seat, Action)>,
}

impl RoundLog {
    /// What a seat has perceived since the deal, oldest first.
    pub fn sightings(&self, seat: Seat) -> impl Iterator<Item = Sighting> {
        self.events.iter().map(move |event| event.seen_from(seat))
    }

    /// The decisions of a seat, oldest first.
    pub fn decisions(&self, seat: Seat) -> impl Iterator<Item = Action> {
        self.decisions.iter().filter(move |(who, _)| *who == seat).map(|&(_, action)| action)
    }
}

impl Observer for RoundLog {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        self.events.clear();
        self.decisions.clear();
    }

    #[expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.events.push(*event);
    }

    fn decides(&mut self, _: &State, seat: Seat, action: Action) {
        self.decisions.push((seat, action));
    }
}
