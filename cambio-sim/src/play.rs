//! Plays deal blocks and makes their rows.

mod block;
mod fault;
mod rows;
mod tally;

pub(crate) use block::Arena;
pub use block::play_block;
pub use fault::{AgentFault, PlayError};
pub use rows::BlockRows;
pub use tally::{RoundTally, Tally};
