//! Equations: Cholesky's factors and elimination.

use super::{Matrix, add_scaled, dot};

/// A symmetric positive definite matrix as L Lᵀ, L with zeros above its diagonal (Golub and Van Loan 2013, "Matrix
/// computations", algorithm 4.2.1).
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
///
/// let found = Matrix::from_rows(&[[4.0, 2.0], [2.0, 5.0]]).cholesky().unwrap();
/// assert_eq!(found.factor(), &Matrix::from_rows(&[[2.0, 0.0], [1.0, 2.0]]));
/// assert_eq!(found.solve(&[8.0, 12.0]), [1.0, 2.0]);
/// // Not positive definite.
/// assert!(Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).cholesky().is_none());
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Cholesky {
    factor: Matrix,
}

impl Cholesky {
    /// L.
    pub fn factor(&self) -> &Matrix {
        &self.factor
    }

    /// The vector with which the matrix gives this one.
    ///
    /// # Panics
    /// If the vector has not as many numbers as there are rows.
    pub fn solve(&self, vector: &[f64]) -> Vec<f64> {
        let size = self.factor.rows();
        assert_eq!(size, vector.len(), "a vector has a number for each row");
        let mut found = vector.to_vec();
        for row in 0..size {
            let done = dot(&self.factor.row(row)[..row], &found[..row]);
            found[row] = (found[row] - done) / self.factor[(row, row)];
        }
        for row in (0..size).rev() {
            let number = found[row] / self.factor[(row, row)];
            found[row] = number;
            add_scaled(&mut found[..row], -number, &self.factor.row(row)[..row]);
        }
        found
    }

    /// The inverse of the matrix, exactly symmetric.
    pub fn inverse(&self) -> Matrix {
        let size = self.factor.rows();
        let mut inverse = Matrix::zeros(size, size);
        let mut unit = vec![0.0; size];
        for column in 0..size {
            unit[column] = 1.0;
            let found = self.solve(&unit);
            unit[column] = 0.0;
            for row in column..size {
                inverse[(row, column)] = found[row];
                inverse[(column, row)] = found[row];
            }
        }
        inverse
    }
}

impl Matrix {
    /// Cholesky's factor of a symmetric matrix, of which only the diagonal and what is below are read; `None` if it is not
    /// positive definite.
    ///
    /// # Panics
    /// If it is not square.
    pub fn cholesky(&self) -> Option<Cholesky> {
        let size = self.square();
        let mut factor = Matrix::zeros(size, size);
        for row in 0..size {
            for column in 0..=row {
                let left = self[(row, column)] - dot(&factor.row(row)[..column], &factor.row(column)[..column]);
                factor[(row, column)] = if column < row {
                    left / factor[(column, column)]
                } else {
                    // Also where it is no number.
                    Some(left).filter(|left| *left > 0.0 && left.is_finite())?.sqrt()
                };
            }
        }
        Some(Cholesky { factor })
    }

    /// The vector with which this matrix gives another one, by Gauss's elimination with the largest of each column for its
    /// pivot (Golub and Van Loan 2013, algorithm 3.4.1); `None` if the matrix is singular.
    ///
    /// # Panics
    /// If it is not square, or the vector has not as many numbers as there are rows.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::Matrix;
    ///
    /// let matrix = Matrix::from_rows(&[[0.0, 2.0], [1.0, 1.0]]);
    /// assert_eq!(matrix.solve(&[4.0, 3.0]), Some(vec![1.0, 2.0]));
    /// assert_eq!(Matrix::zeros(2, 2).solve(&[4.0, 3.0]), None);
    /// ```
    pub fn solve(&self, vector: &[f64]) -> Option<Vec<f64>> {
        assert_eq!(self.rows, vector.len(), "a vector has a number for each row");
        let eliminated = Elimination::new(self.clone());
        eliminated.is_regular().then(|| eliminated.solve(vector))
    }

