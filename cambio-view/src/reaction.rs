//! Reaction times, for snap races that are decided by speed instead of chance.

use cambio_core::Seat;
use cambio_core::engine::RaceOrder;
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::MAX_SEATS;

/// The standard deviation of the logarithm of a reaction time, as a factor.
const SPREAD: f64 = 1.35;
/// The shortest reaction time in milliseconds. In athletics, a faster reaction counts as a false start.
const FASTEST: u32 = 100;
/// The allowed medians of the agents' reaction times, in milliseconds.
pub(crate) const MEDIANS: std::ops::RangeInclusive<u32> = 200..=5000;

/// The reaction times of all seats in one race that is decided by speed.
///
/// A person's time runs from the opening of the window on the page to the snap. An agent decides at once, so its time
/// is drawn from a log-normal distribution, which approximates human reaction times (Luce 1986, "Response Times").
/// The user chooses the median. Two of three times are between the median divided by 1.35 and the median
/// multiplied by 1.35, and none is below 100 ms. The draws come from the race stream of the deal, so a replayed match
/// has the same times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReactionTimes([u32; MAX_SEATS]);

/// Draws from the standard normal distribution (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let mut uniform = || (f64::from(stream.below(u32::MAX)) + 0.5) / f64::from(u32::MAX);
    let (radius, angle) = (uniform(), uniform());
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

impl ReactionTimes {
    /// Draws the times of all seats in one race. `median` is in milliseconds; `round` and `race` are counted from 0.
    pub(crate) fn draw(key: Key, round: usize, race: usize, median: u32) -> ReactionTimes {
        let mut stream = key.stream(Purpose::Race, u32::try_from(round).unwrap_or(u32::MAX));
        let mut times = [0; MAX_SEATS];
        for _ in 0..=race {
            for time in &mut times {
                // The time is at most a few minutes, so it fits into 32 bits.
                *time = (f64::from(median) * libm::pow(SPREAD, normal(&mut stream))).round() as u32;
                *time = (*time).max(FASTEST);
            }
        }
        ReactionTimes(times)
    }

    /// Replaces the person's drawn time with the measured time in milliseconds; a person without a time is last.
    #[must_use]
    pub(crate) fn with(mut self, person: Seat, time: Option<u32>) -> ReactionTimes {
        self.0[person.index()] = time.map_or(u32::MAX, |time| time.max(FASTEST));
        self
    }

    /// The seats, the fastest first; equal times are ordered by seat letter.
    pub(crate) fn order(&self) -> RaceOrder {
        let mut seats = Seat::ALL;
        seats.sort_by_key(|seat| self.0[seat.index()]);
        RaceOrder::new(seats)
    }

    /// The times of the seats that snapped, the fastest first: "fastest: b 0.62 s, then a 0.81 s".
    pub(crate) fn in_words(&self, order: RaceOrder) -> String {
        let words = |seat: Seat| match self.0[seat.index()] {
            u32::MAX => format!("{seat} (no time)"),
            time => format!("{seat} {:.2} s", f64::from(time) / 1000.0),
        };
        format!("fastest: {}", order.seats().map(words).collect::<Vec<_>>().join(", then "))
    }
}

#[cfg(test)]
mod tests;
