//! Differences of independent means.

use crate::distributions::t_quantile;
use crate::interval::Interval;

/// The interval at this level of the difference of two independent means, `one` minus `other`; `None` if one of them has
/// no interval.
///
/// The distance of each end from the difference is the square root of the sum of the squared distances of the
/// corresponding ends from their means (MOVER; Zou and Donner 2008, "Construction of confidence limits about effect
/// measures"), so the asymmetry of the intervals is kept.
///
/// ```
/// use cambio_stats::{Interval, Support, independent_difference};
///
/// let [one, other] = [0.52, 0.49].map(|mean| Interval::new(mean, Some(0.01), 100, Support::Line));
/// let (low, high) = independent_difference(&one, &other, 0.95).unwrap();
/// assert!((low - 0.00194).abs() < 1e-5 && (high - 0.05806).abs() < 1e-5);
/// ```
pub fn independent_difference(one: &Interval, other: &Interval, level: f64) -> Option<(f64, f64)> {
    let distances = |own: &Interval| {
        let (low, high) = own.ends_at(t_quantile(0.5 + level / 2.0, own.freedom()))?;
        Some((own.mean - low, high - own.mean))
    };
    let ((below, above), (other_below, other_above)) = (distances(one)?, distances(other)?);
    let difference = one.mean - other.mean;
    Some((difference - libm::hypot(below, other_above), difference + libm::hypot(above, other_below)))
}

#[cfg(test)]
mod tests;
