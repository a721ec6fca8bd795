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
mod tests {
    use super::*;
    use crate::resampling::{ResampleRng as _, stream};

    /// Regression test: one seat wins most matches of each deal, as in a table of equal agents. Hotelling's test, which was
    /// used before, rejects 14 % at four seats with 12 deals and 11 % at eight seats with 60, instead of 5 %.
    #[test]
    fn at_most_one_of_twenty_is_rejected_where_nothing_is_to_be_found() {
        let runs = crate::amount(4000, 40_000);
        let mut rng = stream(3, 12);
        for (seats, clusters) in [(2, 30_usize), (4, 12), (4, 60), (8, 12), (8, 60)] {
            let mut rejected = 0;
            for _ in 0..runs {
                let mut drawn = Matrix::zeros(clusters, seats);
                for deal in 0..clusters {
                    let best = rng.index(seats);
                    for _ in 0..seats {
                        let winner = if rng.index(10) < 7 { best } else { rng.index(seats) };
                        drawn[(deal, winner)] += 1.0 / seats as f64;
                    }
                }
                let means: Vec<f64> = (0..seats).map(|seat| drawn.column(seat).sum() / clusters as f64).collect();
                let centred = Matrix::from_fn(clusters, seats, |row, column| drawn[(row, column)] - means[column]);
                let count = clusters as f64;
                let covariance = centred.transpose() * &centred / (count * (count - 1.0));
                rejected += u32::from(test(&means, &covariance, clusters as u64).is_some_and(|test| test.p < 0.05));
            }
            let share = f64::from(rejected) / f64::from(runs);
            let error = (0.05 * 0.95 / f64::from(runs)).sqrt();
            assert!(share > 0.02 && share < 0.055 + 3.0 * error, "{seats} seats, {clusters} deals: {share}");
        }
    }
}
