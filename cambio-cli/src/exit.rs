//! Exit codes.

use cambio_sim::{CheckOutcome, PlanError, PlayError, RunError};

use crate::say::say;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Fault = 2,
    Interrupted = 3,
    Wrong = 4,
    Unchecked = 5,
    Bug = 70,
}

impl From<CheckOutcome> for Exit {
    fn from(outcome: CheckOutcome) -> Exit {
        match outcome {
            CheckOutcome::Verified => Exit::Done,
            CheckOutcome::Unchecked => Exit::Unchecked,
            CheckOutcome::Missing => Exit::Interrupted,
            CheckOutcome::Wrong => Exit::Wrong,
        }
    }
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
        match (error.downcast_ref(), error.downcast_ref()) {
            (Some(RunError::Damaged(_) | RunError::Conflict(_)), _) => Exit::Wrong,
            (Some(RunError::Plan(PlanError::Unplayable { .. })), _)
            | (_, Some(PlayError::Fault(_) | PlayError::Plan(PlanError::Unplayable { .. }))) => Exit::Fault,
            _ => Exit::Failed,
        }
    }
}

/// Whether the reader of standard output has closed it, as `head` does.
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
