//! Multiple comparisons: simultaneous intervals, corrected p-values, and the candidates that may be the best.

use rand::Rng;

use crate::distributions::{chi_square_cdf, normal_quantile, t_quantile};
use crate::matrix::{Matrix, Vector};
use crate::resampling::ResampleRng as _;

/// The number of directions that are drawn.
const DRAWS: usize = 20_000;
/// The number of groups of neighbouring values that are averaged.
const GROUPS: usize = 1000;

/// Comparisons of estimates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contrasts {
    /// Each estimate alone (their maximum is the "maximum modulus").
    Single,
    /// The difference of each pair (Tukey).
    Pairs,
    /// The difference of each estimate from this one (Dunnett 1955, "A multiple comparison procedure for comparing
    /// several treatments with a control").
    Against(usize),
}

/// Passes random directions of the joint normal distribution to `take`, and returns the rank of the covariance.
fn directions(covariance: &Matrix, rng: &mut impl Rng, mut take: impl FnMut(&Vector)) -> usize {
    let eigen = covariance.clone().symmetric_eigen();
    let least = 1e-12 * eigen.eigenvalues.amax();
    let kept: Vec<usize> = (0..covariance.nrows()).filter(|&at| eigen.eigenvalues[at] > least).collect();
    // Each eigenvector times the root of its eigenvalue.
    let roots = Matrix::from_fn(covariance.nrows(), kept.len(), |row, column| {
        eigen.eigenvectors[(row, kept[column])] * eigen.eigenvalues[kept[column]].sqrt()
    });
    let mut normal = Vector::zeros(kept.len());
    let mut drawn = Vector::zeros(covariance.nrows());
    for _ in 0..DRAWS {
        normal.apply(|number| *number = rng.normal());
        drawn.gemv(1.0 / normal.norm(), &roots, &normal, 0.0);
        take(&drawn);
    }
    kept.len()
}

/// The distribution of the largest of several comparisons, each in units of its standard error.
///
/// The maximum of jointly normal numbers is a chi variable, with the rank of their covariance as degrees of freedom,
/// times a factor that depends only on the direction. The chi variable is integrated exactly and directions are drawn
/// (Deák 1980, "Three digit accurate multiple normal probabilities"), so the quantile of a single comparison is exact.
#[derive(Clone, PartialEq, Debug)]
struct MaximumDistribution {
    /// The maximum in each direction, averaged in groups of neighbours.
    sizes: Vec<f64>,
    rank: f64,
    /// The number of further comparisons with zero variance, which are treated as independent.
    others: i32,
}

impl MaximumDistribution {
    fn new(mut sizes: Vec<f64>, rank: usize, others: usize) -> MaximumDistribution {
        sizes.sort_by(f64::total_cmp);
        let group = sizes.len().div_ceil(GROUPS).max(1);
        let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
        MaximumDistribution { sizes: sizes.chunks(group).map(mean).collect(), rank: rank as f64, others: others as i32 }
    }

    /// The probability that no comparison exceeds this many standard errors.
    fn within(&self, at: f64) -> f64 {
        // In a direction whose maximum is not positive, no comparison is positive.
        let inside = |size: &f64| if *size > 0.0 { chi_square_cdf((at / size).powi(2), self.rank) } else { 1.0 };
        let drawn = self.sizes.iter().map(inside).sum::<f64>() / self.sizes.len().max(1) as f64;
        let drawn = if self.sizes.is_empty() { 1.0 } else { drawn };
        drawn * (1.0 - 2.0 * crate::normal_cdf(-at)).powi(self.others)
    }

