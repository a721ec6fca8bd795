//! Means, differences and their intervals, clustered by deal, from sums in whole numbers.

use super::{LEVEL, t_quantile};

/// A mean with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Its standard error; `None` with fewer than two clusters.
    pub error: Option<f64>,
    /// Half the interval's width; `None` with fewer than two clusters.
    pub half_width: Option<f64>,
    /// How many clusters there are.
    pub clusters: u64,
}

impl Interval {
    /// The interval of an estimate with so many clusters: Student's t with one degree of freedom fewer.
    pub fn new(mean: f64, error: Option<f64>, clusters: u64) -> Interval {
        let half = |error: f64| error * t_quantile(0.5 + LEVEL / 2.0, clusters as f64 - 1.0);
        Interval { mean, error, half_width: error.map(half), clusters }
    }

    /// The lower end.
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean - half)
    }

    /// The upper end.
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean + half)
    }

    /// The estimate over its standard error; `None` without one, or if it is 0.
    pub fn statistic(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| self.mean / error)
    }
}

/// The sums of one quantity over deals: of each deal's matches n and sum S, their totals and second moments.
///
/// The mean is the ratio estimator ΣS / Σn, its variance the cluster sandwich `D/(D−1) · Σ(S − μn)² / (Σn)²` (Liang and
/// Zeger 1986, "Longitudinal data analysis using generalized linear models", with the usual small-sample factor). With
/// equal n it is the t interval of the deals' means. Quantities are whole numbers of a unit, so every sum is exact: where
/// all deals agree the variance is exactly 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Moments {
    /// How many deals have a match.
    pub clusters: u64,
    n: i128,
    s: i128,
    ss: i128,
    sn: i128,
    nn: i128,
}

impl Moments {
    /// Adds a deal with `n` matches and the sum `s`; nothing if it has no match.
    pub fn add(&mut self, n: i64, s: i64) {
        if n == 0 {
            return;
        }
        let (n, s) = (i128::from(n), i128::from(s));
        self.clusters += 1;
        self.n += n;
        self.s += s;
        self.ss += s * s;
        self.sn += s * n;
        self.nn += n * n;
    }

    /// How many matches there are.
    pub fn matches(&self) -> i128 {
        self.n
    }

    /// Σ(S − μn)² · N², a whole number.
    fn squares(&self) -> f64 {
        let (n, s) = (self.n, self.s);
        // N²ΣSS − 2NS·ΣSn + S²·Σnn may be beyond 128 bits in the largest runs; then doubles are good enough.
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

    /// The mean and its interval, in units of `1 / scale`; `None` without a match.
    pub fn interval(&self, scale: f64) -> Option<Interval> {
        if self.clusters == 0 {
            return None;
        }
        let n = self.n as f64;
        let clusters = self.clusters as f64;
        let error =
            (self.clusters > 1).then(|| (clusters / (clusters - 1.0) * self.squares()).sqrt() / (n * n) / scale);
        Some(Interval::new(self.s as f64 / n / scale, error, self.clusters))
    }
}

/// The sums of several quantities over deals, and of their products: what differences and joint intervals need.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Joint {
    size: usize,
    n: Vec<i128>,
    s: Vec<i128>,
    /// By the first quantity, then the second.
    products: Vec<Products>,
}

/// The sums of the products of two quantities, over the deals that have matches of both.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Products {
    ss: i128,
    /// Of the first quantity's sums and the second's numbers of matches.
    sn: i128,
    nn: i128,
    clusters: u64,
}

impl Joint {
    /// Sums of nothing, for so many quantities.
    pub fn new(size: usize) -> Joint {
        Joint { size, n: vec![0; size], s: vec![0; size], products: vec![Products::default(); size * size] }
    }

