//! Units of work from Python: the functions that a scheduler needs, for any cluster engine.

use std::ops::Range;
use std::path::PathBuf;

use cambio_report::Run;
use cambio_sim::Executor;
use cambio_sim::units::{LineupCost, UnitQueue, UnitStore, WorkUnit, merge_units, play_unit, replay_unit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refused;
use crate::tournament::{about, planned, roster_with};

/// The factories of Python agents, by name.
pub(crate) type Bots = Vec<(String, Py<PyAny>)>;

/// A unit: its first batch, the end of its batches (exclusive), its BLAKE3.
type UnitRow = (u64, u64, String);

/// The cost of a lineup: cell, lineup, blocks, matches, seconds.
type CostRow = (usize, usize, u64, u64, f64);

fn told(unit: WorkUnit) -> UnitRow {
    (unit.from, unit.to, unit.hash)
}

fn costs_told(costs: Vec<LineupCost>) -> Vec<CostRow> {
    costs.into_iter().map(|cost| (cost.cell, cost.lineup, cost.blocks, cost.matches, cost.seconds)).collect()
}

fn costs_of(costs: Vec<CostRow>) -> Vec<LineupCost> {
    let read = |(cell, lineup, blocks, matches, seconds)| LineupCost { cell, lineup, blocks, matches, seconds };
    costs.into_iter().map(read).collect()
}

/// Starts an experiment file in a store, or resumes it.
#[pyfunction]
pub(crate) fn _units_begin(py: Python<'_>, spec: PathBuf, store: String, agents: Bots) -> PyResult<()> {
    let roster = roster_with(py, &agents)?;
    py.detach(|| {
        let plan = planned(&spec, &roster)?;
        UnitStore::open(&store).and_then(|store| store.begin(&plan)).map_err(refused)
    })
}

/// The run of a store: name, run id, batches, matches, whether it is reproducible, cells with their lineups' labels, faults.
#[pyfunction]
pub(crate) fn _units_about(py: Python<'_>, store: String) -> PyResult<Bound<'_, PyDict>> {
    let (plan, faults) = py
        .detach(|| {
            let store = UnitStore::open(&store)?;
            Ok((store.plan()?, store.faults()?))
        })
        .map_err(|error: cambio_sim::RunError| refused(error))?;
    let about = PyDict::new(py);
    about.set_item("name", &plan.name)?;
    about.set_item("run_id", plan.run_id())?;
    about.set_item("batches", plan.batch_count())?;
    about.set_item("matches", plan.matches())?;
    about.set_item("is_reproducible", plan.agents.iter().all(|agent| agent.reproducible))?;
    let cells = plan.cells.iter().map(|cell| {
        let lineups: Vec<&str> = cell.lineups.iter().map(cambio_sim::Lineup::label).collect();
        (cell.rules.name(), cell.seats, lineups)
    });
    about.set_item("cells", cells.collect::<Vec<_>>())?;
    about.set_item("faults", faults)?;
    Ok(about)
}

/// The tables and deals of a range of batches, as text.
#[pyfunction]
pub(crate) fn _units_deals(py: Python<'_>, store: String, first: u64, behind: u64) -> PyResult<String> {
    let plan = py.detach(|| UnitStore::open(&store)?.plan()).map_err(refused)?;
    let blocks = plan.batch(first).start..plan.batch(behind - 1).end;
    let (first, last) = (plan.block(blocks.start), plan.block(blocks.end - 1));
    let (one, other) = (first.cell.to_string(), last.cell.to_string());
    Ok(if one == other {
        format!("{one}, deals {} to {}", first.deal, last.deal)
    } else {
        format!("{one}, deal {}, to {other}, deal {}", first.deal, last.deal)
    })
}

/// The units in a store.
#[pyfunction]
pub(crate) fn _units_there(py: Python<'_>, store: String) -> PyResult<Vec<UnitRow>> {
    let units = py.detach(|| UnitStore::open(&store)?.units()).map_err(refused)?;
    Ok(units.into_iter().map(told).collect())
}

/// The costs of the lineups so far.
#[pyfunction]
pub(crate) fn _units_costs(py: Python<'_>, store: String) -> PyResult<Vec<CostRow>> {
    py.detach(|| UnitStore::open(&store)?.costs()).map(costs_told).map_err(refused)
}

/// Plays a unit and commits it. Returns its hash, number of matches and costs.
#[pyfunction]
pub(crate) fn _units_play(
    py: Python<'_>,
    store: String,
    first: u64,
    behind: u64,
    agents: Bots,
    threads: usize,
) -> PyResult<(String, u64, Vec<CostRow>)> {
    let roster = roster_with(py, &agents)?;
    py.detach(|| {
        let store = UnitStore::open(&store).map_err(refused)?;
        let plan = store.playable(&roster).map_err(refused)?;
        let executor = Executor::new(threads).map_err(refused)?;
        let token = executor.cancel_token();
        let look = |_| {
            if Python::attach(|py| py.check_signals().is_err()) {
                token.cancel();
            }
        };
        let played = play_unit(&executor, &plan, first..behind, &store, look).map_err(|error| roster.failed(error))?;
        Ok((played.unit.hash, played.matches, costs_told(played.costs)))
    })
}

/// Plays a unit again and compares its bytes. Returns `false` without a comparison if the agents are not reproducible.
#[pyfunction]
pub(crate) fn _units_check(
    py: Python<'_>,
    store: String,
    unit: UnitRow,
    agents: Bots,
    threads: usize,
) -> PyResult<bool> {
    let roster = roster_with(py, &agents)?;
    py.detach(|| {
        let store = UnitStore::open(&store).map_err(refused)?;
        let plan = store.playable(&roster).map_err(refused)?;
        let executor = Executor::new(threads).map_err(refused)?;
        let (from, to, hash) = unit;
        let again = replay_unit(&executor, &plan, &WorkUnit { from, to, hash }, &store);
        let again = again.map_err(|error| roster.failed(error))?;
        Ok(again.is_some())
    })
}

/// Merges the units of a store into a run folder. Returns the same as `_open`.
#[pyfunction]
pub(crate) fn _units_merge(py: Python<'_>, store: String, out: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let merge = || {
        let (stored, derived) = merge_units(&UnitStore::open(&store)?, &out, |_, _| ())?;
        Run::stored(&stored, &derived).write(&out)?;
        Ok::<_, cambio_sim::RunError>((stored, derived))
    };
    let (stored, derived) = py.detach(merge).map_err(refused)?;
    about(py, &stored, &derived)
}

/// The queue of the batches that a store still lacks.
#[pyclass(module = "cambio_game._cambio", name = "_Queue")]
pub(crate) struct PyQueue(UnitQueue);

#[pymethods]
impl PyQueue {
    #[new]
    fn new(py: Python<'_>, store: String) -> PyResult<PyQueue> {
        let queue = py.detach(|| {
            let store = UnitStore::open(&store)?;
            let plan = store.plan()?;
            let mut queue = UnitQueue::rest(&plan, store.missing(0..plan.batch_count())?);
            queue.learn(&store.costs()?);
            Ok(queue)
        });
        queue.map(PyQueue).map_err(|error: cambio_sim::RunError| refused(error))
    }

    /// The next unit, sized for this number of workers; `None` if no batches are left.
    fn take(&mut self, workers: u64) -> Option<(u64, u64)> {
        self.0.take(workers).map(|Range { start, end }| (start, end))
    }

    /// Returns unplayed batches to the queue.
    fn put_back(&mut self, first: u64, behind: u64) {
        self.0.put_back(first..behind);
    }

    /// Records the costs of a unit.
    fn learn(&mut self, costs: Vec<CostRow>) {
        self.0.learn(&costs_of(costs));
    }

    /// The estimated seconds for some batches, if known.
    fn seconds(&self, first: u64, behind: u64) -> Option<f64> {
        self.0.seconds(&(first..behind))
    }

    /// The estimated seconds for all remaining batches, as far as known.
    fn seconds_left(&self) -> f64 {
        self.0.seconds_left()
    }

    /// The number of remaining batches.
    fn batches_left(&self) -> u64 {
        self.0.batches_left()
    }
}
