//! What is played, and what is told of it.

mod block;
mod executor;
mod fault;
mod guard;
mod rows;
mod tally;

pub(crate) use block::Arena;
pub use block::play_block;
pub use executor::{MeasureError, Workers};
pub use fault::AgentFault;
pub use guard::Guarded;
pub use rows::BlockRows;
pub use tally::{RoundTally, SeatTally, Tally};
