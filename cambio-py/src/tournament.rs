//! Tournaments from Python, with Python agents among the players.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cambio_agents::{NoParams, Roster, RosterEntry, roster};
use cambio_core::encode::ActionSpace;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::testing::Relabelling;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Score, Sighting};
use cambio_report::{Run, of_run};
use cambio_sim::digest::BEYOND;
use cambio_sim::{
    Derived, Executor, Experiment, MOST_THREADS, PlanError, PlayError, PlayablePlan, ReplayScope, RunError, RunFolder,
    Runner, StoredRun, derive, verify_with,
};
use cambio_solve::HistoryKey;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::action::decision;
use crate::agent::PyAgent;
use crate::batch_agent::{BatchAgent, Question, probabilities};
use crate::error::{check_signals, refused};
use crate::factory::{Factory, PythonParams};
use crate::keys::{SeatKeys, from_starter};
use crate::observation::PyObservation;
use crate::raised::RaisedExceptions;
use crate::rules::PyRules;
use crate::{args, error};

/// A Python agent: an object with a method `decide(observation)`, `decide_batch(observations)` or `probabilities(observations)`.
struct PythonAgent {
    /// Creates the object; called once for each player.
    factory: Arc<Factory>,
    raised: Arc<RaisedExceptions>,
    /// For an agent with `decide_batch` and for a policy, the queue of waiting matches, shared by all players.
    batch_agent: Option<Arc<BatchAgent>>,
    /// The seat's stream, from which the decisions of a policy are drawn.
    stream: Option<Stream>,
    object: Option<Py<PyAny>>,
    /// The addresses of the objects of all players that play now.
    players: Arc<Mutex<BTreeSet<usize>>>,
    /// The exception that it raised at the end of a round, reported as a fault at its next decision.
    failed: Option<String>,
    rounds: usize,
    totals: Vec<Score>,
    sightings: Vec<Sighting>,
    decided: Vec<Action>,
    /// The key of the information set, and the names of the seats in it.
    key: HistoryKey,
    relabelling: Relabelling,
}

impl PythonAgent {
    /// Creates the object. Fails if it is the object of another player.
    fn make(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let object = self.factory.call(py)?;
        let made = object.bind(py);
        let name = args::type_of(made);
        if !made.hasattr("decide")? && (made.hasattr("decide_batch")? || made.hasattr("probabilities")?) {
            let what = format!(
                "an agent with one object for all matches must be given as an object or a class, found a function; pass the `{name}`"
            );
            return Err(error::AgentError::new_err(what));
        }
        if self.players.lock().unwrap_or_else(PoisonError::into_inner).insert(object.as_ptr() as usize) {
            return Ok(object);
        }
        Err(error::AgentError::new_err(format!(
            "a factory must return a new object for each player, found the same `{name}` for two players at once; return a copy, or pass an \
             object with a method probabilities(observations) itself"
        )))
    }

    /// Creates the object if there is none, and calls its `begin`.
    fn start(&mut self, py: Python<'_>, briefing: &Briefing<'_>) -> PyResult<()> {
        let object = match &self.object {
            Some(object) => object.clone_ref(py),
            None => self.make(py)?,
        };
        self.object = Some(object.clone_ref(py));
        if object.bind(py).hasattr("begin")? {
            let seed = bits(&mut briefing.stream.clone());
            object.call_method1(
                py,
                "begin",
                (PyRules(*briefing.rules), briefing.seats, briefing.seat.index(), seed),
            )?;
        }
        Ok(())
    }

    fn round_ends(&self, py: Python<'_>, result: &RoundResult) -> PyResult<()> {
        let Some(object) = &self.object else { return Ok(()) };
        if object.bind(py).hasattr("round_ends")? {
            object.call_method1(py, "round_ends", (result.points().to_vec(),))?;
        }
        Ok(())
    }

    fn question(&self, view: &Observation<'_>) -> Question {
        let seen = PyObservation {
            view: view.into(),
            sightings: self.sightings.clone(),
            decided: self.decided.clone(),
            rounds: self.rounds,
            totals: self.totals.clone(),
            key: SeatKeys::is_small(view.rules(), view.table().seats()).then_some(self.key),
        };
        let space = ActionSpace::new(view.rules(), view.table().seats());
        Question { seen, choices: view.choices(), space, seat: view.seat() }
    }

