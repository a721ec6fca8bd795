//! Eigenvalues and eigenvectors of symmetric matrices.

use super::{Matrix, add_scaled, dot, norm};

/// A symmetric matrix as V Λ Vᵀ: by Householder's reflections to three diagonals, and by implicit QR steps with Wilkinson's
/// shift to one (Golub and Van Loan 2013, "Matrix computations", algorithms 8.3.1 and 8.3.2).
///
/// Eigenvalues come in the order in which the steps leave them, from the first place to the last. Who draws from a
/// covariance depends on that order and on the signs of the vectors: both are a function of the matrix alone.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
///
/// let matrix = Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]);
/// let eigen = matrix.symmetric_eigen();
/// assert!((eigen.values[0] - 3.0).abs() < 1e-15 && (eigen.values[1] - 1.0).abs() < 1e-15);
/// assert!((&eigen.map(|value| value) - &matrix).largest() < 1e-15);
/// // Its square root, by which it is a square.
/// let root = eigen.map(f64::sqrt);
/// assert!((&(&root * &root) - &matrix).largest() < 1e-15);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct SymmetricEigen {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// The eigenvectors, of length 1, as columns in the same order.
    pub vectors: Matrix,
}

impl SymmetricEigen {
    /// V f(Λ) Vᵀ: the same matrix with each eigenvalue replaced.
    #[must_use]
    pub fn map(&self, value: impl Fn(f64) -> f64) -> Matrix {
        let mut scaled = self.vectors.clone();
        for row in 0..scaled.rows() {
            scaled.row_mut(row).iter_mut().zip(&self.values).for_each(|(cell, own)| *cell *= value(*own));
        }
        &scaled * &self.vectors.transpose()
    }
}

impl Matrix {
    /// The eigenvalues and eigenvectors of a symmetric matrix. Its numbers have to be finite.
    ///
    /// # Panics
    /// If it is not square.
    pub fn symmetric_eigen(&self) -> SymmetricEigen {
        let size = self.square();
        let scale = self.largest();
        let scaled = if scale > 0.0 { Matrix::from_fn(size, size, |i, j| self[(i, j)] / scale) } else { self.clone() };
        let mut tridiagonal = Tridiagonal::new(scaled);
        tridiagonal.iterate();
        let values = tridiagonal.diagonal.into_iter().map(|value| value * scale).collect();
        SymmetricEigen { values, vectors: tridiagonal.vectors }
    }
}

/// Q T Qᵀ with T zero but for its diagonal and its two neighbours, which are equal.
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    vectors: Matrix,
}

impl Tridiagonal {
    /// Reflects column after column onto its first two numbers. The signs are chosen so that what stands beside the
    /// diagonal is positive.
    fn new(mut matrix: Matrix) -> Tridiagonal {
        let size = matrix.rows();
        let mut beside = Vec::with_capacity(size);
        let mut reflections: Vec<(Vec<f64>, f64)> = Vec::with_capacity(size);
        for column in 0..size.saturating_sub(1) {
            let mut axis: Vec<f64> = matrix.column(column).skip(column + 1).collect();
            let length = norm(&axis);
            let sign = if axis[0] >= 0.0 { 1.0 } else { -1.0 };
            beside.push(length);
            if length == 0.0 {
                continue;
            }
            axis[0] += sign * length;
            let own = norm(&axis);
            for number in &mut axis {
                *number /= own;
            }
            // A − p vᵀ − v pᵀ + 2 (v·p) v vᵀ with p = 2 A v is what reflecting both sides gives.
            let rest = column + 1;
            let p: Vec<f64> = (rest..size).map(|row| 2.0 * dot(&matrix.row(row)[rest..], &axis)).collect();
            let common = 2.0 * dot(&axis, &p);
            for row in 0..axis.len() {
                let cells = &mut matrix.row_mut(rest + row)[rest..];
                add_scaled(cells, -p[row], &axis);
                add_scaled(cells, -axis[row], &p);
                add_scaled(cells, common * axis[row], &axis);
            }
            reflections.push((axis, -sign));
        }
        let mut vectors = Matrix::identity(size);
        for (axis, sign) in reflections.iter().rev() {
            let first = size - axis.len();
            let mut products = vec![0.0; size];
            for (row, own) in axis.iter().enumerate() {
                add_scaled(&mut products, *own, vectors.row(first + row));
            }
            for (row, own) in axis.iter().enumerate() {
                let cells = vectors.row_mut(first + row);
                add_scaled(cells, -2.0 * own, &products);
                for cell in cells {
                    *cell *= sign;
                }
            }
        }
        Tridiagonal { diagonal: matrix.diagonal_cells().collect(), beside, vectors }
    }

    /// Whether what is beside the diagonal after this place is nothing beside what is on it.
    fn is_split(&self, at: usize) -> bool {
        self.beside[at].abs() <= f64::EPSILON * (self.diagonal[at].abs() + self.diagonal[at + 1].abs())
    }

    /// Steps until nothing is left beside the diagonal. Each step shrinks what is left in the last place cubically in the
    /// end; two or three an eigenvalue are usual.
    fn iterate(&mut self) {
        let mut end = self.diagonal.len().saturating_sub(1);
        while end > 0 {
            if self.is_split(end - 1) {
                end -= 1;
                continue;
            }
            let mut start = end - 1;
            while start > 0 && !self.is_split(start - 1) {
                start -= 1;
            }
            if start > 0 {
                self.beside[start - 1] = 0.0;
            }
            if end - start == 1 {
                self.solve_two(start);
            } else {
                self.step(start, end);
            }
        }
    }

