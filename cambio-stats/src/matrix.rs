//! Small dense matrices: what joint intervals, ratings and empirical games need of linear algebra.
//!
//! They have two to some sixty rows, one for each agent, strategy or parameter. Vectors are slices. What can fail says so
//! with `None`; sizes that do not fit together are a caller's bug and panic.

mod eigen;
mod factors;

use std::ops::{Add, Index, IndexMut, Mul, Sub};

pub use eigen::SymmetricEigen;
pub use factors::Cholesky;

/// A dense matrix of numbers, row by row.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
///
/// let matrix = Matrix::from_rows(&[[2.0, 1.0], [1.0, 3.0]]);
/// let inverse = matrix.inverse().unwrap();
/// assert!((&(&matrix * &inverse) - &Matrix::identity(2)).largest() < 1e-15);
/// assert_eq!(matrix.times(&[1.0, -1.0]), [1.0, -2.0]);
/// assert!((matrix.determinant() - 5.0).abs() < 1e-14);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, cells: vec![0.0; rows * columns] }
    }

    /// Ones on the diagonal, zeros elsewhere.
    pub fn identity(size: usize) -> Matrix {
        Matrix::diagonal(&vec![1.0; size])
    }

    /// These numbers on the diagonal, zeros elsewhere.
    pub fn diagonal(numbers: &[f64]) -> Matrix {
        let mut matrix = Matrix::zeros(numbers.len(), numbers.len());
        numbers.iter().enumerate().for_each(|(at, number)| matrix[(at, at)] = *number);
        matrix
    }

    /// The cell of each row and column, asked row by row.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::Matrix;
    ///
    /// let matrix = Matrix::from_fn(2, 3, |row, column| (10 * row + column) as f64);
    /// assert_eq!((matrix.row(1), matrix[(0, 2)]), (&[10.0, 11.0, 12.0][..], 2.0));
    /// ```
    pub fn from_fn(rows: usize, columns: usize, mut cell: impl FnMut(usize, usize) -> f64) -> Matrix {
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Matrix { rows, columns, cells: cells.map(|(row, column)| cell(row, column)).collect() }
    }

    /// A matrix with these rows.
    pub fn from_rows<const COLUMNS: usize>(rows: &[[f64; COLUMNS]]) -> Matrix {
        Matrix { rows: rows.len(), columns: COLUMNS, cells: rows.concat() }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.columns..(row + 1) * self.columns]
    }

    /// A row, to be changed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.cells[row * self.columns..(row + 1) * self.columns]
    }

    /// The numbers of a column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        (0..self.rows).map(move |row| self[(row, column)])
    }

    /// The numbers on the diagonal.
    pub fn diagonal_cells(&self) -> impl Iterator<Item = f64> {
        (0..self.rows.min(self.columns)).map(|at| self[(at, at)])
    }

    /// The largest absolute value of a cell; 0 without cells.
    pub fn largest(&self) -> f64 {
        self.cells.iter().fold(0.0, |most, cell| cell.abs().max(most))
    }

    /// Rows for columns.
    #[must_use]
    pub fn transpose(&self) -> Matrix {
        Matrix::from_fn(self.columns, self.rows, |row, column| self[(column, row)])
    }

    /// The rows and columns with these numbers alone, in this order: a part of a covariance matrix.
    ///
    /// # Panics
    /// If one of them does not exist.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::Matrix;
    ///
    /// let covariance = Matrix::from_rows(&[[4.0, 1.0, 0.5], [1.0, 9.0, 2.0], [0.5, 2.0, 1.0]]);
    /// assert_eq!(covariance.select(&[2, 0]), Matrix::from_rows(&[[1.0, 0.5], [0.5, 4.0]]));
    /// ```
    #[must_use]
    pub fn select(&self, which: &[usize]) -> Matrix {
        Matrix::from_fn(which.len(), which.len(), |row, column| self[(which[row], which[column])])
    }

    /// The product with a vector.
    ///
    /// # Panics
    /// If the vector has not as many numbers as there are columns.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        assert_eq!(self.columns, vector.len(), "a vector has a number for each column");
        (0..self.rows).map(|row| dot(self.row(row), vector)).collect()
    }

    /// Adds `factor · other`.
    ///
    /// # Panics
    /// If the other has not the same rows and columns.
    pub fn add_scaled(&mut self, factor: f64, other: &Matrix) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "both have the same rows and columns");
        add_scaled(&mut self.cells, factor, &other.cells);
    }

    /// Adds `factor · one · otherᵀ`.
    ///
    /// # Panics
    /// If the vectors have not as many numbers as there are rows and columns.
    pub fn add_outer(&mut self, factor: f64, one: &[f64], other: &[f64]) {
        assert_eq!(
            (self.rows, self.columns),
            (one.len(), other.len()),
            "vectors have a number for each row and column"
        );
        for (row, one) in one.iter().enumerate().filter(|(_, one)| **one != 0.0) {
            add_scaled(self.row_mut(row), factor * one, other);
        }
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    /// The cell in this row and column.
    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.cells[row * self.columns + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        &mut self.cells[row * self.columns + column]
    }
}

