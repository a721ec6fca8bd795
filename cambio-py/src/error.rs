//! The exceptions, and work that Ctrl-C stops. The command prints the same messages.

use std::sync::mpsc;
use std::time::Duration;

use cambio_agents::SpecError;
use cambio_core::RulesError as BadRules;
use cambio_core::engine::IllegalAction as Illegal;
use cambio_core::record::InvalidRecord;
use cambio_core::text::ParseError;
use cambio_exec::CancelToken;
use cambio_sim::PlayError;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    cambio_game,
    CambioError,
    PyValueError,
    "The base class of all errors of this package, a `ValueError`. The message is one line with the expected and the found value."
);
create_exception!(cambio_game, RulesError, CambioError, "Rules that are invalid or do not fit the number of seats.");
create_exception!(cambio_game, ActionError, CambioError, "A value that is not a decision.");
create_exception!(cambio_game, IllegalAction, ActionError, "A decision that is not legal now. Nothing has changed.");
create_exception!(cambio_game, RecordError, CambioError, "A record that cannot be read, or that breaks the rules.");
create_exception!(cambio_game, AgentError, CambioError, "An invalid spec, or an agent that does not fit the rules.");
create_exception!(
    cambio_game,
    AgentFault,
    CambioError,
    "An agent that decided illegally or raised an exception, which is then the `__cause__`. The attribute `record` has the match up to the fault, if it is known."
);
create_exception!(cambio_game, ExperimentError, CambioError, "An experiment file that is invalid.");
create_exception!(cambio_game, RunError, CambioError, "A run folder that cannot be read or written.");
create_exception!(cambio_game, ArrayError, CambioError, "An array with a wrong shape or dtype, or a read-only array.");

/// Defines functions that convert an error of the library to an exception with the same message.
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
    action: ParseError => ActionError,
    record: InvalidRecord => RecordError,
    spec: SpecError => AgentError,
}

/// A Python exception as one line of text.
pub(crate) fn told(error: &PyErr, py: Python<'_>) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let text = error.value(py).to_string();
    format!("it raised {name}: {}", cambio_core::text::excerpt(&text).up_to(200))
}

/// The exception for a run that cannot be played or read.
pub(crate) fn refused(error: impl std::fmt::Display) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The exception for an error during play without Python agents.
pub(crate) fn failed(error: PlayError) -> PyErr {
    match error {
        PlayError::Plan(error) => ExperimentError::new_err(error.to_string()),
        PlayError::Fault(fault) => AgentFault::new_err(fault.to_string()),
        error => refused(error),
    }
}

/// The exception of a signal such as Ctrl-C, if one has arrived.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself is not general enough in its lifetime"
)]
pub(crate) fn check_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// The time between two checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs `work` on another thread, without the GIL. Meanwhile calls `report` with the messages of `work`, and checks for Ctrl-C. An
/// exception of either cancels the token and is returned.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    token: &CancelToken,
    report: Option<&Py<PyAny>>,
    work: impl FnOnce(&(dyn Fn(String) + Sync)) -> T + Send,
) -> PyResult<T> {
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
