//! A match that is stepped: ask whose turn it is and act; everything else follows by itself.

use serde_json::Value;

use crate::play::deal::Deal;
use crate::play::observer::Observer;
use crate::play::round::{Drawn, Round};
use crate::record::{Flaw, Record, Recorder};
use crate::rng::{Key, Seed};
use crate::rules::seat::MAX_SEATS;
use crate::shown::shown;
use crate::{
    Action, Briefing, Card, Event, IllegalAction, Match, MatchResult, Observation, RaceOrder, RoundResult, Rules,
    RulesError, RulesSpec, Score, Seat, Sighting, Standing, State,
};

/// A match in progress, for programs that hold the loop themselves: servers, browsers, other languages, learners.
///
/// `Playing` owns the whole match: rules, totals, the state of the round and every stream of chance.
/// [`turn`](Playing::turn) says who is asked and what that seat may see, [`act`](Playing::act) carries a decision out.
/// Rounds follow each other by themselves until the match is over. If agents make all decisions,
/// [`play_match`](crate::play_match) takes the same steps and is shorter.
///
/// It has no lifetime, so a struct can own it and another thread can take it. A clone goes on independently, with the
/// same chance. [`save`](Playing::save) gives a [`Record`] of the match so far at any decision, and
/// [`restore`](Playing::restore) goes on from one.
///
/// # Determinism
/// A match depends only on its rules, seats, key and decisions, and on the races that were [laid](Playing::lay_race), if any
/// were.
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
    events: Vec<Event<Card>>,
    last_round: Option<RoundResult>,
}

/// Who is asked, and what that seat may see.
#[derive(Clone, Debug)]
pub struct Turn<'p> {
    /// The seat that has to decide.
    pub seat: Seat,
    /// What the seat may see now; its [`choices`](Observation::choices) are the legal decisions.
    pub view: Observation<'p>,
}

/// Why a match cannot be restored from a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestoreError {
    /// A field of the record is missing or is not what it should be.
    #[error("`{field}` is {}; allowed is {allowed}", shown(found))]
    Field {
        /// The field.
        field: &'static str,
        /// What the record says.
        found: String,
        /// What it may say.
        allowed: &'static str,
    },
    /// The record's rules are refused.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The record is not one of this seed and deal, or one of its decisions is illegal.
    #[error(transparent)]
    Flaw(#[from] Flaw),
}

/// Keeps every decision, and the events since the last one.
struct Log<'a> {
    actions: &'a mut Vec<Action>,
    events: &'a mut Vec<Event<Card>>,
}

impl Observer for Log<'_> {
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.events.push(*event);
    }

    /// Only legal decisions come here: an illegal one leaves the events of the last legal one.
    fn decides(&mut self, _: &State, _: Seat, action: Action) {
        self.actions.push(action);
        self.events.clear();
    }
}

/// The extra field of a record that says where its races come from, if not from its key.
const RACES: &str = "x-races";
/// They were decided outside.
const LAID: &str = "laid";

/// The races that a record gives: round, number of the race in it, and seats. What is no seat is left out; that the races which
/// were played are those of the record is checked at the end.
fn orders(record: &Record) -> impl Iterator<Item = (usize, usize, Vec<Seat>)> {
    let seat = |text: &String| text.chars().next().and_then(Seat::from_letter);
    let races =
        record.rounds.iter().enumerate().flat_map(|(round, given)| {
            given.races.iter().enumerate().map(move |(race, letters)| (round, race, letters))
        });
    races.map(move |(round, race, letters)| (round, race, letters.iter().filter_map(seat).take(MAX_SEATS).collect()))
}

/// Why a round of a match can always be dealt.
const DEALS: &str = "a match checks its rules and seats, and its deck is the rules' own";

/// Deals the next round of a match into the memory of the last.
fn next_round<W: Observer>(round: &mut Round, deal: &mut Deal, game: &Match, observer: &mut W) {
    let (deck, chance) = deal.round(game.rounds());
    round.again(&game.standing(), deck, &mut Drawn::new(chance), observer).expect(DEALS);
}

impl Playing {
    /// Begins a match and deals its first round.
    ///
    /// # Errors
    /// If the rules do not fit the number of seats.
    pub fn new(rules: &Rules, seats: usize, key: Key) -> Result<Playing, RulesError> {
        Playing::observed(Deal::new(rules, key), seats, &mut ())
    }

    /// Begins a match of a deal, whose decks may have been [laid](Deal::lay), and shows its beginning to an observer.
    ///
    /// # Errors
    /// If the rules do not fit the number of seats.
    pub fn observed<W: Observer>(mut deal: Deal, seats: usize, observer: &mut W) -> Result<Playing, RulesError> {
        let rules = *deal.rules();
        let game = Match::new(&rules, seats, Match::first_starter(&rules, seats, deal.key()))?;
        let (mut actions, mut events) = (Vec::new(), Vec::new());
        let (deck, chance) = deal.round(0);
        let mut observers = (Log { actions: &mut actions, events: &mut events }, observer);
        let round = Round::begin(&game.standing(), deck, &mut Drawn::new(chance), &mut observers).expect(DEALS);
        Ok(Playing { deal, game, round, actions, events, last_round: None })
    }

