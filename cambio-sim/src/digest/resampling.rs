//! Random numbers for statistics.

use cambio_core::rng::{Key, Purpose, Seed, Stream};

/// A stream of random numbers for statistics. It belongs to the seed, and no game uses it.
pub(crate) fn resampling(seed: impl Into<Seed>, name: u32) -> Stream {
    // No plan has a deal with this number.
    Key::new(seed, u64::MAX).stream(Purpose::Dealer, name)
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
