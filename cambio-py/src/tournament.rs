//! Tournaments from Python, with Python agents among the players.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cambio_agents::{Roster, roster};
use cambio_report::{Run, of_run};
use cambio_sim::{
    Derived, DocumentedTable, Executor, Experiment, MOST_THREADS, PlanError, PlayError, PlayablePlan, ReplayScope,
    RunError, RunFolder, Runner, StoredRun, derive, verify,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{refused, watched};
use crate::python_agent::roster_with;
use crate::{args, error};

/// The columns of all tables of runs and tunings, as JSON.
#[pyfunction]
pub(crate) fn _columns() -> String {
    let tables = cambio_sim::documented_tables();
    let columns: Vec<_> = tables.iter().flat_map(DocumentedTable::listed).collect();
    serde_json::to_string(&columns).expect("texts can be serialized")
}

/// Plays an experiment file into a run folder like `cambio run`, with `resume` also into an existing one. Returns the same as [`_open`]. With
/// `is_kept = false`, the folder will be removed, so errors do not name files in it.
#[pyfunction]
#[pyo3(signature = (spec, out, agents, threads, is_kept, resume))]
pub(crate) fn _run(
    py: Python<'_>,
    spec: PathBuf,
    out: PathBuf,
    agents: Vec<(String, Py<PyAny>)>,
    threads: &Bound<'_, PyAny>,
    is_kept: bool,
    resume: bool,
) -> PyResult<Py<PyDict>> {
    let threads = args::whole(threads, "threads", 0, MOST_THREADS as u64)? as usize;
    let roster = roster_with(py, &agents)?;
    if out.exists() && !resume {
        return Err(error::RunError::new_err(format!(
            "`out` must not exist, found {}; choose another folder, or continue its run with resume=True",
            cambio_core::text::excerpt(&out.display().to_string())
        )));
    }
    let plan = py.detach(|| planned(&spec, &roster))?;
    let executor = Executor::new(threads).map_err(refused)?;
    let played = watched(py, &executor.cancel_token(), None, |_| play(&plan, &out, &executor));
    let (stored, derived) = match played {
        Ok(played) => played.map_err(|error| match error {
            PlayError::Fault(mut fault) if !is_kept => {
                fault.kept = None;
                roster.failed(PlayError::Fault(fault))
            }
            error => roster.failed(error),
        })?,
        Err(interrupt) if !is_kept => return Err(interrupt),
        Err(_) => return Err(refused("the run was interrupted; the same call with resume=True continues it")),
    };
    Ok(about(py, &stored, &derived)?.unbind())
}

/// The plan of an experiment file.
pub(crate) fn planned(spec: &Path, roster: &Roster) -> PyResult<PlayablePlan> {
    let unplanned = |error: PlanError| error::ExperimentError::new_err(error.to_string());
    let (experiment, text) = Experiment::read(spec).map_err(unplanned)?;
    let folder = spec.parent().unwrap_or(Path::new("."));
    Ok(experiment.plan(roster, folder).map_err(unplanned)?.with_toml(text))
}

/// Plays a plan into a run folder, or continues there.
fn play(plan: &PlayablePlan, out: &Path, executor: &Executor) -> Result<(StoredRun, Derived), PlayError> {
    let mut folder = if StoredRun::is_in(out) { RunFolder::reopen(out, plan)? } else { RunFolder::create(out, plan)? };
    let report = Runner::new(executor).run(plan, &mut folder)?;
    let stored = StoredRun::open(out)?;
    Run::stored(&stored, &report.derived).write(out)?;
    report.outcome.map(|()| (stored, report.derived))
}

/// Runs the command line with these words, and with Python agents in its roster. `program` is what a shell has to run to start it. If an agent
/// has raised an exception, prints the first one with its traceback. Returns the exit code.
#[pyfunction]
pub(crate) fn _command(
    py: Python<'_>,
    agents: Vec<(String, Py<PyAny>)>,
    program: String,
    words: Vec<OsString>,
) -> PyResult<u8> {
    if let Some((name, _)) = agents.iter().find(|(name, _)| roster().entries().iter().any(|entry| entry.name == *name))
    {
        return Err(error::AgentError::new_err(format!(
            "the library has an agent `{name}`; give the Python agent another name"
        )));
    }
    let roster = roster_with(py, &agents)?;
    let code = py.detach(|| cambio_cli::run_inside(&roster, program, words));
    roster.print_first(py)?;
    Ok(code)
}

/// Reads a run folder: its identity and its derived files by name, computed from the rows.
#[pyfunction]
pub(crate) fn _open(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let read = || {
        let stored = StoredRun::open(&folder)?;
        let derived = derive(&stored)?;
        Ok((stored, derived))
    };
    let (stored, derived) = py.detach(read).map_err(|error: RunError| refused(error))?;
    about(py, &stored, &derived)
}

/// Checks a run folder like `cambio verify`, and plays a sample of its batches or all of them again with these agents. Returns the number of
/// batches that gave the same bytes, messages about errors, and the reasons why batches were not repeated.
#[pyfunction]
pub(crate) fn _verify(
    py: Python<'_>,
    folder: PathBuf,
    agents: Vec<(String, Py<PyAny>)>,
    all: bool,
) -> PyResult<(u64, Vec<String>, Vec<String>)> {
    let roster = roster_with(py, &agents)?;
    let scope = if all { ReplayScope::All } else { ReplayScope::Sample(20) };
    let check = || {
        let findings = verify(&StoredRun::open(&folder)?, &roster, scope);
        let wrong = findings.wrong.into_iter().chain(findings.unfinished).collect();
        Ok((findings.replayed, wrong, findings.unreplayed))
    };
    let checked = py.detach(check);
    roster.interrupted(py)?;
    checked.map_err(|error: RunError| refused(error))
}

/// The identity of a run, and its derived files by name.
pub(crate) fn about<'py>(py: Python<'py>, stored: &StoredRun, derived: &Derived) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("name", &stored.plan.name)?;
    about.set_item("run_id", stored.plan.run_id())?;
    about.set_item("is_complete", stored.is_complete())?;
    about.set_item("matches", stored.matches())?;
    about.set_item("spec", &stored.spec)?;
    about.set_item("text", derived.tables(&stored.plan, &stored.timing).text())?;
    let page = ("report.html", of_run(Run::stored(stored, derived)).html());
    about.set_item("files", derived.files().into_iter().chain([page]).collect::<BTreeMap<_, _>>())?;
    Ok(about)
}
