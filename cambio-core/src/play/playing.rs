//! A match that the caller steps: the caller makes the decisions; everything else happens automatically.

use crate::engine::{IllegalAction, RaceOrder};
use crate::play::RoundResult;
use crate::play::deal::Deal;
use crate::play::observer::Observer;
use crate::play::round::Round;
use crate::rng::Key;
use crate::{
    Action, Briefing, Card, Choices, Event, Match, MatchResult, Observation, Rules, RulesError, Score, Seat, Sighting,
    Standing, State,
};

/// A match in progress, for programs that drive the game loop themselves: servers, browsers, other languages, learners.
///
/// `Playing` owns the whole match: rules, totals, the state of the round and all random streams.
/// [`turn`](Playing::turn) returns the seat to act and its observation; [`act`](Playing::act) carries out a decision.
/// New rounds begin automatically until the match is over. If agents make all decisions,
/// [`play_match`](crate::play_match) is simpler.
///
/// `Playing` has no lifetime parameter, so a struct can own a match, and a match can move to another thread. A clone
/// continues independently, with the same random outcomes. [`save`](Playing::save) returns a [`Record`](crate::Record)
/// of the match so far, at any decision; [`restore`](Playing::restore) continues from a record.
///
/// # Determinism
/// A match depends only on its rules, seats, key and decisions, and on race orders that were [set](Playing::set_race_order).
///
/// # Examples
/// ```
/// use cambio_core::{Playing, Rules, rng::Key};
///
/// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// while let Some(turn) = playing.turn() {
///     let action = turn.view.choices().nth(0).unwrap();
///     playing.act(action).unwrap();
/// }
/// assert_eq!(playing.result().unwrap().ranks.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Playing {
    deal: Deal,
    game: Match,
    round: Round,
    /// Every decision so far, for [`Playing::save`].
    actions: Vec<Action>,
    last_round: Option<RoundResult>,
}

/// The seat to act, and its observation.
#[derive(Clone, Debug)]
pub struct PendingDecision<'p> {
    /// The seat that has to decide.
    pub seat: Seat,
    /// What the seat may see now; its [`choices`](Observation::choices) are the legal decisions.
    pub view: Observation<'p>,
}

/// The reason why a round of a match can always be dealt.
const DEALS: &str = "the match has checked the rules and the seats, and the deck is the rules' deck";

/// Deals the next round of a match, reusing the memory of the previous round.
fn next_round<W: Observer>(round: &mut Round, deal: &mut Deal, game: &Match, observer: &mut W) {
    let (deck, chance) = deal.round(game.rounds());
    round.deal(&game.standing(), Some(deck), chance, observer).expect(DEALS);
}

impl Playing {
    /// Begins a match and deals its first round.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats.
    pub fn new(rules: &Rules, seats: usize, key: Key) -> Result<Playing, RulesError> {
        Playing::observed(Deal::new(rules, key), seats, &mut ())
    }

    /// Begins a match of a deal, whose decks may have been [set](Deal::set_deck), with an observer.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats.
    ///
    /// # Panics
    /// Only if the observer panics.
    pub fn observed<W: Observer>(deal: Deal, seats: usize, observer: &mut W) -> Result<Playing, RulesError> {
        let game = Match::new(deal.rules(), seats, Seat::A)?;
        let round = Round::new(&game.setup());
        let mut playing = Playing { deal, game, round, actions: Vec::new(), last_round: None };
        playing.deal_again(observer);
        Ok(playing)
    }

    /// Begins the match of another deal with the same rules and seats, reusing the memory of this one. This avoids the
    /// allocations and moves of [`Playing::new`], which matters when millions of matches are played.
    ///
    /// ```
    /// use cambio_core::{Playing, Rules, rng::Key};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let mut playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
    /// playing.act("draw".parse().unwrap()).unwrap();
    /// playing.redeal(Key::new(42, 1));
    /// let other = Playing::new(&rules, 2, Key::new(42, 1)).unwrap();
    /// assert_eq!((playing.events(), playing.decisions()), (other.events(), 0));
    /// ```
    pub fn redeal(&mut self, key: Key) {
        self.rekeyed(key);
        self.deal_again(&mut ());
    }

    /// Sets the random key of the next match, which [`Playing::deal_again`] begins. If the key does not change, the
    /// shuffled decks are kept.
    pub(crate) fn rekeyed(&mut self, key: Key) -> &mut Deal {
        if self.deal.key() != key {
            self.deal.set_key(key);
        }
        &mut self.deal
    }

    /// Begins the match of the current deal again, with an observer.
    pub(crate) fn deal_again<W: Observer>(&mut self, observer: &mut W) {
        let Playing { deal, game, round, actions, last_round } = self;
        game.again(deal.key());
        actions.clear();
        round.forget_events();
        *last_round = None;
        next_round(round, deal, game, observer);
    }

    /// The number of races in the round so far: windows in which two or more seats snapped.
    pub fn races(&self) -> usize {
        self.deal.raced(self.game.rounds())
    }

    /// Sets the order of a race of the match, as [`Deal::set_race_order`] does.
    ///
    /// ```
    /// use cambio_core::{Playing, Rules, Seat, engine::RaceOrder, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 3, Key::new(42, 0)).unwrap();
    /// playing.set_race_order(playing.rounds(), playing.races(), RaceOrder::new([Seat::B, Seat::C, Seat::A]));
    /// let record = playing.save(&["ann", "bob", "eve"]);
    /// assert_eq!(record.fields["x-races"], "laid");
    /// ```
    pub fn set_race_order(&mut self, round: usize, race: usize, order: RaceOrder) {
        self.deal.set_race_order(round, race, order);
    }

