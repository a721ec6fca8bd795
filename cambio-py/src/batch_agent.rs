//! The queue of matches that wait for a Python agent with `decide_batch`.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cambio_core::encode::ActionSpace;
use cambio_core::{Action, Seat};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::action::decision;
use crate::error;
use crate::observation::PyObservation;
use crate::raised::RaisedExceptions;

/// The batch is closed when no match has joined it for this long.
const PAUSE: Duration = Duration::from_micros(200);

/// The shared object of an agent with `decide_batch`, and the matches that wait for its decision.
///
/// Each match runs on its own thread. One of the waiting threads serves the queue: when no more matches join, it calls
/// `decide_batch` for all waiting matches and distributes the decisions. Timing determines which matches share a call, so the
/// agent's decision must not depend on the rest of the batch.
pub(crate) struct BatchAgent {
    factory: Py<PyAny>,
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
}

struct WaitingCall {
    seen: PyObservation,
    space: ActionSpace,
    seat: Seat,
    answer: AnswerCell,
}

type AnswerCell = Arc<Mutex<Option<Result<Action, String>>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BatchAgent {
    /// An empty queue. The factory creates the object when the first match asks.
    pub(crate) fn new(factory: Py<PyAny>, raised: Arc<RaisedExceptions>) -> BatchAgent {
        BatchAgent { factory, raised, queue: Mutex::default(), bell: Condvar::new() }
    }

    /// Waits for the decision for a match. `Err` has the reason why there is none.
    pub(crate) fn ask(&self, seen: PyObservation, space: ActionSpace, seat: Seat) -> Result<Action, String> {
        let answer = AnswerCell::default();
        let mut queue = locked(&self.queue);
        queue.waiting.push(WaitingCall { seen, space, seat, answer: answer.clone() });
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
        loop {
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

    /// Decides for all waiting matches. Returns the object for the next call, if it could be created.
    fn serve(&self, py: Python<'_>, object: Option<Py<PyAny>>, waiting: &[WaitingCall]) -> Option<Py<PyAny>> {
        let object = match object.map_or_else(|| self.factory.call0(py), Ok) {
            Ok(object) => object,
            Err(error) => {
                let reason = self.raised.keep(error, py);
                for one in waiting {
                    *locked(&one.answer) = Some(Err(reason.clone()));
                }
                return None;
            }
        };
        let decided = decide_all(py, &object, waiting).map_err(|error| self.raised.keep(error, py));
        for (number, one) in waiting.iter().enumerate() {
            *locked(&one.answer) = Some(match &decided {
                Ok(answers) => {
                    decision(&answers[number], &one.space, one.seat).map_err(|error| self.raised.keep(error, py))
                }
                Err(reason) => Err(reason.clone()),
            });
        }
        Some(object)
    }
}

/// Calls `decide_batch` and returns its decisions, one for each match.
fn decide_all<'py>(py: Python<'py>, object: &Py<PyAny>, waiting: &[WaitingCall]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let seen = PyList::new(
        py,
        waiting.iter().map(|one| one.seen.clone()).map(|seen| Py::new(py, seen)).collect::<PyResult<Vec<_>>>()?,
    )?;
    let answers: Vec<_> =
        object.bind(py).call_method1("decide_batch", (seen,))?.try_iter()?.collect::<PyResult<_>>()?;
    if answers.len() == waiting.len() {
        return Ok(answers);
    }
    let (found, allowed) = (answers.len(), waiting.len());
    Err(error::ActionError::new_err(format!(
        "`decide_batch` returned {found} decisions for {allowed} observations; allowed is one for each"
    )))
}