    /// The inverse, by elimination; `None` if the matrix is singular.
    ///
    /// # Panics
    /// If it is not square.
    pub fn inverse(&self) -> Option<Matrix> {
        let eliminated = Elimination::new(self.clone());
        eliminated.is_regular().then_some(())?;
        let size = self.rows;
        let mut inverse = Matrix::zeros(size, size);
        let mut unit = vec![0.0; size];
        for column in 0..size {
            unit[column] = 1.0;
            for (row, number) in eliminated.solve(&unit).into_iter().enumerate() {
                inverse[(row, column)] = number;
            }
            unit[column] = 0.0;
        }
        Some(inverse)
    }

    /// The determinant, by elimination; 1 without rows.
    ///
    /// # Panics
    /// If it is not square.
    pub fn determinant(&self) -> f64 {
        let eliminated = Elimination::new(self.clone());
        let sign = if eliminated.is_odd { -1.0 } else { 1.0 };
        sign * eliminated.factors.diagonal_cells().product::<f64>()
    }

    /// The number of rows of a square matrix.
    pub(super) fn square(&self) -> usize {
        assert_eq!(self.rows, self.columns, "the matrix is square");
        self.rows
    }
}

/// A matrix after elimination: its rows in another order as L U, L with ones on its diagonal.
struct Elimination {
    /// U, and below it what L has below its diagonal.
    factors: Matrix,
    /// Which row of the matrix stands where.
    order: Vec<usize>,
    /// Whether an odd number of rows was exchanged.
    is_odd: bool,
}

impl Elimination {
    fn new(mut factors: Matrix) -> Elimination {
        let size = factors.square();
        let mut order: Vec<usize> = (0..size).collect();
        let mut is_odd = false;
        for step in 0..size {
            let size_of = |row: usize| factors[(row, step)].abs();
            let pivot = (step + 1..size).fold(step, |best, row| if size_of(row) > size_of(best) { row } else { best });
            if pivot != step {
                order.swap(step, pivot);
                is_odd = !is_odd;
                let (above, below) = factors.cells.split_at_mut(pivot * size);
                above[step * size..(step + 1) * size].swap_with_slice(&mut below[..size]);
            }
            let (above, below) = factors.cells.split_at_mut((step + 1) * size);
            let upper = &above[step * size + step..];
            for row in below.chunks_exact_mut(size) {
                if row[step] != 0.0 {
                    row[step] /= upper[0];
                    let factor = row[step];
                    add_scaled(&mut row[step + 1..], -factor, &upper[1..]);
                }
            }
        }
        Elimination { factors, order, is_odd }
    }

    fn is_regular(&self) -> bool {
        self.factors.diagonal_cells().all(|pivot| pivot != 0.0 && pivot.is_finite())
    }

