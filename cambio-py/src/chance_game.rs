//! A match whose chance the caller plays.

use std::fmt::Write as _;
use std::sync::Arc;

use cambio_core::knob::Race as RaceKnob;
use cambio_core::{
    Action, ActionSpace, Card, Chance, Chronicle, Event, Match, Race, RaceOrder, RoundResult, Rules, Score, Seat,
    Setup, State, TensorSpace,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::{PyAction, decision};
use crate::course::score_reward;
use crate::observation::{PyObservation, floats, mask_array, render};
use crate::rules::{PyLayout, PyRules, hash_of, tensor_space};
use crate::{args, error};

/// A question that chance has to answer, with each answer and its probability.
#[derive(Clone)]
enum Question {
    Card(Vec<(Card, f64)>),
    Order(Vec<(RaceOrder, f64)>),
}

/// An answer.
#[derive(Clone, Copy)]
enum Answer {
    Card(Card),
    Order(RaceOrder),
}

/// Chance that gives the answers that it has, and keeps the first question beyond them.
struct Script<'a> {
    answers: &'a [Answer],
    given: usize,
    asked: Option<Question>,
}

impl Script<'_> {
    fn next(&mut self) -> Option<Answer> {
        let answer = self.answers.get(self.given).copied();
        self.given += 1;
        answer.filter(|_| self.asked.is_none())
    }
}

impl Chance for Script<'_> {
    fn draw(&mut self, pool: &[Card]) -> usize {
        match self.next() {
            Some(Answer::Card(card)) => pool.iter().position(|&other| other == card).unwrap_or(0),
            _ => {
                if self.asked.is_none() {
                    self.asked = Some(Question::Card(shares(pool)));
                }
                0
            }
        }
    }

    fn shuffle(&mut self, _: &mut [Card]) {}

    fn race(&mut self, race: &Race<'_>) -> RaceOrder {
        let orders = orders(race);
        let first = orders[0].0;
        if orders.len() == 1 {
            return first;
        }
        match self.next() {
            Some(Answer::Order(order)) => order,
            _ => {
                if self.asked.is_none() {
                    self.asked = Some(Question::Order(orders));
                }
                first
            }
        }
    }
}

/// The different cards of a pool, each with its share.
fn shares(pool: &[Card]) -> Vec<(Card, f64)> {
    let mut cards = pool.to_vec();
    cards.sort_unstable();
    let mut shares: Vec<(Card, f64)> = Vec::new();
    for card in cards {
        match shares.last_mut().filter(|(last, _)| *last == card) {
            Some((_, count)) => *count += 1.0,
            None => shares.push((card, 1.0)),
        }
    }
    for (_, count) in &mut shares {
        *count /= pool.len() as f64;
    }
    shares
}

/// Every order of a race with its probability.
fn orders(race: &Race<'_>) -> Vec<(RaceOrder, f64)> {
    fn extend(race: &Race<'_>, left: &[Seat], so_far: &mut Vec<Seat>, share: f64, found: &mut Vec<(RaceOrder, f64)>) {
        if left.is_empty() {
            found.push((RaceOrder::new(so_far.iter().copied()), share));
            return;
        }
        let spec = race.rules.spec();
        let weight = |seat: Seat| match spec.race {
            RaceKnob::Weighted => f64::from(spec.race_weights.of(seat)),
            RaceKnob::Uniform | RaceKnob::TurnOrder => 1.0,
        };
        let all: f64 = left.iter().map(|&seat| weight(seat)).sum();
        let next = if spec.race == RaceKnob::TurnOrder { &left[..1] } else { left };
        for (place, &seat) in next.iter().enumerate() {
            let mut rest = left.to_vec();
            rest.remove(place);
            so_far.push(seat);
            let share = if next.len() < left.len() { share } else { share * weight(seat) / all };
            extend(race, &rest, so_far, share, found);
            so_far.pop();
        }
    }
    let mut found = Vec::new();
    let seats: Vec<Seat> = race.snappers.iter_from(race.turn).collect();
    extend(race, &seats, &mut Vec::new(), 1.0, &mut found);
    found
}

