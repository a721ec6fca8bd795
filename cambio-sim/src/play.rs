//! Plays deal blocks and makes their rows.

mod block;
mod executor;
mod fault;
mod guard;
mod rows;
mod tally;

pub(crate) use block::Arena;
pub use block::play_block;
pub use executor::{CancelToken, Executor, MOST_THREADS, Stopped, ThreadsError, Worker};
pub use fault::{AgentFault, PlayError};
pub use guard::Guarded;
pub use rows::BlockRows;
pub use tally::{RoundTally, Tally};
