//! Equivalence: whether a mean is shown to be close to 0.

use crate::Interval;

/// The p-value of two one-sided tests (TOST; Schuirmann 1987, "A comparison of the two one-sided tests procedure and the
/// power approach for assessing the equivalence of average bioavailability"): small if the mean is shown to be above
/// −`margin` and below `margin`. It is the larger p-value of the two tests, and below 0.05 if the 90 % interval is inside the
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

#[cfg(test)]
mod tests;
