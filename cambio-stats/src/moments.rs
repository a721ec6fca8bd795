//! Means and their intervals, from exact integer sums.

use crate::interval::{Interval, PowerSums, Support};

/// Running sums of one quantity. Each cluster contributes its number of results n and their sum S, to the totals and to
/// the second moments.
///
/// The mean is the ratio estimator ΣS / Σn, its variance the cluster sandwich `D/(D−1) · Σ(S − μn)² / (Σn)²` (Liang and
/// Zeger 1986, "Longitudinal data analysis using generalized linear models", with the usual small-sample factor). With
/// equal n it is the variance of the cluster means divided by their number. Quantities are integer multiples of a unit,
/// so every sum is exact, and the variance is exactly 0 if all clusters agree.
///
/// # Examples
/// ```
/// use cambio_stats::{Moments, Support};
///
/// // Three clusters of two results each, given by their sums.
/// let mut moments = Moments::default();
/// for sum in [4, 6, 5] {
///     moments.add(2, sum);
/// }
/// let interval = moments.interval(1.0, Support::Line).unwrap();
/// assert_eq!((interval.mean, interval.clusters), (2.5, 3));
/// assert!(interval.low().unwrap() < 2.0 && interval.high().unwrap() > 3.0);
/// ```
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Moments {
    /// The number of clusters with a result.
    pub clusters: u64,
    n: i128,
    s: i128,
    ss: i128,
    sn: i128,
    nn: i128,
    /// Of the clusters' means S / n, for the shape of the interval.
    powers: PowerSums,
}

impl Moments {
    /// Adds a cluster with `n` results and the sum `s`; a cluster without results is ignored.
    pub fn add(&mut self, n: i64, s: i64) {
        if n == 0 {
            return;
        }
        self.powers.add(s as f64 / n as f64);
        let (n, s) = (i128::from(n), i128::from(s));
        self.clusters += 1;
        self.n += n;
        self.s += s;
        self.ss += s * s;
        self.sn += s * n;
        self.nn += n * n;
    }

    /// The number of results.
    pub fn results(&self) -> i128 {
        self.n
    }

    /// Σ(S − μn)² · N², an integer.
    fn squares(&self) -> f64 {
        let (n, s) = (self.n, self.s);
        // N²ΣSS − 2NS·ΣSn + S²·Σnn may overflow 128 bits in the largest runs; doubles are then accurate enough.
        let exact = || {
            let first = n.checked_mul(n)?.checked_mul(self.ss)?;
            let second = n.checked_mul(s)?.checked_mul(self.sn)?.checked_mul(2)?;
            let third = s.checked_mul(s)?.checked_mul(self.nn)?;
            first.checked_sub(second)?.checked_add(third)
        };
        exact().map_or_else(
            || {
                let mean = s as f64 / n as f64;
                let squares = self.ss as f64 - 2.0 * mean * self.sn as f64 + mean * mean * self.nn as f64;
                squares.max(0.0) * (n as f64) * (n as f64)
            },
            |squares| squares as f64,
        )
    }

    /// The mean and its interval, in units of `1 / scale`; `support` is the range of a result in that unit. `None`
    /// without results.
    pub fn interval(&self, scale: f64, support: Support) -> Option<Interval> {
        if self.clusters == 0 {
            return None;
        }
        let n = self.n as f64;
        let clusters = self.clusters as f64;
        let error =
            (self.clusters > 1).then(|| (clusters / (clusters - 1.0) * self.squares()).sqrt() / (n * n) / scale);
        let interval = Interval::new(self.s as f64 / n / scale, error, self.clusters, support);
        Some(interval.with_shape(self.powers.shape(self.clusters, n / clusters)))
    }
}

#[cfg(test)]
mod tests;
