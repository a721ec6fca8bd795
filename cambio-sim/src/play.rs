//! Plays deal blocks and makes their rows.

mod bench;
mod block;
mod fault;
mod measure;
mod rows;
mod tally;

pub(crate) use block::Arena;
pub use block::play_block;
pub use fault::AgentFault;
pub use measure::MeasureError;
pub use rows::BlockRows;
pub use tally::{RoundTally, Tally};
