//! Plays a match between agents: asks, checks, tells everyone what they perceive, and mends nothing.

use crate::chance::{Chance, Race, RaceOrder, RoundChance};
use crate::rng::{Bounded as _, Key, Purpose, Stream};
use crate::{
    Action, Agent, Briefing, Card, Choices, Event, Match, RoundResult, Rules, RulesError, Score, Seat, Setup, Sink,
    Standing, State,
};

/// Writes down what happens in a match, for records, statistics and transcripts.
///
/// Every method does nothing unless it is overridden.
pub trait Scribe {
    /// A round begins with this deck, the first card dealt first.
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        let _ = (setup, deck);
    }

    /// Something happened, as the referee sees it.
    fn event(&mut self, event: &Event<Card>) {
        let _ = event;
    }

    /// The seat that `state` asks is about to be asked.
    fn asks(&mut self, state: &State, seat: Seat) {
        let _ = (state, seat);
    }

    /// The seat that `state` asks has decided, legally; the decision is carried out next.
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let _ = (state, seat, action);
    }

    /// Two or more seats snapped, and chance ordered them so.
    fn race(&mut self, order: &RaceOrder) {
        let _ = order;
    }

    /// Chance ordered a new stock so, its last card on top.
    fn reshuffle(&mut self, stock: &[Card]) {
        let _ = stock;
    }

    /// The round has ended.
    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        let _ = (state, result);
    }
}

impl Scribe for () {}

impl<A: Scribe + ?Sized, B: Scribe + ?Sized> Scribe for (&mut A, &mut B) {
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        self.0.round_begins(setup, deck);
        self.1.round_begins(setup, deck);
    }

    #[expect(clippy::inline_always, reason = "it only passes on")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.0.event(event);
        self.1.event(event);
    }

    fn asks(&mut self, state: &State, seat: Seat) {
        self.0.asks(state, seat);
        self.1.asks(state, seat);
    }

    #[expect(clippy::inline_always, reason = "it only passes on")]
    #[inline(always)]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.0.decides(state, seat, action);
        self.1.decides(state, seat, action);
    }

    fn race(&mut self, order: &RaceOrder) {
        self.0.race(order);
        self.1.race(order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.0.reshuffle(stock);
        self.1.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.0.round_ends(state, result);
        self.1.round_ends(state, result);
    }
}

/// Which match is played: the rules, the number of seats, and the key of its chance.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    /// The rules.
    pub rules: Rules,
    /// How many seats are at the table, 2 to 8.
    pub seats: usize,
    /// The key of all chance in the match.
    pub key: Key,
}

/// How a match came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchResult {
    /// How many rounds were played.
    pub rounds: usize,
    /// The totals, seat a first.
    pub totals: Vec<Score>,
    /// The ranks by total, seat a first; equal totals share a rank.
    pub ranks: Vec<usize>,
}

/// An agent decided what is not legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The seat that decided.
    pub seat: Seat,
    /// The number of the round, counted from 1.
    pub round: usize,
    /// The number of the decision within its round, counted from 1.
    pub decision: usize,
    /// What was decided.
    pub action: Action,
    /// What was legal.
    pub legal: Choices,
}

/// An agent could not go on ([`Agent::trouble`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The seat.
    pub seat: Seat,
    /// The number of the round, counted from 1; 0 before the first round.
    pub round: usize,
    /// The number of the decision within its round, counted from 1; 0 before the first round.
    pub decision: usize,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seat {} cannot go on: {} ", self.seat, self.reason)?;
        match self.round {
            0 => f.write_str("(before round 1)"),
            round => write!(f, "(round {round}, decision {})", self.decision),
        }
    }
}

/// Why a match was not played to its end.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MatchError {
    /// The rules do not fit the number of seats, or of agents.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// There is not one agent for each seat.
    #[error("{agents} agents for {seats} seats; allowed is one agent for each seat")]
    Agents {
        /// How many agents there are.
        agents: usize,
        /// How many seats there are.
        seats: usize,
    },
    /// An agent's decision was illegal.
    #[error(
        "seat {} decided `{}`, which is illegal (round {}, decision {}); legal: {}",
        .0.seat, .0.action, .0.round, .0.decision, .0.legal
    )]
    Fault(Box<Fault>),
    /// An agent could not go on.
    #[error("{0}")]
    Trouble(Box<Trouble>),
}

