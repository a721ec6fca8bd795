//! Plays deal blocks and creates their rows.

mod block;
mod fault;
mod rows;
mod tally;
mod timing;

pub(crate) use block::BlockPlayer;
pub use block::play_block;
pub(crate) use block::rows_of_record;
pub use fault::{AgentFault, PlayError};
pub use rows::BlockRows;
pub(crate) use timing::{TIMING_FILE, TimingRow};
pub use timing::{TimeSpent, Timing};
