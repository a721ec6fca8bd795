//! A match in progress with what observations tell of its past.

use cambio_core::rng::Key;
use cambio_core::{
    Action, Card, Chronicle, Event, IllegalAction, Playing, Rules, RulesError, Score, Seat, Sighting, State,
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

/// The rank of each seat as a number from 1, the best, to −1: with ties the mean of the places that they share.
pub(crate) fn rank_reward(ranks: &[usize], seat: usize) -> f64 {
    let equal = ranks.iter().filter(|&&rank| rank == ranks[seat]).count();
    // 2 · (seats − midrank) / (seats − 1) − 1, with the midrank doubled.
    let doubled = 2 * ranks[seat] + equal - 1;
    let seats = ranks.len();
    (2 * seats as i64 - doubled as i64) as f64 / (seats - 1) as f64 - 1.0
}

/// 1 where more of a score is better, −1 where less is.
fn sign(rules: &Rules) -> f64 {
    if rules.spec().best == cambio_core::knob::Best::Most { 1.0 } else { -1.0 }
}

/// A score as a float, more being better.
pub(crate) fn score_reward(rules: &Rules, score: Score) -> f64 {
    let reward = sign(rules) * f64::from(score.units()) / f64::from(Score::UNITS);
    // No negative zero.
    reward + 0.0
}

/// A match in progress.
#[derive(Clone)]
pub(crate) struct Course {
    pub(crate) playing: Playing,
    pub(crate) chronicle: Chronicle,
    /// The events since the deal of the round.
    log: Vec<Event<Card>>,
    /// The decisions of the round, each with who made it.
    decided: Vec<(Seat, Action)>,
    /// The totals before the last decision.
    before: [Score; 8],
    pub(crate) reward: Reward,
}

impl Course {
    pub(crate) fn new(rules: &Rules, seats: usize, key: Key, reward: Reward) -> Result<Course, RulesError> {
        let playing = Playing::new(rules, seats, key)?;
        let mut course = Course {
            playing,
            chronicle: Chronicle::new(rules, seats),
            log: Vec::with_capacity(256),
            decided: Vec::with_capacity(64),
            before: [Score::default(); 8],
            reward,
        };
        course.take_in();
        Ok(course)
    }

    /// The match after these decisions.
    pub(crate) fn replayed(
        rules: &Rules,
        seats: usize,
        key: Key,
        reward: Reward,
        actions: &[Action],
    ) -> PyResult<Course> {
        let mut course = Course::new(rules, seats, key, reward).map_err(error::rules)?;
        for &action in actions {
            course.act(action).map_err(error::illegal)?;
        }
        Ok(course)
    }

    /// What pickles hold of the match.
    pub(crate) fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let key = self.playing.key();
        let seeds = (key.seed.to_string(), key.agents.to_string(), key.deal);
        let actions: Vec<String> = self.playing.actions().iter().map(ToString::to_string).collect();
        (PyRules(*self.rules()), self.seats(), seeds, self.reward.word(), actions.join(",")).into_pyobject(py)
    }

    pub(crate) fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        let Some(seat) = self.playing.state().actor() else { return self.playing.act(action).map(|_| ()) };
        let rounds = self.playing.rounds();
        let mut before = [Score::default(); 8];
        before[..self.playing.seats()].copy_from_slice(self.playing.totals());
        self.playing.act(action)?;
        self.before = before;
        self.decided.push((seat, action.canonical()));
        if self.playing.rounds() != rounds && !self.playing.is_over() {
            self.decided.clear();
        }
        self.take_in();
        Ok(())
    }

    /// Takes in the events since the last decision.
    fn take_in(&mut self) {
        for event in self.playing.events() {
            if let Event::Dealt { .. } = event {
                self.log.clear();
                self.chronicle.stands(&self.playing.standing());
            }
            self.log.push(*event);
            self.chronicle.notice(event);
        }
    }

    pub(crate) fn seats(&self) -> usize {
        self.playing.seats()
    }

    pub(crate) fn rules(&self) -> &Rules {
        self.playing.rules()
    }

    pub(crate) fn state(&self) -> &State {
        self.playing.state()
    }

    pub(crate) fn actor(&self) -> Option<Seat> {
        if self.playing.is_over() { None } else { self.playing.state().actor() }
    }

    /// What a seat perceived of the round.
    pub(crate) fn sightings(&self, seat: Seat) -> Vec<Sighting> {
        self.log.iter().map(|event| event.seen_from(seat)).collect()
    }

    /// What a seat decided in the round.
    pub(crate) fn decided(&self, seat: Seat) -> Vec<Action> {
        self.decided.iter().filter(|(who, _)| *who == seat).map(|&(_, action)| action).collect()
    }

    /// What the last decision brought each seat.
    pub(crate) fn rewards(&self) -> Vec<f64> {
        match self.reward {
            Reward::Rank => {
                let ranks = self.playing.result().map(|result| result.ranks);
                (0..self.seats()).map(|seat| ranks.as_ref().map_or(0.0, |ranks| rank_reward(ranks, seat))).collect()
            }
            Reward::Score => {
                let gained = self.playing.totals().iter().zip(&self.before);
                let gained = gained.map(|(now, before)| Score::from_units(now.units() - before.units()));
                gained.map(|score| score_reward(self.rules(), score)).collect()
            }
        }
    }

    pub(crate) fn is_same(&self, other: &Course) -> bool {
        *self.rules() == *other.rules()
            && self.seats() == other.seats()
            && self.playing.key() == other.playing.key()
            && self.reward == other.reward
            && self.playing.actions() == other.playing.actions()
    }
}
