//! Single batches of a run from Python, for a scheduler on many machines.

use std::path::{Path, PathBuf};

use cambio_report::Run;
use cambio_sim::{Plan, PlanPlayer, PlayError, PlayablePlan, RunFolder, StoredRun};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;
use crate::error::refused;
use crate::python_agent::{Bots, PythonRoster, roster_with};
use crate::record::PyRecord;
use crate::tournament::{about, planned};

/// The plan of an experiment file. Each batch of its matches can be played on another machine.
///
/// `agents` are factories of Python agents by name, as for `run`. Raises `ExperimentError` and `AgentError`.
#[pyclass(module = "cambio_game._cambio", name = "Plan", frozen)]
pub(crate) struct PyPlan {
    player: PlanPlayer,
    roster: PythonRoster,
}

fn bots(agents: Option<&Bound<'_, PyDict>>) -> PyResult<Bots> {
    agents.map_or_else(|| Ok(Vec::new()), |agents| agents.items().extract())
}

properties! { PyPlan, this;
    /// The number of batches.
    batches: u64 = this.plan().batch_count();
    /// Whether all agents make the same decisions on every machine.
    is_reproducible: bool = this.plan().agents.iter().all(|agent| agent.reproducible);
}

#[pymethods]
impl PyPlan {
    #[new]
    #[pyo3(signature = (spec, agents=None))]
    fn new(py: Python<'_>, spec: PathBuf, agents: Option<&Bound<'_, PyDict>>) -> PyResult<PyPlan> {
        let roster = roster_with(py, &bots(agents)?)?;
        let player = py.detach(|| planned(&spec, &roster).map(PlanPlayer::new))?;
        Ok(PyPlan { player, roster })
    }

    /// The plan of a run folder's `lock`. Commands and files of bots are relative to `agents_folder`, or to the working directory if
    /// this machine does not have the folder.
    #[staticmethod]
    #[pyo3(signature = (lock, agents=None, agents_folder=None))]
    fn from_lock(
        py: Python<'_>,
        lock: &str,
        agents: Option<&Bound<'_, PyDict>>,
        agents_folder: Option<PathBuf>,
    ) -> PyResult<PyPlan> {
        let roster = roster_with(py, &bots(agents)?)?;
        let player = py.detach(|| {
            let folder = agents_folder.filter(|folder| folder.is_dir()).unwrap_or_default();
            let plan = Plan::unlock(lock).map_err(refused)?;
            let plan = plan.with_agents(&roster.in_folder(&folder));
            plan.map(PlanPlayer::new).map_err(|error| error::ExperimentError::new_err(error.to_string()))
        })?;
        Ok(PyPlan { player, roster })
    }

    /// The tables and deals of a batch, as text.
    fn describe(&self, batch: u64) -> PyResult<String> {
        if batch < self.batches() { Ok(self.plan().describe(batch)) } else { Err(self.no_batch(batch)) }
    }

    /// Plays a batch and returns it as bytes for `RunFolder.commit`. Raises `AgentFault` with the record of the match if an agent is
    /// at fault.
    fn play_batch<'py>(&self, py: Python<'py>, batch: u64) -> PyResult<Bound<'py, PyBytes>> {
        let played = py.detach(|| self.player.play(batch));
        self.roster.interrupted(py)?;
        Ok(PyBytes::new(py, &played.map_err(|error| self.roster.failed(error))?))
    }
}

impl PyPlan {
    fn plan(&self) -> &PlayablePlan {
        self.player.plan()
    }

    fn no_batch(&self, batch: u64) -> PyErr {
        let batches = self.batches();
        error::ExperimentError::new_err(format!("`batch` must be less than {batches}, found {batch}"))
    }
}

/// A run folder to which batches are committed in order, from any machine. `RunFolder.finish` writes its tables.
///
/// With `resume=True`, the folder may contain a part of the run of the same plan. Raises `RunError`.
#[pyclass(module = "cambio_game._cambio", name = "RunFolder")]
pub(crate) struct PyRunFolder {
    folder: RunFolder,
}

properties! { PyRunFolder, this;
    /// The plan as text, for `Plan.from_lock` on other machines.
    lock: String = this.folder.plan().lock();
    /// The folder of the commands and files of bots, if they have relative paths.
    agents_folder: Option<&Path> = this.folder.agents_folder();
    /// The batches that are not committed yet.
    batches_left: (u64, u64) = {
        let left = this.folder.batches_left();
        (left.start, left.end)
    };
    /// The number of committed matches.
    matches: u64 = this.folder.matches();
}

#[pymethods]
impl PyRunFolder {
    #[new]
    #[pyo3(signature = (path, plan, resume=false))]
    fn new(py: Python<'_>, path: PathBuf, plan: &PyPlan, resume: bool) -> PyResult<PyRunFolder> {
        let plan = plan.plan();
        let open = if resume { RunFolder::reopen } else { RunFolder::create };
        let folder = py.detach(|| open(&path, plan)).map_err(|error| error::failed(PlayError::Run(error)))?;
        Ok(PyRunFolder { folder })
    }

    /// Commits the next batch, given as the bytes of `Plan.play_batch`. The last batch may be committed again: then its rows are compared,
    /// unless an agent is not reproducible. Raises `RunError` for a batch of another plan or program, and for other rows.
    fn commit(&mut self, py: Python<'_>, batch: &[u8]) -> PyResult<()> {
        py.detach(|| self.folder.commit(batch)).map_err(refused)
    }

    /// Writes the tables, the report and the manifest. `fault` is the record of the match in which an agent was at fault.
    /// If batches are missing, the run can be resumed. Returns the same as `_open`.
    #[pyo3(signature = (fault=None))]
    fn finish<'py>(&mut self, py: Python<'py>, fault: Option<&PyRecord>) -> PyResult<Bound<'py, PyDict>> {
        let record = fault.map(|fault| &fault.record);
        let finish = || {
            let derived = self.folder.finish(record)?;
            let stored = StoredRun::open(self.folder.path())?;
            Run::stored(&stored, &derived).write(self.folder.path())?;
            Ok::<_, cambio_sim::RunError>((stored, derived))
        };
        let (stored, derived) = py.detach(finish).map_err(refused)?;
        about(py, &stored, &derived)
    }
}
