//! Plays deal blocks and creates their rows; plays single rounds for measurements.

mod block;
mod fault;
mod rows;
mod tally;
mod timing;

use cambio_core::Seat;
use cambio_core::play::MatchError;
use cambio_exec::{Executor, Worker};

pub(crate) use block::BlockPlayer;
pub use block::play_block;
pub(crate) use block::rows_of_record;
pub use fault::{AgentFault, PlayError};
pub use rows::BlockRows;
pub(crate) use timing::{TIMING_FILE, TIMING_HEADER, TimingRow};
pub use timing::{TimeSpent, Timing};

/// An error while measuring rounds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoundError {
    /// The policy does not support these rules.
    #[error("{0}")]
    Policy(String),
    /// A round of this deal with the measured agent in this seat could not be played.
    #[error("deal {0}, the agent in seat {1}: {2}")]
    Round(u64, Seat, MatchError),
    /// The executor was cancelled.
    #[error("interrupted without a result")]
    Interrupted,
}

/// Calls `round` for every deal and seat, and commits the results of all seats deal by deal. Calls `progress` with the number of
/// finished deals about ten times a second.
pub(crate) fn play_rounds<T: Send, S: Send>(
    executor: &Executor,
    (deals, seats): (u64, usize),
    state: &mut S,
    round: impl Fn(u64, Seat) -> Result<T, RoundError> + Sync,
    commit: impl Fn(&mut S, &[T]) + Sync,
    mut progress: impl FnMut(u64),
) -> Result<(), RoundError> {
    let work = |deal, worker: &Worker<'_>| {
        let mut results = Vec::with_capacity(seats);
        for seat in Seat::ALL.into_iter().take(seats) {
            if worker.is_stopped() {
                return None;
            }
            match round(deal, seat) {
                Ok(result) => results.push(result),
                Err(_) if cambio_agents::is_interrupted() => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        worker.count(1);
        Some(Ok(results))
    };
    let commit = |state: &mut S, _, results: Result<Vec<T>, RoundError>| {
        commit(state, &results?);
        Ok(())
    };
    let look = |_: &mut S, played| {
        progress(played);
        Ok(())
    };
    executor.run_watched(0..deals, state, work, commit, look).map_err(|stopped| stopped.or(RoundError::Interrupted))
}
