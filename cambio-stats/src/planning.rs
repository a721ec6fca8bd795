//! How many clusters a comparison needs.

use crate::distributions::{normal_quantile, t_quantile};

/// How many clusters detect a difference of `effect` between two means, where the difference within one cluster has this
/// standard deviation: `(z(1−α/2) + z(power))² σ² / Δ²`, with Student's t in place of z, iterated to its own degrees of
/// freedom, so that small plans are not too small.
///
/// # Panics
/// If a number is not positive, or a probability not between 0 and 1.
///
/// # Examples
/// ```
/// use cambio_stats::planning::clusters_needed;
///
/// // To see half a standard deviation with 80 % power at the 5 % level.
/// assert_eq!(clusters_needed(0.5, 1.0, 0.05, 0.8), 34);
/// ```
pub fn clusters_needed(effect: f64, deviation: f64, alpha: f64, power: f64) -> u64 {
    assert!(effect > 0.0 && deviation > 0.0, "an effect and a deviation are positive");
    assert!(alpha > 0.0 && alpha < 1.0 && power > 0.0 && power < 1.0, "probabilities are between 0 and 1");
    let ratio = (deviation / effect).powi(2);
    // Where a difference is found by chance as often as is wished, the fewest clusters do.
    let needed = |quantiles: f64| (quantiles.max(0.0).powi(2) * ratio).max(2.0);
    let mut clusters = needed(normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power));
    for _ in 0..50 {
        let freedom = (clusters - 1.0).max(1.0);
        let next = needed(t_quantile(1.0 - alpha / 2.0, freedom) + t_quantile(power, freedom));
        if (next - clusters).abs() < 1e-9 * clusters {
            break;
        }
        clusters = next;
    }
    clusters.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: `statsmodels.stats.power.TTestPower().solve_power(0.1, alpha=0.05, power=0.8)` gives 786.8, with
    /// effect size 0.5 33.4.
    #[test]
    fn plans_agree_with_the_power_of_the_t_test() {
        assert!(clusters_needed(0.01, 0.1, 0.05, 0.8).abs_diff(787) <= 1);
        assert!(clusters_needed(0.05, 0.1, 0.05, 0.8).abs_diff(34) <= 1);
        // (1.959964 + 0.841621)² · 4000² = 125,582,061, and far beyond.
        assert!(clusters_needed(1e-4, 0.4, 0.05, 0.8).abs_diff(125_582_100) < 100);
        assert!(clusters_needed(1e-300, 1.0, 0.05, 0.8) == u64::MAX && clusters_needed(0.01, 0.4, 0.9, 0.01) == 2);
    }
}
