//! A match that Python code steps, with agents in some seats, and the keys of its information sets.

use cambio_agents::{AgentSpec, Guarded, WordEnum as _, words};
use cambio_core::engine::IllegalAction;
use cambio_core::play::{MatchError, RoundLog, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::testing::Relabelling;
use cambio_core::view::RoundHistory;
use cambio_core::{
    Action, Agent, AgentError, Card, Deal, Event, Observation, Observer, Players, Playing, Referee, Rules, Score, Seat,
    Standing, State,
};
use cambio_solve::HistoryKey;
use pyo3::prelude::*;

use crate::error;

words! {
    /// The kind of rewards.
    pub(crate) enum Reward {
        /// From 1 for the first to −1 for the last when the match ends; 0 before.
        Rank = "rank",
        /// The points that a round adds to the totals, signed so that more is better; 0 until a round ends.
        Score = "score",
    }
}

impl Reward {
    pub(crate) fn read(word: &str) -> PyResult<Reward> {
        Reward::named(word).ok_or_else(|| {
            let found = cambio_core::text::excerpt(word);
            error::CambioError::new_err(format!("`reward` must be rank or score, found `{found}`"))
        })
    }
}

/// The rank of a seat on a scale from 1 (first) to −1 (last). Tied seats get the mean of the places that they share.
fn rank_reward(ranks: &[usize], seat: usize) -> f64 {
    let equal = ranks.iter().filter(|&&rank| rank == ranks[seat]).count();
    // 2 · (seats − midrank) / (seats − 1) − 1, with the midrank doubled.
    let doubled = 2 * ranks[seat] + equal - 1;
    let seats = ranks.len();
    (2 * seats as i64 - doubled as i64) as f64 / (seats - 1) as f64 - 1.0
}

/// A score as a float, signed so that more is better.
pub(crate) fn score_reward(rules: &Rules, score: Score) -> f64 {
    let sign = if rules.spec().best == cambio_core::rules::knob::Best::Most { 1.0 } else { -1.0 };
    // No negative zero.
    sign * f64::from(score.units()) / f64::from(Score::UNITS) + 0.0
}

/// A library agent in a seat. A panic of the agent is an error of the agent.
pub(crate) type LibraryAgent = Guarded<Box<dyn Agent>>;

pub(crate) fn library_agent(spec: &AgentSpec) -> LibraryAgent {
    Guarded::new(spec.make())
}

/// The agent type of a match in which the caller makes every decision. It has no values.
#[derive(Clone)]
pub(crate) enum NoAgent {}

impl Agent for NoAgent {
    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        match *self {}
    }
}

/// A match that the caller steps from one of its decisions to the next. Agents decide for their seats in between; the caller
/// decides for the seats without an agent.
#[derive(Clone)]
pub(crate) struct Episode<A, W> {
    referee: Referee<A, W>,
    reward: Reward,
    /// The totals after the caller's last decision. Not updated for [`Reward::Rank`].
    totals: [Score; MAX_SEATS],
    /// Each seat's gain from that decision. Not updated for [`Reward::Rank`].
    gains: [Score; MAX_SEATS],
    /// The fault of an agent, which stops the match.
    pub(crate) fault: Option<MatchError>,
}

impl<A: Agent, W: Observer> Episode<A, W> {
    /// A match in which the caller makes every decision. To add agents, change [`Episode::agents_mut`], then call
    /// [`Episode::restart_after`].
    pub(crate) fn new(rules: &Rules, seats: usize, key: Key, reward: Reward, observer: W) -> Episode<A, W> {
        let players = Players::from((0..seats).map(|_| None).collect::<Vec<_>>());
        let referee = Referee::new(Deal::new(rules, key), players, observer);
        let referee = referee.expect("the rules support this number of seats, and there are no agents that could fail");
        let none = [Score::default(); MAX_SEATS];
        Episode { referee, reward, totals: none, gains: none, fault: None }
    }

    /// Starts the match of another deal, carries out these decisions of all seats, and plays up to the caller's next decision.
    pub(crate) fn restart_after(&mut self, key: Key, given: &[Action]) -> Result<(), IllegalAction> {
        (self.totals, self.gains) = ([Score::default(); MAX_SEATS], [Score::default(); MAX_SEATS]);
        self.fault = self.referee.restart(key).err();
        given.iter().try_for_each(|&action| self.referee.act(action))?;
        self.totals.iter_mut().zip(self.referee.playing().totals()).for_each(|(total, now)| *total = *now);
        self.let_agents_play();
        Ok(())
    }

    /// Lets agents decide until the caller has to decide, the match is over, or an agent fails.
    #[inline]
    fn let_agents_play(&mut self) {
        while self.fault.is_none() {
            match self.referee.step() {
                Ok(StepResult::Decided(..)) => {}
                Ok(StepResult::Waiting(_) | StepResult::Over) => return,
                Err(error) => self.fault = Some(error),
            }
        }
    }

