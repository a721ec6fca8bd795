//! The steps of one round, whoever decides and wherever chance comes from.

use crate::engine::chance::{Chance, Race, RaceOrder};
use crate::engine::state::DealError;
use crate::play::observer::{Heard, Observer};
use crate::{Action, Card, IllegalAction, RoundResult, Standing, State};

/// A round that is played one decision at a time; an observer is told everything.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    state: State,
    decisions: usize,
}

/// Chance whose outcomes can be told.
pub(crate) trait Outcomes: Chance {
    /// Tells the races and new stocks that were drawn since it was last asked.
    fn tell<W: Observer>(&mut self, observer: &mut W);
}

impl Round {
    /// Deals a round and plays on to its first decision.
    pub(crate) fn begin<C: Chance, W: Observer>(
        standing: &Standing<'_>,
        deck: &[Card],
        chance: &mut C,
        observer: &mut W,
    ) -> Result<Round, DealError> {
        observer.round_begins(standing, deck);
        let state = State::deal(&standing.setup, deck, chance, &mut Heard(observer))?;
        let round = Round { state, decisions: 0 };
        round.announce(observer);
        Ok(round)
    }

    /// Deals another round into the same memory, and plays on to its first decision.
    pub(crate) fn again<C: Chance, W: Observer>(
        &mut self,
        standing: &Standing<'_>,
        deck: &[Card],
        chance: &mut C,
        observer: &mut W,
    ) -> Result<(), DealError> {
        observer.round_begins(standing, deck);
        self.decisions = 0;
        self.state.redeal(&standing.setup, deck, chance, &mut Heard(observer))?;
        self.announce(observer);
        Ok(())
    }

    /// Announces the next decision.
    #[inline]
    fn announce<W: Observer>(&self, observer: &mut W) {
        if let Some(seat) = self.state.actor() {
            observer.asks(&self.state, seat);
        }
    }

    /// The state of the round.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// How many decisions were made.
    pub(crate) fn decisions(&self) -> usize {
        self.decisions
    }

    /// Carries out a decision, and everything that follows up to the next one.
    pub(crate) fn act<C: Outcomes, W: Observer>(
        &mut self,
        action: Action,
        chance: &mut C,
        observer: &mut W,
    ) -> Result<(), IllegalAction> {
        let action = action.canonical();
        let seat = self.state.check(action)?;
        observer.decides(&self.state, seat, action);
        self.state.carry_out(action, chance, &mut Heard(observer));
        self.decisions += 1;
        chance.tell(observer);
        self.announce(observer);
        Ok(())
    }

    /// The result of a round that is over; `None` while it is not.
    pub(crate) fn end<W: Observer>(&self, observer: &mut W) -> Option<RoundResult> {
        let result = RoundResult::of(&self.state)?;
        observer.round_ends(&self.state, &result);
        Some(result)
    }
}

/// Chance that keeps what it draws until it is told.
pub(crate) struct Drawn<C> {
    chance: C,
    races: Vec<RaceOrder>,
    stocks: Vec<Vec<Card>>,
}

impl<C: Chance> Drawn<C> {
    pub(crate) fn new(chance: C) -> Drawn<C> {
        Drawn { chance, races: Vec::new(), stocks: Vec::new() }
    }
}

impl<C: Chance> Chance for Drawn<C> {
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

impl<C: Chance> Outcomes for Drawn<C> {
    #[inline]
    fn tell<W: Observer>(&mut self, observer: &mut W) {
        self.races.drain(..).for_each(|order| observer.race(&order));
        self.stocks.drain(..).for_each(|stock| observer.reshuffle(&stock));
    }
}