/// What is waiting for an answer of chance.
#[derive(Clone)]
struct Pending {
    /// The decision that is being carried out; `None` for a deal.
    action: Option<Action>,
    answers: Vec<Answer>,
    question: Question,
}

/// A match whose chance the caller plays, for trees, solvers and `OpenSpiel`.
///
/// At a chance node `outcomes()` says what can happen and how likely it is, and `play_chance(outcome)` goes on. A card's face is
/// decided when somebody first sees it. A question with one answer is no chance node. Elsewhere it is stepped as a `Game` is.
/// Seat 0 deals first.
///
/// `history` holds every step: the index of a decision as its seat counts, or the number of an outcome.
#[pyclass(eq, name = "ChanceGame", module = "cambio")]
#[derive(Clone)]
pub(crate) struct PyChanceGame {
    game: Match,
    state: Option<State>,
    chronicle: Chronicle,
    log: Vec<Event<Card>>,
    decided: Vec<(Seat, Action)>,
    /// What each seat perceived and decided in the rounds before.
    before: Vec<String>,
    pending: Option<Pending>,
    history: Vec<i64>,
    gained: Vec<Score>,
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

impl PyChanceGame {
    pub(crate) fn of(rules: &Rules, seats: usize) -> PyResult<PyChanceGame> {
        let setup = Setup::new(rules, seats);
        let game = Match::new(rules, seats, setup.starter).map_err(error::rules)?;
        let mut new = PyChanceGame {
            game,
            state: None,
            chronicle: Chronicle::new(rules, seats),
            log: Vec::new(),
            decided: Vec::new(),
            before: vec![String::new(); seats],
            pending: None,
            history: Vec::new(),
            gained: vec![Score::default(); seats],
            space: ActionSpace::new(rules, seats),
            tensors: tensor_space(rules, seats),
        };
        new.go_on(None, Vec::new());
        Ok(new)
    }

    /// Carries out a decision, or deals, with these answers; stops at the first question beyond them.
    fn go_on(&mut self, action: Option<Action>, answers: Vec<Answer>) {
        let mut script = Script { answers: &answers, given: 0, asked: None };
        let mut events: Vec<Event<Card>> = Vec::new();
        let mut sink = |event: &Event<Card>| events.push(*event);
        let state = match (action, &self.state) {
            (Some(action), Some(state)) => {
                let mut state = state.clone();
                state.carry_out(action, &mut script, &mut sink);
                state
            }
            _ => State::deal_latent(&self.game.setup(), &mut script, &mut sink)
                .expect("a match checks its rules and seats"),
        };
        if let Some(question) = script.asked {
            self.pending = Some(Pending { action, answers, question });
            return;
        }
        self.pending = None;
        match action {
            None => {
                self.log.clear();
                self.decided.clear();
                self.chronicle.stands(&self.game.standing());
            }
            Some(action) => {
                if let Some(seat) = self.state.as_ref().and_then(State::actor) {
                    self.decided.push((seat, action.canonical()));
                }
            }
        }
        for event in &events {
            self.chronicle.notice(event);
        }
        self.log.extend(events);
        let result = RoundResult::of(&state);
        self.state = Some(state);
        if let Some(result) = result {
            self.end_round(&result);
        }
    }

    fn end_round(&mut self, result: &RoundResult) {
        let before = self.game.totals().to_vec();
        self.game.add(result);
        for ((gained, now), before) in self.gained.iter_mut().zip(self.game.totals()).zip(before) {
            *gained = Score::from_units(now.units() - before.units());
        }
        if !self.game.is_over() {
            for seat in Seat::ALL.into_iter().take(self.game.seats()) {
                self.before[seat.index()] = self.memory(seat) + "/";
            }
            self.go_on(None, Vec::new());
        }
    }