    /// The seat to act and its observation; `None` when the match is over.
    pub fn turn(&self) -> Option<PendingDecision<'_>> {
        let state = self.round.state();
        let seat = state.actor()?;
        Some(PendingDecision { seat, view: state.observe(seat) })
    }

    /// Carries out a decision of the seat to act and continues to the next decision, if necessary through the end of
    /// the round and the next deal. Returns the events as the referee sees them; [`Playing::sightings`] returns them as
    /// a seat perceives them.
    ///
    /// # Errors
    /// If the decision is illegal or the match is over. The match is then unchanged.
    pub fn act(&mut self, action: Action) -> Result<&[Event<Card>], IllegalAction> {
        self.act_observed(action, &mut ())
    }

    /// Carries out a decision as [`Playing::act`] does, with an observer.
    ///
    /// # Errors
    /// If the decision is illegal or the match is over. The match is then unchanged.
    ///
    /// ```
    /// use cambio_core::{Deal, Playing, Rules, record::Fingerprinter, rng::Key};
    ///
    /// let mut observer = Fingerprinter::default();
    /// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
    /// let mut playing = Playing::observed(deal, 2, &mut observer).unwrap();
    /// while !playing.is_over() {
    ///     let first = playing.turn().unwrap().view.choices().nth(0).unwrap();
    ///     playing.act_observed(first, &mut observer).unwrap();
    /// }
    /// assert_ne!(observer.of_match(), Fingerprinter::default().of_match());
    /// ```
    pub fn act_observed<W: Observer>(
        &mut self,
        action: Action,
        observer: &mut W,
    ) -> Result<&[Event<Card>], IllegalAction> {
        let Playing { deal, game, round, actions, last_round } = self;
        if game.is_over() {
            return Err(IllegalAction { action, actor: None, legal: Choices::NONE });
        }
        actions.push(round.act(action, deal.chance(game.rounds()), observer)?);
        if let Some(result) = round.end(observer) {
            game.add(&result);
            *last_round = Some(result);
            if game.is_over() {
                observer.match_ends(game);
            } else {
                next_round(round, deal, game, observer);
            }
        }
        Ok(self.events())
    }

    /// The events since the previous decision, or since the start of the match, as the referee sees them.
    pub fn events(&self) -> &[Event<Card>] {
        self.round.events()
    }

    /// The events that [`Playing::events`] returns, as a seat perceives them.
    ///
    /// ```
    /// use cambio_core::{Event, Playing, Rules, Seat, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
    /// playing.act("draw".parse().unwrap()).unwrap();
    /// assert!(matches!(playing.sightings(Seat::A).next(), Some(Event::Drew { face: Some(_), .. })));
    /// assert!(matches!(playing.sightings(Seat::B).next(), Some(Event::Drew { face: None, .. })));
    /// ```
    pub fn sightings(&self, seat: Seat) -> impl Iterator<Item = Sighting> {
        self.events().iter().map(move |event| event.seen_from(seat))
    }

    /// The briefing of an agent in this seat: rules, seat and random stream. The stream is at its start, so the
    /// briefing is meant for [`Agent::begin`](crate::Agent::begin).
    ///
    /// # Panics
    /// If the seat is not at the table.
    pub fn briefing(&mut self, seat: Seat) -> Briefing<'_> {
        let (rules, seats) = (self.game.rules(), self.game.seats());
        assert!(seat.index() < seats, "seat {seat} is not at a table of {seats} seats");
        Briefing { rules, seats, seat, stream: self.deal.agent(seat) }
    }

    /// The standing of the match when the round began.
    pub fn standing(&self) -> Standing<'_> {
        self.game.standing()
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        self.game.rules()
    }

    /// The number of seats.
    pub fn seats(&self) -> usize {
        self.game.seats()
    }

    /// The random key from which all random outcomes of the match are derived.
    pub fn key(&self) -> Key {
        self.deal.key()
    }

    /// The state of the round with all hidden faces, for referees and analysis. [`Playing::turn`] and
    /// [`State::observe`] return the observation of a seat.
    pub fn state(&self) -> &State {
        self.round.state()
    }

    /// The number of rounds that have ended.
    pub fn rounds(&self) -> usize {
        self.game.rounds()
    }

    /// The number of decisions in the match so far.
    pub fn decisions(&self) -> usize {
        self.actions.len()
    }

    /// The number of decisions in this round so far.
    pub fn decisions_in_round(&self) -> usize {
        self.round.decisions()
    }

    /// Every decision so far, in the order in which they were made.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The totals of the rounds that have ended, seat a first.
    pub fn totals(&self) -> &[Score] {
        self.game.totals()
    }

    /// The result of the round that ended last; `None` until the first round has ended.
    pub fn last_round(&self) -> Option<&RoundResult> {
        self.last_round.as_ref()
    }

    /// Whether the match is over.
    pub fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// The result of the match; `None` while it is not over.
    pub fn result(&self) -> Option<MatchResult> {
        self.is_over().then(|| MatchResult::of(&self.game))
    }

    /// The deal.
    pub fn deal(&self) -> &Deal {
        &self.deal
    }
}
