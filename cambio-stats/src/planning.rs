//! Sample sizes: how many clusters a comparison needs.

use crate::distributions::t_power;

/// The number of clusters that a two-sided t test at level `alpha` needs to detect a difference of `effect` between two
/// means with this power. `deviation` is the standard deviation of the difference in one cluster. The result is the
/// smallest D for which the test with the noncentrality `√D · effect / deviation` reaches the power. The normal
/// approximation would plan too few clusters for effects above one and a half deviations.
///
/// For simultaneous intervals, `alpha` is the individual level of each comparison,
/// [`SimultaneousIntervals::alpha_at`](crate::simultaneous::SimultaneousIntervals::alpha_at).
///
/// # Panics
/// If a number is not positive, or a probability not between 0 and 1.
///
/// # Examples
/// ```
/// use cambio_stats::planning::clusters_needed;
///
/// // To detect half a standard deviation with 80 % power at the 5 % level.
/// assert_eq!(clusters_needed(0.5, 1.0, 0.05, 0.8), 34);
/// // Even a difference of two standard deviations needs five clusters.
/// assert_eq!(clusters_needed(2.0, 1.0, 0.05, 0.8), 5);
/// ```
pub fn clusters_needed(effect: f64, deviation: f64, alpha: f64, power: f64) -> u64 {
    assert!(effect > 0.0 && deviation > 0.0, "effect and deviation must be positive");
    assert!(alpha > 0.0 && alpha < 1.0 && power > 0.0 && power < 1.0, "alpha and power must be between 0 and 1");
    let ratio = effect / deviation;
    let is_enough = |clusters: u64| {
        let clusters = clusters as f64;
        t_power(clusters.sqrt() * ratio, clusters - 1.0, alpha) >= power
    };
    let mut high = 2_u64;
    while !is_enough(high) {
        let Some(next) = high.checked_mul(2) else { return u64::MAX };
        high = next;
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        *if is_enough(middle) { &mut high } else { &mut low } = middle;
    }
    high
}

#[cfg(test)]
mod tests;
