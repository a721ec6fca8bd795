//! Sequential tests, tuning and the value of decisions: on this machine, or in rounds that are distributed over many machines.

use std::path::PathBuf;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use cambio_agents::{BlueprintName, WordEnum as _};
use cambio_core::rng::Seed;
use cambio_report::write_tuning;
use cambio_sim::sprt::{DealScore, EloScale, SprtQuestion, SprtResult};
use cambio_sim::tune::{
    Candidates, Opponents, PlaySetting, RACE_STEP, ResponsePoint, Scorer, Task, TuneError, TuneMethod, TuneStep, Tuned,
};
use cambio_sim::{AdvantageExperiment, Executor, LuckChoice, Payoff, PlayError, RoundError, Unit, read_seed};
use cambio_stats::Interval;
use cambio_stats::race::RaceSettings;
use cambio_stats::sprt::Verdict;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::args;
use crate::error::{self, refused};
use crate::rules::PyRules;
use crate::tournament::{Bots, PythonRoster, roster_with};

/// The time between two checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(100);

/// The table of a test: rules, seats, whether a deal is one round, seed, and whether to measure the luck of the cards.
type Table = (String, usize, bool, String, String);

fn setting((rules, seats, rounds, seed, luck): Table, payoff: Payoff) -> PyResult<PlaySetting> {
    let unit = if rounds { Unit::Rounds } else { Unit::Match };
    let seed: Seed = read_seed(&seed).map_err(error::CambioError::new_err)?;
    let luck: LuckChoice = named("luck", "auto, on or off", luck)?;
    Ok(PlaySetting { rules, folder: PathBuf::from("."), seats, unit, payoff, luck, seed, mixture: false })
}

/// The value of an argument with this name, as in an experiment file.
fn named<T: serde::de::DeserializeOwned>(argument: &str, names: &str, found: String) -> PyResult<T> {
    let text = format!("`{argument}` must be {names}, found `{found}`");
    serde_json::from_value(serde_json::Value::String(found)).map_err(|_| error::CambioError::new_err(text))
}

/// A sequential test whose deals are played by many machines.
#[pyclass(module = "cambio_game._cambio", name = "_Sprt")]
pub(crate) struct PySprt {
    setting: PlaySetting,
    question: SprtQuestion,
    agents: [String; 2],
    bots: Bots,
}

#[pymethods]
impl PySprt {
    #[new]
    fn new(
        agents: [String; 2],
        table: Table,
        elo: (f64, f64),
        normalized: bool,
        errors: (f64, f64),
        most_deals: u64,
        bots: Bots,
    ) -> PyResult<PySprt> {
        let setting = setting(table, Payoff::RankPoints)?;
        let scale = if normalized { EloScale::Normalized } else { EloScale::Logistic };
        if elo.1 <= elo.0 {
            let (one, other) = elo;
            return Err(error::CambioError::new_err(format!("`elo1` must be above `elo0`, {one}, found {other}")));
        }
        let (alpha, beta) = errors;
        let question = SprtQuestion { elo_0: elo.0, elo_1: elo.1, scale, alpha, beta, most_deals };
        Ok(PySprt { setting, question, agents, bots })
    }

    /// The first agent's score on each of these deals, in halves, and the luck in it, in millionths of a half.
    fn scores(&self, py: Python<'_>, first: u64, behind: u64) -> PyResult<Vec<(usize, Option<i64>)>> {
        let roster = roster_with(py, &self.bots)?;
        let agents = [&self.agents[0][..], &self.agents[1][..]];
        py.detach(|| {
            let executor = Executor::new(1).map_err(refused)?;
            let scores = self.question.scores(&self.setting, &roster, &executor, agents, first..behind);
            Ok(scores
                .map_err(|error| roster.failed(error))?
                .into_iter()
                .map(|score| (score.halves, score.luck))
                .collect())
        })
    }

