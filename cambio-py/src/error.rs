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

/// Functions that turn an error of the library into an exception with the same sentence.
macro_rules! conversions {
    ($($function:ident: $error:ty => $exception:ident),* $(,)?) => {$(
        pub(crate) fn $function(error: $error) -> PyErr {
            $exception::new_err(error.to_string())
        }
    )*};
}

conversions! {
    rules: BadRules => RulesError,
    illegal: Illegal => IllegalAction,
    action: ParseActionError => ActionError,
    record: Flaw => RecordError,
    restore: RestoreError => RecordError,
    spec: SpecError => AgentError,
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
