//! Decisions and events.

use std::fmt::Write as _;

use cambio_core::{Action, ActionSpace, Card, Event, Rules, Seat, Sighting, Spot};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::rules::{self, PyRules, hash_of};
use crate::{args, error};

/// A decision, by its notation: `draw`, `keep a3`, `swap a1 b2`.
///
/// An index is that of the decision in the action space of a table: fixed for rules and a number of seats, and relative to
/// the seat that decides, so that one policy serves every seat.
///
///     >>> cambio.Action("snap b3").index("classic", 2, 1)
///     57
#[pyclass(frozen, eq, name = "Action", module = "cambio")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PyAction(pub(crate) Action);

/// The error of an index that no decision has.
pub(crate) fn no_index(found: &str, count: usize) -> PyErr {
    error::ActionError::new_err(format!("{found} is no decision; allowed are the indices 0 to {}", count - 1))
}

/// The decision that a caller means: an `Action`, a notation, or an index as `seat` counts.
pub(crate) fn decision(value: &Bound<'_, PyAny>, space: &ActionSpace, seat: Seat) -> PyResult<Action> {
    if let Ok(action) = value.cast::<PyAction>() {
        return Ok(action.get().0);
    }
    match value.extract::<usize>() {
        Ok(index) => {
            return space.from_index(index, seat).ok_or_else(|| no_index(&index.to_string(), space.action_count()));
        }
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            return Err(no_index(&args::shown(value), space.action_count()));
        }
        Err(_) => {}
    }
    match value.cast::<PyString>() {
        Ok(text) => text.to_cow()?.parse().map_err(error::action),
        Err(_) => {
            let found = args::type_of(value);
            Err(PyTypeError::new_err(format!("the decision is a {found}; allowed are an Action, a text or an index")))
        }
    }
}

fn texts(py: Python<'_>, spots: [Option<Spot>; 2]) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, spots.into_iter().flatten().map(|spot| spot.to_string()).collect::<Vec<_>>())
}

#[pymethods]
impl PyAction {
    #[new]
    fn new(notation: &Bound<'_, PyAny>) -> PyResult<PyAction> {
        if let Ok(action) = notation.cast::<PyAction>() {
            return Ok(*action.get());
        }
        let Ok(text) = notation.cast::<PyString>() else {
            let found = args::type_of(notation);
            return Err(PyTypeError::new_err(format!("the notation is a {found}; allowed is a text")));
        };
        text.to_cow()?.parse().map(PyAction).map_err(error::action)
    }

    /// The decision of `seat` with this index.
    #[staticmethod]
    fn from_index(
        index: &Bound<'_, PyAny>,
        rules: &Bound<'_, PyAny>,
        seats: &Bound<'_, PyAny>,
        seat: &Bound<'_, PyAny>,
    ) -> PyResult<PyAction> {
        let (rules, seats) = rules::table(rules, seats)?;
        let seat = args::seat(seat, seats)?;
        let space = ActionSpace::new(&rules, seats);
        let index = args::whole(index, "index", 0, space.action_count() as u64 - 1)?;
        let found = space.from_index(index as usize, seat);
        found.map(PyAction).ok_or_else(|| no_index(&index.to_string(), space.action_count()))
    }

    /// The index of the decision, made by `seat`. Raises `ActionError` if no seat can decide so there.
    fn index(&self, rules: &Bound<'_, PyAny>, seats: &Bound<'_, PyAny>, seat: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (rules, seats) = rules::table(rules, seats)?;
        let seat = args::seat(seat, seats)?;
        ActionSpace::new(&rules, seats).to_index(self.0, seat).ok_or_else(|| {
            error::ActionError::new_err(format!(
                "`{}` has no index for seat {seat} of {seats} under these rules",
                self.0
            ))
        })
    }

    /// The first word of the notation.
    #[getter]
    fn verb(&self) -> String {
        self.0.to_string().split(' ').next().unwrap_or_default().to_owned()
    }

    /// The spots that the decision names.
    #[getter]
    fn spots<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        texts(py, self.0.spots())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Action({:?})", self.0.to_string())
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.0.code())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<PyAction>(), (self.0.to_string(),)).into_pyobject(py)
    }
}

/// Something that happened, as a seat perceived it. A face that the seat did not see is `None`.
#[pyclass(frozen, eq, name = "Event", module = "cambio")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PyEvent {
    rules: Rules,
    sighting: Sighting,
}

impl PyEvent {
    pub(crate) fn new(rules: &Rules, sighting: Sighting) -> PyEvent {
        PyEvent { rules: *rules, sighting }
    }

    /// The event with every face, for referees.
    pub(crate) fn of_referee(rules: &Rules, event: &Event<Card>) -> PyEvent {
        let sighting = event.private().map_or_else(|| event.public(), |(witness, _)| event.seen_from(witness));
        PyEvent { rules: *rules, sighting }
    }

