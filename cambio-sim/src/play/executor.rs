//! Threads that play blocks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{FromParallelIterator, IntoParallelIterator as _, ParallelIterator as _};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::block::play_block;
use super::fault::AgentFault;
use super::rows::BlockRows;
use crate::plan::{Block, Plan, PlanError};

/// Why candidates cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The setting or an agent is not allowed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An agent was at fault.
    #[error("fault: {}: {}", .0.place, .0.what)]
    Fault(Box<AgentFault>),
    /// The user wants no more.
    #[error("interrupted")]
    Interrupted,
    /// The worker threads cannot be started.
    #[error("cannot start {threads} threads: {what}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        what: String,
    },
}

/// Threads that measure, until they are told to stop.
#[derive(Debug)]
pub struct Workers<'t> {
    pool: ThreadPool,
    stop: &'t AtomicBool,
}

impl<'t> Workers<'t> {
    /// So many threads; 0 takes as many as there are cores. What is measured does not depend on them. `stop` is set from
    /// outside to stop.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn new(threads: usize, stop: &'t AtomicBool) -> Result<Workers<'t>, MeasureError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| MeasureError::Threads { threads, what: error.to_string() })?;
        Ok(Workers { pool, stop })
    }

    /// Measures each number of a range, in its order.
    pub(crate) fn all<T: Send, C: FromParallelIterator<T> + Send>(
        &self,
        range: Range<u64>,
        measure: impl Fn(u64) -> T + Send + Sync,
    ) -> C {
        self.pool.install(|| range.into_par_iter().map(measure).collect())
    }

    /// Plays a block to measure it, unless it is to stop. Agents then end as they would, with their processes.
    pub(crate) fn play<'p>(&self, plan: &'p Plan, block: &Block<'p>) -> Result<BlockRows<'p>, MeasureError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(MeasureError::Interrupted);
        }
        play_block(plan, block).map_err(MeasureError::Fault)
    }
}
