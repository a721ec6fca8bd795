//! The class `ChanceGame`: a match with explicit chance nodes.

use std::sync::Arc;

use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::play::{ChanceMatch, ChanceOutcome, RoundLog};
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::RoundHistory;
use cambio_core::{Action, Choices, Rules, Score, Seat, Standing, State};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::{PyAction, decision};
use crate::episode::score_reward;
use crate::game::shared_methods;
use crate::rules::{self, hash_of, tensor_space};
use crate::{args, error};

/// A match with explicit chance nodes, for game trees, solvers and `OpenSpiel`.
///
/// At a chance node, `outcomes()` returns the outcomes with their probabilities, and `play_chance(outcome)` selects one. At a
/// decision node, the match is stepped like a `Game`. A card's face is drawn when a seat first sees it. A race with only one
/// possible order is not a chance node. Seat 0 deals first.
///
/// `history` contains every step: the index of a decision, relative to its seat, or the number of an outcome.
#[pyclass(eq, name = "ChanceGame", module = "cambio_game")]
#[derive(Clone)]
pub(crate) struct PyChanceGame {
    game: ChanceMatch,
    round_history: RoundHistory,
    history: Vec<i64>,
    /// The totals before the last decision.
    before: [Score; MAX_SEATS],
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

shared_methods!(PyChanceGame);

impl PyChanceGame {
    pub(crate) fn of(rules: &Rules, seats: usize) -> PyResult<PyChanceGame> {
        let mut round_history = RoundHistory::new(rules, seats);
        Ok(PyChanceGame {
            game: ChanceMatch::new(rules, seats, &mut round_history).map_err(error::rules)?,
            round_history,
            history: Vec::new(),
            before: [Score::default(); MAX_SEATS],
            space: ActionSpace::new(rules, seats),
            tensors: tensor_space(rules, seats),
        })
    }

    fn standing(&self) -> Standing<'_> {
        self.game.standing()
    }

    /// The state, if a round has been dealt.
    fn dealt(&self) -> PyResult<&State> {
        let none = || error::IllegalAction::new_err("no cards are dealt yet: call play_chance() first");
        self.game.state().ok_or_else(none)
    }

    fn actor(&self) -> Option<Seat> {
        self.game.actor()
    }

    fn round_history(&self) -> &RoundHistory {
        &self.round_history
    }

    fn log(&self) -> &RoundLog {
        self.game.log()
    }

    /// The outcomes of the chance node, each with its number and probability.
    fn numbered(&self) -> PyResult<impl Iterator<Item = (u64, ChanceOutcome, f64)>> {
        let outcomes = self.game.outcomes();
        if outcomes.is_empty() {
            return Err(error::IllegalAction::new_err("this is not a chance node; see is_chance"));
        }
        Ok(outcomes.iter().enumerate().map(|(place, &(outcome, share))| match outcome {
            ChanceOutcome::Card(card) => (card.kind() as u64, outcome, share),
            ChanceOutcome::Order(_) => (place as u64, outcome, share),
        }))
    }

    fn outcome(&self, number: u64) -> PyResult<ChanceOutcome> {
        let found = self.numbered()?.find(|&(other, ..)| other == number);
        let none = || error::ActionError::new_err(format!("`outcome` must be one of outcomes(), found {number}"));
        found.map(|(_, outcome, _)| outcome).ok_or_else(none)
    }

    fn resolve(&mut self, number: u64) -> PyResult<()> {
        let outcome = self.outcome(number)?;
        self.history.push(number as i64);
        let is_possible = self.game.resolve(outcome, &mut self.round_history);
        debug_assert!(is_possible, "`outcome` returned one of the outcomes");
        Ok(())
    }

    fn decide(&mut self, seat: Seat, action: Action) -> PyResult<()> {
        let mut before = [Score::default(); MAX_SEATS];
        before.iter_mut().zip(self.standing().totals).for_each(|(before, total)| *before = *total);
        self.game.act(action, &mut self.round_history).map_err(error::illegal)?;
        self.before = before;
        self.history.push(self.space.to_index(action, seat).map_or(-1, |index| index as i64));
        Ok(())
    }

    fn rewarded<'py>(&self, py: Python<'py>, scores: impl Iterator<Item = Score>) -> PyResult<Bound<'py, PyTuple>> {
        let rules = self.standing().setup.rules;
        PyTuple::new(py, scores.map(|score| score_reward(&rules, score)).collect::<Vec<_>>())
    }
}

