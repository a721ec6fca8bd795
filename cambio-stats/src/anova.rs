//! A test that several means are equal: repeated-measures analysis of variance.

use crate::distributions::f_tail;
use crate::matrix::Matrix;

/// The result of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnovaTest {
    /// The F statistic.
    pub f: f64,
    /// The degrees of freedom of the numerator and of the denominator.
    pub freedom: (f64, f64),
    /// The p-value: the probability of a statistic at least this large if all means are equal.
    pub p: f64,
}

/// Tests that k means over the same D clusters are equal, given their estimated covariance: repeated-measures analysis of
/// variance, with the degrees of freedom multiplied by the ε of Huynh and Feldt (1976, "Estimation of the Box correction
/// for degrees of freedom from sample data in randomized block and split-plot designs"). F is the sum of the squared
/// deviations from the mean of the means, divided by its expectation, and has ε (k − 1) and ε (k − 1) (D − 1) degrees of
/// freedom.
///
/// The alternative, Hotelling's T², needs the inverse of the covariance and rejects too often if clusters are few and
/// skewed. `None` with fewer than two means or clusters, or without variance.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
/// use cambio_stats::anova::test;
///
/// // With two means F is the square of Student's t of their difference.
/// let found = test(&[0.0, 2.0], &(Matrix::identity(2, 2) * 0.32), 12).unwrap();
/// assert!((found.f - 6.25).abs() < 1e-12 && (found.p - 0.0295).abs() < 1e-4);
/// ```
pub fn test(means: &[f64], covariance: &Matrix, clusters: u64) -> Option<AnovaTest> {
    let (size, clusters) = (means.len() as f64, clusters as f64);
    if size < 2.0 || clusters < 2.0 {
        return None;
    }
    let middle = means.iter().sum::<f64>() / size;
    let between: f64 = means.iter().map(|mean| (mean - middle) * (mean - middle)).sum();
    let centre = Matrix::from_fn(means.len(), means.len(), |i, j| f64::from(u8::from(i == j)) - 1.0 / size);
    let centred = &centre * covariance * &centre;
    let (within, squares) = (centred.trace(), centred.norm_squared());
    let q = size - 1.0;
    // ε of Greenhouse and Geisser, times q.
    let estimate = within * within / squares;
    let spare = clusters - 1.0 - estimate;
    let epsilon = if spare > 0.0 { ((clusters * estimate - 2.0) / (q * spare)).clamp(1.0 / q, 1.0) } else { 1.0 };
    let freedom = (epsilon * q, epsilon * q * (clusters - 1.0));
    let f = between / within;
    f.is_finite().then(|| AnovaTest { f, freedom, p: f_tail(f, freedom.0, freedom.1) })
}

#[cfg(test)]
mod tests;