    /// What it says: the kind, the seat, the spots, the card.
    fn parts(&self) -> (&'static str, Option<Seat>, [Option<Spot>; 2], Option<Card>) {
        let none = [None; 2];
        match self.sighting {
            Event::Dealt { starter, .. } => ("dealt", Some(starter), none, None),
            Event::Peeked { seat, spot, face } => ("peeked", Some(seat), [Some(spot), None], face),
            Event::Flipped { card } => ("flipped", None, none, Some(card)),
            Event::TurnBegan { seat } => ("turn began", Some(seat), none, None),
            Event::Drew { seat, face } => ("drew", Some(seat), none, face),
            Event::Took { seat, card } => ("took", Some(seat), none, Some(card)),
            Event::Dropped { seat, card } => ("dropped", Some(seat), none, Some(card)),
            Event::Kept { seat, spot, replaced } => ("kept", Some(seat), [Some(spot), None], Some(replaced)),
            Event::Looked { seat, spot, face } => ("looked", Some(seat), [Some(spot), None], face),
            Event::Swapped { seat, one, other } => ("swapped", Some(seat), [Some(one), Some(other)], None),
            Event::Shown { spot, card } => ("shown", None, [Some(spot), None], Some(card)),
            Event::Skipped { seat } => ("skipped", Some(seat), none, None),
            Event::Touched { seat, spot } => ("touched", Some(seat), [Some(spot), None], None),
            Event::Snapped { seat, spot, card, verdict } => {
                let kind = ["snapped right", "snapped wrong", "snapped late"][usize::from(verdict.code()) - 1];
                (kind, Some(seat), [Some(spot), None], Some(card))
            }
            Event::Aborted { seat } => ("aborted", Some(seat), none, None),
            Event::Penalised { seat, spot } => ("penalised", Some(seat), [Some(spot), None], None),
            Event::PenaltyWaived { seat } => ("penalty waived", Some(seat), none, None),
            Event::Gave { seat, from, to } => ("gave", Some(seat), [Some(from), Some(to)], None),
            Event::Called { seat } => ("called", Some(seat), none, None),
            Event::BecameSafe { seat } => ("became safe", Some(seat), none, None),
            Event::Reshuffled { .. } => ("reshuffled", None, none, None),
            Event::Ended { .. } => ("ended", None, none, None),
            Event::TurnedUp { spot, card } => ("turned up", None, [Some(spot), None], Some(card)),
        }
    }
}

#[pymethods]
impl PyEvent {
    /// What happened, in words: `drew`, `kept`, `snapped wrong`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.parts().0
    }

    /// The seat that did it, or whom it concerns; `None` where there is none.
    #[getter]
    fn seat(&self) -> Option<usize> {
        self.parts().1.map(Seat::index)
    }

    /// The spots that it names. The card that was kept replaced the one there; a gift goes from the first to the second.
    #[getter]
    fn spots<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        texts(py, self.parts().2)
    }

    /// The label of the card whose face the seat saw; for `kept`, of the card that went onto the pile.
    #[getter]
    fn card(&self) -> Option<&'static str> {
        self.parts().3.map(|card| self.rules.label(card))
    }

    /// A number of 56 bits; different events have different numbers.
    #[getter]
    fn code(&self) -> u64 {
        self.sighting.code()
    }

    fn __str__(&self) -> String {
        let (kind, seat, spots, card) = self.parts();
        let mut text = seat.map_or_else(String::new, |seat| format!("{seat} ")) + kind;
        for spot in spots.into_iter().flatten() {
            let _ = write!(text, " {spot}");
        }
        if let Some(card) = card {
            let _ = write!(text, " ({})", self.rules.label(card));
        }
        if let Event::Ended { reason } = self.sighting {
            let _ = write!(text, " by {}", reason.word());
        }
        text
    }

    fn __repr__(&self) -> String {
        format!("<Event {:?}>", self.__str__())
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.sighting.code())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let thaw = py.import("cambio._cambio")?.getattr("_event")?;
        (thaw, (PyRules(self.rules), self.sighting.code())).into_pyobject(py)
    }
}

/// The event with a code, for `pickle`.
#[pyfunction(name = "_event")]
pub(crate) fn event(rules: &Bound<'_, PyAny>, code: u64) -> PyResult<PyEvent> {
    let rules = crate::rules::read(rules)?;
    let sighting = sighting(&rules, code)?;
    Ok(PyEvent { rules, sighting })
}

/// The sighting with a code, if its card is one of the rules.
pub(crate) fn sighting(rules: &Rules, code: u64) -> PyResult<Sighting> {
    let found = Sighting::from_code(code).filter(|&sighting| {
        let card = PyEvent { rules: *rules, sighting }.parts().3;
        card.is_none_or(|card| card.kind() < rules.kinds().len())
    });
    found.ok_or_else(|| error::CambioError::new_err(format!("{code} is the code of no event by `{}`", rules.name())))
}