    fn solve(&self, vector: &[f64]) -> Vec<f64> {
        let mut found: Vec<f64> = self.order.iter().map(|&row| vector[row]).collect();
        for row in 1..found.len() {
            found[row] -= dot(&self.factors.row(row)[..row], &found[..row]);
        }
        for row in (0..found.len()).rev() {
            let rest = dot(&self.factors.row(row)[row + 1..], &found[row + 1..]);
            found[row] = (found[row] - rest) / self.factors[(row, row)];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, random};
    use super::*;

    /// 1 / (i + j + 1), whose inverse is known in whole numbers (Choi 1983, "Tricks or treats with the Hilbert matrix").
    fn hilbert(size: usize) -> Matrix {
        Matrix::from_fn(size, size, |row, column| 1.0 / (row + column + 1) as f64)
    }

    fn inverse_of_hilbert(size: usize) -> Matrix {
        let choose =
            |of: usize, count: usize| (0..count).fold(1.0, |p, k| p * (of - k) as f64 / (k + 1) as f64).round();
        Matrix::from_fn(size, size, |i, j| {
            let sign = if (i + j) % 2 == 0 { 1.0 } else { -1.0 };
            let binomials = choose(size + i, size - j - 1) * choose(size + j, size - i - 1) * choose(i + j, i).powi(2);
            sign * (i + j + 1) as f64 * binomials
        })
    }

    #[test]
    fn a_matrix_by_its_inverse_is_one() {
        for size in [1, 2, 3, 8, 25, 60] {
            for seed in 0..4 {
                let matrix = random(size, size, seed);
                let inverse = matrix.inverse().unwrap();
                let by = 1e-14 * size as f64 * matrix.largest() * inverse.largest() + 1e-14;
                assert_close(&(&matrix * &inverse), &Matrix::identity(size), by);
                let product = &(&matrix * &matrix.transpose()) + &Matrix::identity(size);
                let inverse = product.cholesky().unwrap().inverse();
                let by = 1e-14 * size as f64 * product.largest() * inverse.largest();
                assert_close(&(&product * &inverse), &Matrix::identity(size), by);
                assert_close(&inverse, &product.inverse().unwrap(), by);
                assert_close(&inverse, &inverse.transpose(), 0.0);
            }
        }
    }

    #[test]
    fn solutions_are_what_was_asked_for_whatever_the_order_of_rows() {
        for size in [1, 2, 7, 40] {
            let (matrix, vector) = (random(size, size, 9), random(1, size, 10));
            let found = matrix.solve(&matrix.times(vector.row(0))).unwrap();
            let off = found.iter().zip(vector.row(0)).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
            assert!(off < 1e-10, "{size}: {off}");
        }
        // Without exchanging rows the first pivot would be 0, then tiny.
        let awkward = Matrix::from_rows(&[[0.0, 1.0, 1.0], [1e-20, 1.0, 0.0], [1.0, 1.0, 0.0]]);
        let found = awkward.solve(&[3.0, 1.0, 2.0]).unwrap();
        assert!(found.iter().zip([1.0, 1.0, 2.0]).all(|(one, other)| (one - other).abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn hilberts_matrices_have_their_inverses_as_far_as_doubles_go() {
        // The condition number is about e^(3.5 n): of 16 digits so many are lost.
        for (size, relative) in [(2, 1e-14), (4, 1e-11), (6, 1e-8), (8, 1e-5), (10, 2e-3)] {
            let (matrix, expected) = (hilbert(size), inverse_of_hilbert(size));
            for found in [matrix.inverse().unwrap(), matrix.cholesky().unwrap().inverse()] {
                assert_close(&found, &expected, relative * expected.largest());
            }
        }
        // 1 / det of the first five: 1, 12, 2160, 6048000, 266716800000.
        for (size, expected) in (1..).zip([1.0, 12.0, 2160.0, 6_048_000.0, 266_716_800_000.0_f64]) {
            assert!((hilbert(size).determinant() * expected - 1.0).abs() < 1e-11, "{size}");
        }
    }

    #[test]
    fn determinants_change_sign_with_two_rows_and_multiply() {
        let (one, other) = (random(6, 6, 20), random(6, 6, 21));
        let product = (&one * &other).determinant();
        assert!((product - one.determinant() * other.determinant()).abs() < 1e-11 * product.abs());
        let swapped = Matrix::from_fn(6, 6, |row, column| one[([1, 0, 2, 3, 4, 5][row], column)]);
        assert!((swapped.determinant() + one.determinant()).abs() < 1e-13 * one.determinant().abs());
        assert_eq!((Matrix::zeros(3, 3).determinant(), Matrix::identity(0).determinant()), (0.0, 1.0));
    }

    #[test]
    fn what_is_singular_or_not_definite_is_refused() {
        let line = Matrix::from_rows(&[[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!((line.inverse(), line.solve(&[1.0, 2.0])), (None, None));
        assert!(line.cholesky().is_none() && Matrix::zeros(2, 2).cholesky().is_none());
        let nothing = Matrix::from_fn(2, 2, |_, _| f64::NAN);
        assert!(nothing.cholesky().is_none() && nothing.inverse().is_none());
    }
}
