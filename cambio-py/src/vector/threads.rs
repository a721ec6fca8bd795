//! The thread pool that steps the matches of a batch.

use std::process;
use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arrays::{MatchRow, MatchRows};
use crate::error;

/// The number of parts into which each thread's share of a batch is split.
const PARTS: usize = 16;

/// The calling thread and its helper threads.
pub(super) struct Threads {
    count: usize,
    /// `None` for one thread.
    helpers: Option<ThreadPool>,
    /// The process that started the helpers. A forked process does not have them.
    process: u32,
}

impl Threads {
    pub(super) fn new(count: usize) -> PyResult<Threads> {
        let helpers = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count - 1).build()).transpose();
        let helpers =
            helpers.map_err(|what| error::CambioError::new_err(format!("cannot start {count} threads: {what}")))?;
        Ok(Threads { count, helpers, process: process::id() })
    }

    /// Calls `work` for every slot, with its number and its rows.
    ///
    /// Each thread has a share of neighbouring matches, the same in every call, so that they stay in its cache. It processes
    /// its share part by part, then steals parts of other shares, so that no slow thread delays the step. With rayon's own
    /// distribution (`par_iter_mut` over chunks), matches move between threads, and the caller sleeps: on two threads, a step
    /// takes 13 % longer with 64 matches, 2 % with 1,024, and with opponents 4 % (`greedy`, 256 matches) and 6 %
    /// (`rollout(n=20)`, 32 matches), measured with `benches/pairs.py` on 25 November 2026.
    pub(super) fn each<S: Send>(
        &self,
        slots: &mut [S],
        rows: MatchRows<'_>,
        work: impl Fn(&mut S, usize, MatchRow<'_>) + Sync,
    ) {
        let share = slots.len().div_ceil(self.count);
        let size = if self.count == 1 { share } else { share.div_ceil(PARTS) };
        let shares = slots.chunks_mut(share).zip(rows.chunks(share)).enumerate();
        let shares = shares.map(|(number, (slots, rows))| {
            let first = (number * share..).step_by(size);
            Mutex::new(first.zip(slots.chunks_mut(size).zip(rows.chunks(size))))
        });
        let shares = shares.collect::<Vec<_>>();
        let take_shares = |thread: usize| {
            let (before, after) = shares.split_at(thread.min(shares.len()));
            for share in after.iter().chain(before) {
                let next_part = || share.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((first, (slots, mut rows))) = next_part() {
                    for (number, (slot, row)) in (first..).zip(slots.iter_mut().zip(rows.each())) {
                        work(slot, number, row);
                    }
                }
            }
        };
        match self.helpers.as_ref().filter(|_| process::id() == self.process) {
            None => take_shares(0),
            Some(helpers) => helpers.in_place_scope(|scope| {
                scope.spawn_broadcast(|_, context| take_shares(context.index() + 1));
                take_shares(0);
            }),
        }
    }
}
