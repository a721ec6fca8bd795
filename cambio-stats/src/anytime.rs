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
mod tests {
    use super::*;
    use crate::resampling::{ResampleRng as _, stream};

    #[test]
    fn whoever_looks_at_every_cluster_is_misled_one_time_in_twenty_at_most() {
        let runs = crate::amount(400, 4000);
        let (mut fooled, mut by_t) = (0, 0);
        for run in 0..runs {
            let mut rng = stream(run, 13);
            let (mut sum, mut squares) = (0.0, 0.0);
            let (mut is_fooled, mut is_fooled_by_t) = (false, false);
            for clusters in 1..=3000_u64 {
                // The score of a deal with two games between equal agents.
                let score = [0.0, 0.5, 0.5, 1.0][rng.index(4)] - 0.5;
                sum += score;
                squares += score * score;
                if clusters >= 30 {
                    let count = clusters as f64;
                    let error = ((squares - sum * sum / count) / (count - 1.0) / count).sqrt();
                    is_fooled |= (sum / count).abs() > factor(clusters) * error;
                    is_fooled_by_t |= (sum / count).abs() > 1.96 * error;
                }
            }
            fooled += u32::from(is_fooled);
            by_t += u32::from(is_fooled_by_t);
        }
        let share = |count: u32| f64::from(count) / runs as f64;
        assert!(share(fooled) < 0.05 + 3.5 * (0.05 * 0.95 / runs as f64).sqrt(), "{}", share(fooled));
        // An interval for a single look fails far more often if it is checked at every cluster.
        assert!(share(by_t) > 0.3, "{}", share(by_t));
    }
}