    /// Begins the match of another deal, under the same rules and at the same table, in the memory of this one. It saves
    /// what [`Playing::new`] allocates and moves, which matters when millions of matches are played.
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

    /// The deal of the match to come; [`Playing::deal_again`] begins it. The same key keeps the decks that were shuffled.
    pub(crate) fn rekeyed(&mut self, key: Key) -> &mut Deal {
        if self.deal.key() != key {
            self.deal.set_key(key);
        }
        &mut self.deal
    }

    /// Begins the match of the deal anew, and shows its beginning to an observer.
    pub(crate) fn deal_again<W: Observer>(&mut self, observer: &mut W) {
        let Playing { deal, game, round, actions, events, last_round } = self;
        game.again(deal.key());
        actions.clear();
        events.clear();
        *last_round = None;
        next_round(round, deal, game, &mut (Log { actions, events }, observer));
    }

    /// How many races the round has had so far: windows in which two or more seats snapped.
    pub fn races(&self) -> usize {
        self.deal.raced(self.game.rounds())
    }

    /// Lays the order of a race of the match, as [`Deal::lay_race`] does: for races that are decided outside.
    ///
    /// ```
    /// use cambio_core::{Playing, RaceOrder, Rules, Seat, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 3, Key::new(42, 0)).unwrap();
    /// playing.lay_race(playing.rounds(), playing.races(), RaceOrder::new([Seat::B, Seat::C, Seat::A]));
    /// let record = playing.save(&["ann", "bob", "eve"]);
    /// assert_eq!(record.fields["x-races"], "laid");
    /// ```
    pub fn lay_race(&mut self, round: usize, race: usize, order: RaceOrder) {
        self.deal.lay_race(round, race, order);
    }

