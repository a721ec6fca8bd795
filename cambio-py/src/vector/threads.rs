//! The threads that step the matches of a batch.

use std::process;
use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arrays::{Row, Rows};
use super::slot::Slot;
use crate::error;

/// The number of parts of a batch for each thread. A thread that wakes up late takes fewer of them.
const PARTS: usize = 16;

/// The thread that calls, and its helpers.
pub(super) struct Threads {
    count: usize,
    /// None if the caller is alone.
    helpers: Option<ThreadPool>,
    /// The process that has the helpers: a process that forks from it has none.
    process: u32,
}

impl Threads {
    pub(super) fn new(count: usize) -> PyResult<Threads> {
        let helpers = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count - 1).build()).transpose();
        let helpers =
            helpers.map_err(|what| error::CambioError::new_err(format!("cannot start {count} threads: {what}")))?;
        Ok(Threads { count, helpers, process: process::id() })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Works at every slot, by its number, with its rows.
    pub(super) fn each(&self, slots: &mut [Slot], rows: Rows<'_>, work: impl Fn(&mut Slot, usize, Row<'_>) + Sync) {
        let size = slots.len().div_ceil(self.count * PARTS);
        let parts = Mutex::new(slots.chunks_mut(size).zip(rows.chunks(size)).enumerate());
        let next_part = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let take_parts = || {
            while let Some((part, (slots, mut rows))) = next_part() {
                for (number, (slot, row)) in (part * size..).zip(slots.iter_mut().zip(rows.each())) {
                    work(slot, number, row);
                }
            }
        };
        match self.helpers.as_ref().filter(|_| process::id() == self.process) {
            None => take_parts(),
            Some(helpers) => helpers.in_place_scope(|scope| {
                scope.spawn_broadcast(|_, _| take_parts());
                take_parts();
            }),
        }
    }
}