    fn ask(&mut self, view: &Observation<'_>) -> Result<Action, String> {
        if let Some(reason) = &self.failed {
            return Err(reason.clone());
        }
        let question = self.question(view);
        if let Some(batch_agent) = &self.batch_agent {
            let stream = self.stream.as_mut().ok_or("the match has not begun")?;
            let draw = bits(stream) as f64 / (1_u64 << 62) as f64;
            return batch_agent.ask(question, draw);
        }
        let Some(object) = &self.object else { return Err("the match has not begun".to_owned()) };
        let Question { seen, space, seat, .. } = question;
        Python::attach(|py| {
            let answer = object.bind(py).call_method1("decide", (seen,));
            answer.and_then(|answer| decision(&answer, &space, seat)).map_err(|error| self.raised.keep(error, py))
        })
    }
}

/// 62 random bits.
fn bits(stream: &mut Stream) -> u64 {
    u64::from(stream.below(1 << 31)) << 31 | u64::from(stream.below(1 << 31))
}

impl Drop for PythonAgent {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            self.players.lock().unwrap_or_else(PoisonError::into_inner).remove(&(object.as_ptr() as usize));
        }
    }
}

impl Agent for PythonAgent {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.failed = None;
        if self.batch_agent.is_some() {
            self.stream = Some(briefing.stream.clone());
            return Ok(());
        }
        Ok(Python::attach(|py| self.start(py, briefing).map_err(|error| self.raised.keep(error, py)))?)
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::RoundBegins(standing) => {
                (self.rounds, self.totals) = (standing.round, standing.totals.to_vec());
                self.sightings.clear();
                self.decided.clear();
                (self.key, self.relabelling) = (HistoryKey::START, from_starter(standing));
            }
            Notice::Event(sighting) => {
                self.sightings.push(*sighting);
                self.key.perceive(self.relabelling.event(sighting));
            }
            Notice::RoundEnds(result) => {
                let ended =
                    Python::attach(|py| self.round_ends(py, result).map_err(|error| self.raised.keep(error, py)));
                self.failed = self.failed.take().or(ended.err());
            }
            Notice::Table(_) | Notice::MatchEnds(_) => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let action = self.ask(view)?;
        self.decided.push(action.canonical());
        if view.choices().len() > 1 {
            self.key.decide(self.relabelling.action(action).canonical());
        }
        Ok(action)
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        if let Some(batch_agent) = &self.batch_agent {
            return Ok(batch_agent.probabilities(|| self.question(view))?);
        }
        let Some(object) = &self.object else { return Ok(None) };
        Ok(Python::attach(|py| {
            let object = object.bind(py);
            let is_policy = object.hasattr("probabilities");
            let asked = is_policy.and_then(|is| is.then(|| probabilities(object, &self.question(view))).transpose());
            asked.map_err(|error| self.raised.keep(error, py))
        })?)
    }
}

/// The factories of Python agents, by name.
pub(crate) type Bots = Vec<(String, Py<PyAny>)>;

/// The library's agents and the given Python agents, by name, with the exceptions that the latter raise.
pub(crate) struct PythonRoster {
    roster: Roster,
    raised: Arc<RaisedExceptions>,
}

impl PythonRoster {
    /// The exception for an error during play.
    pub(crate) fn failed(&self, error: PlayError) -> PyErr {
        self.raised.failed(error)
    }

    /// Raises the interrupt (Ctrl-C) that reached an agent, if there was one.
    pub(crate) fn interrupted(&self, py: Python<'_>) -> PyResult<()> {
        self.raised.interrupted(py)
    }
}

impl std::ops::Deref for PythonRoster {
    type Target = Roster;

    fn deref(&self) -> &Roster {
        &self.roster
    }
}

/// The library's agents and the given Python agents, by name.
pub(crate) fn roster_with(py: Python<'_>, bots: &[(String, Py<PyAny>)]) -> PyResult<PythonRoster> {
    let (mut all, raised) = (roster(), Arc::<RaisedExceptions>::default());
    for (name, factory) in bots {
        let is_name =
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
        if !is_name {
            let name = cambio_core::text::excerpt(name);
            return Err(error::AgentError::new_err(format!(
                "an agent's name must have only letters, digits, _ and -, found `{name}`"
            )));
        }
        if let Ok(agent) = factory.bind(py).cast::<PyAgent>() {
            let spec = agent.get().spec.clone();
            all =
                all.with_entry(RosterEntry::new(name, "An agent with another name.", move |_: &NoParams| spec.make()));
            continue;
        }
        let (is_policy, factory) = (shares_object(factory.bind(py))?, Factory::of(factory.bind(py))?);
        let (defaults, raised, players) = (factory.params().clone(), raised.clone(), Arc::default());
        // The agents with an object for all matches, one for each choice of parameters.
        let shared = Mutex::new(Vec::<Arc<BatchAgent>>::new());
        let make = move |params: &PythonParams| {
            let factory = Arc::new(factory.with(params));
            let batch_agent = is_policy.map(|is_policy| {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let found = shared.iter().find(|agent| agent.factory.has_arguments_of(&factory)).cloned();
                found.unwrap_or_else(|| {
                    let agent = Arc::new(BatchAgent::new(Arc::clone(&factory), is_policy, raised.clone()));
                    shared.push(Arc::clone(&agent));
                    agent
                })
            });
            PythonAgent {
                factory,
                raised: raised.clone(),
                batch_agent,
                stream: None,
                object: None,
                players: Arc::clone(&players),
                failed: None,
                rounds: 0,
                totals: Vec::new(),
                sightings: Vec::new(),
                decided: Vec::new(),
                key: HistoryKey::START,
                relabelling: Relabelling::new(2, 0),
            }
        };
        all = all.with_entry(RosterEntry::with_defaults(name, "An agent of Python.", defaults, make));
    }
    Ok(PythonRoster { roster: all, raised })
}

