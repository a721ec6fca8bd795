//! The budget of a decision: a number of iterations, or a time.

use std::time::{Duration, Instant};

use crate::params;

params! {
    /// The parameters of a time budget.
    pub struct TimeParams {
        /// The search time for a decision in milliseconds, instead of a number of iterations; not reproducible.
        time_ms: Option<u32> in 1..=3_600_000,
    }

    fn is_reproducible(&self) -> bool {
        self.time_ms.is_none()
    }
}

/// The budget of a search for each decision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Budget {
    iterations: u32,
    /// The search time. If it is given, the number of iterations is ignored.
    time: Option<Duration>,
}

impl Budget {
    pub(crate) fn new(iterations: u32, time: TimeParams) -> Budget {
        Budget { iterations, time: time.time_ms.map(|time| Duration::from_millis(time.into())) }
    }

    /// Starts the countdown for one decision.
    pub(crate) fn begin(self) -> Countdown {
        Countdown { budget: self, begun: None, done: 0, half: None }
    }

    /// The maximum number of iterations of a decision. For a time budget, it is an estimate for a fast machine.
    pub(crate) fn most_iterations(self) -> u32 {
        const A_MILLISECOND: u128 = 2000;
        let by_clock = |time: Duration| u32::try_from(time.as_millis() * A_MILLISECOND).unwrap_or(u32::MAX);
        self.time.map_or(self.iterations, by_clock)
    }
}

/// Counts the iterations of one decision.
#[derive(Clone, Debug)]
pub(crate) struct Countdown {
    budget: Budget,
    begun: Option<Instant>,
    done: u32,
    /// With a time budget: the first iteration of the second half.
    half: Option<u32>,
}

impl Countdown {
    /// The number of the next iteration, from 0; `None` when the budget is spent.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        let number = self.done;
        let goes_on = match self.budget.time {
            None => number < self.budget.iterations,
            Some(time) => self.has_time(time),
        };
        self.done += 1;
        goes_on.then_some(number)
    }

    /// Whether the budget's second half begins with this iteration. `number` is the last result of [`Countdown::next`].
    #[inline]
    pub(crate) fn is_halfway(&self, number: u32) -> bool {
        match self.budget.time {
            None => number == self.budget.iterations / 2,
            Some(_) => self.half == Some(number),
        }
    }

    /// Checks the clock, every 16 iterations.
    #[cold]
    fn has_time(&mut self, time: Duration) -> bool {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if !self.done.is_multiple_of(16) || self.done == 0 {
            return true;
        }
        let elapsed = begun.elapsed();
        if 2 * elapsed >= time {
            self.half.get_or_insert(self.done);
        }
        elapsed < time
    }
}

#[cfg(test)]
mod tests;