    /// What a seat perceived and decided, as text.
    fn memory(&self, seat: Seat) -> String {
        let mut text = self.before[seat.index()].clone();
        for event in &self.log {
            let _ = write!(text, "{:x} ", event.seen_from(seat).code());
        }
        text.push('|');
        for (_, action) in self.decided.iter().filter(|(who, _)| *who == seat) {
            let _ = write!(text, "{:x} ", action.code());
        }
        text
    }

    fn actor(&self) -> Option<Seat> {
        if self.pending.is_some() || self.game.is_over() {
            return None;
        }
        self.state.as_ref().and_then(State::actor)
    }

    /// The state, if a round has been dealt.
    fn dealt(&self) -> PyResult<&State> {
        let none = || error::IllegalAction::new_err("nothing is dealt yet: chance is asked first; see outcomes()");
        self.state.as_ref().ok_or_else(none)
    }

    fn seat_of(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<Seat> {
        match seat {
            Some(seat) => args::seat(seat, self.game.seats()),
            None => Ok(self.actor().unwrap_or(Seat::A)),
        }
    }

    fn question(&self) -> PyResult<&Pending> {
        let none = || error::IllegalAction::new_err("chance is not asked; see is_chance");
        self.pending.as_ref().ok_or_else(none)
    }

    fn answer(&self, outcome: u64) -> PyResult<Answer> {
        let found = match &self.question()?.question {
            Question::Card(cards) => {
                cards.iter().find(|(card, _)| card.kind() as u64 == outcome).map(|&(card, _)| Answer::Card(card))
            }
            Question::Order(orders) => orders.get(outcome as usize).map(|&(order, _)| Answer::Order(order)),
        };
        found.ok_or_else(|| error::ActionError::new_err(format!("{outcome} is no outcome here; see outcomes()")))
    }

    fn play(&mut self, answer: Answer, outcome: u64) {
        let Some(mut pending) = self.pending.take() else { return };
        self.history.push(outcome as i64);
        pending.answers.push(answer);
        self.go_on(pending.action, pending.answers);
    }

    fn decide(&mut self, seat: Seat, action: Action) -> PyResult<()> {
        let state = self.dealt()?;
        if !state.allows(action) {
            let illegal = cambio_core::IllegalAction { action, actor: Some(seat), legal: state.choices() };
            return Err(error::illegal(illegal));
        }
        let index = self.space.to_index(action, seat).map_or(-1, |index| index as i64);
        self.history.push(index);
        self.gained.fill(Score::default());
        self.go_on(Some(action.canonical()), Vec::new());
        Ok(())
    }
}

impl PartialEq for PyChanceGame {
    fn eq(&self, other: &PyChanceGame) -> bool {
        *self.game.rules() == *other.game.rules()
            && self.game.seats() == other.game.seats()
            && self.history == other.history
    }
}

#[pymethods]
impl PyChanceGame {
    #[new]
    #[pyo3(signature = (rules, seats = None), text_signature = "(rules, seats=2)")]
    fn new(rules: &Bound<'_, PyAny>, seats: Option<&Bound<'_, PyAny>>) -> PyResult<PyChanceGame> {
        let rules = crate::rules::read(rules)?;
        let seats = seats.map_or(Ok(2), |seats| args::seats(seats, &rules))?;
        PyChanceGame::of(&rules, seats)
    }

    /// The rules.
    #[getter]
    fn rules(&self) -> PyRules {
        PyRules(*self.game.rules())
    }

    /// The number of seats.
    #[getter]
    fn seats(&self) -> usize {
        self.game.seats()
    }

    /// Whether the match is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// Whether chance is asked.
    #[getter]
    fn is_chance(&self) -> bool {
        self.pending.is_some()
    }

