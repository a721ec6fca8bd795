//! The queue of matches that wait for a Python agent with `decide_batch`, or for a policy with `probabilities`.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use cambio_core::encode::ActionSpace;
use cambio_core::{Action, Choices, Seat};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::action::decision;
use crate::error;
use crate::factory::Factory;
use crate::observation::PyObservation;
use crate::raised::RaisedExceptions;

/// The batch is closed when no match has joined it for this long.
const PAUSE: Duration = Duration::from_micros(200);

/// The shared object of an agent with `decide_batch` or of a policy, and the matches that wait for its decision.
///
/// Each match runs on its own thread. One of the waiting threads serves the queue: when no more matches join, it calls
/// `decide_batch` or `probabilities` for all waiting matches and distributes the decisions. Timing determines which matches share a call, so
/// the agent's answer must not depend on the rest of the batch.
pub(crate) struct BatchAgent {
    /// Creates the object if there is none yet.
    pub(crate) factory: Arc<Factory>,
    is_policy: bool,
    raised: Arc<RaisedExceptions>,
    queue: Mutex<CallQueue>,
    /// Notified when a match joins the queue, and when decisions are available.
    bell: Condvar,
}

#[derive(Default)]
struct CallQueue {
    object: Option<Py<PyAny>>,
    waiting: Vec<WaitingCall>,
    is_served: bool,
    /// The threads that have asked so far.
    threads: Vec<ThreadId>,
}

/// The position at which an agent is asked.
pub(crate) struct Question {
    pub(crate) seen: PyObservation,
    pub(crate) choices: Choices,
    pub(crate) space: ActionSpace,
    pub(crate) seat: Seat,
}

/// A match that waits for a decision.
struct WaitingCall {
    question: Question,
    /// A number from 0 to 1 of the seat's own stream, by which a decision is drawn from the probabilities of a policy.
    draw: f64,
    answer: AnswerCell,
}

type AnswerCell = Arc<Mutex<Option<Result<Action, String>>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BatchAgent {
    /// An empty queue. A class creates the object when the first match asks.
    pub(crate) fn new(factory: Arc<Factory>, is_policy: bool, raised: Arc<RaisedExceptions>) -> BatchAgent {
        BatchAgent { factory, is_policy, raised, queue: Mutex::default(), bell: Condvar::new() }
    }

    /// Waits for the decision for a match. `Err` has the reason why there is none.
    pub(crate) fn ask(&self, question: Question, draw: f64) -> Result<Action, String> {
        let answer = AnswerCell::default();
        let mut queue = locked(&self.queue);
        let own = thread::current().id();
        if !queue.threads.contains(&own) {
            queue.threads.push(own);
        }
        queue.waiting.push(WaitingCall { question, draw, answer: answer.clone() });
        self.bell.notify_all();
        loop {
            if let Some(answer) = locked(&answer).take() {
                return answer;
            }
            if !queue.is_served {
                break;
            }
            queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.is_served = true;
        // Each thread waits for one match, so no more can join when all wait.
        while queue.waiting.len() < queue.threads.len() {
            let before = queue.waiting.len();
            queue = self.bell.wait_timeout(queue, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
            if queue.waiting.len() == before {
                break;
            }
        }
        let (waiting, object) = (std::mem::take(&mut queue.waiting), queue.object.take());
        drop(queue);
        let object = Python::attach(|py| self.serve(py, object, &waiting));
        let mut queue = locked(&self.queue);
        (queue.object, queue.is_served) = (object, false);
        drop(queue);
        self.bell.notify_all();
        locked(&answer).take().unwrap_or_else(|| Err("it was not asked".to_owned()))
    }

    /// The probabilities of a policy for one match, in the order of the choices; `None` for an agent with `decide_batch`.
    pub(crate) fn probabilities(&self, question: impl FnOnce() -> Question) -> Result<Option<Vec<f64>>, String> {
        if !self.is_policy {
            return Ok(None);
        }
        Python::attach(|py| {
            let asked = || {
                let known = locked(&self.queue).object.as_ref().map(|object| object.clone_ref(py));
                let object = known.map_or_else(|| self.factory.call(py), Ok)?;
                let shares = probabilities(object.bind(py), &question())?;
                locked(&self.queue).object.get_or_insert(object);
                Ok(Some(shares))
            };
            asked().map_err(|error| self.raised.keep(error, py))
        })
    }

    /// Decides for all waiting matches. Returns the object for the next call, if it could be created.
    fn serve(&self, py: Python<'_>, object: Option<Py<PyAny>>, waiting: &[WaitingCall]) -> Option<Py<PyAny>> {
        let object = object.map_or_else(|| self.factory.call(py), Ok);
        let decide = if self.is_policy { draw_all } else { decide_all };
        let decided = match &object {
            Ok(object) => decide(object.bind(py), waiting),
            Err(error) => Err(error.clone_ref(py)),
        };
        match decided {
            Ok(decided) => {
                for (one, decided) in waiting.iter().zip(decided) {
                    *locked(&one.answer) = Some(decided.map_err(|error| self.raised.keep(error, py)));
                }
            }
            Err(error) => {
                let reason = self.raised.keep(error, py);
                for one in waiting {
                    *locked(&one.answer) = Some(Err(reason.clone()));
                }
            }
        }
        object.ok()
    }
}

/// The observations of these positions.
fn observations<'py>(py: Python<'py>, questions: &[&Question]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, questions.iter().map(|one| Py::new(py, one.seen.clone())).collect::<PyResult<Vec<_>>>()?)
}

