//! Python agents: their factories and parameters, the exceptions that they raise, and the calls of matches that share an object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use cambio_agents::{Field as _, NoParams, Param, ParamError, ParamValue, Params, Range, Roster, RosterEntry, roster};
use cambio_core::encode::ActionSpace;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::testing::Relabelling;
use cambio_core::{Action, Agent, AgentError, Briefing, Choices, Notice, Observation, Score, Seat, Sighting};
use cambio_sim::{PlanError, PlayError, RunError};
use cambio_solve::HistoryKey;
use numpy::PyReadonlyArray2;
use numpy::prelude::*;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

use crate::action::decision;
use crate::agent::PyAgent;
use crate::episode::{SeatKeys, from_starter};
use crate::observation::PyObservation;
use crate::record::PyRecord;
use crate::rules::PyRules;
use crate::{args, error};

/// The exceptions that Python agents have raised, by their text. A fault is reported as text, and then gets its exception as its cause.
#[derive(Default, Debug)]
struct RaisedExceptions(Mutex<Vec<(String, PyErr)>>);

impl RaisedExceptions {
    /// The number of exceptions with different texts that are kept.
    const MOST: usize = 256;

    /// Stores an exception, and returns its text.
    fn keep(&self, error: PyErr, py: Python<'_>) -> String {
        let text = error::told(&error, py);
        let mut kept = locked(&self.0);
        if kept.len() < RaisedExceptions::MOST && kept.iter().all(|(other, _)| *other != text) {
            kept.push((text.clone(), error));
        }
        text
    }
}

/// A class or a function that creates a Python agent, or an agent that all matches share, with the values of its parameters.
struct Factory {
    given: Py<PyAny>,
    is_object: bool,
    defaults: PythonParams,
    arguments: Arguments,
}

/// The parameters that differ from their defaults, and their values as text.
type Arguments = Vec<(&'static str, String)>;

impl Factory {
    /// The factory with the parameters in its signature.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Factory> {
        let is_object = !given.is_instance_of::<PyType>() && given.hasattr("probabilities")?;
        let defaults = if is_object { PythonParams::default() } else { PythonParams::of(given)? };
        Ok(Factory { given: given.clone().unbind(), is_object, defaults, arguments: Vec::new() })
    }

    /// The factory with other values of its parameters.
    fn with(&self, params: &PythonParams) -> Factory {
        let changed = params.0.iter().zip(&self.defaults.0).filter(|(now, before)| now != before);
        let arguments = changed.filter_map(|(now, _)| Some((now.name, now.default?.to_string()))).collect();
        let given = Python::attach(|py| self.given.clone_ref(py));
        Factory { given, is_object: self.is_object, defaults: params.clone(), arguments }
    }

    /// Creates an agent, or returns the shared one.
    fn call(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.is_object {
            return Ok(self.given.clone_ref(py));
        }
        if self.arguments.is_empty() {
            return self.given.call0(py);
        }
        let module = py.import("cambio_game.run")?;
        Ok(module.getattr("_made")?.call1((&self.given, &self.arguments))?.unbind())
    }
}

/// The parameters of a Python agent.
#[derive(Clone, Default, Debug)]
struct PythonParams(Vec<Param>);

impl PythonParams {
    /// The parameters in the signature of a factory.
    fn of(factory: &Bound<'_, PyAny>) -> PyResult<PythonParams> {
        let found = factory.py().import("cambio_game.run")?.getattr("_parameters")?.call1((factory,))?;
        let mut params = PythonParams::default();
        for (name, kind, words, default) in found.extract::<Vec<(String, String, Vec<String>, Option<String>)>>()? {
            let range = match &kind[..] {
                "int" => Range::Whole(i64::MIN, i64::MAX),
                "float" => Range::Real(f64::MIN, f64::MAX),
                _ => Range::Words(kept(words)),
            };
            let name = kept(vec![name])[0];
            params.0.push(Param { name, meaning: "an argument of the Python class or function", default: None, range });
            if let Some(text) = default
                && params.set(name, &text).is_err()
            {
                let text = cambio_core::text::excerpt(&text);
                return Err(error::AgentError::new_err(format!(
                    "the default of parameter `{name}` must be {range}, found `{text}`"
                )));
            }
        }
        Ok(params)
    }
}

