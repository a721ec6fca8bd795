//! Several quantities at once: differences and covariances, from exact integer sums.

use crate::interval::{Interval, PowerSums, Support};

/// The sums of several quantities over clusters, and of their products, for differences and joint intervals.
///
/// # Examples
/// ```
/// use cambio_stats::Joint;
///
/// // Two agents, each with two results in each of three clusters.
/// let mut joint = Joint::new(2);
/// for sums in [[3, 1], [2, 2], [4, 1]] {
///     joint.add(&[2, 2], &sums);
/// }
/// assert_eq!((joint.mean(0), joint.clusters(0, 1)), (Some(1.5), 3));
/// assert!(joint.covariance(0, 1).unwrap() < 0.0);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Joint {
    size: usize,
    n: Vec<i128>,
    s: Vec<i128>,
    /// Indexed by the first quantity, then the second.
    products: Vec<Products>,
}

/// The sums of the products of two quantities, over the clusters that have results of both.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Products {
    ss: i128,
    /// The first quantity's sums times the second's numbers of results.
    sn: i128,
    nn: i128,
    /// Of the differences of the clusters' means S / n, for the shape of the interval.
    powers: PowerSums,
    clusters: u64,
}

impl Joint {
    /// Creates empty sums for `size` quantities.
    pub fn new(size: usize) -> Joint {
        Joint { size, n: vec![0; size], s: vec![0; size], products: vec![Products::default(); size * size] }
    }

    /// Adds a cluster: for each quantity, the number of its results and their sum.
    pub fn add(&mut self, n: &[i64], s: &[i64]) {
        if self.size == 0 {
            return;
        }
        for (a, row) in self.products.chunks_exact_mut(self.size).enumerate().filter(|&(a, _)| n[a] > 0) {
            self.n[a] += i128::from(n[a]);
            self.s[a] += i128::from(s[a]);
            for ((products, &n_b), &s_b) in row.iter_mut().zip(n).zip(s).filter(|((_, n_b), _)| **n_b > 0) {
                let times = |one: i64, other: i64| i128::from(one) * i128::from(other);
                products.ss += times(s[a], s_b);
                products.sn += times(s[a], n_b);
                products.nn += times(n[a], n_b);
                products.powers.add(s[a] as f64 / n[a] as f64 - s_b as f64 / n_b as f64);
                products.clusters += 1;
            }
        }
    }

    /// The sums without the clusters that are summed in `clusters`.
    #[must_use]
    pub fn without(&self, clusters: &Joint) -> Joint {
        let less = |all: &[i128], some: &[i128]| all.iter().zip(some).map(|(all, some)| all - some).collect();
        let products = self.products.iter().zip(&clusters.products).map(|(all, some)| Products {
            ss: all.ss - some.ss,
            sn: all.sn - some.sn,
            nn: all.nn - some.nn,
            powers: all.powers.without(&some.powers),
            clusters: all.clusters - some.clusters,
        });
        Joint {
            size: self.size,
            n: less(&self.n, &clusters.n),
            s: less(&self.s, &clusters.s),
            products: products.collect(),
        }
    }

    fn of(&self, a: usize, b: usize) -> &Products {
        &self.products[a * self.size + b]
    }

    /// The number of clusters with results of both quantities.
    pub fn clusters(&self, a: usize, b: usize) -> u64 {
        self.of(a, b).clusters
    }

    /// The mean of a quantity; `None` without a result.
    pub fn mean(&self, a: usize) -> Option<f64> {
        (self.n[a] > 0).then(|| self.s[a] as f64 / self.n[a] as f64)
    }

    /// The number of results and the sum of a quantity.
    pub fn totals(&self, a: usize) -> (f64, f64) {
        (self.n[a] as f64, self.s[a] as f64)
    }

    /// Σ `S_a·S_b` over the clusters.
    pub fn products(&self, a: usize, b: usize) -> f64 {
        self.of(a, b).ss as f64
    }

    /// `N_a·N_b·Σ(S_a − μ_a·n_a)(S_b − μ_b·n_b)`, exact if it fits into 128 bits.
    fn cross(&self, a: usize, b: usize) -> f64 {
        let (ab, ba) = (self.of(a, b), self.of(b, a));
        let exact = || {
            let first = self.n[a].checked_mul(self.n[b])?.checked_mul(ab.ss)?;
            let second = self.s[b].checked_mul(self.n[a])?.checked_mul(ab.sn)?;
            let third = self.s[a].checked_mul(self.n[b])?.checked_mul(ba.sn)?;
            let fourth = self.s[a].checked_mul(self.s[b])?.checked_mul(ab.nn)?;
            first.checked_sub(second)?.checked_sub(third)?.checked_add(fourth)
        };
        exact().map_or_else(
            || {
                let (n_a, n_b) = (self.n[a] as f64, self.n[b] as f64);
                let (mean_a, mean_b) = (self.s[a] as f64 / n_a, self.s[b] as f64 / n_b);
                let sum = ab.ss as f64 - mean_b * ab.sn as f64 - mean_a * ba.sn as f64 + mean_a * mean_b * ab.nn as f64;
                sum * n_a * n_b
            },
            |sum| sum as f64,
        )
    }

    /// The covariance of two means; `None` with fewer than two clusters in common.
    pub fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let clusters = self.clusters(a, b) as f64;
        let (n_a, n_b) = (self.n[a] as f64, self.n[b] as f64);
        (clusters >= 2.0).then(|| clusters / (clusters - 1.0) * self.cross(a, b) / (n_a * n_a * n_b * n_b))
    }

    /// The difference of two means, paired by cluster, in units of `1 / scale`, and the efficiency of the pairing: 1 −
    /// Var(a − b) / (Var a + Var b). `None` unless both have results. `support` is the range of a scaled difference.
    pub fn difference(&self, a: usize, b: usize, scale: f64, support: Support) -> Option<(Interval, Option<f64>)> {
        let mean = (self.mean(a)? - self.mean(b)?) / scale;
        let parts = || Some((self.covariance(a, a)?, self.covariance(b, b)?, self.covariance(a, b)?));
        let Some((var_a, var_b, both)) = parts() else {
            return Some((Interval::new(mean, None, self.clusters(a, b), support), None));
        };
        let variance = (var_a + var_b - 2.0 * both).max(0.0);
        let clusters = self.clusters(a, b);
        let shape = self.of(a, b).powers.shape(clusters, (self.n[a] + self.n[b]) as f64 / clusters as f64);
        let efficiency = (var_a + var_b > 0.0).then(|| 1.0 - variance / (var_a + var_b));
        let interval = Interval::new(mean, Some(variance.sqrt() / scale), clusters, support);
        Some((interval.with_shape(shape), efficiency))
    }
}

#[cfg(test)]
mod tests;
