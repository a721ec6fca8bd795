//! Plays deal blocks and makes their rows.

mod bench;
mod block;
mod executor;
mod fault;
mod guard;
mod measure;
mod rows;
mod tally;

pub(crate) use block::Arena;
pub use block::play_block;
pub use executor::{CancelToken, Executor, MOST_THREADS, Stopped, ThreadsError, Worker};
pub use fault::AgentFault;
pub use guard::Guarded;
pub use measure::MeasureError;
pub use rows::BlockRows;
pub use tally::{RoundTally, Tally};