    /// Plays until a hypothesis is accepted, on `threads` threads. Returns the same as `answer`. `report` receives progress messages.
    fn ask<'py>(&self, py: Python<'py>, threads: usize, report: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyDict>> {
        let roster = roster_with(py, &self.bots)?;
        let agents = [&self.agents[0][..], &self.agents[1][..]];
        let executor = Executor::new(threads).map_err(refused)?;
        let answer = watched(py, &executor, report.as_ref(), |report| {
            let look = |deals: u64, ratio: f64| report(format!("{deals} deals, log likelihood ratio {ratio:+.2}"));
            self.question.ask(&self.setting, &roster, &executor, agents, look)
        })?;
        told(py, &answer.map_err(|error| roster.failed(error))?)
    }

    /// The result after these scores, as a dictionary with the fields of `SprtResult`.
    fn answer<'py>(&self, py: Python<'py>, scores: Vec<(usize, Option<i64>)>) -> PyResult<Bound<'py, PyDict>> {
        let roster = roster_with(py, &self.bots)?;
        let agents = [&self.agents[0][..], &self.agents[1][..]];
        let scores = scores.into_iter().map(|(halves, luck)| DealScore { halves, luck });
        let answer = self.question.answer(&self.setting, &roster, agents, scores);
        told(py, &answer.map_err(|error| roster.failed(error))?)
    }
}

/// A result of a sequential test as a dictionary.
fn told<'py>(py: Python<'py>, answer: &SprtResult) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let verdict = match answer.verdict {
        Verdict::First => "first",
        Verdict::Second => "second",
        Verdict::Undecided => "undecided",
    };
    dict.set_item("verdict", verdict)?;
    dict.set_item("deals", answer.deals)?;
    dict.set_item("matches", answer.matches)?;
    dict.set_item("ratio", answer.ratio)?;
    dict.set_item("bounds", answer.bounds)?;
    dict.set_item("score", answer.mean().map(|score| score.mean))?;
    dict.set_item("estimate", answer.estimate.map(|found| (found.median, found.low, found.high)))?;
    Ok(dict)
}

/// Runs `work` on another thread, without the GIL. Meanwhile calls `report` with the messages of `work`, and checks for Ctrl-C. An
/// exception of either cancels the executor and is returned.
fn watched<T: Send>(
    py: Python<'_>,
    executor: &Executor,
    report: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Fn(String)) -> T + Send,
) -> PyResult<T> {
    let token = executor.cancel_token();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, messages) = mpsc::channel();
            let worker = scope.spawn(move || {
                work(&move |message| {
                    // Fails only if the receiver is gone, and then no one reads messages.
                    let _ = sender.send(message);
                })
            });
            let mut stopped: PyResult<()> = Ok(());
            loop {
                let message = messages.recv_timeout(PAUSE);
                if message == Err(mpsc::RecvTimeoutError::Disconnected) {
                    break;
                }
                if stopped.is_err() {
                    continue;
                }
                stopped = Python::attach(|py| {
                    if let (Some(report), Ok(message)) = (report, message) {
                        report.call1(py, (message,))?;
                    }
                    py.check_signals()
                });
                if stopped.is_err() {
                    token.cancel();
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            stopped.map(|()| result)
        })
    })
}

