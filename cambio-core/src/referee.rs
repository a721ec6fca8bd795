//! Plays a match between agents: asks them, checks their decisions, and tells them what they perceive. It mends nothing.

use crate::chance::RaceOrder;
use crate::deal::Deal;
use crate::observer::Observer;
use crate::rng::Key;
use crate::round::{Drawn, Round};
use crate::{
    Action, Agent, Briefing, Card, Choices, Event, IllegalAction, Match, RoundResult, Rules, RulesError, Score, Seat,
    Setup, State, Table,
};

/// The match to be played: the rules, the number of seats, and the key of its chance.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    /// The rules.
    pub rules: Rules,
    /// The number of seats, 2 to 8.
    pub seats: usize,
    /// The key of all chance in the match.
    pub key: Key,
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
    /// The standing of a match; its result, if it is over.
    pub(crate) fn of(game: &Match) -> MatchResult {
        MatchResult { rounds: game.rounds(), totals: game.totals().to_vec(), ranks: game.ranks().collect() }
    }
}

/// An illegal decision of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The seat that decided.
    pub seat: Seat,
    /// The number of the round, counted from 1.
    pub round: usize,
    /// The number of the decision within its round, counted from 1.
    pub decision: usize,
    /// The decision.
    pub action: Action,
    /// The legal decisions.
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

/// Why a match was not finished.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MatchError {
    /// The rules do not fit the number of seats, or of agents.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// There is not one agent for each seat.
    #[error("{agents} agents for {seats} seats; allowed is one agent for each seat")]
    Agents {
        /// The number of agents.
        agents: usize,
        /// The number of seats.
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

/// Tells every agent what it perceives, and then the observer everything.
struct Crowd<'a, A, W> {
    agents: &'a mut [A],
    observer: &'a mut W,
}

impl<A: Agent, W: Observer> Observer for Crowd<'_, A, W> {
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        self.observer.round_begins(setup, deck);
    }

    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        for (agent, seat) in self.agents.iter_mut().zip(Seat::ALL) {
            agent.notice(&event.seen_from(seat));
        }
        self.observer.event(event);
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.observer.decides(state, seat, action);
    }

    fn race(&mut self, order: &RaceOrder) {
        self.observer.race(order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.observer.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.observer.round_ends(state, result);
        for agent in self.agents.iter_mut() {
            agent.round_ends(result);
        }
    }
}

/// Plays a match between agents, seat a first.
///
/// # Errors
/// If the rules do not fit, or an agent decides illegally or cannot go on. The match ends at once then.
///
/// # Panics
/// Only if an agent does.
///
/// # Determinism
/// The match depends only on the pairing and the agents. The decks do not depend on the agents.
///
/// # Examples
/// ```
/// use cambio_core::{Pairing, Rules, play_match, testing::RandomAgent};
/// use cambio_core::rng::Key;
///
/// let rules = Rules::preset("faessler").unwrap();
/// let pairing = Pairing { rules, seats: 3, key: Key::new(42, 0) };
/// let mut agents: Vec<_> = (0..3).map(|_| RandomAgent::default()).collect();
/// let result = play_match(&pairing, &mut agents, &mut ()).unwrap();
/// assert_eq!(result.ranks.len(), 3);
/// ```
pub fn play_match<A: Agent, W: Observer>(
    pairing: &Pairing,
    agents: &mut [A],
    observer: &mut W,
) -> Result<MatchResult, MatchError> {
    Deal::new(&pairing.rules, pairing.key).play(pairing.seats, agents, observer)
}

impl Deal {
    /// Plays a match of this deal, as [`play_match`] does.
    ///
    /// # Errors
    /// As [`play_match`].
    ///
    /// # Panics
    /// Only if an agent does.
    pub fn play<A: Agent, W: Observer>(
        &mut self,
        seats: usize,
        agents: &mut [A],
        observer: &mut W,
    ) -> Result<MatchResult, MatchError> {
        let rules = *self.rules();
        let mut game = Match::new(&rules, seats, Match::first_starter(&rules, seats, self.key()))?;
        if agents.len() != seats {
            return Err(MatchError::Agents { agents: agents.len(), seats });
        }
        self.reserve(seats);
        for (agent, seat) in agents.iter_mut().zip(Seat::ALL) {
            agent.begin(&Briefing { rules: &rules, seats, seat, stream: self.agent(seat) });
            ask_after(agent, seat, 0, 0)?;
        }
        let has_spectators = agents.iter().any(A::spectates);
        while !game.is_over() {
            play_round(&mut game, self, agents, has_spectators, observer)?;
        }
        for agent in agents.iter_mut() {
            agent.match_ends(game.totals());
        }
        Ok(MatchResult::of(&game))
    }
}

fn play_round<A: Agent, W: Observer>(
    game: &mut Match,
    deal: &mut Deal,
    agents: &mut [A],
    has_spectators: bool,
    observer: &mut W,
) -> Result<(), MatchError> {
    let number = game.rounds();
    for agent in agents.iter_mut() {
        agent.round_begins(&game.standing());
    }
    let (deck, chance) = deal.round(number);
    let mut chance = Drawn::new(chance);
    let mut round = Round::begin(&game.setup(), deck, &mut chance, &mut Crowd { agents, observer })
        .expect("a match checks its rules and seats, and its deck is the rules' own");
    while let Some(seat) = round.state().actor() {
        observer.asks(round.state(), seat);
        if has_spectators {
            show(round.state().table(), seat, agents);
        }
        let agent = &mut agents[seat.index()];
        let action = agent.decide(&round.state().observe(seat));
        let decision = round.decisions() + 1;
        ask_after(agent, seat, number + 1, decision)?;
        if let Err(illegal) = round.act(action, &mut chance, &mut Crowd { agents, observer }) {
            let IllegalAction { action, legal, .. } = illegal;
            let fault = Fault { seat, round: number + 1, decision, action, legal };
            return Err(MatchError::Fault(Box::new(fault)));
        }
    }
    let result = round.end(&mut Crowd { agents, observer }).expect("a dealt round that is over can be scored");
    game.add(&result);
    Ok(())
}

/// Shows the table to the agents that want to see it when another seat is asked.
fn show<A: Agent>(table: &Table, asked: Seat, agents: &mut [A]) {
    for (agent, seat) in agents.iter_mut().zip(Seat::ALL) {
        if seat != asked && agent.spectates() {
            agent.spectate(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Bounded as _, Purpose};
    use crate::testing::RandomAgent;
    use crate::{Fingerprinter, PRESETS};

    #[test]
    fn a_match_is_the_same_whether_or_not_its_deal_was_played_before() {
        for name in PRESETS {
            let rules = Rules::preset(name).unwrap();
            let key = Key::new(3, 5);
            let mut deal = Deal::new(&rules, key);
            for seats in [4, 2, 3, 2] {
                let agents = || -> Vec<_> { (0..seats).map(|_| RandomAgent::default()).collect() };
                let (mut alone, mut again) = (Fingerprinter::default(), Fingerprinter::default());
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