    /// One QR step of the block from `start` to `end`, with a shift by the eigenvalue of its last two rows that is nearer to the
    /// last number.
    fn step(&mut self, start: usize, end: usize) {
        let last = self.beside[end - 1] * self.beside[end - 1];
        let half = (self.diagonal[end - 1] - self.diagonal[end]) * 0.5;
        let shift = if last == 0.0 {
            self.diagonal[end]
        } else {
            self.diagonal[end] - last / (half + half.signum() * (half * half + last).sqrt())
        };
        let (mut x, mut y) = (self.diagonal[start] - shift, self.beside[start]);
        for at in start..end {
            if y == 0.0 {
                break;
            }
            let length = x.hypot(y).copysign(x);
            let (c, s) = (x / length, -y / length);
            if at > start {
                self.beside[at - 1] = length;
            }
            let (own, next, both) = (self.diagonal[at], self.diagonal[at + 1], self.beside[at]);
            let cross = c * s * 2.0 * both;
            self.diagonal[at] = c * c * own + s * s * next - cross;
            self.diagonal[at + 1] = s * s * own + c * c * next + cross;
            self.beside[at] = c * s * (own - next) + both * (c * c - s * s);
            if at + 1 < end {
                x = self.beside[at];
                y = -s * self.beside[at + 1];
                self.beside[at + 1] *= c;
            }
            self.rotate(at, c, -s);
        }
    }

    /// A block of two rows has its eigenvalues by a formula, the larger first.
    fn solve_two(&mut self, at: usize) {
        let (own, next, both) = (self.diagonal[at], self.diagonal[at + 1], self.beside[at]);
        let (middle, half) = ((own + next) * 0.5, (own - next) * 0.5);
        let root = both.hypot(half);
        let (more, less) = (middle + root, middle - root);
        // Of the two ways to write the vector the one in which less is lost.
        let (x, y) = if (more - next).abs() > (more - own).abs() { (more - next, both) } else { (both, more - own) };
        (self.diagonal[at], self.diagonal[at + 1]) = (more, less);
        self.beside[at] = 0.0;
        let length = x.hypot(y).copysign(x);
        self.rotate(at, x / length, y / length);
    }

    /// Rotates two neighbouring vectors.
    fn rotate(&mut self, at: usize, c: f64, s: f64) {
        for row in 0..self.vectors.rows() {
            let cells = self.vectors.row_mut(row);
            (cells[at], cells[at + 1]) = (c * cells[at] + s * cells[at + 1], c * cells[at + 1] - s * cells[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, random};
    use super::*;

    fn assert_is_of(eigen: &SymmetricEigen, matrix: &Matrix) {
        let size = matrix.rows();
        let by = 4e-15 * (size as f64).sqrt() * matrix.largest() * size as f64;
        assert_close(&eigen.map(|value| value), matrix, by);
        let square = &eigen.vectors.transpose() * &eigen.vectors;
        assert_close(&square, &Matrix::identity(size), 4e-15 * size as f64);
    }

    #[test]
    fn eigenvectors_make_the_matrix_again() {
        for size in [1, 2, 3, 4, 8, 20, 60] {
            for seed in 0..6 {
                let half = random(size, size, 100 + seed);
                // Full, of low rank as covariances are that add up to 0, and with variances of very different size.
                let low = random(size, size.div_ceil(3), seed);
                let spread: Vec<f64> = (0..size).map(|at| 10_f64.powi(-((12 * at / size) as i32))).collect();
                let scaled = &Matrix::diagonal(&spread) * &half;
                for matrix in [
                    &half + &half.transpose(),
                    &low * &low.transpose(),
                    &scaled * &scaled.transpose(),
                    &(&low * &low.transpose()) * 1e-200,
                ] {
                    assert_is_of(&matrix.symmetric_eigen(), &matrix);
                }
            }
        }
        // The squares of the second block are smaller than any number.
        let block = |at: usize| if at < 2 { 1.0 } else { 1e-170 };
        let blocks = Matrix::from_fn(5, 5, |i, j| if (i < 2) == (j < 2) { block(i) / (1 + i + j) as f64 } else { 0.0 });
        let ones = Matrix::from_fn(7, 7, |_, _| 1.0);
        for matrix in [Matrix::zeros(3, 3), Matrix::identity(5), Matrix::zeros(0, 0), ones, blocks] {
            assert_is_of(&matrix.symmetric_eigen(), &matrix);
        }
    }

    /// 2 on the diagonal and −1 beside it: 2 − 2 cos(kπ / (n + 1)) (Gregory and Karney 1969, example 7.4).
    #[test]
    fn eigenvalues_of_three_diagonals_are_cosines() {
        for size in [2, 3, 10, 47, 60] {
            let toeplitz = Matrix::from_fn(size, size, |i, j| match i.abs_diff(j) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            });
            let mut found = toeplitz.symmetric_eigen().values;
            found.sort_by(f64::total_cmp);
            for (at, value) in found.iter().enumerate() {
                let angle = (at + 1) as f64 * std::f64::consts::PI / (size + 1) as f64;
                assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 2e-14, "{size}, {at}: {value}");
            }
        }
    }

    #[test]
    fn trace_and_determinant_are_sum_and_product() {
        for seed in 0..4 {
            let half = random(9, 9, 200 + seed);
            let matrix = &(&half * &half.transpose()) + &Matrix::identity(9);
            let values = matrix.symmetric_eigen().values;
            let (trace, determinant) = (matrix.diagonal_cells().sum::<f64>(), matrix.determinant());
            assert!((values.iter().sum::<f64>() - trace).abs() < 1e-12 * trace);
            assert!((values.iter().product::<f64>() - determinant).abs() < 1e-12 * determinant.abs());
        }
    }
}
