//! The referee: steps a match, asks agents for decisions, and reports illegal decisions without correcting them.

use crate::engine::{IllegalAction, RaceOrder};
use crate::play::deal::Deal;
use crate::play::observer::Observer;
use crate::play::players::{Failure, Players};
use crate::play::playing::{PendingDecision, Playing};
use crate::rng::Key;
use crate::{Action, Agent, Choices, MatchResult, Rules, RulesError, Seat};

/// The parameters of a match: the rules, the number of seats, and the random key.
#[derive(Clone, Copy, Debug)]
pub struct MatchSetup {
    /// The rules.
    pub rules: Rules,
    /// The number of seats, 2 to 8.
    pub seats: usize,
    /// The random key from which all random outcomes are derived.
    pub key: Key,
}

/// An illegal decision of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The seat that decided.
    pub seat: Seat,
    /// The number of the round, counted from 1.
    pub round: usize,
    /// The number of the decision within the round, counted from 1.
    pub decision: usize,
    /// The illegal decision.
    pub action: Action,
    /// The legal decisions.
    pub legal: Choices,
}

/// Why a match was not finished.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MatchError {
    /// The rules do not allow this number of seats.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// An agent's decision was illegal.
    #[error(
        "seat {} decided `{}`, which is illegal (round {}, decision {}); legal: {}",
        .0.seat, .0.action, .0.round, .0.decision, .0.legal
    )]
    Fault(Box<Fault>),
    /// An agent could not continue.
    #[error(transparent)]
    Failed(Box<Failure>),
}

impl From<Failure> for MatchError {
    fn from(failure: Failure) -> MatchError {
        MatchError::Failed(Box::new(failure))
    }
}

/// The result of [`Referee::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepResult {
    /// The agent in this seat decided, and its decision was carried out.
    Decided(Seat, Action),
    /// No agent sits in this seat: the caller must decide for it, with [`Referee::act`].
    Waiting(Seat),
    /// The match is over.
    Over,
}

/// A match with agents in some or all of its seats, which the caller steps.
///
/// A `Referee` owns the match ([`Playing`]), the agents ([`Players`]) and an observer. [`step`](Referee::step) lets one
/// agent decide, [`run`](Referee::run) continues until the caller has to decide or the match is over, and
/// [`act`](Referee::act) carries out a decision of the caller. Agents and the observer receive the events of both.
///
/// # Determinism
/// The match depends only on the deal, the agents and the caller's decisions. The decks do not depend on the agents.
///
/// # Examples
/// A person in seat a plays against an agent in seat b. Here, the person always takes the first choice:
/// ```
/// use cambio_core::{Deal, Players, Referee, Rules, Seat, rng::Key, testing::RandomAgent};
///
/// let deal = Deal::new(&Rules::preset("classic")?, Key::new(42, 0));
/// let players = Players::only(RandomAgent::default(), Seat::B, 2);
/// let mut referee = Referee::new(deal, players, ())?;
/// while let Some(turn) = referee.run()? {
///     assert_eq!(turn.seat, Seat::A);
///     let first = turn.view.choices().nth(0).unwrap();
///     referee.act(first)?;
/// }
/// assert_eq!(referee.playing().result().unwrap().ranks.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Referee<A, W = ()> {
    playing: Playing,
    seated: (Players<A>, W),
}

impl<A: Agent, W: Observer> Referee<A, W> {
    /// Begins a match of a deal with these players: briefs the agents and deals the first round.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats, or an agent cannot play.
    pub fn new(mut deal: Deal, mut players: Players<A>, mut observer: W) -> Result<Referee<A, W>, MatchError> {
        deal.rules().covers(players.seats())?;
        players.begin(&mut deal)?;
        let playing = Playing::observed(deal, players.seats(), &mut (&mut players, &mut observer))?;
        Ok(Referee { playing, seated: (players, observer) })
    }

    /// Begins the match of another deal with the current agents and observer, reusing memory.
    ///
    /// # Errors
    /// If an agent cannot play.
    pub fn restart(&mut self, key: Key) -> Result<(), MatchError> {
        self.seated.0.begin(self.playing.rekeyed(key))?;
        self.playing.deal_again(&mut self.seated);
        Ok(())
    }

    /// The match.
    pub fn playing(&self) -> &Playing {
        &self.playing
    }

    /// Sets the order of a race, as [`Playing::set_race_order`] does.
    pub fn set_race_order(&mut self, round: usize, race: usize, order: RaceOrder) {
        self.playing.set_race_order(round, race, order);
    }

    /// The players.
    pub fn players(&self) -> &Players<A> {
        &self.seated.0
    }

