//! Linear algebra, by nalgebra.
//!
//! nalgebra is built without its feature `std`, which would select the instructions for matrix products at run time,
//! and with `libm-force`, so that roots do not come from the platform. Inverses and eigenvectors of a matrix are
//! therefore the same, to the last bit, on every CPU.

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

/// A column vector.
pub(crate) type Vector = DVector<f64>;
