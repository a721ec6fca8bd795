//! A match that is stepped from Python.

use std::sync::{Mutex, PoisonError};

use cambio_agents::AgentSpec;
use cambio_core::rng::Key;
use cambio_core::{
    Action, Agent, AgentError, Briefing, Deal, IllegalAction, MAX_SEATS, MatchError, Notice, Observation, Observer,
    Players, Playing, Referee, RoundHistory, RoundLog, Rules, Score, Seat, Stepped,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error;
use crate::rules::PyRules;

/// What rewards are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reward {
    /// When the match ends, from 1 for the first to −1 for the last; 0 before.
    Rank,
    /// What a round adds to the totals, with the sign that makes more the better; 0 while no round ends.
    Score,
}

impl Reward {
    pub(crate) fn read(word: &str) -> PyResult<Reward> {
        match word {
            "rank" => Ok(Reward::Rank),
            "score" => Ok(Reward::Score),
            _ => {
                let found = cambio_core::shown(word);
                Err(error::CambioError::new_err(format!("`reward` is `{found}`; allowed is rank or score")))
            }
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Reward::Rank => "rank",
            Reward::Score => "score",
        }
    }
}

/// The rank of a seat as a number from 1, the best, to −1: with ties the mean of the places that they share.
fn rank_reward(ranks: &[usize], seat: usize) -> f64 {
    let equal = ranks.iter().filter(|&&rank| rank == ranks[seat]).count();
    // 2 · (seats − midrank) / (seats − 1) − 1, with the midrank doubled.
    let doubled = 2 * ranks[seat] + equal - 1;
    let seats = ranks.len();
    (2 * seats as i64 - doubled as i64) as f64 / (seats - 1) as f64 - 1.0
}

/// A score as a float, more being better.
pub(crate) fn score_reward(rules: &Rules, score: Score) -> f64 {
    let sign = if rules.spec().best == cambio_core::knob::Best::Most { 1.0 } else { -1.0 };
    // No negative zero.
    sign * f64::from(score.units()) / f64::from(Score::UNITS) + 0.0
}

/// A library agent in a seat. Python's objects may be shared between threads and agents may not, so it is in a mutex that
/// no two threads ever lock.
pub(crate) struct Seated(Mutex<Box<dyn Agent>>);

impl Seated {
    pub(crate) fn new(spec: &AgentSpec) -> Seated {
        Seated(Mutex::new(spec.make()))
    }

    fn agent(&mut self) -> &mut dyn Agent {
        &mut **self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent for Seated {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.agent().begin(briefing)
    }

    fn notice(&mut self, notice: Notice<'_>) {
        self.agent().notice(notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        self.agent().decide(view)
    }

    fn is_spectator(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_spectator()
    }
}

/// The agent of a match in which the caller makes every decision: there is none.
#[derive(Clone)]
pub(crate) enum Nobody {}

impl Agent for Nobody {
    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        match *self {}
    }
}

/// A match that the caller steps from one of its decisions to the next. Agents make the decisions of their seats in
/// between; a seat without an agent is the caller's.
#[derive(Clone)]
pub(crate) struct Episode<A, W> {
    referee: Referee<A, W>,
    reward: Reward,
    /// The totals after the caller's last decision.
    totals: [Score; MAX_SEATS],
    /// What each seat gained with that decision.
    gains: [Score; MAX_SEATS],
    /// Why an agent could not continue.
    pub(crate) fault: Option<MatchError>,
}

impl<A: Agent, W: Observer> Episode<A, W> {
    /// A match in which the caller makes every decision. [`Episode::restart`] lets agents play.
    pub(crate) fn new(rules: &Rules, seats: usize, key: Key, reward: Reward, observer: W) -> Episode<A, W> {
        let players = Players::from((0..seats).map(|_| None).collect::<Vec<_>>());
        let referee = Referee::new(Deal::new(rules, key), players, observer);
        let referee = referee.expect("the rules were checked for these seats, and no agent can fail");
        let none = [Score::default(); MAX_SEATS];
        Episode { referee, reward, totals: none, gains: none, fault: None }
    }