    /// The players, to replace agents between matches, or to take the agent in the seat to act out while it decides on another
    /// thread.
    pub fn players_mut(&mut self) -> &mut Players<A> {
        &mut self.seated.0
    }

    /// The observer.
    pub fn observer(&self) -> &W {
        &self.seated.1
    }

    /// The observer.
    pub fn observer_mut(&mut self) -> &mut W {
        &mut self.seated.1
    }

    /// The seat to act and its observation; `None` when the match is over.
    pub fn turn(&self) -> Option<PendingDecision<'_>> {
        self.playing.turn()
    }

    fn fault(&self, IllegalAction { actor, action, legal }: IllegalAction) -> MatchError {
        let seat = actor.expect("an agent was asked");
        let (round, decision) = (self.playing.rounds() + 1, self.playing.decisions_in_round() + 1);
        MatchError::Fault(Box::new(Fault { seat, round, decision, action, legal }))
    }

    /// Asks the agent in the seat to act, and returns its legal decision without carrying it out; `None` if no agent
    /// sits there or the match is over. The caller may decide differently, so an agent can also give advice.
    ///
    /// # Errors
    /// If the agent cannot continue, or decides illegally.
    pub fn ask(&mut self) -> Result<Option<Action>, MatchError> {
        let Some(turn) = self.playing.turn() else { return Ok(None) };
        let Some(asked) = self.seated.0.ask(&turn.view) else { return Ok(None) };
        let action = asked?.canonical();
        self.playing.state().check(action).map_err(|illegal| self.fault(illegal))?;
        Ok(Some(action))
    }

    /// Carries out a decision of the seat to act and continues to the next decision.
    ///
    /// # Errors
    /// If the decision is illegal or the match is over. The match is then unchanged.
    pub fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        self.playing.act_observed(action, &mut self.seated).map(drop)
    }

    /// Asks the agent in the seat to act, and carries out its decision.
    ///
    /// # Errors
    /// If the agent cannot continue, or decides illegally. In both cases, no decision is carried out.
    ///
    /// # Panics
    /// Only if an agent or the observer panics.
    #[inline]
    pub fn step(&mut self) -> Result<StepResult, MatchError> {
        let (state, players) = (self.playing.state(), &mut self.seated.0);
        let Some(seat) = state.actor() else { return Ok(StepResult::Over) };
        // Build the observation only if an agent needs it.
        if players.agent(seat).is_none() {
            return Ok(StepResult::Waiting(seat));
        }
        let action = players.ask(&state.observe(seat)).expect("an agent sits there")?;
        match self.playing.act_observed(action, &mut self.seated) {
            Ok(_) => Ok(StepResult::Decided(seat, action)),
            Err(illegal) => Err(self.fault(illegal)),
        }
    }

    /// Continues until the caller has to decide, and returns the pending decision; `None` when the match is over.
    ///
    /// # Errors
    /// As [`Referee::step`].
    pub fn run(&mut self) -> Result<Option<PendingDecision<'_>>, MatchError> {
        while let StepResult::Decided(..) = self.step()? {}
        Ok(self.playing.turn())
    }
}

/// Plays a match between agents, seat a first.
///
/// # Errors
/// If the rules do not allow the number of seats, or an agent decides illegally or cannot continue.
///
/// # Panics
/// If there is not one agent for each seat, or an agent or the observer panics.
///
/// # Determinism
/// The match depends only on the setup and the agents. The decks do not depend on the agents.
///
/// # Examples
/// ```
/// use cambio_core::{MatchSetup, Rules, play_match, testing::RandomAgent};
/// use cambio_core::rng::Key;
///
/// let rules = Rules::preset("faessler").unwrap();
/// let match_setup = MatchSetup { rules, seats: 3, key: Key::new(42, 0) };
/// let mut agents: Vec<_> = (0..3).map(|_| RandomAgent::default()).collect();
/// let result = play_match(&match_setup, &mut agents, &mut ()).unwrap();
/// assert_eq!(result.ranks.len(), 3);
/// ```
pub fn play_match<A: Agent, W: Observer>(
    match_setup: &MatchSetup,
    agents: &mut [A],
    observer: &mut W,
) -> Result<MatchResult, MatchError> {
    let MatchSetup { rules, seats, key } = *match_setup;
    assert_eq!(agents.len(), seats, "there must be one agent for each seat");
    let mut referee = Referee::new(Deal::new(&rules, key), Players::all(agents), observer)?;
    referee.run()?;
    Ok(referee.playing.result().expect("an agent sits in every seat"))
}

#[cfg(test)]
mod tests;
