//! Decisions and events.

use std::fmt::Write as _;

use cambio_core::encode::{ActionSpace, EventParts};
use cambio_core::{Action, Card, Event, Rules, Seat, Sighting, Spot};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::args::named;
use crate::rules::PyRules;
use crate::{args, error};

/// A decision, created from its notation: `draw`, `keep a3`, `swap a1 b2`. To discard is `drop`.
///
/// Each decision has an index in the action space of a table. The action space depends only on the rules and the number of
/// seats. Indices are relative to the seat that decides, so that one policy can play every seat.
///
///     >>> cambio.Action("snap b3").index("classic", 2, 1)
///     57
#[pyclass(frozen, eq, name = "Action", module = "cambio_game")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PyAction(pub(crate) Action);

/// The error for an index outside the action space.
pub(crate) fn no_index(found: &str, count: usize) -> PyErr {
    error::ActionError::new_err(format!("{found} is not a decision; an index must be from 0 to {}", count - 1))
}

/// Reads a decision of `seat`: an `Action`, its notation, or its index relative to `seat`.
pub(crate) fn decision(value: &Bound<'_, PyAny>, space: &ActionSpace, seat: Seat) -> PyResult<Action> {
    if let Ok(action) = value.cast::<PyAction>() {
        return Ok(action.get().0);
    }
    match args::number(value) {
        Ok(index) => {
            let found = usize::try_from(index).ok().and_then(|index| space.from_index(index, seat));
            return found.ok_or_else(|| no_index(&index.to_string(), space.action_count()));
        }
        Err(Some(found)) => return Err(no_index(&found, space.action_count())),
        Err(None) => {}
    }
    match value.cast::<PyString>() {
        Ok(text) => text.to_cow()?.parse().map_err(error::action),
        Err(_) => {
            let found = args::type_of(value);
            Err(PyTypeError::new_err(format!("the decision must be an Action, a str or an index, found type {found}")))
        }
    }
}

/// The action space of a table, and one of its seats.
fn space_of(rules: &Rules, seats: usize, seat: &Bound<'_, PyAny>) -> PyResult<(ActionSpace, Seat)> {
    rules.covers(seats).map_err(error::rules)?;
    Ok((ActionSpace::new(rules, seats), args::seat(seat, seats)?))
}

fn texts(py: Python<'_>, spots: [Option<Spot>; 2]) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, spots.into_iter().flatten().map(|spot| spot.to_string()).collect::<Vec<_>>())
}

properties! { PyAction, this,
    repr = format!("Action({:?})", this.0.to_string()),
    hash = this.0.code(),
    reduce(py) = (py.get_type::<PyAction>(), (this.0.to_string(),));
    /// The first word of the notation, such as `keep`.
    verb: String = this.0.to_string().split(' ').next().unwrap_or_default().to_owned();
    /// The spots in the notation, such as `("a3",)`.
    spots<'py>(py): PyResult<Bound<'py, PyTuple>> = texts(py, this.0.spots());
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
            return Err(PyTypeError::new_err(format!("the notation must be a str, found type {found}")));
        };
        text.to_cow()?.parse().map(PyAction).map_err(error::action)
    }

    /// The decision of `seat` with this index.
    #[staticmethod]
    fn from_index(
        index: &Bound<'_, PyAny>,
        rules: PyRules,
        #[pyo3(from_py_with = named::seats)] seats: usize,
        seat: &Bound<'_, PyAny>,
    ) -> PyResult<PyAction> {
        let (space, seat) = space_of(&rules.0, seats, seat)?;
        let index = args::whole(index, "index", 0, space.action_count() as u64 - 1)?;
        let found = space.from_index(index as usize, seat);
        found.map(PyAction).ok_or_else(|| no_index(&index.to_string(), space.action_count()))
    }

    /// The index of this decision when `seat` makes it. Raises `ActionError` if it is outside the action space.
    fn index(
        &self,
        rules: PyRules,
        #[pyo3(from_py_with = named::seats)] seats: usize,
        seat: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (space, seat) = space_of(&rules.0, seats, seat)?;
        space.to_index(self.0, seat).ok_or_else(|| {
            error::ActionError::new_err(format!(
                "`{}` has no index for seat {seat} of {seats} under these rules",
                self.0
            ))
        })
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// An event of a match, as one seat perceived it, by its `code`. `card` is `None` if the seat did not see the face.
#[pyclass(frozen, eq, name = "Event", module = "cambio_game")]
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

    /// The kind, the seat, the spots and the card.
    fn parts(&self) -> EventParts {
        let mut parts = self.sighting.parts();
        if let Event::Snapped { verdict, .. } = self.sighting {
            parts.kind = ["snapped right", "snapped wrong", "snapped late"][usize::from(verdict.code()) - 1];
        }
        parts
    }
}

properties! { PyEvent, this,
    repr = format!("<Event {:?}>", this.__str__()),
    hash = this.sighting.code(),
    reduce(py) = (py.get_type::<PyEvent>(), (PyRules(this.rules), this.sighting.code()));
    /// The kind of event: `drew`, `kept`, `snapped wrong`, …
    kind: &'static str = this.parts().kind;
    /// The seat that acted or is affected; `None` for events without a seat.
    seat: Option<usize> = this.parts().seat.map(Seat::index);
    /// The spots of the event. For `kept`, the spot that received the held card; for `gave`, the source and the destination.
    spots<'py>(py): PyResult<Bound<'py, PyTuple>> = texts(py, this.parts().spots);
    /// The label of the card, if the seat saw its face. For `kept`, the card that went onto the pile.
    card: Option<&'static str> = this.parts().card.map(|card| this.rules.label(card));
    /// A 56-bit number that identifies the event; different events have different codes.
    code: u64 = this.sighting.code();
}

#[pymethods]
impl PyEvent {
    #[new]
    fn of_code(rules: PyRules, code: u64) -> PyResult<PyEvent> {
        Ok(PyEvent { rules: rules.0, sighting: sighting(&rules.0, code)? })
    }

    fn __str__(&self) -> String {
        let EventParts { kind, seat, spots, card } = self.parts();
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
}

/// The sighting with this code. Fails if the code is invalid or its card is not in the rules.
pub(crate) fn sighting(rules: &Rules, code: u64) -> PyResult<Sighting> {
    let found = Sighting::from_code(code)
        .filter(|&sighting| sighting.parts().card.is_none_or(|card| card.kind() < rules.kinds().len()));
    found.ok_or_else(|| error::CambioError::new_err(format!("{code} is not the code of an event of {}", rules.name())))
}
