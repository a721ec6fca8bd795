use cambio_core::rng::Bounded as _;
use cambio_stats::ResampleRng as _;

use super::*;

/// Intervals of old runs are reproducible only if the stream does not change.
#[test]
fn resampling_draws_what_the_engine_would_draw() {
    let (mut statistics, mut engine) = (resampling(1, 2), resampling(1, 2));
    for bound in [1, 2, 3, 1000, 1 << 26, u32::MAX] {
        assert_eq!(statistics.index(bound as usize) as u32, engine.below(bound));
    }
}
