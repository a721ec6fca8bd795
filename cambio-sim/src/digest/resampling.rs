//! The random numbers of statistics.

use cambio_core::rng::{Key, Purpose, Stream};

/// Random numbers for statistics: a stream of its own under the seed, which no game uses.
pub(crate) fn resampling(seed: u64, name: u32) -> Stream {
    // No plan has a deal with this number, and the dealer of a round is no purpose of statistics.
    Key { seed, deal: u64::MAX }.stream(Purpose::Dealer, name)
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::Bounded as _;
    use cambio_stats::Draw as _;

    use super::*;

    /// The intervals of old runs are made again only as long as both draw the same.
    #[test]
    fn resampling_draws_what_the_engine_would_draw() {
        let (mut statistics, mut engine) = (resampling(1, 2), resampling(1, 2));
        for bound in [1, 2, 3, 1000, 1 << 26, u32::MAX] {
            assert_eq!(statistics.index(bound as usize) as u32, engine.below(bound));
        }
    }
}
