//! Equivalence: whether a mean is shown to be close to 0.

use crate::Interval;
use crate::distributions::t_quantile;

/// The level of each of the two tests.
const ALPHA: f64 = 0.05;

/// The p-value of two one-sided tests (TOST; Schuirmann 1987, "A comparison of the two one-sided tests procedure and the
/// power approach for assessing the equivalence of average bioavailability"): small if the mean is shown to be above
/// −`margin` and below `margin`. It is the larger p-value of the two tests, and below 0.05 if [`ends`] are inside the
/// margin. `None` with fewer than two clusters or without variance.
///
/// That two means are not distinguishable does not show that they are close: a run with few clusters distinguishes
/// nothing.
///
/// # Examples
/// ```
/// use cambio_stats::equivalence::p_value;
/// use cambio_stats::{Interval, Support};
///
/// let precise = Interval::new(0.004, Some(0.003), 1000, Support::Difference);
/// assert!(p_value(&precise, 0.02).unwrap() < 1e-6 && p_value(&precise, 0.005).unwrap() > 0.3);
/// let rough = Interval::new(0.004, Some(0.02), 1000, Support::Difference);
/// assert!(p_value(&rough, 0.02).unwrap() > 0.2);
/// ```
pub fn p_value(difference: &Interval, margin: f64) -> Option<f64> {
    let one_sided = |limit: f64, is_inside: bool| {
        let half = difference.p(limit)? / 2.0;
        Some(if is_inside { half } else { 1.0 - half })
    };
    Some(one_sided(-margin, difference.mean > -margin)?.max(one_sided(margin, difference.mean < margin)?))
}

/// The ends of the 90 % interval, which correspond to two one-sided tests at the level 0.05. `None` with fewer than two
/// clusters.
pub fn ends(difference: &Interval) -> Option<(f64, f64)> {
    difference.error?;
    difference.ends_at(t_quantile(1.0 - ALPHA, difference.freedom()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::{ResampleRng as _, stream};
    use crate::{Moments, Support};

    #[test]
    fn the_p_value_is_below_5_percent_just_where_the_90_percent_interval_is_inside_the_margin() {
        let mut rng = stream(6, 1);
        for support in [Support::Line, Support::Difference] {
            for _ in 0..2000 {
                let interval = Interval::new(0.1 * rng.normal(), Some(0.1 * rng.uniform()), 40, support);
                let (low, high) = ends(&interval).unwrap();
                let is_inside = low > -0.1 && high < 0.1;
                assert_eq!(p_value(&interval, 0.1).unwrap() < ALPHA, is_inside, "{interval:?}");
            }
        }
        assert_eq!(p_value(&Interval::new(0.0, None, 1, Support::Line), 0.1), None);
    }

    /// The mean of whole results from −2 to 2, in halves, is at the margin or beyond it.
    #[test]
    fn at_the_margin_equivalence_is_claimed_once_in_twenty_and_inside_it_with_power() {
        let runs = crate::amount(1000, 20_000);
        let mut rng = stream(6, 2);
        for (mean, clusters) in [(0.1, 100), (-0.1, 100), (0.1, 1000), (0.15, 400), (0.0, 1000)] {
            let mut claimed = 0;
            for _ in 0..runs {
                let mut moments = Moments::default();
                for _ in 0..clusters {
                    let draw = || if rng.uniform() < f64::midpoint(1.0, mean) { 1 } else { -1 };
                    let results: Vec<i64> = std::iter::repeat_with(draw).take(2).collect();
                    moments.add(2, results.iter().sum());
                }
                let interval = moments.interval(1.0, Support::Difference).unwrap();
                claimed += u32::from(p_value(&interval, 0.1).unwrap() < ALPHA);
            }
            let share = f64::from(claimed) / f64::from(runs);
            println!("mean {mean}, {clusters} clusters: {share:.4}");
            let most = ALPHA + 3.5 * (ALPHA * (1.0 - ALPHA) / f64::from(runs)).sqrt();
            match mean {
                0.0 => assert!(share > 0.8, "{share}"),
                _ => assert!(share < most + 0.005, "mean {mean}, {clusters} clusters: {share}"),
            }
        }
    }
}
