//! Positions: what one seat knows, as one line of text, and advice for it.

use cambio_core::Position;
use cambio_core::engine::OwnedObservation;
use cambio_sim::AdviceOptions;
use cambio_sim::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::args;
use crate::error::{self, check_signals};
use crate::observation::{PyKnowledge, PyObservation, PyWorld};
use crate::rules::hash_of;

/// What one seat knows at a moment, without the history of the round, as one line of text: see the chapter Positions of the book.
///
/// `Observation.position` returns the position of an observation.
#[pyclass(frozen, eq, name = "Position", module = "cambio_game")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyPosition(pub(crate) Position);

impl PyPosition {
    fn knowledge(&self) -> PyKnowledge {
        PyKnowledge::new(self.observation(), self.0.knowledge())
    }
}

#[pymethods]
impl PyPosition {
    #[new]
    fn new(text: &str) -> PyResult<PyPosition> {
        text.parse().map(PyPosition).map_err(|error| error::CambioError::new_err(format!("position: {error}")))
    }

    /// What the seat observes. Its events are those of a made-up round that leads to the position.
    fn observation(&self) -> PyObservation {
        PyObservation {
            view: OwnedObservation::from(&self.0.observation()),
            sightings: self.0.sightings(),
            decided: Vec::new(),
            rounds: self.0.rounds(),
            totals: self.0.totals().to_vec(),
            key: None,
        }
    }

    /// Draws `number` worlds uniformly from what the position leaves open. The same seed gives the same worlds.
    #[pyo3(signature = (number, seed = None))]
    fn worlds(&self, number: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PyWorld>> {
        let number = args::whole(number, "number", 1, 1_000_000)?;
        let seed = seed.map_or(Ok(0), |seed| args::whole(seed, "seed", 0, u64::MAX >> 20))?;
        let knowledge = self.knowledge();
        Ok((0..number).map(|world| knowledge.world((seed << 20) + world)).collect())
    }

    /// The value of each decision of the seat to act, the best first, by games in which the seat plays like the policy `agent` and the
    /// other seats like `opponents`: "learned" or a heuristic such as "sharp". `games` is their number after each decision; by default,
    /// they go on until each cost is known to ± 1 win in 100, or a quarter of the cost. Ctrl-C ends them. The same as `cambio advise`,
    /// whose text is the text of the table.
    #[pyo3(signature = (*, agent = "learned", opponents = "learned", games = None, seed = None))]
    fn advise<'py>(
        &self,
        py: Python<'py>,
        agent: &str,
        opponents: &str,
        games: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let games = games.map(|games| args::whole(games, "games", 2, u32::MAX.into())).transpose()?;
        let options = AdviceOptions {
            agent: agent.to_owned(),
            opponents: opponents.to_owned(),
            games: games.map(|games| games as u32),
            seed: seed.map_or(Ok(0), |seed| args::whole(seed, "seed", 0, u64::MAX))?,
        };
        let advice = py.detach(|| options.advise(&self.0.to_string(), &|| check_signals().is_ok()));
        let advice = advice.map_err(error::CambioError::new_err)?;
        let table = py.import("cambio_game")?.getattr("Table")?;
        table.call1(("advice", Table::of(&advice.rows()).csv(), advice.tables().text()))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Position({:?})", self.0.to_string())
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.0.to_string())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<PyPosition>(), (self.0.to_string(),)).into_pyobject(py)
    }
}