    /// Begins the match of another deal and plays up to the caller's first decision.
    pub(crate) fn restart(&mut self, key: Key) {
        (self.totals, self.gains) = ([Score::default(); MAX_SEATS], [Score::default(); MAX_SEATS]);
        self.fault = self.referee.restart(key).err();
        self.let_agents_play();
    }

    /// Continues until the caller has to decide, the match is over, or an agent fails.
    #[inline]
    fn let_agents_play(&mut self) {
        while self.fault.is_none() {
            match self.referee.step() {
                Ok(Stepped::Decided(..)) => {}
                Ok(Stepped::Waiting(_) | Stepped::Over) => return,
                Err(error) => self.fault = Some(error),
            }
        }
    }

    /// Carries out a decision of the caller and everything that follows, up to the caller's next one.
    #[inline]
    pub(crate) fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        self.referee.act(action)?;
        self.let_agents_play();
        let before = self.totals.iter_mut().zip(&mut self.gains);
        for (&now, (total, gain)) in self.referee.playing().totals().iter().zip(before) {
            *gain = Score::from_units(now.units() - total.units());
            *total = now;
        }
        Ok(())
    }

    pub(crate) fn playing(&self) -> &Playing {
        self.referee.playing()
    }

    pub(crate) fn observer(&self) -> &W {
        self.referee.observer()
    }

    /// The agents by seat, to be exchanged before [`Episode::restart`].
    pub(crate) fn agents_mut(&mut self) -> &mut Vec<Option<A>> {
        self.referee.players_mut().agents_mut()
    }

    /// The seat that has to decide; `None` when the match is over.
    pub(crate) fn actor(&self) -> Option<Seat> {
        self.playing().state().actor()
    }

    pub(crate) fn reward(&self) -> Reward {
        self.reward
    }

    /// What the last decision brought each seat, seat a first.
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
pub(crate) type GameEpisode = Episode<Nobody, (RoundHistory, RoundLog)>;

impl GameEpisode {
    /// The match of a key after these decisions.
    pub(crate) fn replayed(
        rules: &Rules,
        seats: usize,
        key: Key,
        reward: Reward,
        actions: &[Action],
    ) -> PyResult<GameEpisode> {
        let observer = (RoundHistory::new(rules, seats), RoundLog::default());
        let mut episode = Episode::new(rules, seats, key, reward, observer);
        for &action in actions {
            episode.act(action).map_err(error::illegal)?;
        }
        Ok(episode)
    }

    /// What pickles hold of the match.
    pub(crate) fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let playing = self.playing();
        (PyRules(*playing.rules()), playing.seats(), seeds(playing.key()), self.reward.word(), texts(playing.actions()))
            .into_pyobject(py)
    }
}

/// The seeds and the deal of a key, as pickles hold them.
pub(crate) type Seeds = (String, String, u64);

pub(crate) fn seeds(key: Key) -> Seeds {
    (key.seed.to_string(), key.agents.to_string(), key.deal)
}

/// The key of seeds in a pickle.
pub(crate) fn key_of((seed, agents, deal): Seeds) -> PyResult<Key> {
    let read = |text: String| text.parse().map_err(|error| error::CambioError::new_err(format!("a seed: {error}")));
    Ok(Key { seed: read(seed)?, agents: read(agents)?, deal })
}

/// Decisions as pickles hold them.
pub(crate) fn texts(actions: &[Action]) -> String {
    actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The decisions of a text in a pickle.
pub(crate) fn actions_of(texts: &str) -> PyResult<Vec<Action>> {
    let texts = texts.split(',').filter(|text| !text.is_empty());
    texts.map(|text| text.parse().map_err(error::action)).collect()
}
