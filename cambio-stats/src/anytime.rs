//! Confidence sequences: intervals that stay valid if you look at them repeatedly while results come in.

use libm::log;

/// The number of clusters for which the width of the intervals is optimised.
const TARGET: f64 = 1000.0;

/// The half-width in standard errors of a 95 % confidence sequence. With a probability of 95 %, the intervals at all
/// numbers of clusters contain the true mean, so you may look at any time and use any stopping rule.
///
/// The sequence is the normal mixture of Robbins 1970 with estimated variance (Waudby-Smith, Arbour, Sinha, Kennedy and
/// Ramdas 2024, "Time-uniform central limit theory and asymptotic confidence sequences", eq. 5, ρ by eq. 44 for 1,000
/// clusters). It is asymptotic: the first look should be at 30 clusters or more. At 1,000 clusters, the interval is
/// 1.55 times as wide as an interval for a single look.
///
/// # Examples
/// ```
/// use cambio_stats::anytime::factor;
///
/// assert!((factor(1000) - 3.035).abs() < 0.01);
/// assert!(factor(30) > factor(1000));
/// ```
pub fn factor(clusters: u64) -> f64 {
    let alpha = 1.0 - crate::LEVEL;
    let bound = -2.0 * log(alpha);
    let square = (bound + log(bound) + 1.0) / TARGET;
    let spent = clusters as f64 * square + 1.0;
    (2.0 * spent / (spent - 1.0) * log(spent.sqrt() / alpha)).sqrt()
}

#[cfg(test)]
mod tests;