impl Params for PythonParams {
    fn declared(&self) -> Vec<Param> {
        self.0.clone()
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let param = self.0.iter_mut().find(|param| param.name == name).ok_or(ParamError::Unknown)?;
        let value = match param.range {
            Range::Whole(..) => text.parse().ok().map(ParamValue::Whole),
            Range::Real(..) => f64::read(text, param.range).map(ParamValue::Real),
            Range::Words(words) => words.iter().find(|word| **word == text).map(|word| ParamValue::Word(word)),
        };
        param.default = Some(value.ok_or(ParamError::Range(param.range))?);
        Ok(())
    }

    fn is_reproducible(&self) -> bool {
        true
    }

    fn boxed(&self) -> Box<dyn Params> {
        Box::new(self.clone())
    }
}

/// These texts until the process exits, as declarations need them; equal ones share memory.
fn kept(texts: Vec<String>) -> &'static [&'static str] {
    static KEPT: Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
    let mut kept = locked(&KEPT);
    kept.entry(texts).or_insert_with_key(|texts| {
        let texts = texts.iter().map(|text| &*text.clone().leak());
        texts.collect::<Vec<&str>>().leak()
    })
}

/// The batch is closed when no match has joined it for this long.
const PAUSE: Duration = Duration::from_micros(200);

/// The position at which an agent is asked.
struct Question {
    seen: PyObservation,
    choices: Choices,
    space: ActionSpace,
    seat: Seat,
}

impl Question {
    /// The name of the rules, and the number of seats.
    fn table(&self) -> (&'static str, usize) {
        (self.seen.rules_of().name(), self.seen.seats_of())
    }
}

/// A match that waits for the probabilities of its choices. Each match runs on its own thread.
struct WaitingCall {
    question: Question,
    thread: ThreadId,
    answer: Sender<Result<Vec<f64>, String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The object of a policy, which all matches share.
///
/// One thread calls it. It waits until no more matches join, and calls the object once for all of them. Timing determines which matches
/// share a call, so the probabilities must not depend on the rest of the batch.
struct SharedPolicy {
    /// Creates the object if there is none yet.
    factory: Arc<Factory>,
    raised: Arc<RaisedExceptions>,
    object: Option<Py<PyAny>>,
}

impl SharedPolicy {
    /// Serves calls until no agent can call any more.
    fn serve(mut self, calls: &Receiver<WaitingCall>) {
        let (mut waiting, mut threads) = (Vec::<WaitingCall>::new(), Vec::new());
        while let Ok(first) = calls.recv() {
            let mut next = Ok(first);
            while let Ok(call) = next {
                if !threads.contains(&call.thread) {
                    threads.push(call.thread);
                }
                waiting.push(call);
                // Each thread waits for one match, so no more can join when all wait.
                let pause = if waiting.len() < threads.len() { PAUSE } else { Duration::ZERO };
                next = calls.recv_timeout(pause);
            }
            Python::attach(|py| self.answer(py, &mut waiting));
            waiting.clear();
        }
    }