/// Calls `decide_batch`. Returns a decision for each match, or the error of this decision.
fn decide_all(object: &Bound<'_, PyAny>, waiting: &[WaitingCall]) -> PyResult<Vec<PyResult<Action>>> {
    let answers = object.call_method1("decide_batch", (observations(object.py(), &questions(waiting))?,))?;
    let answers: Vec<_> = answers.try_iter()?.collect::<PyResult<_>>()?;
    if answers.len() != waiting.len() {
        let (found, allowed) = (answers.len(), waiting.len());
        return Err(error::ActionError::new_err(format!(
            "`decide_batch` must return one decision for each of the {allowed} observations, found {found}"
        )));
    }
    Ok(waiting
        .iter()
        .zip(answers)
        .map(|(one, answer)| decision(&answer, &one.question.space, one.question.seat))
        .collect())
}

/// Calls `probabilities` and draws a decision for each match.
fn draw_all(object: &Bound<'_, PyAny>, waiting: &[WaitingCall]) -> PyResult<Vec<PyResult<Action>>> {
    let draw = |(one, shares): (&WaitingCall, PyResult<Vec<f64>>)| {
        let (mut left, mut chosen) = (one.draw, None);
        for (action, share) in one.question.choices.iter().zip(shares?).filter(|&(_, share)| share > 0.0) {
            chosen = Some(action);
            left -= share;
            if left < 0.0 {
                break;
            }
        }
        Ok(chosen.expect("a probability is positive, because they add up to 1"))
    };
    Ok(waiting.iter().zip(shares_of_all(object, &questions(waiting))?).map(draw).collect())
}

fn questions(waiting: &[WaitingCall]) -> Vec<&Question> {
    waiting.iter().map(|one| &one.question).collect()
}

/// Calls `probabilities` of an object for one position. Returns the probabilities in the order of the choices.
pub(crate) fn probabilities(object: &Bound<'_, PyAny>, question: &Question) -> PyResult<Vec<f64>> {
    shares_of_all(object, &[question])?.remove(0)
}

/// Calls `probabilities`. Returns the probabilities of the choices at each position, or the error of this position.
fn shares_of_all(object: &Bound<'_, PyAny>, questions: &[&Question]) -> PyResult<Vec<PyResult<Vec<f64>>>> {
    let py = object.py();
    let answers = object.call_method1("probabilities", (observations(py, questions)?,))?;
    let numbers = py.import("numpy")?.call_method1("asarray", (answers, "float64"))?;
    let actions = questions.first().map_or(0, |one| one.space.action_count());
    let wrong = || error::policy_shape(&numbers, questions.len(), actions);
    let array: PyReadonlyArray2<'_, f64> = numbers.extract().map_err(|_| wrong())?;
    let rows = array.as_array();
    if rows.nrows() != questions.len() || questions.iter().any(|one| one.space.action_count() != rows.ncols()) {
        return Err(wrong());
    }
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
