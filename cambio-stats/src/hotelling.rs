//! Hotelling's test that several means are all 0.

use crate::distributions::f_tail;
use crate::matrix::{Matrix, Vector};

/// The result of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotellingTest {
    /// The F statistic.
    pub f: f64,
    /// The degrees of freedom of the numerator and of the denominator.
    pub freedom: (f64, f64),
    /// The p-value: the probability of a statistic at least this large if all means are 0.
    pub p: f64,
}

/// Tests that all of q means over D clusters are 0, given their estimated covariance (Hotelling 1931, "The
/// generalization of Student's ratio"). Wald's statistic W is his T², and W (D − q) / (q (D − 1)) has the F
/// distribution with q and D − q degrees of freedom. The chi-square limit rejects far too often with few clusters.
/// `None` if there are not more clusters than means, or the covariance is singular.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
/// use cambio_stats::hotelling::test;
///
/// // With one mean F is the square of Student's t.
/// let found = test(&[2.0], &Matrix::from_element(1, 1, 0.64), 12).unwrap();
/// assert!((found.f - 6.25).abs() < 1e-12 && (found.p - 0.0295).abs() < 1e-4);
/// ```
pub fn test(means: &[f64], covariance: &Matrix, clusters: u64) -> Option<HotellingTest> {
    let (q, clusters) = (means.len() as f64, clusters as f64);
    let freedom = (q, clusters - q);
    if means.is_empty() || freedom.1 < 1.0 {
        return None;
    }
    let means = Vector::from_column_slice(means);
    let wald = means.dot(&covariance.clone().cholesky()?.solve(&means));
    let f = wald * freedom.1 / (q * (clusters - 1.0));
    f.is_finite().then(|| HotellingTest { f, freedom, p: f_tail(f, freedom.0, freedom.1) })
}

#[cfg(test)]
mod tests;