/// For an agent with one object for all matches, whether it is a policy; `None` if the agent has an object for each player. Does not call the
/// factory, because it may be for another process.
fn shares_object(given: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    let is_class = given.is_instance_of::<PyType>();
    let decides_batches = given.hasattr("decide_batch")?;
    let is_policy = given.hasattr("probabilities")? && !(is_class && (decides_batches || given.hasattr("decide")?));
    Ok((is_policy || decides_batches).then_some(is_policy))
}

/// The columns of all tables of runs and tunings, as JSON.
#[pyfunction]
pub(crate) fn _columns() -> String {
    let columns: Vec<_> = cambio_sim::documented_tables().into_iter().flat_map(|table| table.columns).collect();
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
    let (stored, derived) = py.detach(|| play(&spec, &out, &roster, threads, is_kept))?;
    py.check_signals()?;
    Ok(about(py, &stored, &derived)?.unbind())
}

/// The plan of an experiment file.
pub(crate) fn planned(spec: &Path, roster: &Roster) -> PyResult<PlayablePlan> {
    let unplanned = |error: PlanError| error::ExperimentError::new_err(error.to_string());
    let (experiment, text) = Experiment::read(spec).map_err(unplanned)?;
    let folder = spec.parent().unwrap_or(Path::new("."));
    Ok(experiment.plan(roster, folder).map_err(unplanned)?.with_toml(text))
}

fn play(
    spec: &Path,
    out: &Path,
    roster: &PythonRoster,
    threads: usize,
    is_kept: bool,
) -> PyResult<(StoredRun, Derived)> {
    let plan = planned(spec, roster)?;
    let executor = Executor::new(threads).map_err(refused)?;
    let token = executor.cancel_token();
    // Called about ten times a second, so that Ctrl-C stops the run. It can be resumed.
    let signal = RefCell::new(None);
    let look = |_: &cambio_sim::PlayProgress<'_>| {
        if let Err(raised) = check_signals() {
            signal.replace(Some(raised));
            token.cancel();
        }
    };
    let played = || {
        let is_begun = out.join("spec.lock.json").exists();
        let mut folder = if is_begun { RunFolder::reopen(out, &plan)? } else { RunFolder::create(out, &plan)? };
        let report = Runner::new(&executor).with_progress(&look).run(&plan, &mut folder)?;
        let stored = StoredRun::open(out)?;
        Run::stored(&stored, &report.derived).write(out)?;
        report.outcome.map(|()| (stored, report.derived))
    };
    played().map_err(|error| match error {
        PlayError::Interrupted if !is_kept && signal.borrow().is_some() => signal.take().expect("it was just there"),
        PlayError::Interrupted => refused("the run was interrupted; the same call with resume=True continues it"),
        PlayError::Fault(mut fault) if !is_kept => {
            fault.kept = None;
            roster.failed(PlayError::Fault(fault))
        }
        error => roster.failed(error),
    })
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
    if let Some((name, _)) = agents.iter().find(|(name, _)| roster().entries().iter().any(|entry| entry.name() == name))
    {
        return Err(error::AgentError::new_err(format!(
            "the library has an agent `{name}`; give the Python agent another name"
        )));
    }
    let roster = roster_with(py, &agents)?;
    let code = py.detach(|| cambio_cli::run_inside(&roster, program, words));
    roster.raised.print_first(py)?;
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
        let findings = verify_with(&StoredRun::open(&folder)?, &roster, scope);
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
    about.set_item("payoff", (stored.plan.payoff.name(), stored.plan.payoff.unit()))?;
    about.set_item("beyond", BEYOND)?;
    let page = ("report.html", of_run(Run::stored(stored, derived)).html());
    about.set_item("files", derived.files().into_iter().chain([page]).collect::<std::collections::BTreeMap<_, _>>())?;
    Ok(about)
}