/// Asks an agent whether it is in trouble.
fn ask_after<A: Agent>(agent: &mut A, seat: Seat, round: usize, decision: usize) -> Result<(), MatchError> {
    match agent.trouble() {
        None => Ok(()),
        Some(reason) => Err(MatchError::Trouble(Box::new(Trouble { seat, round, decision, reason }))),
    }
}

/// Chance that notes what it draws, for the scribe.
struct Noted<C> {
    chance: C,
    races: Vec<RaceOrder>,
    stocks: Vec<Vec<Card>>,
}

impl<C: Chance> Chance for Noted<C> {
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

/// Tells every agent what it perceives, and the scribe everything.
struct Crowd<'a, A, W> {
    agents: &'a mut [A],
    scribe: &'a mut W,
}

impl<A: Agent, W: Scribe> Sink for Crowd<'_, A, W> {
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        for (agent, seat) in self.agents.iter_mut().zip(Seat::ALL) {
            agent.notice(&event.seen_from(seat));
        }
        self.scribe.event(event);
    }
}

/// Plays a match: the agent in seat a first.
///
/// # Errors
/// If the rules do not fit, or an agent decides what is not legal or cannot go on: then the match ends at once.
///
/// # Panics
/// Only if an agent does.
///
/// # Determinism
/// The match depends on the pairing and the agents alone. The decks do not depend on the agents.
///
/// # Examples
/// ```
/// use cambio_core::{Pairing, Rules, play_match, testing::RandomAgent};
/// use cambio_core::rng::Key;
///
/// let rules = Rules::preset("faessler").unwrap();
/// let pairing = Pairing { rules, seats: 3, key: Key { seed: 42, deal: 0 } };
/// let mut agents: Vec<_> = (0..3).map(|_| RandomAgent::default()).collect();
/// let result = play_match(&pairing, &mut agents, &mut ()).unwrap();
/// assert_eq!(result.ranks.len(), 3);
/// ```
pub fn play_match<A: Agent, W: Scribe>(
    pairing: &Pairing,
    agents: &mut [A],
    scribe: &mut W,
) -> Result<MatchResult, MatchError> {
    Deal::new(&pairing.rules, pairing.key).play(pairing.seats, agents, scribe)
}

/// A deal: what every match of it has in common, whoever plays. Each deck is shuffled once, when it is first dealt from,
/// and each stream begun once.
#[derive(Clone, Debug)]
pub struct Deal {
    rules: Rules,
    key: Key,
    /// The streams of the agents, seat a's first, each from its beginning.
    agents: Vec<Stream>,
    /// The decks of the first rounds, one behind the other.
    decks: Vec<Card>,
    /// The chance of those rounds.
    chances: Vec<RoundChance>,
}

