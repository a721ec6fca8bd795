//! The threads that step the matches of a batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arrays::{Row, Rows};
use super::slot::Slot;
use crate::error;

/// In how many parts a thread takes its share of a batch.
const PARTS: usize = 32;

/// The thread that calls, and its helpers.
pub(super) struct Threads {
    count: usize,
    /// None where the caller is alone.
    helpers: Option<ThreadPool>,
}

impl Threads {
    pub(super) fn new(count: usize) -> PyResult<Threads> {
        let helpers = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count - 1).build()).transpose();
        let helpers =
            helpers.map_err(|what| error::CambioError::new_err(format!("cannot start {count} threads: {what}")))?;
        Ok(Threads { count, helpers })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Wakes the helpers, for there will be work soon.
    pub(super) fn wake(&self) {
        if let Some(helpers) = &self.helpers {
            helpers.spawn_broadcast(|_| ());
        }
    }

    /// Does something with every slot, its number and its rows.
    pub(super) fn each(&self, slots: &mut [Slot], rows: Rows<'_>, work: impl Fn(&mut Slot, usize, Row<'_>) + Sync) {
        let Some(helpers) = &self.helpers else {
            return in_order(slots, 0, rows, &work);
        };
        // Each thread has neighbouring matches of its own, the same ones in every call, so that they stay in its cache. It takes
        // them in small parts, and then those that others have not come to yet: a thread that wakes up late does less.
        let size = slots.len().div_ceil(self.count);
        let part = size.div_ceil(PARTS);
        let shares = slots.chunks_mut(size).zip(rows.chunks(size)).enumerate().map(|(number, (slots, rows))| {
            let firsts = (number * size..).step_by(part);
            Mutex::new(firsts.zip(slots.chunks_mut(part).zip(rows.chunks(part))))
        });
        let shares = shares.collect::<Vec<_>>();
        let take_parts = |thread: usize| {
            let (before, own_and_after) = shares.split_at(thread.min(shares.len()));
            for share in own_and_after.iter().chain(before) {
                let next = || share.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((first, (slots, rows))) = next() {
                    in_order(slots, first, rows, &work);
                }
            }
        };
        let busy = AtomicUsize::new(self.count - 1);
        helpers.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, context| {
                let _leaving = Leaving(&busy);
                take_parts(context.index() + 1);
            });
            take_parts(0);
            // The helpers have at most a part left each. To sleep meanwhile and be woken would take longer.
            while busy.load(Ordering::Acquire) > 0 {
                thread::yield_now();
            }
            thread::yield_now();
        });
    }
}

/// Says that a helper has no more work, also where it panicked.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

fn in_order(slots: &mut [Slot], first: usize, rows: Rows<'_>, work: &impl Fn(&mut Slot, usize, Row<'_>)) {
    for (number, (slot, row)) in slots.iter_mut().zip(rows.each()).enumerate() {
        work(slot, first + number, row);
    }
}