    /// The seat that is asked and what it may see; `None` when the match is over.
    pub fn turn(&self) -> Option<Turn<'_>> {
        let state = self.round.state();
        let seat = state.actor()?;
        Some(Turn { seat, view: state.observe(seat) })
    }

    /// Carries out a decision of the seat that is asked, and everything that follows up to the next decision, including the
    /// end of a round and the deal of the next. Returns the events as the referee sees them; [`Playing::sightings`] returns what
    /// a seat perceives.
    ///
    /// # Errors
    /// If the decision is illegal or the match is over. Nothing has changed then.
    pub fn act(&mut self, action: Action) -> Result<&[Event<Card>], IllegalAction> {
        self.act_observed(action, &mut ())
    }

    /// Acts as [`Playing::act`] does, and shows everything to an observer.
    ///
    /// # Errors
    /// If the decision is illegal or the match is over. Nothing has changed then.
    ///
    /// ```
    /// use cambio_core::{Deal, Fingerprinter, Playing, Rules, rng::Key};
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
        let Playing { deal, game, round, actions, events, last_round } = self;
        let mut observers = (Log { actions, events }, observer);
        round.act(action, &mut Drawn::new(deal.chance(game.rounds())), &mut observers)?;
        if let Some(result) = round.end(&mut observers) {
            game.add(&result);
            *last_round = Some(result);
            if game.is_over() {
                observers.match_ends(game);
            } else {
                next_round(round, deal, game, &mut observers);
            }
        }
        Ok(&self.events)
    }

    /// The events since the previous decision, or since the start of the match, as the referee sees them.
    pub fn events(&self) -> &[Event<Card>] {
        &self.events
    }

    /// What a seat perceived of [`Playing::events`].
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
        self.events.iter().map(move |event| event.seen_from(seat))
    }

    /// The briefing of an agent in this seat: rules, seat and random stream. The stream is at its start, so the briefing is
    /// meant for [`Agent::begin`](crate::Agent::begin).
    ///
    /// # Panics
    /// If the seat is not at the table.
    pub fn briefing(&mut self, seat: Seat) -> Briefing<'_> {
        let (rules, seats) = (self.game.rules(), self.game.seats());
        assert!(seat.index() < seats, "seat {seat} is not at a table of {seats}");
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

    /// The key of all chance in the match.
    pub fn key(&self) -> Key {
        self.deal.key()
    }

    /// The state of the round with all hidden faces, for referees and analysis. [`Playing::turn`] and [`State::observe`] return
    /// what a seat may see.
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

    /// The result of the round that ended last; `None` in the first round.
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

    /// The record of the match so far. `agents` are the names of the agents, seat a first. The record can be written as JSON,
    /// checked by [`replay`](crate::replay), and passed to [`Playing::restore`].
    ///
    /// It plays the match to this point again, without agents, and takes as long.
    ///
    /// # Panics
    /// If there is not one name for each seat.
    pub fn save(&self, agents: &[&str]) -> Record {
        assert_eq!(agents.len(), self.seats(), "one name for each seat");
        let mut recorder = Recorder::new(self.rules());
        let mut again = Playing::observed(self.deal.clone(), self.seats(), &mut recorder)
            .expect("the rules fit the seats of this match");
        for &action in &self.actions {
            again.act_observed(action, &mut recorder).expect("the decision was legal in this match");
        }
        let mut record = match self.result() {
            Some(result) => recorder.finish(self.key(), 0, agents, &result),
            None => recorder.stop(self.key(), 0, agents, None),
        };
        if self.deal.has_laid_races() {
            record.fields.insert(RACES.to_owned(), Value::from(LAID));
        }
        record
    }

    /// Restores a match from its record. Any record of this library will do, also one of a run. The decisions of a finished
    /// match may be cut off anywhere, to go on from there. The races of a record with `"x-races": "laid"` are taken from it; those
    /// of any other have to be those of its key.
    ///
    /// # Errors
    /// If the record has no seed and deal, its rules are refused, its deck, races or new stocks are not those of the key,
    /// or a decision is illegal.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{Playing, Record, Rules, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("original")?, 3, Key::new(7, 1))?;
    /// let peek = playing.turn().unwrap().view.choices().nth(0).unwrap();
    /// playing.act(peek).unwrap();
    ///
    /// let line = playing.save(&["ann", "bob", "eve"]).to_json();
    /// let restored = Playing::restore(&Record::read(&line)?)?;
    /// assert_eq!(restored.decisions(), 1);
    /// assert_eq!(restored.turn().unwrap().view, playing.turn().unwrap().view);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(record: &Record) -> Result<Playing, RestoreError> {
        let rules = record.fields.get("rules").unwrap_or(&Value::Null);
        let rules = RulesSpec::from_json(rules)?.validate()?;
        let seed = |value: &Value| match value.as_str() {
            Some(text) => text.parse().ok(),
            None => value.as_u64().map(Seed::Number),
        };
        let agents = if record.fields.contains_key("agent_seed") {
            field(record, "agent_seed", SEED, seed)?
        } else {
            Seed::AGENTS
        };
        let seed = field(record, "seed", SEED, seed)?;
        let deal = field(record, "deal", "a whole number of 64 bits", Value::as_u64)?;
        let seats = field(record, "seats", "a whole number from 2 to 8", Value::as_u64)?;
        let mut recorder = Recorder::new(&rules);
        let key = Key { seed, agents, deal };
        let mut dealt = Deal::new(&rules, key);
        if record.fields.get(RACES).is_some_and(|races| races == LAID) {
            for (round, race, letters) in orders(record) {
                dealt.lay_race(round, race, RaceOrder::new(letters));
            }
        }
        let mut playing = Playing::observed(dealt, seats as usize, &mut recorder)?;
        for (number, round) in record.rounds.iter().enumerate() {
            let flaw = |what: String| Flaw::new(what).in_round(number + 1);
            if playing.is_over() || playing.rounds() != number {
                return Err(flaw("a round follows, but the one before has not ended".to_owned()).into());
            }
            for (place, text) in round.decisions.iter().enumerate() {
                let action = (playing.rounds() == number).then(|| decision(&playing, text)).flatten();
                let done = action.is_some_and(|action| playing.act_observed(action, &mut recorder).is_ok());
                if !done {
                    let legal = playing.state().choices();
                    return Err(flaw(format!("illegal decision `{text}`; legal: {legal}")).at(place + 1).into());
                }
            }
        }
        let names = vec![""; playing.seats()];
        let played = recorder.stop(playing.key(), 0, &names, None);
        for (number, (given, due)) in record.rounds.iter().zip(&played.rounds).enumerate() {
            let is_due = given.deck == due.deck
                && given.starter.as_ref().is_none_or(|starter| Some(starter) == due.starter.as_ref())
                && due.races.starts_with(&given.races)
                && due.reshuffles.starts_with(&given.reshuffles);
            if !is_due {
                let what = format!("the deck, starter, races or new stocks are not those of seed {seed}, deal {deal}");
                return Err(Flaw::new(what).in_round(number + 1).into());
            }
        }
        Ok(playing)
    }
}

/// What a record may say of a seed.
const SEED: &str = "a whole number of 64 bits, as text, or 64 hexadecimal digits";

/// A field of a record as `read` takes it.
fn field<T>(
    record: &Record,
    field: &'static str,
    allowed: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<T, RestoreError> {
    let found = record.fields.get(field);
    found.and_then(read).ok_or_else(|| {
        let found = found.map_or_else(|| "missing".to_owned(), crate::record::brief);
        RestoreError::Field { field, found, allowed }
    })
}

/// The decision that a text means, if it is one of the seat that is asked.
fn decision(playing: &Playing, text: &str) -> Option<Action> {
    let (letter, action) = text.split_once(' ')?;
    let asked = playing.state().actor()?;
    (letter == asked.to_string()).then(|| action.parse().ok()).flatten()
}