impl Mul for &Matrix {
    type Output = Matrix;

    fn mul(self, other: &Matrix) -> Matrix {
        assert_eq!(self.columns, other.rows, "a product needs as many columns as the other has rows");
        let mut product = Matrix::zeros(self.rows, other.columns);
        for row in 0..self.rows {
            for (middle, factor) in self.row(row).iter().enumerate() {
                add_scaled(product.row_mut(row), *factor, other.row(middle));
            }
        }
        product
    }
}

impl Mul<f64> for &Matrix {
    type Output = Matrix;

    fn mul(self, factor: f64) -> Matrix {
        Matrix { cells: self.cells.iter().map(|cell| cell * factor).collect(), ..*self }
    }
}

impl Matrix {
    fn with(&self, other: &Matrix, cell: impl Fn(f64, f64) -> f64) -> Matrix {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "both have the same rows and columns");
        let cells = self.cells.iter().zip(&other.cells).map(|(one, other)| cell(*one, *other));
        Matrix { cells: cells.collect(), ..*self }
    }
}

impl Add for &Matrix {
    type Output = Matrix;

    fn add(self, other: &Matrix) -> Matrix {
        self.with(other, |one, other| one + other)
    }
}

impl Sub for &Matrix {
    type Output = Matrix;

    fn sub(self, other: &Matrix) -> Matrix {
        self.with(other, |one, other| one - other)
    }
}

/// The sum of products.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The Euclidean length.
pub(crate) fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

/// The largest absolute value; 0 without numbers.
pub(crate) fn largest(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |most, number| number.abs().max(most))
}

/// Adds `factor · other`.
pub(crate) fn add_scaled(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(number, other)| *number += factor * other);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::resampling::{Draw as _, stream};

    /// Cells from the standard normal distribution.
    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut rng = stream(seed, 77);
        Matrix::from_fn(rows, columns, |_, _| rng.normal())
    }

    pub(crate) fn assert_close(one: &Matrix, other: &Matrix, by: f64) {
        let off = (one - other).largest();
        assert!(off <= by, "off by {off}, allowed {by}");
    }

    #[test]
    fn a_product_is_that_of_its_definition() {
        let (one, other) = (random(3, 5, 1), random(5, 4, 2));
        let expected = Matrix::from_fn(3, 4, |row, column| (0..5).map(|k| one[(row, k)] * other[(k, column)]).sum());
        assert_close(&(&one * &other), &expected, 1e-14);
        assert_close(&(&other.transpose() * &one.transpose()), &expected.transpose(), 1e-14);
        for column in 0..4 {
            let vector: Vec<f64> = other.column(column).collect();
            let found = one.times(&vector);
            assert!(
                found.iter().zip(expected.column(column)).all(|(found, expected)| (found - expected).abs() < 1e-14)
            );
        }
    }

    #[test]
    fn an_outer_product_is_a_column_by_a_row() {
        let (one, other) = (random(4, 1, 3), random(1, 3, 4));
        let mut sum = random(4, 3, 5);
        let expected = &sum + &(&(&one * &other) * -2.0);
        let column: Vec<f64> = one.column(0).collect();
        sum.add_outer(-2.0, &column, other.row(0));
        assert_close(&sum, &expected, 1e-15);
    }

    #[test]
    #[should_panic(expected = "a product needs as many columns")]
    fn sizes_that_do_not_fit_are_a_bug() {
        let _ = &Matrix::zeros(2, 3) * &Matrix::zeros(2, 3);
    }

    #[test]
    #[should_panic(expected = "column 3 of 3")]
    fn a_column_too_far_is_not_the_next_row() {
        let _ = Matrix::zeros(2, 3)[(0, 3)];
    }
}
