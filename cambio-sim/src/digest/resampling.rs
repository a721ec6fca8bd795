//! Random numbers for statistics.

use cambio_core::rng::{Key, Purpose, Seed, Stream};
use cambio_stats::Matrix;
use cambio_stats::simultaneous::{Contrasts, Together};

/// The stream of a plan, beside those of derived files and of tuning.
const EQUALS: u32 = 6 << 16;

/// A stream of random numbers for statistics. It belongs to the seed, and no game uses it.
pub(crate) fn resampling(seed: impl Into<Seed>, name: u32) -> Stream {
    // No plan has a deal with this number.
    Key::new(seed, u64::MAX).stream(Purpose::Dealer, name)
}

/// How the pairs of so many agents are compared together whose means are equally sure and independent: what can be planned
/// for before there is a run.
///
/// # Panics
/// If there are fewer than two agents.
pub fn pairs_of_equals(agents: usize) -> Together {
    let together = Together::new(&Matrix::identity(agents), Contrasts::Pairs, &mut resampling(0_u64, EQUALS));
    together.expect("two agents are a pair")
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::Bounded as _;
    use cambio_stats::Draw as _;

    use super::*;

    /// Old runs get the same intervals again only if the stream stays the same.
    #[test]
    fn resampling_draws_what_the_engine_would_draw() {
        let (mut statistics, mut engine) = (resampling(1, 2), resampling(1, 2));
        for bound in [1, 2, 3, 1000, 1 << 26, u32::MAX] {
            assert_eq!(statistics.index(bound as usize) as u32, engine.below(bound));
        }
    }
}