    /// The seat that is asked, from 0; `None` at a chance node and when the match is over.
    #[getter]
    fn seat(&self) -> Option<usize> {
        self.actor().map(Seat::index)
    }

    /// How many rounds have ended.
    #[getter]
    fn round(&self) -> usize {
        self.game.rounds()
    }

    /// The totals of the rounds that ended, seat 0 first.
    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        floats(py, self.game.totals())
    }

    /// Every step so far: indices of decisions and numbers of outcomes.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.history)
    }

    /// The layout of observation tensors.
    #[getter]
    fn layout(&self) -> PyLayout {
        PyLayout::shared(self.game.rules(), self.game.seats(), &self.tensors)
    }

    /// The number of indices of decisions.
    #[getter]
    fn action_count(&self) -> usize {
        self.space.action_count()
    }

    /// What can happen at a chance node: the number of each outcome and its probability. Raises `IllegalAction` elsewhere.
    fn outcomes(&self) -> PyResult<Vec<(i64, f64)>> {
        Ok(match &self.question()?.question {
            Question::Card(cards) => cards.iter().map(|&(card, share)| (card.kind() as i64, share)).collect(),
            Question::Order(orders) => orders.iter().enumerate().map(|(n, &(_, share))| (n as i64, share)).collect(),
        })
    }

    /// An outcome in words: the label of a card, or the order of a race.
    fn outcome_text(&self, outcome: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(match self.answer(args::whole(outcome, "outcome", 0, u64::MAX)?)? {
            Answer::Card(card) => self.game.rules().label(card).to_owned(),
            Answer::Order(order) => order.seats().map(|seat| seat.to_string()).collect::<Vec<_>>().join(" "),
        })
    }

    /// Goes on with an outcome of chance.
    fn play_chance(&mut self, outcome: &Bound<'_, PyAny>) -> PyResult<()> {
        let outcome = args::whole(outcome, "outcome", 0, u64::MAX)?;
        let answer = self.answer(outcome)?;
        self.play(answer, outcome);
        Ok(())
    }

    /// The legal decisions of the seat that is asked; none at a chance node and when the match is over.
    fn legal_actions(&self) -> Vec<PyAction> {
        match (self.actor(), &self.state) {
            (Some(_), Some(state)) => state.choices().iter().map(PyAction).collect(),
            _ => Vec::new(),
        }
    }

