//! The exceptions of Python agents.

use std::sync::{Mutex, PoisonError};

use cambio_sim::{PlanError, PlayError, RunError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error;
use crate::record::PyRecord;

/// The exceptions that Python agents have raised, by their text. A fault is reported as text, and then gets its exception as its cause.
#[derive(Default, Debug)]
pub(crate) struct RaisedExceptions(Mutex<Vec<(String, PyErr)>>);

impl RaisedExceptions {
    /// The number of exceptions with different texts that are kept.
    const MOST: usize = 256;

    /// Stores an exception, and returns its text.
    pub(crate) fn keep(&self, error: PyErr, py: Python<'_>) -> String {
        let text = error::told(&error, py);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < RaisedExceptions::MOST && kept.iter().all(|(other, _)| *other != text) {
            kept.push((text.clone(), error));
        }
        text
    }

    /// The interrupt (Ctrl-C) that reached an agent, if there was one.
    pub(crate) fn interrupted(&self, py: Python<'_>) -> PyResult<()> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let interrupt = kept.iter().find(|(_, error)| error.is_instance_of::<PyKeyboardInterrupt>(py));
        interrupt.map_or(Ok(()), |(_, error)| Err(error.clone_ref(py)))
    }

    /// Prints the first exception with its traceback on standard error, if there is one.
    pub(crate) fn print_first(&self, py: Python<'_>) -> PyResult<()> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
