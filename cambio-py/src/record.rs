//! Records of matches.

use cambio_core::{Action, Card, Event, Observer, Record, RoundLog, Score, Seat, Standing, State, replay};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::Value;

use crate::action::PyAction;
use crate::observation::PyObservation;
use crate::rules::{PyRules, hash_of};
use crate::{args, error};

/// A record of a match: one line of JSON with every decision and every outcome of chance.
///
/// `line` is such a line. Raises `RecordError` if it is none.
#[pyclass(frozen, eq, name = "Record", module = "cambio")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyRecord {
    pub(crate) record: Record,
}

/// Keeps each decision with what its seat saw.
#[derive(Default)]
struct Steps {
    taken: Vec<(PyObservation, PyAction)>,
    log: RoundLog,
    round: usize,
    totals: Vec<Score>,
}

impl Observer for Steps {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.log.round_begins(standing, deck);
        (self.round, self.totals) = (standing.round, standing.totals.to_vec());
    }

    fn event(&mut self, event: &Event<Card>) {
        self.log.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let seen = PyObservation::new(state, seat, self.round, &self.totals, &self.log);
        self.taken.push((seen, PyAction(action)));
        self.log.decides(state, seat, action);
    }
}

#[pymethods]
impl PyRecord {
    #[new]
    fn new(line: &str) -> PyResult<PyRecord> {
        Record::read(line).map(|record| PyRecord { record }).map_err(error::record)
    }

    /// The records of a file, one a line. Raises `RecordError` with the line that is none.
    #[staticmethod]
    fn read(path: std::path::PathBuf) -> PyResult<Vec<PyRecord>> {
        let refused = |what: String| error::RecordError::new_err(format!("`{}` {what}", path.display()));
        let text = cambio_exec::read_text(&path).map_err(|what| refused(format!("cannot be read: {what}")))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line)| {
            let record = Record::read(line).map_err(|flaw| refused(format!("line {}: {flaw}", number + 1)))?;
            Ok(PyRecord { record })
        };
        lines.map(read).collect()
    }

    /// The rules.
    #[getter]
    fn rules(&self) -> PyResult<PyRules> {
        let rules = self.record.fields.get("rules").unwrap_or(&Value::Null);
        let spec = cambio_core::RulesSpec::from_json(rules).and_then(cambio_core::RulesSpec::validate);
        spec.map(PyRules).map_err(error::rules)
    }

    /// The number of seats.
    #[getter]
    fn seats(&self) -> PyResult<u64> {
        let seats = self.record.fields.get("seats").and_then(Value::as_u64);
        seats.ok_or_else(|| error::RecordError::new_err("`seats` is missing; allowed is a whole number from 2 to 8"))
    }

    /// The whole record as a dictionary, as its JSON has it.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value: Value = serde_json::from_str(&self.record.to_json()).unwrap_or(Value::Null);
        args::from_json(py, &value)
    }

    /// The record as one line of JSON.
    fn to_json(&self) -> String {
        self.record.to_json()
    }

    /// Replays the record and checks every decision, outcome of chance and result against the rules. Raises `RecordError` with
    /// the first flaw: its round, its decision, what was found and what is legal.
    fn verify(&self) -> PyResult<()> {
        replay(&self.record, &mut ()).map(|_| ()).map_err(error::record)
    }

    /// The record with the results that it does not give. Raises as `verify` does.
    fn fill(&self) -> PyResult<PyRecord> {
        replay(&self.record, &mut ()).map(|record| PyRecord { record }).map_err(error::record)
    }

    /// Each decision with what its seat saw when it made it, in order. Raises as `verify` does.
    fn replay<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut steps = Steps::default();
        replay(&self.record, &mut steps).map_err(error::record)?;
        steps.taken.into_pyobject(py)?.call_method0("__iter__")
    }

    /// What a notebook shows of the record: the viewer of `cambio replay --html`, in a frame. `None` if nothing of it can be shown.
    fn _repr_html_(&self) -> Option<String> {
        cambio_view::Film::of(&self.record).ok().map(|film| film.widget())
    }

    fn __repr__(&self) -> String {
        let rules = self.record.fields.get("rules").and_then(|rules| rules.get("name")).and_then(Value::as_str);
        let decisions: usize = self.record.rounds.iter().map(|round| round.decisions.len()).sum();
        format!("<Record of {:?}, {} rounds, {decisions} decisions>", rules.unwrap_or("?"), self.record.rounds.len())
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.record.to_json())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<PyRecord>(), (self.record.to_json(),)).into_pyobject(py)
    }
}