    /// The indices of the legal decisions, in the order of `legal_actions`: shape `(n,)`, dtype `int64`.
    fn legal_indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let (Some(seat), Some(state)) = (self.actor(), &self.state) else { return PyArray1::from_vec(py, Vec::new()) };
        let choices = state.choices();
        let indices = choices.iter().filter_map(|action| self.space.to_index(action, seat));
        PyArray1::from_iter(py, indices.map(|index| index as i64))
    }

    /// A mask over the indices of decisions, all false where the seat is not asked: shape `(action_count,)`, dtype `bool`.
    #[pyo3(signature = (seat = None))]
    fn mask<'py>(&self, py: Python<'py>, seat: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let seat = self.seat_of(seat)?;
        if self.actor() != Some(seat) {
            return Ok(PyArray1::from_vec(py, vec![false; self.space.action_count()]).into_any());
        }
        Ok(mask_array(py, &self.dealt()?.view(seat), &self.space))
    }

    /// The observation tensor of a seat, as `layout` has it: shape `(layout.size,)`, dtype `uint8`.
    #[pyo3(signature = (seat = None))]
    fn tensor<'py>(&self, py: Python<'py>, seat: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let view = self.dealt()?.view(self.seat_of(seat)?);
        let mut tensor = vec![0_u8; self.tensors.len()];
        self.tensors.write(&view, &self.chronicle, &mut tensor);
        Ok(PyArray1::from_vec(py, tensor))
    }

    /// What a seat may know now; the seat that is asked, if none is named. Raises `IllegalAction` before the first deal.
    #[pyo3(signature = (seat = None))]
    fn observe(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<PyObservation> {
        let seat = self.seat_of(seat)?;
        let sightings = self.log.iter().map(|event| event.seen_from(seat)).collect();
        let decided = self.decided.iter().filter(|(who, _)| *who == seat).map(|&(_, action)| action).collect();
        Ok(PyObservation::new(self.dealt()?, seat, &self.game.standing(), sightings, decided))
    }

    /// Carries out a decision: an `Action`, its notation or its index. Raises `IllegalAction` if it is not legal, or nobody is
    /// asked; nothing has changed then.
    fn step(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(seat) = self.actor() else {
            let what =
                if self.is_chance() { "chance is asked; see outcomes()" } else { "the match is over: nobody is asked" };
            return Err(error::IllegalAction::new_err(what));
        };
        self.decide(seat, decision(action, &self.space, seat)?)
    }

    /// A text of what a seat has perceived and decided since the match began: perfect recall.
    fn information_state(&self, seat: &Bound<'_, PyAny>) -> PyResult<String> {
        let seat = args::seat(seat, self.game.seats())?;
        Ok(format!("{seat}{} {}", self.game.seats(), self.memory(seat)))
    }

    /// What each seat got since the last decision, seat 0 first: the change of the totals, more being better.
    fn rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.gained.iter().map(|&score| score_reward(self.game.rules(), score)))
    }

    /// What each seat has got since the match began, seat 0 first: the totals, more being better.
    fn returns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.game.totals().iter().map(|&score| score_reward(self.game.rules(), score)))
    }

    /// The table as a seat sees it, as text.
    #[pyo3(signature = (seat = None))]
    fn render(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let seat = self.seat_of(seat)?;
        let standing = self.game.standing();
        Ok(match &self.state {
            Some(state) => render(&state.view(seat), standing.round, standing.totals),
            None => "nothing is dealt yet\n".to_owned(),
        })
    }

    /// A copy that goes on by itself.
    fn copy(&self) -> PyChanceGame {
        self.clone()
    }

    fn __str__(&self) -> PyResult<String> {
        self.render(None)
    }

    fn __repr__(&self) -> String {
        let (name, seats, steps) = (self.game.rules().name(), self.game.seats(), self.history.len());
        let asked = match (self.is_chance(), self.actor()) {
            (true, _) => "chance asked".to_owned(),
            (false, Some(seat)) => format!("seat {} asked", seat.index()),
            (false, None) => "over".to_owned(),
        };
        format!("<ChanceGame {name:?} at {seats} seats, {steps} steps, {asked}>")
    }

    fn __hash__(&self) -> u64 {
        hash_of(&(self.game.rules().name(), self.game.seats()))
    }

    fn __copy__(&self) -> PyChanceGame {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyChanceGame {
        self.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let thaw = py.import("cambio._cambio")?.getattr("_chance_game")?;
        (thaw, (self.rules(), self.game.seats(), self.history.clone())).into_pyobject(py)
    }
}

/// A match from its steps, for `pickle`.
#[pyfunction(name = "_chance_game")]
pub(crate) fn chance_game(
    rules: &Bound<'_, PyAny>,
    seats: &Bound<'_, PyAny>,
    history: Vec<i64>,
) -> PyResult<PyChanceGame> {
    let rules = crate::rules::read(rules)?;
    let mut game = PyChanceGame::of(&rules, args::seats(seats, &rules)?)?;
    for step in history {
        let number = u64::try_from(step).map_err(|_| error::ActionError::new_err(format!("{step} is no step")))?;
        match game.actor() {
            Some(seat) => {
                let action = game.space.from_index(number as usize, seat);
                let action = action.ok_or_else(|| error::ActionError::new_err(format!("{step} is no decision")))?;
                game.decide(seat, action)?;
            }
            None => {
                let answer = game.answer(number)?;
                game.play(answer, number);
            }
        }
    }
    Ok(game)
}
