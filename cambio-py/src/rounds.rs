//! The studies: sequential tests, tuning, the value of decisions and the responder, on this machine or distributed over many machines.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use cambio_report::{Bench, BenchEnd, BenchError, with_page};
use cambio_sim::sprt::SprtOptions;
use cambio_sim::tune::{ResponsePoint, TuneOptions, Tuned};
use cambio_sim::{
    AdvantageOptions, Executor, ExploitOptions, PlayError, PlayablePlan, RemotePlayer, RunFolder, Runner, StudyDriver,
    StudyError, StudyStep, read_options,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::{self, refused, watched};
use crate::python_agent::{Bots, PythonRoster, roster_with};

/// The options of a study.
enum Study {
    Sprt(SprtOptions),
    Tune(TuneOptions),
    Advantage(AdvantageOptions),
    Exploit(ExploitOptions),
}

/// A study, whose options are a JSON object.
#[pyclass(module = "cambio_game._cambio", name = "_Study")]
pub(crate) struct PyStudy {
    study: Study,
    bots: Bots,
}

/// A Python function that returns the scores of deals. An exception of the function is stored.
struct PlayCallback {
    play: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl RemotePlayer for PlayCallback {
    fn scores(&self, request: &str, deals: Range<u64>) -> Result<Vec<String>, PlayError> {
        Python::attach(|py| {
            let found = self.play.call1(py, (request, deals.start, deals.end));
            found.and_then(|found| found.extract(py)).map_err(|error| {
                *self.raised.lock().expect("no panic under this lock") = Some(error);
                PlayError::Interrupted
            })
        })
    }
}

#[pymethods]
impl PyStudy {
    #[new]
    fn new(study: &str, options: &str, bots: Bots) -> PyResult<PyStudy> {
        let wrong = |error: StudyError| error::CambioError::new_err(error.to_string());
        let study = match study {
            "sprt" => read_options(options).map(Study::Sprt),
            "tune" => read_options(options).map(Study::Tune),
            "advantage" => read_options(options).map(Study::Advantage),
            _ => read_options(options).map(Study::Exploit),
        };
        Ok(PyStudy { study: study.map_err(wrong)?, bots })
    }

    /// The default options of a study as a JSON object.
    #[staticmethod]
    fn defaults(study: &str) -> String {
        match study {
            "sprt" => json!(SprtOptions::default()),
            "tune" => json!(TuneOptions::default()),
            "advantage" => json!(AdvantageOptions::default()),
            _ => json!(ExploitOptions::default()),
        }
        .to_string()
    }

    /// The scores of these deals as a JSON list, for the `play` of another machine's `run`, which has received the request.
    fn scores(&self, py: Python<'_>, request: &str, first: u64, behind: u64) -> PyResult<String> {
        let roster = roster_with(py, &self.bots)?;
        py.detach(|| {
            let executor = Executor::new(1).map_err(refused)?;
            let scores = match &self.study {
                Study::Sprt(options) => options.scores(&roster, &executor, first..behind),
                Study::Tune(options) => options.scores(&roster, &executor, request, first..behind),
                Study::Advantage(_) | Study::Exploit(_) => {
                    Err(StudyError::Task("this study plays on one machine".to_owned()))
                }
            };
            scores.map_err(|error| failed(&roster, error))
        })
    }

    /// Runs the study on `threads` threads, or by `play(request, first, behind)`, which returns the scores of the first of these deals.
    /// `report` receives progress messages. The folder `out` keeps the scores and gets the result. Returns the result as JSON.
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        play: Option<Py<PyAny>>,
        report: Option<Py<PyAny>>,
        out: Option<PathBuf>,
    ) -> PyResult<String> {
        let roster = roster_with(py, &self.bots)?;
        let executor = Executor::new(threads).map_err(refused)?;
        let remote = play.map(|play| PlayCallback { play, raised: Mutex::new(None) });
        let result = watched(py, &executor.cancel_token(), report.as_ref(), |report| {
            let mut tell = |step| {
                if let StudyStep::Play(message) = step {
                    report(message);
                }
            };
            let mut driver = StudyDriver::new(&executor, &mut tell).with_out(out.as_deref());
            if let Some(remote) = &remote {
                driver = driver.with_remote(remote);
            }
            let (json, files) = match &self.study {
                Study::Sprt(options) => (options.run(&roster, &mut driver)?.to_json(), Vec::new()),
                Study::Advantage(options) => (options.run(&roster, &mut driver)?.to_json(), Vec::new()),
                Study::Exploit(options) => (options.run(&roster, &mut driver)?.to_json(), Vec::new()),
                Study::Tune(options) => {
                    let tuned = options.run(&roster, &mut driver)?;
                    (tuning_json(&tuned), tuned.files())
                }
            };
            driver.finish(&json, files)?;
            Ok(json.to_string())
        });
        if let Some(raised) = remote.and_then(|remote| remote.raised.into_inner().unwrap_or_default()) {
            return Err(raised);
        }
        result?.map_err(|error| failed(&roster, error))
    }
}

/// Plays parts of the benchmark into a folder like `cambio bench`; without `parts`, all of them. `report` receives messages. Returns the
/// content of `result.json`.
#[pyfunction]
#[pyo3(signature = (agent, out, class, quick, parts, resume, bots, threads, report))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub(crate) fn _bench(
    py: Python<'_>,
    agent: &str,
    out: PathBuf,
    class: &str,
    quick: bool,
    parts: Vec<String>,
    resume: bool,
    bots: Bots,
    threads: usize,
    report: Option<Py<PyAny>>,
) -> PyResult<String> {
    let roster = roster_with(py, &bots)?;
    let executor = Executor::new(threads).map_err(refused)?;
    let played = watched(py, &executor.cancel_token(), report.as_ref(), |report| {
        let note = |line: &str| report(line.to_owned());
        let play = |plan: &PlayablePlan, folder: &mut RunFolder| {
            let report = Runner::new(&executor).run(plan, folder)?;
            Ok(with_page(report, plan, folder))
        };
        let bench = Bench::prepare(&out, (agent, class, quick), resume, &roster)?;
        match bench.play(&parts, &executor, &note, &play)? {
            BenchEnd::Done => Ok(bench.write_result()?.line()),
            BenchEnd::Stopped(_, report) => {
                Err(report.outcome.err().map_or_else(|| "the run stopped".into(), BenchError::from))
            }
            BenchEnd::Interrupted => Err("interrupted; the same call with resume=True continues the benchmark".into()),
        }
    });
    played?.map_err(|error: BenchError| match error.downcast::<PlayError>() {
        Ok(error) => roster.failed(*error),
        Err(error) => error::CambioError::new_err(error.to_string()),
    })
}

/// The points of the curve, the object of `tuning.json`, and warnings.
fn tuning_json(tuned: &Tuned) -> Value {
    let parameters = tuned.result.parameters();
    let point = |point: &ResponsePoint| {
        let mut row = json!(point);
        for (name, value) in parameters.iter().zip(point.value.split(' ')) {
            row[name] = value.parse::<f64>().ok().into();
        }
        row
    };
    let points: Vec<Value> = tuned.points.iter().map(point).collect();
    json!({ "points": points, "result": tuned.result, "warnings": tuned.result.warnings(&tuned.points) })
}

/// The exception for an error of a study.
fn failed(roster: &PythonRoster, error: StudyError) -> PyErr {
    match error {
        StudyError::Play(error) => roster.failed(error),
        StudyError::Round { .. } => error::AgentFault::new_err(error.to_string()),
        error => error::CambioError::new_err(error.to_string()),
    }
}