    /// Carries out a decision of the caller, and all events up to the caller's next decision.
    #[inline]
    pub(crate) fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        self.referee.act(action)?;
        self.let_agents_play();
        if self.reward == Reward::Score {
            let before = self.totals.iter_mut().zip(&mut self.gains);
            for (&now, (total, gain)) in self.referee.playing().totals().iter().zip(before) {
                *gain = Score::from_units(now.units() - total.units());
                *total = now;
            }
        }
        Ok(())
    }

    pub(crate) fn playing(&self) -> &Playing {
        self.referee.playing()
    }

    pub(crate) fn observer(&self) -> &W {
        self.referee.observer()
    }

    /// The agents by seat; call [`Episode::restart_after`] after a change.
    pub(crate) fn agents_mut(&mut self) -> &mut Vec<Option<A>> {
        self.referee.players_mut().agents_mut()
    }

    /// The seat to act; `None` when the match is over.
    pub(crate) fn actor(&self) -> Option<Seat> {
        self.playing().state().actor()
    }

    pub(crate) fn reward(&self) -> Reward {
        self.reward
    }

    /// Whether a reward from the last decision can differ from 0.
    #[inline]
    pub(crate) fn has_rewards(&self) -> bool {
        self.reward == Reward::Score || self.playing().is_over()
    }

    /// Each seat's reward from the last decision, seat a first.
    pub(crate) fn rewards(&self) -> impl Iterator<Item = f64> {
        let (playing, reward, gains) = (self.playing(), self.reward, &self.gains);
        let result = if reward == Reward::Rank { playing.result() } else { None };
        (0..playing.seats()).map(move |seat| match (reward, &result) {
            (Reward::Score, _) => score_reward(playing.rules(), gains[seat]),
            (Reward::Rank, Some(result)) => rank_reward(&result.ranks, seat),
            (Reward::Rank, None) => 0.0,
        })
    }
}

/// The match of a `Game`.
pub(crate) type GameEpisode = Episode<NoAgent, (RoundHistory, SeatLog)>;

/// The events and decisions of the round, and the keys of the seats' information sets.
pub(crate) type SeatLog = (RoundLog, SeatKeys);

impl GameEpisode {
    /// The match of a key, after these decisions.
    pub(crate) fn replayed(
        rules: &Rules,
        seats: usize,
        key: Key,
        reward: Reward,
        actions: &[Action],
    ) -> PyResult<GameEpisode> {
        rules.covers(seats).map_err(error::rules)?;
        let log = (RoundLog::default(), SeatKeys::of_small(rules, seats));
        let observer = (RoundHistory::new(rules, seats), log);
        let mut episode = Episode::new(rules, seats, key, reward, observer);
        for &action in actions {
            episode.act(action).map_err(error::illegal)?;
        }
        Ok(episode)
    }
}

/// The largest deck whose keys every match computes. Games with larger decks are too large for strategy files.
const MOST_CARDS: usize = 24;

/// The names of the seats in keys: the seat with the first turn is seat a, as in solved games.
pub(crate) fn from_starter(standing: &Standing<'_>) -> Relabelling {
    let seats = standing.setup.seats;
    Relabelling::new(seats, seats - standing.setup.starter.index())
}

/// Computes the key of each seat's information set in the current round.
#[derive(Clone, Debug)]
pub(crate) struct SeatKeys(
    /// `None` if no keys are computed, because they take a third of the time of a step.
    Option<Box<RoundKeys>>,
);

#[derive(Clone, Debug)]
struct RoundKeys {
    seats: usize,
    keys: [HistoryKey; MAX_SEATS],
    relabelling: Relabelling,
}

impl SeatKeys {
    /// Keys for tables that are small enough for strategy files: two seats and a small deck.
    pub(crate) fn of_small(rules: &Rules, seats: usize) -> SeatKeys {
        SeatKeys::when(SeatKeys::is_small(rules, seats), seats)
    }

    /// Whether a table is small enough for strategy files.
    pub(crate) fn is_small(rules: &Rules, seats: usize) -> bool {
        seats == 2 && rules.deck().len() <= MOST_CARDS
    }

    /// Keys if they are wanted.
    pub(crate) fn when(is_wanted: bool, seats: usize) -> SeatKeys {
        let (keys, relabelling) = ([HistoryKey::START; MAX_SEATS], Relabelling::new(seats, 0));
        SeatKeys(is_wanted.then(|| Box::new(RoundKeys { seats, keys, relabelling })))
    }

    /// The key of a seat, if keys are computed.
    pub(crate) fn of(&self, seat: Seat) -> Option<HistoryKey> {
        self.0.as_ref().map(|round| round.keys[seat.index()])
    }
}

impl RoundKeys {
    fn event(&mut self, event: &Event<Card>) {
        for (key, seat) in self.keys[..self.seats].iter_mut().zip(Seat::ALL) {
            key.perceive(self.relabelling.event(&event.seen_from(seat)));
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if state.choices().len() > 1 {
            self.keys[seat.index()].decide(self.relabelling.action(action).canonical());
        }
    }
}

impl Observer for SeatKeys {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        if let Some(round) = &mut self.0 {
            (round.keys, round.relabelling) = ([HistoryKey::START; MAX_SEATS], from_starter(standing));
        }
    }

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        if let Some(round) = &mut self.0 {
            round.event(event);
        }
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if let Some(round) = &mut self.0 {
            round.decides(state, seat, action);
        }
    }
}