impl PartialEq for PyChanceGame {
    fn eq(&self, other: &PyChanceGame) -> bool {
        let table = |game: &PyChanceGame| (game.standing().setup.rules, game.standing().setup.seats);
        table(self) == table(other) && self.history == other.history
    }
}

#[pymethods]
impl PyChanceGame {
    #[new]
    #[pyo3(signature = (rules, seats = None), text_signature = "(rules, seats=2)")]
    fn new(rules: &Bound<'_, PyAny>, seats: Option<&Bound<'_, PyAny>>) -> PyResult<PyChanceGame> {
        let (rules, seats) = rules::table_or_default(Some(rules), seats)?;
        PyChanceGame::of(&rules, seats)
    }

    /// Whether the match is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// Whether the match is at a chance node.
    #[getter]
    fn is_chance(&self) -> bool {
        !self.game.outcomes().is_empty()
    }

    /// All steps so far: indices of decisions and numbers of outcomes.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.history)
    }

    /// The outcomes of a chance node: the number and probability of each. Raises `IllegalAction` at any other node.
    fn outcomes(&self) -> PyResult<Vec<(u64, f64)>> {
        Ok(self.numbered()?.map(|(number, _, share)| (number, share)).collect())
    }

    /// An outcome as text: the label of a card, or the order of a race.
    fn outcome_text(&self, outcome: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(match self.outcome(args::whole(outcome, "outcome", 0, u64::MAX)?)? {
            ChanceOutcome::Card(card) => self.standing().setup.rules.label(card).to_owned(),
            ChanceOutcome::Order(order) => order.seats().map(|seat| seat.to_string()).collect::<Vec<_>>().join(" "),
        })
    }

    /// Continues from a chance node with one of its outcomes.
    fn play_chance(&mut self, outcome: &Bound<'_, PyAny>) -> PyResult<()> {
        self.resolve(args::whole(outcome, "outcome", 0, u64::MAX)?)
    }

    /// Carries out a decision: an `Action`, its notation or its index. Raises `IllegalAction` if it is not legal, or if no seat
    /// has to decide; the match is then unchanged.
    fn step(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(seat) = self.actor() else {
            let what = if self.is_chance() { "this is a chance node; call play_chance()" } else { "the match is over" };
            return Err(error::IllegalAction::new_err(what));
        };
        self.decide(seat, decision(action, &self.space, seat)?)
    }

    /// A seat's information state as text: all that it has perceived and decided since the match began (perfect recall).
    fn information_state(&self, seat: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.game.information_state(args::seat(seat, self.seats())?))
    }

    /// Each seat's reward since the last decision, seat 0 first: the change of its total; more is better.
    fn rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let totals = self.standing().totals.iter().zip(&self.before);
        self.rewarded(py, totals.map(|(now, before)| Score::from_units(now.units() - before.units())))
    }

    /// Each seat's return since the match began, seat 0 first: its total, signed so that more is better.
    fn returns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.rewarded(py, self.standing().totals.iter().copied())
    }

    fn __repr__(&self) -> String {
        let (name, seats, steps) = (self.standing().setup.rules.name(), self.seats(), self.history.len());
        let asked = match (self.is_chance(), self.actor()) {
            (true, _) => "at a chance node".to_owned(),
            (false, Some(seat)) => format!("seat {} to act", seat.index()),
            (false, None) => "over".to_owned(),
        };
        format!("<ChanceGame {name:?} at {seats} seats, {steps} steps, {asked}>")
    }

    fn __hash__(&self) -> u64 {
        hash_of(&(self.standing().setup.rules.name(), self.seats()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let thaw = py.import("cambio_game._cambio")?.getattr("_chance_game")?;
        (thaw, (self.rules(), self.seats(), self.history.clone())).into_pyobject(py)
    }
}

/// Restores a match from its steps, for `pickle`.
#[pyfunction(name = "_chance_game")]
pub(crate) fn chance_game(
    rules: &Bound<'_, PyAny>,
    seats: &Bound<'_, PyAny>,
    history: Vec<i64>,
) -> PyResult<PyChanceGame> {
    let (rules, seats) = rules::table(rules, seats)?;
    let mut game = PyChanceGame::of(&rules, seats)?;
    for step in history {
        let number = u64::try_from(step).map_err(|_| error::ActionError::new_err(format!("{step} is not a step")))?;
        match game.actor() {
            Some(seat) => {
                let action = game.space.from_index(number as usize, seat);
                let action = action.ok_or_else(|| error::ActionError::new_err(format!("{step} is not a decision")))?;
                game.decide(seat, action)?;
            }
            None => game.resolve(number)?,
        }
    }
    Ok(game)
}