    /// Adds a deal: of each quantity the number of its matches and their sum.
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
                products.clusters += 1;
            }
        }
    }

    /// These sums without some of the deals that they are of.
    #[must_use]
    pub fn without(&self, deals: &Joint) -> Joint {
        let less = |all: &[i128], some: &[i128]| all.iter().zip(some).map(|(all, some)| all - some).collect();
        let products = self.products.iter().zip(&deals.products).map(|(all, some)| Products {
            ss: all.ss - some.ss,
            sn: all.sn - some.sn,
            nn: all.nn - some.nn,
            clusters: all.clusters - some.clusters,
        });
        Joint { size: self.size, n: less(&self.n, &deals.n), s: less(&self.s, &deals.s), products: products.collect() }
    }

    fn of(&self, a: usize, b: usize) -> &Products {
        &self.products[a * self.size + b]
    }

    /// How many deals have matches of both.
    pub fn clusters(&self, a: usize, b: usize) -> u64 {
        self.of(a, b).clusters
    }

    /// The mean of a quantity; `None` without a match.
    pub fn mean(&self, a: usize) -> Option<f64> {
        (self.n[a] > 0).then(|| self.s[a] as f64 / self.n[a] as f64)
    }

    /// The number of matches and the sum of a quantity.
    pub fn totals(&self, a: usize) -> (f64, f64) {
        (self.n[a] as f64, self.s[a] as f64)
    }

    /// Σ `S_a·S_b` over the deals.
    pub fn products(&self, a: usize, b: usize) -> f64 {
        self.of(a, b).ss as f64
    }

    /// `N_a·N_b·Σ(S_a − μ_a·n_a)(S_b − μ_b·n_b)`, exact where 128 bits hold it.
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

    /// The covariance of two means, clustered by deal; `None` with fewer than two deals in common.
    pub fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let clusters = self.clusters(a, b) as f64;
        let (n_a, n_b) = (self.n[a] as f64, self.n[b] as f64);
        (clusters >= 2.0).then(|| clusters / (clusters - 1.0) * self.cross(a, b) / (n_a * n_a * n_b * n_b))
    }

    /// The difference of two means, paired by deal, in units of `1 / scale`, and how much the pairing helps:
    /// 1 − Var(a − b) / (Var a + Var b). `None` without matches of both.
    pub fn difference(&self, a: usize, b: usize, scale: f64) -> Option<(Interval, Option<f64>)> {
        let mean = (self.mean(a)? - self.mean(b)?) / scale;
        let parts = || Some((self.covariance(a, a)?, self.covariance(b, b)?, self.covariance(a, b)?));
        let Some((var_a, var_b, both)) = parts() else {
            return Some((Interval::new(mean, None, self.clusters(a, b)), None));
        };
        let variance = (var_a + var_b - 2.0 * both).max(0.0);
        let efficiency = (var_a + var_b > 0.0).then(|| 1.0 - variance / (var_a + var_b));
        Some((Interval::new(mean, Some(variance.sqrt() / scale), self.clusters(a, b)), efficiency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    /// Reference: `scipy.stats` 1.16, `t.interval(0.95, 4, mean, sem)` of the five cluster means.
    #[test]
    fn equal_clusters_give_the_t_interval_of_their_means() {
        let mut moments = Moments::default();
        for sum in [2, 4, 1, 3, 0] {
            moments.add(2, sum);
        }
        let interval = moments.interval(2.0).unwrap();
        assert!(close(interval.mean, 0.5));
        // Means 0.5, 1, 0.25, 0.75, 0: standard error sqrt(0.15625 / 5), quantile 2.7764451051977934.
        assert!(close(interval.half_width.unwrap(), 2.776_445_105_197_793_4 * (0.156_25_f64 / 5.0).sqrt()));
    }

    #[test]
    fn where_all_deals_agree_the_variance_is_exactly_0() {
        let (mut moments, mut joint) = (Moments::default(), Joint::new(2));
        for _ in 0..1000 {
            moments.add(3, 7);
            joint.add(&[3, 3], &[7, 5]);
        }
        let interval = moments.interval(14.0 / 3.0).unwrap();
        assert_eq!((interval.mean, interval.half_width), (0.5, Some(0.0)));
        let (difference, _) = joint.difference(0, 1, 1.0).unwrap();
        assert_eq!(difference.half_width, Some(0.0));
    }

    #[test]
    fn large_units_give_the_same_interval_as_small_ones() {
        let (mut small, mut large) = (Joint::new(2), Joint::new(2));
        for (one, other) in [(31_i64, 12_i64), (4, 40), (17, 22), (25, 11), (2, 29)] {
            small.add(&[1, 1], &[one, other]);
            large.add(&[1, 1], &[one * 1_000_000_000, other * 1_000_000_000]);
        }
        let (small, large) = (small.difference(0, 1, 1.0).unwrap().0, large.difference(0, 1, 1e9).unwrap().0);
        assert!(close(large.mean, small.mean) && close(large.error.unwrap(), small.error.unwrap()), "{large:?}");
    }

    #[test]
    fn one_deal_has_a_mean_and_no_interval() {
        let mut moments = Moments::default();
        assert_eq!(moments.interval(1.0), None);
        moments.add(4, 1);
        let interval = moments.interval(1.0).unwrap();
        assert_eq!((interval.mean, interval.half_width), (0.25, None));
    }

    #[test]
    fn a_paired_difference_is_that_of_the_deals() {
        let deals = [(3_i64, 1_i64), (4, 4), (0, 2), (5, 1), (2, 2), (4, 1)];
        let mut joint = Joint::new(2);
        for (a, b) in deals {
            joint.add(&[2, 2], &[a, b]);
        }
        let differences: Vec<f64> = deals.iter().map(|(a, b)| (a - b) as f64 / 2.0).collect();
        let mean = differences.iter().sum::<f64>() / 6.0;
        let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 5.0 / 6.0;
        let (interval, efficiency) = joint.difference(0, 1, 1.0).unwrap();
        assert!(close(interval.mean, mean) && close(interval.error.unwrap(), variance.sqrt()));
        assert!(efficiency.unwrap() < 1.0);
    }
}