/// The value of an agent's decisions, as `cambio advantage` computes it. Returns a dictionary with the fields of `AdvantageResult`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the options of `cambio advantage`")]
pub(crate) fn _advantage<'py>(
    py: Python<'py>,
    agent: &str,
    over: &str,
    rules: PyRef<'_, PyRules>,
    seats: &Bound<'_, PyAny>,
    deals: &Bound<'_, PyAny>,
    playouts: &Bound<'_, PyAny>,
    seed: &Bound<'_, PyAny>,
    threads: usize,
    bots: Bots,
    report: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let rules = rules.0;
    let roster = roster_with(py, &bots)?;
    let spec = roster.parse(agent).map_err(error::spec)?;
    if spec.sees_all() {
        let what = format!("`agent` must be a player, found `{spec}`, which sees every card");
        return Err(error::AgentError::new_err(what));
    }
    let policy = BlueprintName::named(over).map(BlueprintName::policy).ok_or_else(|| {
        let (allowed, over) = (BlueprintName::WORDS.join(", "), cambio_core::text::excerpt(over));
        error::AgentError::new_err(format!("`over` must be one of {allowed}, found `{over}`"))
    })?;
    let (seats, deals) =
        (args::seats(seats, &rules)?, args::whole(deals, "deals", 1, AdvantageExperiment::MOST_DEALS)?);
    let playouts = args::whole(playouts, "playouts", 1, 1_000_000)? as u32;
    let seed = args::seed(seed, "seed")?;
    let experiment = AdvantageExperiment { rules: &rules, seats, agent: &spec, over: &policy, deals, playouts, seed };
    let executor = Executor::new(threads).map_err(refused)?;
    let played = watched(py, &executor, report.as_ref(), |report| {
        experiment.play(&executor, |played| report(format!("{played} of {deals} deals")))
    })?;
    let found = played.map_err(|error| match error {
        RoundError::Round { .. } => error::AgentFault::new_err(format!("{spec}: {error}")),
        error => refused(error),
    })?;
    let interval = |interval: &Interval| (interval.mean, interval.half_width());
    let kinds = found.asked.iter().map(|kind| (kind.what, kind.times, kind.otherwise, interval(&kind.advantage)));
    let dict = PyDict::new(py);
    dict.set_item("results", interval(&found.results))?;
    dict.set_item("decisions", interval(&found.decisions))?;
    dict.set_item("kinds", kinds.collect::<Vec<_>>())?;
    Ok(dict)
}

/// A tuning task whose deals are played by many machines.
#[pyclass(module = "cambio_game._cambio", name = "_Tune")]
pub(crate) struct PyTune {
    task: Task,
    bots: Bots,
}

/// A Python function that returns the scores of deals. An exception of the function is stored.
#[derive(Debug)]
struct PlayCallback {
    play: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Scorer for PlayCallback {
    fn scores(
        &self,
        candidates: &Candidates<'_>,
        which: &[usize],
        deals: std::ops::Range<u64>,
    ) -> Result<Vec<Vec<f64>>, PlayError> {
        let (specs, field) = (candidates.specs().to_vec(), candidates.field().to_vec());
        Python::attach(|py| {
            let found = self.play.call1(py, (specs, field, which.to_vec(), deals.start, deals.end));
            found.and_then(|found| found.extract(py)).map_err(|error| {
                *self.raised.lock().expect("no panic under this lock") = Some(error);
                PlayError::Interrupted
            })
        })
    }
}

fn untuned(roster: &PythonRoster, error: TuneError) -> PyErr {
    match error {
        TuneError::Measure(error) => roster.failed(error),
        error => error::CambioError::new_err(error.to_string()),
    }
}

#[pymethods]
impl PyTune {
    /// `method`: its name, deals, generations, indifference,
    /// alpha, deals of the first stage. `field`: `None` for the agent with its defaults, `["self"]` for the candidates.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of `cambio tune`")]
    fn new(
        agent: String,
        ranges: Vec<String>,
        field: Option<Vec<String>>,
        table: Table,
        payoff: String,
        mixture: bool,
        method: (String, u64, u32, f64, f64, u64),
        validate: u64,
        incumbent: Option<String>,
        command: String,
        bots: Bots,
    ) -> PyResult<PyTune> {
        let wrong = |what: String| error::CambioError::new_err(what);
        let payoff = named("payoff", "rank_points, win, points or margin", payoff)?;
        let (name, deals, generations, indifference, alpha, first) = method;
        let method = match name.as_str() {
            "sweep" => TuneMethod::Sweep { deals },
            "race" => TuneMethod::Race(RaceSettings { indifference, alpha, first, step: RACE_STEP }),
            "halving" => TuneMethod::Halving { blocks: deals },
            "cma" => TuneMethod::Cma { deals, generations },
            _ => return Err(wrong(format!("`method` must be sweep, race, halving or cma, found `{name}`"))),
        };
        let opponents = match field {
            None => Opponents::Defaults,
            Some(field) if field == ["self"] => Opponents::Themselves,
            Some(field) => Opponents::Field(field),
        };
        let read = |range: &String| range.parse().map_err(|error| wrong(format!("{error}")));
        let ranges = ranges.iter().map(read).collect::<PyResult<_>>()?;
        let setting = PlaySetting { mixture, ..setting(table, payoff)? };
        let task = Task { agent, ranges, opponents, setting, method, validate, incumbent, command };
        Ok(PyTune { task, bots })
    }

