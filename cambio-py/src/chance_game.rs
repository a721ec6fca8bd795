//! The class `ChanceGame`: a match with explicit chance nodes.

use std::sync::Arc;

use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::play::{ChanceMatch, ChanceOutcome, RoundLog};
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::RoundHistory;
use cambio_core::{Action, Choices, Score, Seat, Standing, State};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyList, PyTuple};

use crate::action::{PyAction, decision, no_index};
use crate::args::named;
use crate::episode::{SeatKeys, score_reward};
use crate::game::shared_methods;
use crate::rules::{PyRules, tensor_space};
use crate::{args, error};

/// A match with explicit chance nodes, for game trees, solvers and `OpenSpiel`.
///
/// At a chance node, `outcomes()` returns the outcomes with their probabilities, and `play_chance(outcome)` selects one. At a
/// decision node, the match is stepped like a `Game`. A card's face is drawn when a seat first sees it. A race with only one
/// possible order is not a chance node. Seat 0 deals first.
///
/// `history` contains every step: the index of a decision, relative to its seat, or the number of an outcome. A match that is made with a
/// history continues from there.
#[pyclass(eq, name = "ChanceGame", module = "cambio_game")]
#[derive(Clone)]
pub(crate) struct PyChanceGame {
    game: ChanceMatch,
    observer: (RoundHistory, SeatKeys),
    history: Vec<u64>,
    /// The totals before the last decision.
    before: [Score; MAX_SEATS],
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

shared_methods!(PyChanceGame);

impl PyChanceGame {
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
        &self.observer.0
    }

    fn keys(&self) -> &SeatKeys {
        &self.observer.1
    }

    fn log(&self) -> &RoundLog {
        self.game.log()
    }

