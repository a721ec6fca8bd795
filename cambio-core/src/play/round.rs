//! Steps one round, with any source of decisions and any source of chance.

use crate::engine::IllegalAction;
use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::engine::state::{DealError, Order, Setup};
use crate::play::RoundResult;
use crate::play::observer::Observer;
use crate::{Action, Card, Event, Seat, Sighting, Standing, State};

/// A round that is played one decision at a time, with an observer.
///
/// The engine writes its events into a buffer, from which the observer gets them after each step. So the engine is compiled
/// once, and not again for each type of observer or source of chance.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    state: State,
    decisions: usize,
    /// The events since the last decision. A round that follows another adds its first events.
    events: Vec<Event<Card>>,
}

impl Round {
    /// A round of this setup that is not dealt yet.
    pub(crate) fn new(setup: &Setup) -> Round {
        Round { state: State::empty(setup, Order::Dealt), decisions: 0, events: Vec::new() }
    }

    /// Deals a round, reusing memory, and continues to its first decision. Without a deck, chance decides each face when it is
    /// first seen, and the observer gets an empty deck.
    pub(crate) fn deal<W: Observer>(
        &mut self,
        standing: &Standing<'_>,
        deck: Option<&[Card]>,
        chance: &mut dyn Chance,
        observer: &mut W,
    ) -> Result<(), DealError> {
        observer.round_begins(standing, deck.unwrap_or_default());
        self.decisions = 0;
        let told = self.events.len();
        let (setup, mut chance) = (&standing.setup, RecordingChance::new(chance));
        match deck {
            Some(deck) => self.state.redeal(setup, deck, &mut chance, &mut self.events)?,
            None => self.state = State::deal_latent(setup, &mut chance, &mut self.events)?,
        }
        self.tell(told, observer);
        self.announce(observer);
        Ok(())
    }

    /// Reports the events to the observer, except the first ones.
    #[inline]
    fn tell<W: Observer>(&self, first: usize, observer: &mut W) {
        self.events[first..].iter().for_each(|event| observer.event(event));
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

    pub(crate) fn events(&self) -> &[Event<Card>] {
        &self.events
    }

    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Carries out a decision, continues to the next one, and returns the decision in canonical form.
    pub(crate) fn act<W: Observer>(
        &mut self,
        action: Action,
        chance: &mut dyn Chance,
        observer: &mut W,
    ) -> Result<Action, IllegalAction> {
        let action = action.canonical();
        let seat = self.state.check(action)?;
        observer.decides(&self.state, seat, action);
        let mut chance = RecordingChance::new(chance);
        self.carry_out(action, &mut chance);
        self.tell(0, observer);
        chance.report(observer);
        self.announce(observer);
        Ok(action)
    }

    fn carry_out(&mut self, action: Action, chance: &mut RecordingChance<'_>) {
        self.events.clear();
        self.state.carry_out(action, chance, &mut self.events);
        self.decisions += 1;
    }

    /// Scores the round and reports the result to the observer; `None` if the round is not over.
    pub(crate) fn end<W: Observer>(&self, observer: &mut W) -> Option<RoundResult> {
        let result = RoundResult::of(&self.state)?;
        observer.round_ends(&self.state, &result);
        Some(result)
    }
}

/// A source of chance that keeps the race orders and new stocks that it draws until they are reported.
struct RecordingChance<'a> {
    chance: &'a mut dyn Chance,
    races: Vec<RaceOrder>,
    stocks: Vec<Vec<Card>>,
}

impl RecordingChance<'_> {
    fn new(chance: &mut dyn Chance) -> RecordingChance<'_> {
        RecordingChance { chance, races: Vec::new(), stocks: Vec::new() }
    }

    /// Reports the races and new stocks to an observer.
    fn report<W: Observer>(&self, observer: &mut W) {
        self.races.iter().for_each(|order| observer.race(order));
        self.stocks.iter().for_each(|stock| observer.reshuffle(stock));
    }
}

impl Chance for RecordingChance<'_> {
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.chance.draw(pool)
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.chance.shuffle(stock);
        self.stocks.push(stock.to_vec());
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let order = self.chance.race(race);
        self.races.push(order);
        order
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

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.events.push(*event);
    }

    fn decides(&mut self, _: &State, seat: Seat, action: Action) {
        self.decisions.push((seat, action));
    }
}
