//! Sequential tests and tuning whose rounds are distributed over many machines.

use std::path::PathBuf;
use std::sync::Mutex;

use cambio_core::rng::Seed;
use cambio_report::write_tuning;
use cambio_sim::sprt::{DealScore, EloScale, SprtQuestion};
use cambio_sim::tune::{Candidates, Opponents, PlaySetting, ResponsePoint, Scorer, Task, TuneError, TuneMethod};
use cambio_sim::{Executor, LuckChoice, Payoff, PlayError, Unit, read_seed};
use cambio_stats::race::RaceSettings;
use cambio_stats::sprt::Verdict;
use pyo3::prelude::*;

use crate::error::{self, failed, refused};
use crate::tournament::roster_with;
use crate::units::Bots;

/// The result of a sequential test: verdict, deals, log likelihood ratio, its bounds, matches.
type SprtAnswer = (&'static str, u64, f64, (f64, f64), u64);

/// The deals that a race plays at a time. The result does not depend on this number.
const RACE_STEP: u64 = 16;

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
            Ok(scores.map_err(failed)?.into_iter().map(|score| (score.halves, score.luck)).collect())
        })
    }

    /// The verdict after these scores: "second", "first" or "undecided", with the number of deals that were read, the log
    /// likelihood ratio, its bounds, and the number of matches.
    fn answer(&self, py: Python<'_>, scores: Vec<(usize, Option<i64>)>) -> PyResult<SprtAnswer> {
        let roster = roster_with(py, &self.bots)?;
        let agents = [&self.agents[0][..], &self.agents[1][..]];
        let scores = scores.into_iter().map(|(halves, luck)| DealScore { halves, luck });
        let answer = self.question.answer(&self.setting, &roster, agents, scores).map_err(failed)?;
        let verdict = match answer.verdict {
            Verdict::First => "first",
            Verdict::Second => "second",
            Verdict::Undecided => "undecided",
        };
        Ok((verdict, answer.deals, answer.ratio, answer.bounds, answer.matches))
    }
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

fn untuned(error: TuneError) -> PyErr {
    match error {
        TuneError::Measure(error) => failed(error),
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
            let candidates = Candidates::new(&self.task.setting, &roster, &executor, &specs, &field).map_err(failed)?;
            candidates.scores(&which, first..behind).map_err(failed)
        })
    }

    /// Runs the tuning task. `play(specs, field, which, first, behind)` must return the same as `scores`; `tell` receives progress
    /// messages. Writes the folder `out` if it is given. Returns the points of the curve and `tuning.json`, both as JSON, and
    /// warnings.
    fn run(
        &self,
        py: Python<'_>,
        play: Py<PyAny>,
        tell: Py<PyAny>,
        out: Option<PathBuf>,
    ) -> PyResult<(String, String, Vec<String>)> {
        let roster = roster_with(py, &self.bots)?;
        let handed = PlayCallback { play, raised: Mutex::new(None) };
        py.detach(|| {
            let progress = |step: cambio_sim::tune::TuneStep| {
                Python::attach(|py| {
                    if let Err(error) = tell.call1(py, (step.to_string(),)) {
                        error.write_unraisable(py, None);
                    }
                });
            };
            let tuned = self.task.run(&roster, &handed, progress).map_err(|error| {
                handed.raised.lock().expect("no panic under this lock").take().unwrap_or_else(|| untuned(error))
            })?;
            if let Some(out) = out {
                write_tuning(&out, &tuned).map_err(refused)?;
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
        })
    }
}
