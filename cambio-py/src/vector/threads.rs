//! The threads that step the matches of a batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{process, thread};

use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arrays::{Row, Rows};
use super::ask::Ask;
use super::slot::Slot;
use crate::error;

/// In how many parts a thread takes its share of a batch.
const PARTS: usize = 32;

/// How often the caller yields to its helpers before it sleeps.
const YIELDS: usize = 256;

/// The thread that calls, and its helpers.
pub(super) struct Threads {
    count: usize,
    /// None where the caller is alone.
    helpers: Option<ThreadPool>,
    /// The process that has the helpers: one that forks from it has none.
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

    /// Plans every match by its number, and then works at every slot with its rows. Where a plan is refused nothing is worked at, and
    /// the first such match is returned.
    pub(super) fn each(
        &self,
        slots: &mut [Slot],
        mut rows: Rows<'_>,
        plan: impl Fn(usize, &mut Ask) -> bool + Sync,
        work: impl Fn(&mut Slot, usize, Row<'_>) + Sync,
    ) -> Option<usize> {
        let Some(helpers) = self.helpers.as_ref().filter(|_| process::id() == self.process) else {
            let refused = rows.asks().iter_mut().enumerate().position(|(number, ask)| !plan(number, ask));
            if refused.is_none() {
                Part { first: 0, slots, rows }.work(&work);
            }
            return refused;
        };
        // Each thread has neighbouring matches of its own, the same ones in every call, so that they stay in its cache. It takes
        // them in small parts, and then those that others have not come to yet: a thread that wakes up late does less.
        let share = slots.len().div_ceil(self.count);
        let size = share.div_ceil(PARTS);
        let parts = slots.chunks_mut(size).zip(rows.chunks(size)).enumerate();
        let parts = parts.map(|(number, (slots, rows))| Mutex::new(Part { first: number * size, slots, rows }));
        let parts = parts.collect::<Vec<_>>();
        let (plans, works) = (Round::new(parts.len(), self.count), Round::new(parts.len(), self.count));
        let unplanned = AtomicUsize::new(parts.len());
        let refused = AtomicUsize::new(usize::MAX);
        let take_parts = |thread: usize| {
            let part = |number: usize| parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            plans.take(thread, |number| {
                let _planned = Done(&unplanned);
                if let Some(first) = part(number).plan(&plan) {
                    refused.fetch_min(first, Ordering::Relaxed);
                }
            });
            // Plans take next to no time, whoever makes them.
            while unplanned.load(Ordering::Acquire) > 0 {
                thread::yield_now();
            }
            if refused.load(Ordering::Relaxed) == usize::MAX {
                works.take(thread, |number| part(number).work(&work));
            }
        };
        let busy = AtomicUsize::new(helpers.current_num_threads());
        helpers.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, context| {
                let _leaving = Done(&busy);
                take_parts(context.index() + 1);
            });
            take_parts(0);
            // To sleep and be woken takes longer than the part that each helper has left, where nobody thinks long inside.
            for _ in 0..YIELDS {
                if busy.load(Ordering::Acquire) == 0 {
                    break;
                }
                thread::yield_now();
            }
            // A helper still has to tell rayon that it is done, or we would fall asleep over it.
            thread::yield_now();
        });
        Some(refused.into_inner()).filter(|&first| first != usize::MAX)
    }
}

/// Some neighbouring matches.
struct Part<'a> {
    /// The number of the first of them.
    first: usize,
    slots: &'a mut [Slot],
    rows: Rows<'a>,
}

impl Part<'_> {
    /// The first match whose plan is refused.
    fn plan(&mut self, plan: &impl Fn(usize, &mut Ask) -> bool) -> Option<usize> {
        let mut asks = (self.first..).zip(self.rows.asks());
        asks.find_map(|(number, ask)| (!plan(number, ask)).then_some(number))
    }

    fn work(&mut self, work: &impl Fn(&mut Slot, usize, Row<'_>)) {
        for (number, (slot, row)) in (self.first..).zip(self.slots.iter_mut().zip(self.rows.each())) {
            work(slot, number, row);
        }
    }
}

/// A round over all parts: who takes which.
struct Round {
    /// The next part of each thread's own.
    next: Vec<Line>,
    parts: usize,
}

/// A number that has a line of the cache to itself.
#[repr(align(64))]
struct Line(AtomicUsize);

impl Round {
    fn new(parts: usize, threads: usize) -> Round {
        let own = parts.div_ceil(threads);
        let next = (0..threads).map(|thread| Line(AtomicUsize::new(thread * own))).collect();
        Round { next, parts }
    }

    /// Takes the parts of a thread, and then those of the others after it.
    fn take(&self, thread: usize, mut work: impl FnMut(usize)) {
        let own = self.parts.div_ceil(self.next.len());
        for owner in (thread..self.next.len()).chain(0..thread) {
            let end = ((owner + 1) * own).min(self.parts);
            loop {
                let number = self.next[owner].0.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    break;
                }
                work(number);
            }
        }
    }
}

/// Counts down when it goes, also where somebody panicked.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
