//! Exit codes.

use cambio_sim::{PartsError, PlayError, RunError};

use crate::say::say;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Fault = 2,
    Interrupted = 3,
    Wrong = 4,
    Bug = 70,
}

/// The result of a command: its exit code, or an error with a one-sentence message.
pub(crate) type CliResult = Result<Exit, Box<dyn std::error::Error>>;

impl Exit {
    /// Prints an error and returns its exit code.
    pub(crate) fn of(error: &(dyn std::error::Error + 'static)) -> Exit {
        if is_broken_pipe(error) {
            return Exit::Done;
        }
        say!("error: {error}");
        let is_wrong =
            |error: &RunError| matches!(error, RunError::Damaged { .. } | RunError::Parts(PartsError::Conflict { .. }));
        if error.downcast_ref().is_some_and(is_wrong) {
            return Exit::Wrong;
        }
        if matches!(error.downcast_ref(), Some(PlayError::Fault(_))) {
            return Exit::Fault;
        }
        Exit::Failed
    }
}

/// Whether the reader of standard output has closed it, as `head` does.
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