    /// Answers all waiting matches, with one call for each table, because tables differ in their actions.
    fn answer(&mut self, py: Python<'_>, waiting: &mut [WaitingCall]) {
        waiting.sort_by_key(|one| one.question.table());
        for group in waiting.chunk_by(|one, other| one.question.table() == other.question.table()) {
            let questions: Vec<&Question> = group.iter().map(|one| &one.question).collect();
            let made = self.object.take().map_or_else(|| self.factory.call(py), Ok);
            let answers = made.and_then(|object| shares_of_all(self.object.insert(object).bind(py), &questions));
            let answers = answers.unwrap_or_else(|error| group.iter().map(|_| Err(error.clone_ref(py))).collect());
            for (one, shares) in group.iter().zip(answers) {
                // Fails only if the match is gone.
                let _ = one.answer.send(shares.map_err(|error| self.raised.keep(error, py)));
            }
        }
    }
}

/// Asks a shared policy for the probabilities of the choices, in their order. `Err` has the reason why there are none.
fn call_policy(calls: &Sender<WaitingCall>, question: Question) -> Result<Vec<f64>, String> {
    let (answer, answered) = mpsc::channel();
    // Fails only if the thread of the policy is gone; then it does not answer.
    let _ = calls.send(WaitingCall { question, thread: thread::current().id(), answer });
    answered.recv().unwrap_or_else(|_| Err("it was not asked".to_owned()))
}

/// Draws a decision with these probabilities of the choices, by a number from 0 to 1.
fn drawn(choices: &Choices, shares: &[f64], draw: f64) -> Action {
    let (mut left, mut chosen) = (draw, None);
    for (action, share) in choices.iter().zip(shares).filter(|&(_, share)| *share > 0.0) {
        chosen = Some(action);
        left -= share;
        if left < 0.0 {
            break;
        }
    }
    chosen.expect("a probability is positive, because they add up to 1")
}

/// Calls `probabilities`. Returns the probabilities of the choices at each position, or the error of this position.
fn shares_of_all(object: &Bound<'_, PyAny>, questions: &[&Question]) -> PyResult<Vec<PyResult<Vec<f64>>>> {
    let seen = questions.iter().map(|one| one.seen.clone()).collect();
    let actions = questions.first().map_or(0, |one| one.space.action_count());
    let answers = ask_policy(object, seen, actions)?;
    let rows = answers.as_array();
    let shares = questions.iter().zip(rows.rows()).map(|(one, row)| {
        let share = |action| row[one.space.to_index(action, one.seat).expect("a legal action has an index")];
        let mut shares: Vec<f64> = one.choices.iter().map(share).collect();
        let sum: f64 = shares.iter().sum();
        if shares.iter().any(|&share| share < 0.0) || (sum - 1.0).abs() > 1e-6 || sum.is_nan() {
            let what = format!(
                "`probabilities` must be at least 0 and add up to 1 over the legal actions, found the sum {sum}; \
                 observation.mask() has the legal actions"
            );
            return Err(error::ArrayError::new_err(what));
        }
        for share in &mut shares {
            *share /= sum;
        }
        Ok(shares)
    });
    Ok(shares.collect())
}

/// Calls `probabilities`. Returns a row for each observation, which has a column for each of the `actions`.
pub(crate) fn ask_policy<'py>(
    policy: &Bound<'py, PyAny>,
    seen: Vec<PyObservation>,
    actions: usize,
) -> PyResult<PyReadonlyArray2<'py, f64>> {
    let (py, rows) = (policy.py(), seen.len());
    let seen = seen.into_iter().map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?;
    let answers = policy.call_method1("probabilities", (PyList::new(py, seen)?,))?;
    let numbers = py.import("numpy")?.call_method1("asarray", (answers, "float64"))?;
    let array: Option<PyReadonlyArray2<'_, f64>> = numbers.extract().ok();
    array.filter(|array| array.shape() == [rows, actions]).ok_or_else(|| {
        let found = numbers.getattr("shape").map_or_else(|_| "none".to_owned(), |shape| shape.to_string());
        error::ArrayError::new_err(format!(
            "`probabilities` must return an array of shape ({rows}, {actions}), a row for each observation and a column for each \
             action, found shape {found}"
        ))
    })
}

