//! Who is first in a snap window, where speed decides and not chance.

use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::{MAX_SEATS, RaceOrder, Seat};

/// One standard deviation of a time, as a factor.
const SPREAD: f64 = 1.35;
/// Nobody reacts faster, milliseconds: whoever seems to has guessed (the limit of athletics for a false start).
const FASTEST: u32 = 100;
/// The medians that may be chosen, milliseconds.
pub const MEDIANS: std::ops::RangeInclusive<u32> = 200..=5000;

/// The times of everybody in one race, where speed decides it.
///
/// A person's time is that from the moment at which its page shows the window to its snap. An agent decides at once, so its time is
/// drawn: the logarithm of a time is normally distributed, as it nearly is for people in reaction tasks (Luce 1986, "Response Times").
/// Half of the times are below a chosen median, two of three lie between it divided and multiplied by 1.35, and none is below 100 ms.
/// The draws come from the race stream of the deal, so a match that is played again has the same.
///
/// ```
/// use cambio_core::{Seat, rng::Key};
/// use cambio_view::ReactionTimes;
///
/// let times = ReactionTimes::draw(Key::new(42, 0), 0, 0, 800).with(Seat::B, Some(150));
/// assert_eq!(times.order().seats().next(), Some(Seat::B));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReactionTimes([u32; MAX_SEATS]);

/// Draws a number of the standard normal distribution (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    let mut uniform = || (f64::from(stream.below(u32::MAX)) + 0.5) / f64::from(u32::MAX);
    let (radius, angle) = (uniform(), uniform());
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

impl ReactionTimes {
    /// The times of a race of a round, both counted from 0, where agents have this median in milliseconds.
    pub fn draw(key: Key, round: usize, race: usize, median: u32) -> ReactionTimes {
        let mut stream = key.stream(Purpose::Race, u32::try_from(round).unwrap_or(u32::MAX));
        let mut times = [0; MAX_SEATS];
        for _ in 0..=race {
            for time in &mut times {
                // A time of at most a few minutes.
                *time = (f64::from(median) * libm::pow(SPREAD, normal(&mut stream))).round() as u32;
                *time = (*time).max(FASTEST);
            }
        }
        ReactionTimes(times)
    }

    /// The times with that of the person in milliseconds, who is last if it has none.
    #[must_use]
    pub fn with(mut self, person: Seat, time: Option<u32>) -> ReactionTimes {
        self.0[person.index()] = time.map_or(u32::MAX, |time| time.max(FASTEST));
        self
    }

    /// The seats, the fastest first; of two that are as fast, the one whose letter comes first.
    pub fn order(&self) -> RaceOrder {
        let mut seats = Seat::ALL;
        seats.sort_by_key(|seat| self.0[seat.index()]);
        RaceOrder::new(seats)
    }

    /// What those who snapped took, the fastest first: "fastest: b 0.62 s, then a 0.81 s".
    pub fn in_words(&self, order: RaceOrder) -> String {
        let told = |seat: Seat| match self.0[seat.index()] {
            u32::MAX => format!("{seat} without a time"),
            time => format!("{seat} {:.2} s", f64::from(time) / 1000.0),
        };
        format!("fastest: {}", order.seats().map(told).collect::<Vec<_>>().join(", then "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_times_are_below_the_median_and_two_of_three_within_a_spread() {
        let draws: Vec<ReactionTimes> =
            (0..2000).map(|deal| ReactionTimes::draw(Key::new(5, deal), 0, 1, 800)).collect();
        let share = |is_in: &dyn Fn(f64) -> bool| {
            let count = draws.iter().flat_map(|times| times.0).filter(|&time| is_in(f64::from(time))).count();
            count as f64 / (draws.len() * MAX_SEATS) as f64
        };
        let below = share(&|time| time < 800.0);
        let near = share(&|time| (800.0 / SPREAD..800.0 * SPREAD).contains(&time));
        // Four standard errors of a share of 16,000 draws are 0.016.
        assert!((below - 0.5).abs() < 0.016, "{below}");
        assert!((near - 0.683).abs() < 0.016, "{near}");
    }

    #[test]
    fn the_faster_comes_first_and_who_has_no_time_last() {
        let times = ReactionTimes([900, 400, 700, 500, 1000, 1100, 1200, 1300]);
        let letters = |times: ReactionTimes| times.order().seats().map(Seat::letter).collect::<String>();
        assert_eq!(letters(times), "bdcaefgh");
        assert_eq!(letters(times.with(Seat::A, Some(450))), "badcefgh");
        assert_eq!(letters(times.with(Seat::B, None)), "dcaefghb");
        let (quick, none) = (times.with(Seat::A, Some(3)), times.with(Seat::B, None));
        let race = |seats| RaceOrder::new(seats);
        assert_eq!(
            quick.in_words(race([Seat::A, Seat::B])),
            "fastest: a 0.10 s, then b 0.40 s",
            "nobody reacts at once"
        );
        assert_eq!(none.in_words(race([Seat::C, Seat::B])), "fastest: c 0.70 s, then b without a time");
    }

    #[test]
    fn a_race_is_the_same_whenever_it_is_drawn_and_no_two_are_alike() {
        let draw = |round, race| ReactionTimes::draw(Key::new(1, 2), round, race, 600);
        assert_eq!(draw(1, 3), draw(1, 3));
        assert_ne!(draw(1, 3), draw(1, 2));
        assert_ne!(draw(1, 3), draw(0, 3));
    }
}
