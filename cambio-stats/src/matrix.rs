//! Linear algebra, by nalgebra.
//!
//! nalgebra is built without its feature `std`, which would multiply matrices with instructions that it chooses when the
//! program runs, and with `libm-force`, so that roots do not come from the platform. The same matrix then has the same
//! inverse and the same eigenvectors, to the last bit, on every CPU.

use nalgebra::{DMatrix, DVector};

/// A dense matrix: the covariance of estimates, or the payoffs of a game.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
///
/// let covariance = Matrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 9.0]);
/// assert_eq!(covariance[(1, 0)], 1.0);
/// ```
pub type Matrix = DMatrix<f64>;

/// A column of numbers.
pub(crate) type Vector = DVector<f64>;

#[cfg(test)]
mod tests {
    use nalgebra::{Dyn, SymmetricEigen};

    use super::*;
    use crate::resampling::{Draw as _, stream};

    /// Cells from the standard normal distribution.
    fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut rng = stream(seed, 77);
        Matrix::from_fn(rows, columns, |_, _| rng.normal())
    }

    fn assert_is_of(eigen: &SymmetricEigen<f64, Dyn>, matrix: &Matrix) {
        let size = matrix.nrows() as f64;
        let off = (eigen.recompose() - matrix).amax();
        assert!(off <= 4e-15 * size.sqrt() * matrix.amax() * size, "off by {off}, {matrix}");
        let square = eigen.eigenvectors.transpose() * &eigen.eigenvectors;
        assert!((square - Matrix::identity(matrix.nrows(), matrix.nrows())).amax() <= 4e-15 * size);
    }

    #[test]
    fn eigenvectors_make_the_matrix_again() {
        for size in [1, 2, 3, 4, 8, 20, 60] {
            for seed in 0..6 {
                let half = random(size, size, 100 + seed);
                // Full, of low rank as covariances are that add up to 0, and with variances of very different size.
                let low = random(size, size.div_ceil(3), seed);
                let spread = Vector::from_fn(size, |at, _| 10_f64.powi(-((12 * at / size) as i32)));
                let scaled = Matrix::from_diagonal(&spread) * &half;
                for matrix in [
                    &half + half.transpose(),
                    &low * low.transpose(),
                    &scaled * scaled.transpose(),
                    &low * low.transpose() * 1e-200,
                ] {
                    assert_is_of(&matrix.clone().symmetric_eigen(), &matrix);
                }
            }
        }
        // The squares of the second block are smaller than any number.
        let block = |at: usize| if at < 2 { 1.0 } else { 1e-170 };
        let blocks = Matrix::from_fn(5, 5, |i, j| if (i < 2) == (j < 2) { block(i) / (1 + i + j) as f64 } else { 0.0 });
        for matrix in [Matrix::zeros(3, 3), Matrix::identity(5, 5), Matrix::repeat(7, 7, 1.0), blocks] {
            assert_is_of(&matrix.clone().symmetric_eigen(), &matrix);
        }
    }

    /// With the feature `std` of nalgebra products of more than five rows differ between CPUs with and without FMA.
    #[test]
    fn linear_algebra_is_pinned_by_value() {
        let (one, other) = (random(9, 9, 1), random(9, 9, 2));
        let product = &one * other;
        let definite = &product * product.transpose();
        let eigen = definite.clone().symmetric_eigen();
        let inverse = definite.clone().cholesky().unwrap().inverse();
        let digest = |matrix: &Matrix| matrix.iter().fold(0_u64, |sum, cell| sum.rotate_left(7) ^ cell.to_bits());
        let found = [&product, &definite, &eigen.recompose(), &eigen.eigenvectors, &inverse].map(digest);
        let expected = [
            0x5cb2_d54a_e962_2b7c,
            0x8fb8_a928_6556_15b2,
            0x13a3_0649_ad9e_15af,
            0xfaf4_d34b_5073_a82f,
            0xd596_1b74_5eed_0225,
        ];
        assert_eq!(found, expected);
    }
}