    /// The outcomes of the chance node, each with its number and probability.
    fn numbered(&self) -> PyResult<impl Iterator<Item = (u64, ChanceOutcome, f64)>> {
        let outcomes = self.game.outcomes();
        if outcomes.is_empty() {
            let what = if self.is_over() { "the match is over" } else { "this is not a chance node; see is_chance" };
            return Err(error::IllegalAction::new_err(what));
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
        self.history.push(number);
        let is_possible = self.game.resolve(outcome, &mut self.observer);
        debug_assert!(is_possible, "`outcome` returned one of the outcomes");
        Ok(())
    }

    fn decide(&mut self, seat: Seat, action: Action) -> PyResult<()> {
        let mut before = [Score::default(); MAX_SEATS];
        before.iter_mut().zip(self.standing().totals).for_each(|(before, total)| *before = *total);
        self.game.act(action, &mut self.observer).map_err(error::illegal)?;
        self.before = before;
        self.history.push(self.space.to_index(action, seat).expect("a legal decision has an index") as u64);
        Ok(())
    }

    /// Continues with an outcome at a chance node, or with an index at a decision node.
    fn advance(&mut self, step: u64) -> PyResult<()> {
        let Some(seat) = self.actor() else { return self.resolve(step) };
        let action = self.space.from_index(step as usize, seat);
        self.decide(seat, action.ok_or_else(|| no_index(&step.to_string(), self.space.action_count()))?)
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

properties! { PyChanceGame, this,
    repr = {
        let (name, seats, steps) = (this.standing().setup.rules.name(), this.seats(), this.history.len());
        let asked = match (this.is_chance(), this.actor()) {
            (true, _) => "at a chance node".to_owned(),
            (false, Some(seat)) => format!("seat {} to act", seat.index()),
            (false, None) => "over".to_owned(),
        };
        format!("<ChanceGame {name:?} at {seats} seats, {steps} steps, {asked}>")
    },
    hash = (this.standing().setup.rules.name(), this.seats()),
    reduce(py) = (py.get_type::<PyChanceGame>(), (this.rules(), this.seats(), this.history.clone()));
    /// Whether the match is over.
    is_over: bool = this.game.is_over();
    /// Whether the match is at a chance node.
    is_chance: bool = !this.game.outcomes().is_empty();
    /// All steps so far: indices of decisions and numbers of outcomes.
    history<'py>(py): PyResult<Bound<'py, PyTuple>> = PyTuple::new(py, &this.history);
}

#[pymethods]
impl PyChanceGame {
    #[new]
    #[pyo3(signature = (rules, seats = 2, history = Vec::new()), text_signature = "(rules, seats=2, history=())")]
    fn new(
        rules: PyRules,
        #[pyo3(from_py_with = named::seats)] seats: usize,
        history: Vec<u64>,
    ) -> PyResult<PyChanceGame> {
        let PyRules(rules) = rules;
        rules.covers(seats).map_err(error::rules)?;
        let mut observer = (RoundHistory::new(&rules, seats), SeatKeys::of_small(&rules, seats));
        let mut game = PyChanceGame {
            game: ChanceMatch::new(&rules, seats, &mut observer).map_err(error::rules)?,
            observer,
            history: Vec::new(),
            before: [Score::default(); MAX_SEATS],
            space: ActionSpace::new(&rules, seats),
            tensors: tensor_space(&rules, seats),
        };
        history.into_iter().try_for_each(|step| game.advance(step))?;
        Ok(game)
    }

    /// The outcomes of a chance node: the number and probability of each. Raises `IllegalAction` at any other node.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        // Many outcomes have the same probability; they share one object.
        let mut shared = PyFloat::new(py, 0.0);
        for (number, _, share) in self.numbered()? {
            if shared.value().to_bits() != share.to_bits() {
                shared = PyFloat::new(py, share);
            }
            list.append((number, &shared))?;
        }
        Ok(list)
    }

    /// An outcome as text: the label of a card, or the order of a race.
    fn outcome_text(&self, #[pyo3(from_py_with = named::outcome)] outcome: u64) -> PyResult<String> {
        Ok(match self.outcome(outcome)? {
            ChanceOutcome::Card(card) => self.standing().setup.rules.label(card).to_owned(),
            ChanceOutcome::Order(order) => order.seats().map(|seat| seat.to_string()).collect::<Vec<_>>().join(" "),
        })
    }

    /// Continues from a chance node with one of its outcomes.
    fn play_chance(&mut self, #[pyo3(from_py_with = named::outcome)] outcome: u64) -> PyResult<()> {
        self.resolve(outcome)
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

    /// The legal indices in ascending order, for `OpenSpiel`.
    fn _legal(&self) -> Vec<usize> {
        let mut indices = Vec::with_capacity(8);
        let choices = self.choices();
        self.space.each(&choices, choices.seat(), |index| indices.push(index));
        indices.sort_unstable();
        indices
    }

    /// The mask of the seat to act as a list of 0 and 1, for `OpenSpiel`.
    fn _mask_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut mask = vec![0_u32; self.space.action_count()];
        let choices = self.choices();
        self.space.each(&choices, choices.seat(), |index| mask[index] = 1);
        PyList::new(py, mask)
    }

    /// Continues with an outcome at a chance node, or with an index at a decision node, for `OpenSpiel`. Returns the seat to act next,
    /// −1 for a chance node, or −4 at the end.
    fn _apply(&mut self, step: u64) -> PyResult<i64> {
        self.advance(step)?;
        Ok(match self.actor() {
            Some(seat) => seat.index() as i64,
            None if self.is_over() => -4,
            None => -1,
        })
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
}

/// A one-hot number of a seat, followed by bytes, as a list of floats. The 256 floats are shared objects, so this takes a tenth of the time
/// of `numpy.ndarray.tolist`.
#[pyfunction]
pub(crate) fn _floats<'py>(
    py: Python<'py>,
    seat: usize,
    seats: usize,
    bytes: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyList>> {
    static FLOATS: PyOnceLock<Vec<Py<PyFloat>>> = PyOnceLock::new();
    let floats = FLOATS.get_or_init(py, || (0..=u8::MAX).map(|byte| PyFloat::new(py, byte.into()).unbind()).collect());
    let one_hot = (0..seats).map(|place| u8::from(place == seat));
    let all = one_hot.chain(bytes.as_slice()?.iter().copied()).collect::<Vec<_>>();
    PyList::new(py, all.into_iter().map(|byte| &floats[usize::from(byte)]))
}