    /// The quantile of the largest comparison, in standard errors.
    fn quantile(&self, level: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while self.within(high) < level && high < 64.0 {
            (low, high) = (high, 2.0 * high);
        }
        // Regula falsi with the Illinois modification (Dowell and Jarratt 1971), because each evaluation is expensive.
        let (mut below, mut above) = (self.within(low) - level, self.within(high) - level);
        for _ in 0..100 {
            if high - low < 1e-9 {
                break;
            }
            let middle = (low - below * (high - low) / (above - below)).clamp(low, high);
            let gap = self.within(middle) - level;
            if gap < 0.0 {
                (low, below) = (middle, gap);
                above /= 2.0;
            } else if gap > 1e-12 {
                (high, above) = (middle, gap);
                below /= 2.0;
            } else {
                return middle;
            }
        }
        high
    }
}

/// Simultaneous intervals of comparisons: single-step, from the distribution of the largest comparison (Hothorn, Bretz
/// and Westfall 2008, "Simultaneous inference in general parametric models").
///
/// At the individual level α, all intervals together have the required coverage if the joint distribution is normal
/// with the estimated covariance. At that level each comparison has the quantile of Student's t with its own degrees of
/// freedom, because a common standard error, as in Tukey's and Dunnett's tables, makes intervals of few clusters too
/// narrow. A simultaneous interval is never narrower than the individual one.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
/// use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// // All differences of three independent means: Tukey's 3.314 / √2 with infinitely many degrees of freedom.
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let together = SimultaneousIntervals::new(&Matrix::identity(3, 3), Contrasts::Pairs, &mut rng).unwrap();
/// assert!((together.factor(1e9) - 2.344).abs() < 0.01);
/// // The p-value of one comparison is corrected for all three.
/// assert!((together.p(0.05) - 0.122).abs() < 0.005);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct SimultaneousIntervals {
    largest: MaximumDistribution,
    /// The individual level at which all intervals together have a coverage of 95 %.
    alpha: f64,
}

impl SimultaneousIntervals {
    /// The comparisons of estimates with this covariance; `None` if there are none. Comparisons with zero variance are
    /// treated as independent.
    pub fn new(covariance: &Matrix, contrasts: Contrasts, rng: &mut impl Rng) -> Option<SimultaneousIntervals> {
        let size = covariance.nrows();
        let pairs: Vec<(usize, Option<usize>)> = match contrasts {
            Contrasts::Single => (0..size).map(|one| (one, None)).collect(),
            Contrasts::Pairs => {
                (0..size).flat_map(|one| (one + 1..size).map(move |other| (one, Some(other)))).collect()
            }
            Contrasts::Against(base) => (0..size).filter(|&one| one != base).map(|one| (one, Some(base))).collect(),
        };
        let deviation = |one: usize, other: Option<usize>| {
            let own = covariance[(one, one)];
            let variance = other.map_or(own, |other| own + covariance[(other, other)] - 2.0 * covariance[(one, other)]);
            (variance > 1e-300).then(|| variance.sqrt())
        };
        let used: Vec<_> = pairs.iter().filter_map(|pair| Some((pair.0, pair.1, deviation(pair.0, pair.1)?))).collect();
        if pairs.is_empty() {
            return None;
        }
        let mut sizes = Vec::with_capacity(DRAWS);
        let rank = if used.is_empty() {
            0
        } else {
            directions(covariance, rng, |estimates| {
                let size = |&(one, other, deviation): &(usize, Option<usize>, f64)| {
                    (estimates[one] - other.map_or(0.0, |other| estimates[other])).abs() / deviation
                };
                sizes.push(used.iter().map(size).fold(0.0, f64::max));
            })
        };
        let largest = MaximumDistribution::new(sizes, rank, pairs.len() - used.len());
        let mut together = SimultaneousIntervals { largest, alpha: 0.0 };
        together.alpha = together.alpha_at(crate::LEVEL);
        Some(together)
    }

    /// The individual level of each comparison at which all intervals together have this coverage.
    pub fn alpha_at(&self, level: f64) -> f64 {
        (2.0 * crate::normal_cdf(-self.largest.quantile(level))).min(1.0 - level)
    }