    /// Plays some candidates on some deals in this process. Returns for each candidate its score on each deal.
    fn scores(
        &self,
        py: Python<'_>,
        specs: Vec<String>,
        field: Vec<String>,
        which: Vec<usize>,
        first: u64,
        behind: u64,
    ) -> PyResult<Vec<Vec<f64>>> {
        let roster = roster_with(py, &self.bots)?;
        py.detach(|| {
            let executor = Executor::new(1).map_err(refused)?;
            let candidates = Candidates::new(&self.task.setting, &roster, &executor, &specs, &field);
            let scores = candidates.and_then(|candidates| candidates.scores(&which, first..behind));
            scores.map_err(|error| roster.failed(error))
        })
    }

    /// Runs the tuning task on `threads` threads; otherwise the same as `run`.
    fn tune(
        &self,
        py: Python<'_>,
        threads: usize,
        report: Option<Py<PyAny>>,
        out: Option<PathBuf>,
    ) -> PyResult<TuningTexts> {
        let roster = roster_with(py, &self.bots)?;
        let executor = Executor::new(threads).map_err(refused)?;
        let tuned = watched(py, &executor, report.as_ref(), |report| {
            self.task.run(&roster, &executor, |step: TuneStep| report(step.to_string()))
        })?;
        texts(&tuned.map_err(|error| untuned(&roster, error))?, out)
    }

    /// Runs the tuning task. `play(specs, field, which, first, behind)` must return the same as `scores`; `report` receives progress
    /// messages. Writes the folder `out` if it is given. Returns the points of the curve and `tuning.json`, both as JSON, and
    /// warnings.
    fn run(&self, py: Python<'_>, play: Py<PyAny>, report: Py<PyAny>, out: Option<PathBuf>) -> PyResult<TuningTexts> {
        let roster = roster_with(py, &self.bots)?;
        let handed = PlayCallback { play, raised: Mutex::new(None) };
        py.detach(|| {
            let progress = |step: TuneStep| {
                Python::attach(|py| {
                    if let Err(error) = report.call1(py, (step.to_string(),)) {
                        error.write_unraisable(py, None);
                    }
                });
            };
            let tuned = self.task.run(&roster, &handed, progress).map_err(|error| {
                let raised = handed.raised.lock().expect("no panic under this lock").take();
                raised.unwrap_or_else(|| untuned(&roster, error))
            })?;
            texts(&tuned, out)
        })
    }
}

/// The points of the curve and `tuning.json`, both as JSON, and warnings.
type TuningTexts = (String, String, Vec<String>);

/// Writes a result to the folder `out`, if it is given, and returns it as texts.
fn texts(tuned: &Tuned, out: Option<PathBuf>) -> PyResult<TuningTexts> {
    if let Some(out) = out {
        write_tuning(&out, tuned).map_err(refused)?;
    }
    let json = |error: serde_json::Error| refused(error);
    let parameters = tuned.result.parameters();
    let point = |point: &ResponsePoint| -> serde_json::Result<serde_json::Value> {
        let mut row = serde_json::to_value(point)?;
        for (name, value) in parameters.iter().zip(point.value.split(' ')) {
            row[name] = value.parse::<f64>().ok().into();
        }
        Ok(row)
    };
    let points = tuned.points.iter().map(point).collect::<Result<Vec<_>, _>>().map_err(json)?;
    Ok((
        serde_json::to_string(&points).map_err(json)?,
        serde_json::to_string(&tuned.result).map_err(json)?,
        tuned.result.warnings(&tuned.points),
    ))
}
