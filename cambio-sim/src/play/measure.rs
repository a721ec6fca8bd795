//! Errors of measurements that play, look at the results and play on.

use cambio_core::AgentError;
use cambio_exec::Stopped;

use super::fault::AgentFault;
use crate::plan::PlanError;

/// Why agents cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The setting or an agent is not allowed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An agent was at fault.
    #[error("fault: {}: {}", .0.place, .0.what)]
    Fault(Box<AgentFault>),
    /// The machine has no more of what an agent needs.
    #[error("{0}")]
    Halted(String),
    /// The executor was cancelled.
    #[error("interrupted")]
    Interrupted,
}

impl From<Stopped<Box<AgentFault>>> for MeasureError {
    fn from(stopped: Stopped<Box<AgentFault>>) -> MeasureError {
        match stopped {
            Stopped::Cancelled => MeasureError::Interrupted,
            Stopped::Failed(fault) => MeasureError::from(fault),
        }
    }
}

impl From<Box<AgentFault>> for MeasureError {
    fn from(fault: Box<AgentFault>) -> MeasureError {
        match fault.halt {
            None => MeasureError::Fault(fault),
            Some(AgentError::Interrupted) => MeasureError::Interrupted,
            Some(_) => MeasureError::Halted(fault.what),
        }
    }
}
