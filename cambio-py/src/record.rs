//! Records of matches.

use cambio_core::play::RoundLog;
use cambio_core::{Action, Card, Event, Observer, Record, Score, Seat, Standing, State, replay};
use pyo3::prelude::*;
use serde_json::Value;

use crate::action::PyAction;
use crate::episode::{SeatKeys, SeatLog};
use crate::error;
use crate::observation::PyObservation;

/// The record of a match: one line of JSON with every decision and every random outcome.
///
/// `line` is the line of JSON. Raises `RecordError` if it is not a record.
#[pyclass(frozen, eq, name = "Record", module = "cambio_game")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyRecord {
    pub(crate) record: Record,
}

/// Collects each decision with the observation of its seat.
struct DecisionSteps {
    taken: Vec<(PyObservation, PyAction)>,
    log: SeatLog,
    round: usize,
    totals: Vec<Score>,
}

impl Observer for DecisionSteps {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.log.1 = SeatKeys::of_small(&standing.setup.rules, standing.setup.seats);
        self.log.round_begins(standing, deck);
        (self.round, self.totals) = (standing.round, standing.totals.to_vec());
    }

    fn event(&mut self, event: &Event<Card>) {
        self.log.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let seen = PyObservation::new(state, seat, self.round, &self.totals, &self.log.0, &self.log.1);
        self.taken.push((seen, PyAction(action)));
        self.log.decides(state, seat, action);
    }
}

properties! { PyRecord, this,
    repr = {
        let rules = this.record.fields.get("rules").and_then(|rules| rules.get("name")).and_then(Value::as_str);
        let decisions: usize = this.record.rounds.iter().map(|round| round.decisions.len()).sum();
        let (rounds, rules) = (this.record.rounds.len(), rules.unwrap_or("?"));
        let s = if rounds == 1 { "" } else { "s" };
        format!("<Record of {rules:?}, {rounds} round{s}, {decisions} decisions>")
    },
    hash = this.record.to_json(),
    reduce(py) = (py.get_type::<PyRecord>(), (this.record.to_json(),));
    /// The whole record as a dictionary, with the keys of its JSON, such as `seats`. `Rules(fields["rules"])` are its rules.
    fields<'py>(py): PyResult<Bound<'py, PyAny>> =
        py.import("json")?.call_method1("loads", (this.record.to_json(),));
    /// The fault with which an agent stopped the match; `None` if there was none.
    fault: Option<&str> = this.record.fault();
}

#[pymethods]
impl PyRecord {
    #[new]
    fn new(line: &str) -> PyResult<PyRecord> {
        Record::read(line).map(|record| PyRecord { record }).map_err(error::record)
    }

    /// Reads a file with one record per line. Raises `RecordError` with the number of the first line that is not a record.
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

    /// The record as one line of JSON.
    fn to_json(&self) -> String {
        self.record.to_json()
    }

    /// Replays the record and checks every decision, random outcome and result against the rules. Raises `RecordError` with the
    /// first error: its round, its decision, the expected and the found value.
    fn verify(&self) -> PyResult<()> {
        replay(&self.record, &mut ()).map(|_| ()).map_err(error::record)
    }

    /// Returns the record with its missing results (points, scores, totals, ranks) filled in. Raises the same errors as `verify`.
    fn fill(&self) -> PyResult<PyRecord> {
        replay(&self.record, &mut ()).map(|record| PyRecord { record }).map_err(error::record)
    }

    /// Iterates over pairs of an observation and the decision that its seat made. Raises the same errors as `verify`.
    fn replay<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let log = (RoundLog::default(), SeatKeys::when(false, 2));
        let mut steps = DecisionSteps { taken: Vec::new(), log, round: 0, totals: Vec::new() };
        replay(&self.record, &mut steps).map_err(error::record)?;
        steps.taken.into_pyobject(py)?.call_method0("__iter__")
    }

    /// The HTML view in notebooks: the viewer of `cambio replay --html` in a frame. `None` if the record cannot be replayed.
    fn _repr_html_(&self) -> Option<String> {
        cambio_view::Replay::of(&self.record).ok().map(|replay| replay.widget())
    }
}
