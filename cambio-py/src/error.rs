//! The exceptions, each with the sentence that the command prints.

use cambio_agents::SpecError;
use cambio_core::{Flaw, IllegalAction as Illegal, ParseActionError, RestoreError, RulesError as BadRules};
use cambio_sim::PlayError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    cambio,
    CambioError,
    PyValueError,
    "What this package refuses. The message is one sentence: what was found, and what is allowed."
);
create_exception!(cambio, RulesError, CambioError, "Rules that are refused, or that do not fit the number of seats.");
create_exception!(cambio, ActionError, CambioError, "Something that is no decision.");
create_exception!(cambio, IllegalAction, ActionError, "A decision that is not legal now. Nothing has changed.");
create_exception!(cambio, RecordError, CambioError, "A record that is none, or that breaks the rules.");
create_exception!(cambio, AgentError, CambioError, "A text that names no agent, or an agent that cannot play here.");
create_exception!(cambio, AgentFault, CambioError, "An agent decided illegally, raised, or could not go on.");
create_exception!(cambio, ExperimentError, CambioError, "An experiment that cannot be played.");
create_exception!(cambio, RunError, CambioError, "A run folder that cannot be read or written.");
create_exception!(cambio, ArrayError, CambioError, "An array of another shape, or that cannot be written.");

pub(crate) fn rules(error: BadRules) -> PyErr {
    RulesError::new_err(error.to_string())
}

pub(crate) fn illegal(error: Illegal) -> PyErr {
    IllegalAction::new_err(error.to_string())
}

pub(crate) fn action(error: ParseActionError) -> PyErr {
    ActionError::new_err(error.to_string())
}

pub(crate) fn record(error: Flaw) -> PyErr {
    RecordError::new_err(error.to_string())
}

pub(crate) fn restore(error: RestoreError) -> PyErr {
    RecordError::new_err(error.to_string())
}

pub(crate) fn spec(error: SpecError) -> PyErr {
    AgentError::new_err(error.to_string())
}

/// Adds the exceptions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("CambioError", py.get_type::<CambioError>())?;
    module.add("RulesError", py.get_type::<RulesError>())?;
    module.add("ActionError", py.get_type::<ActionError>())?;
    module.add("IllegalAction", py.get_type::<IllegalAction>())?;
    module.add("RecordError", py.get_type::<RecordError>())?;
    module.add("AgentError", py.get_type::<AgentError>())?;
    module.add("AgentFault", py.get_type::<AgentFault>())?;
    module.add("ExperimentError", py.get_type::<ExperimentError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("ArrayError", py.get_type::<ArrayError>())
}

/// What Python raised, in one line.
pub(crate) fn told(error: &PyErr, py: Python<'_>) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let text = error.value(py).to_string();
    format!("it raised {name}: {}", cambio_core::shown(&text).up_to(200))
}

/// The error of Python for a run that cannot be played or read.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The error of Python for what ended play.
pub(crate) fn failed(error: PlayError) -> PyErr {
    match error {
        PlayError::Plan(error) => ExperimentError::new_err(error.to_string()),
        PlayError::Fault(fault) => AgentFault::new_err(fault.to_string()),
        error => refused(error),
    }
}