impl Deal {
    /// The deal under a key.
    pub fn new(rules: &Rules, key: Key) -> Deal {
        Deal { rules: *rules, key, agents: Vec::new(), decks: Vec::new(), chances: Vec::new() }
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The key of its chance.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Another deal in the place of this one.
    pub fn set_key(&mut self, key: Key) {
        self.key = key;
        self.agents.clear();
        self.decks.clear();
        self.chances.clear();
    }

    /// The deck of a round, counted from 0, the first card dealt first.
    pub fn deck(&mut self, round: usize) -> &[Card] {
        self.round(round).0
    }

    /// The deck of a round, and its chance from the beginning.
    fn round(&mut self, round: usize) -> (&[Card], &mut RoundChance) {
        let size = self.rules.deck().len();
        for next in self.chances.len()..=round {
            self.decks.extend_from_slice(self.rules.deck());
            self.key.stream(Purpose::Deck, next as u32).shuffle(&mut self.decks[next * size..]);
            self.chances.push(RoundChance::new(self.key, next as u32));
        }
        let chance = &mut self.chances[round];
        chance.rewind();
        (&self.decks[round * size..][..size], chance)
    }

    /// The stream of the agent in a seat.
    fn agent(&mut self, seat: Seat) -> &Stream {
        for place in self.agents.len()..=seat.index() {
            let mut stream = self.key.agent(Seat::ALL[place]);
            stream.begin();
            self.agents.push(stream);
        }
        &self.agents[seat.index()]
    }

    /// Plays a match of this deal, as [`play_match`] does.
    ///
    /// # Errors
    /// As [`play_match`].
    ///
    /// # Panics
    /// Only if an agent does.
    pub fn play<A: Agent, W: Scribe>(
        &mut self,
        seats: usize,
        agents: &mut [A],
        scribe: &mut W,
    ) -> Result<MatchResult, MatchError> {
        let rules = self.rules;
        let mut game = Match::new(&rules, seats, Match::first_starter(&rules, seats, self.key))?;
        if agents.len() != seats {
            return Err(MatchError::Agents { agents: agents.len(), seats });
        }
        // Room for one match of one round: more is not always needed.
        self.agents.reserve_exact(seats.saturating_sub(self.agents.len()));
        self.chances.reserve_exact(usize::from(self.chances.is_empty()));
        for (agent, seat) in agents.iter_mut().zip(Seat::ALL) {
            agent.begin(&Briefing { rules: &rules, seats, seat, stream: self.agent(seat) });
            ask_after(agent, seat, 0, 0)?;
        }
        while !game.is_over() {
            let (deck, chance) = self.round(game.rounds());
            play_round(&mut game, deck, chance, agents, scribe)?;
        }
        for agent in agents.iter_mut() {
            agent.match_ends(game.totals());
        }
        Ok(MatchResult { rounds: game.rounds(), totals: game.totals().to_vec(), ranks: game.ranks().collect() })
    }
}

fn play_round<A: Agent, W: Scribe>(
    game: &mut Match,
    deck: &[Card],
    chance: &mut RoundChance,
    agents: &mut [A],
    scribe: &mut W,
) -> Result<(), MatchError> {
    let setup = game.setup();
    let round = game.rounds();
    let standing = Standing { round, setup, totals: game.totals() };
    for agent in agents.iter_mut() {
        agent.round_begins(&standing);
    }
    scribe.round_begins(&setup, deck);
    let mut chance = Noted { chance, races: Vec::new(), stocks: Vec::new() };
    let mut state = State::deal(&setup, deck, &mut chance, &mut Crowd { agents, scribe })
        .expect("a match checks its rules and seats, and its deck is the rules' own");
    let mut decisions = 0;
    while let Some(seat) = state.actor() {
        decisions += 1;
        scribe.asks(&state, seat);
        let agent = &mut agents[seat.index()];
        let action = agent.decide(&state.observe(seat)).canonical();
        ask_after(agent, seat, round + 1, decisions)?;
        let legal = state.choices();
        if !legal.contains(action) {
            let fault = Fault { seat, round: round + 1, decision: decisions, action, legal };
            return Err(MatchError::Fault(Box::new(fault)));
        }
        scribe.decides(&state, seat, action);
        state.apply(action, &mut chance, &mut Crowd { agents, scribe }).expect("the decision was just found legal");
        chance.races.drain(..).for_each(|order| scribe.race(&order));
        chance.stocks.drain(..).for_each(|stock| scribe.reshuffle(&stock));
    }
    let result = RoundResult::of(&state).expect("a round of a dealt deck that is over can be scored");
    scribe.round_ends(&state, &result);
    for agent in agents.iter_mut() {
        agent.round_ends(&result);
    }
    game.add(&result);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RandomAgent;
    use crate::{PRESETS, Printer};

    #[test]
    fn a_match_is_the_same_whether_or_not_its_deal_was_played_before() {
        for name in PRESETS {
            let rules = Rules::preset(name).unwrap();
            let key = Key { seed: 3, deal: 5 };
            let mut deal = Deal::new(&rules, key);
            for seats in [4, 2, 3, 2] {
                let agents = || -> Vec<_> { (0..seats).map(|_| RandomAgent::default()).collect() };
                let (mut alone, mut again) = (Printer::default(), Printer::default());
                let expected = play_match(&Pairing { rules, seats, key }, &mut agents(), &mut alone).unwrap();
                assert_eq!(deal.play(seats, &mut agents(), &mut again).unwrap(), expected);
                assert_eq!(again.of_match(), alone.of_match(), "{name} at {seats} seats");
            }
            let mut deck = rules.deck().to_vec();
            key.stream(Purpose::Deck, 2).shuffle(&mut deck);
            assert_eq!(deal.deck(2), deck);
        }
    }
}