    /// The half-width in standard errors of the interval of a comparison with this many degrees of freedom.
    ///
    /// # Panics
    /// If the degrees of freedom are not positive.
    pub fn factor(&self, freedom: f64) -> f64 {
        t_quantile(1.0 - self.alpha / 2.0, freedom)
    }

    /// Corrects the p-value of one comparison: the probability that the largest comparison is at least as extreme.
    pub fn p(&self, own: f64) -> f64 {
        if own <= 0.0 {
            return 0.0;
        }
        if own >= 1.0 {
            return 1.0;
        }
        (1.0 - self.largest.within(normal_quantile(1.0 - own / 2.0))).clamp(own, 1.0)
    }

    /// The ends of the simultaneous interval of a comparison; `None` with fewer than two clusters.
    pub fn ends(&self, interval: &crate::Interval) -> Option<(f64, f64)> {
        interval.error?;
        interval.ends_at(self.factor(interval.freedom()))
    }
}

/// P-values corrected for multiple testing (Holm 1979, "A simple sequentially rejective multiple test procedure").
///
/// # Examples
/// ```
/// use cambio_stats::simultaneous::holm;
///
/// // The smallest is multiplied by three, the next by two; none becomes smaller than its predecessor.
/// assert_eq!(holm(&[0.01, 0.5, 0.03]), [0.03, 0.5, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut most: f64 = 0.0;
    for (index, &test) in order.iter().enumerate() {
        most = most.max((p_values.len() - index) as f64 * p_values[test]).min(1.0);
        corrected[test] = most;
    }
    corrected
}

/// The candidates that are not distinguishable from the best: candidate i is excluded if another mean is higher by more
/// than the quantile of the largest such difference (Edwards and Hsu 1983, "Multiple comparisons with the best
/// treatment", eq. 2.2, with the quantile as in [`SimultaneousIntervals`]). The true best is in the set with
/// probability `level` or more.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
/// use cambio_stats::simultaneous::best_set;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// // Three means whose standard errors are 0.1: the second is close to the best, the third is not.
/// let covariance = Matrix::identity(3, 3) * 0.01;
/// let best = best_set(&[1.0, 0.95, 0.2], &covariance, 100.0, 0.95, &mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!(best, [true, true, false]);
/// ```
pub fn best_set(means: &[f64], covariance: &Matrix, freedom: f64, level: f64, rng: &mut impl Rng) -> Vec<bool> {
    let size = means.len();
    if size < 2 {
        return vec![true; size];
    }
    let deviation = |i: usize, l: usize| {
        let variance: f64 = covariance[(i, i)] + covariance[(l, l)] - 2.0 * covariance[(i, l)];
        variance.max(0.0).sqrt()
    };
    let mut samples = Vec::with_capacity(DRAWS);
    let rank = directions(covariance, rng, |sample| samples.push(sample.clone()));
    let is_in = |i: usize| {
        let rivals: Vec<(usize, f64)> = (0..size).filter(|&l| l != i).map(|l| (l, deviation(i, l))).collect();
        let (varying, fixed): (Vec<_>, Vec<_>) = rivals.into_iter().partition(|rival| rival.1 > 1e-150);
        if fixed.iter().any(|&(l, _)| means[l] > means[i]) {
            return false;
        }
        if varying.is_empty() {
            return true;
        }
        let largest = |sample: &Vector| {
            varying.iter().map(|&(l, deviation)| (sample[l] - sample[i]) / deviation).fold(f64::NEG_INFINITY, f64::max)
        };
        let quantile = MaximumDistribution::new(samples.iter().map(largest).collect(), rank, 0).quantile(level);
        let alpha = crate::normal_cdf(-quantile).min(1.0 - level);
        let factor = t_quantile(1.0 - alpha, freedom.max(1.0));
        varying.iter().all(|&(l, deviation)| means[l] - means[i] <= factor * deviation)
    };
    (0..size).map(is_in).collect()
}

#[cfg(test)]
mod tests;