/// A Python agent: an object with a method `decide(observation)`, or a policy, which has a method `probabilities(observations)`.
struct PythonAgent {
    /// Creates the object; called once for each player.
    factory: Arc<Factory>,
    raised: Arc<RaisedExceptions>,
    /// The calls of a policy, whose object all players share.
    policy: Option<Sender<WaitingCall>>,
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
        if !made.hasattr("decide")? && made.hasattr("probabilities")? {
            let what = format!("a policy must be given as an object or a class, found a function; pass the `{name}`");
            return Err(error::AgentError::new_err(what));
        }
        if locked(&self.players).insert(object.as_ptr() as usize) {
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
            let (seat, seed) = (briefing.seat.index(), bits(&mut briefing.stream.clone()));
            object.call_method1(py, "begin", (PyRules(*briefing.rules), briefing.seats, seat, seed))?;
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
        if let Some(policy) = &self.policy {
            let stream = self.stream.as_mut().ok_or("the match has not begun")?;
            let draw = bits(stream) as f64 / (1_u64 << 62) as f64;
            return Ok(drawn(&view.choices(), &call_policy(policy, question)?, draw));
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
            locked(&self.players).remove(&(object.as_ptr() as usize));
        }
    }
}

impl Agent for PythonAgent {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.failed = None;
        if self.policy.is_some() {
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
        Ok(self.policy.as_ref().map(|policy| call_policy(policy, self.question(view))).transpose()?)
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
    /// Raises the interrupt (Ctrl-C) that reached an agent, if there was one.
    pub(crate) fn interrupted(&self, py: Python<'_>) -> PyResult<()> {
        let kept = locked(&self.raised.0);
        let interrupt = kept.iter().find(|(_, error)| error.is_instance_of::<PyKeyboardInterrupt>(py));
        interrupt.map_or(Ok(()), |(_, error)| Err(error.clone_ref(py)))
    }

    /// Prints the first exception of an agent with its traceback on standard error, if there is one.
    pub(crate) fn print_first(&self, py: Python<'_>) -> PyResult<()> {
        let kept = locked(&self.raised.0);
        let Some((_, error)) = kept.first() else { return Ok(()) };
        let stderr = py.import("sys")?.getattr("stderr")?;
        stderr.call_method1("write", ("\nthe first exception of a Python agent:\n",))?;
        error.display(py);
        stderr.call_method0("flush")?;
        Ok(())
    }

    /// The exception for an error during play. The exception of an agent is its cause, with the traceback.
    pub(crate) fn failed(&self, error: PlayError) -> PyErr {
        let text = error.to_string();
        let record = match error {
            PlayError::Fault(fault) => Some(fault.record),
            // Refused before the first match.
            PlayError::Run(RunError::Plan(PlanError::Unplayable { .. })) => None,
            error => return error::failed(error),
        };
        let raised = error::AgentFault::new_err(text.clone());
        Python::attach(|py| {
            let kept = locked(&self.raised.0);
            // One text may be the beginning of another.
            let causes = kept.iter().filter(|(kept, _)| text.contains(kept.as_str()));
            let cause = causes.max_by_key(|(text, _)| text.len()).map(|(_, cause)| cause.clone_ref(py));
            raised.set_cause(py, cause);
            // The attribute is an addition; without it, the exception is still right.
            let _ = record.map(|record| raised.value(py).setattr("record", PyRecord { record }));
        });
        raised
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
        let (is_policy, factory) = (factory.bind(py).hasattr("probabilities")?, Factory::of(factory.bind(py))?);
        let (defaults, raised, players) = (factory.defaults.clone(), raised.clone(), Arc::default());
        // The policies, one for each choice of parameters.
        let shared = Mutex::new(BTreeMap::<Arguments, Sender<WaitingCall>>::new());
        let make = move |params: &PythonParams| {
            let factory = Arc::new(factory.with(params));
            let policy = is_policy.then(|| {
                let start = || {
                    let policy = SharedPolicy { factory: factory.clone(), raised: raised.clone(), object: None };
                    let (sender, calls) = mpsc::channel();
                    thread::spawn(move || policy.serve(&calls));
                    sender
                };
                locked(&shared).entry(factory.arguments.clone()).or_insert_with(start).clone()
            });
            PythonAgent {
                factory,
                raised: raised.clone(),
                policy,
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
