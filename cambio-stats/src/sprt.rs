//! The sequential probability ratio test on cluster means.
//!
//! This is the generalized test of Van den Bergh ("A practical introduction to the GSPRT"). An outcome is the mean of a
//! cluster, which lies on a finite grid; under each hypothesis the frequencies are the maximum likelihood estimates (Van den
//! Bergh, "Support for the MLE of a multinomial distribution"). Add clusters in an order that is fixed in advance, not in the
//! order of arrival, because clusters that finish early are not a random sample. The mean of the clusters at the end is
//! biased; [`stopping`](crate::stopping) corrects it.
//!
//! For means off a grid, [`log_likelihood_ratio_of_mean`] uses the interval of the mean in place of the frequencies.

use crate::Interval;
use crate::stopping::Steps;

/// The number of clusters at the first look: with fewer, no hypothesis is accepted. The frequencies of a few clusters do not
/// determine a likelihood ratio: six equal clusters would decide a test.
pub const FIRST_LOOK: u64 = 30;

/// A test in progress, with the count of each grid value.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::{Sprt, Verdict};
///
/// // Is the mean of clusters of two games ½ or 0.6? A cluster's mean is one of 0, ½ and 1.
/// let mut test = Sprt::new((0.5, 0.6), 3, 0.05, 0.05);
/// while test.verdict() == Verdict::Undecided {
///     for cell in [2, 1, 2, 0] {
///         test.add(cell);
///     }
/// }
/// assert_eq!(test.verdict(), Verdict::Second);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Sprt {
    means: (f64, f64),
    lower: f64,
    upper: f64,
    counts: Vec<u64>,
}

/// The verdict of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The first hypothesis is accepted.
    First,
    /// The second hypothesis is accepted.
    Second,
    /// Neither hypothesis is accepted yet.
    Undecided,
}

/// The substitute for a count of 0, as in fishtest, because a likelihood must not be 0.
const EMPTY: f64 = 1e-3;

impl Sprt {
    /// Creates a test on a grid of `cells` values from 0 to 1, with error probabilities alpha and beta. The mean is `means.0` under
    /// the first hypothesis, `means.1` under the second.
    pub fn new(means: (f64, f64), cells: usize, alpha: f64, beta: f64) -> Sprt {
        // Wald 1945, eq. 3:27 and 3:28.
        let (lower, upper) = (libm::log(beta / (1.0 - alpha)), libm::log((1.0 - beta) / alpha));
        Sprt { means, lower, upper, counts: vec![0; cells] }
    }

    /// Adds a cluster whose mean is `cell / (cells − 1)`.
    pub fn add(&mut self, cell: usize) {
        self.counts[cell] += 1;
    }

    /// The counts by cell.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The bounds of the log likelihood ratio.
    pub fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// The log likelihood ratio, second hypothesis over first.
    pub fn ratio(&self) -> f64 {
        log_likelihood_ratio(&self.counts, self.means)
    }

    /// How one more cluster changes the ratio; `None` if no frequencies satisfy a hypothesis. Each likelihood is at its
    /// maximum, so to first order the fitted frequencies do not change.
    pub fn steps(&self) -> Option<Steps> {
        let grid = frequencies(&self.counts);
        let (first, second) = with_mean(&grid, self.means.0).zip(with_mean(&grid, self.means.1))?;
        let changes: Vec<f64> = first.iter().zip(&second).map(|(q0, q1)| libm::log(q1 / q0)).collect();
        let average = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            grid.iter().zip(&changes).map(|(&(x, p), &change)| p * of(x, change)).sum()
        };
        let (mean, drift) = (average(&|x, _| x), average(&|_, change| change));
        let variance = average(&|x, _| (x - mean).powi(2));
        let deviation = average(&|_, change| (change - drift).powi(2)).sqrt();
        let product = average(&|x, change| (x - mean) * (change - drift));
        Some(Steps { slope: product / variance, deviation, correlation: product / variance.sqrt() / deviation })
    }

    /// The verdict for the clusters so far; undecided before [`FIRST_LOOK`].
    pub fn verdict(&self) -> Verdict {
        self.verdict_at(self.counts.iter().sum(), self.ratio())
    }

    /// The verdict of a test with the same error probabilities and another log likelihood ratio after this many clusters.
    pub fn verdict_at(&self, clusters: u64, ratio: f64) -> Verdict {
        match ratio {
            _ if clusters < FIRST_LOOK => Verdict::Undecided,
            ratio if ratio >= self.upper => Verdict::Second,
            ratio if ratio <= self.lower => Verdict::First,
            _ => Verdict::Undecided,
        }
    }
}

/// The log likelihood ratio of the counts on a grid from 0 to 1, of the mean `means.1` over `means.0`; 0 if all counts are 0.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::log_likelihood_ratio;
///
/// // Equally many wins and losses are evidence for a mean of ½.
/// assert!(log_likelihood_ratio(&[30, 40, 30], (0.5, 0.6)) < 0.0);
/// ```
pub fn log_likelihood_ratio(counts: &[u64], means: (f64, f64)) -> f64 {
    if counts.iter().all(|count| *count == 0) {
        return 0.0;
    }
    let grid = frequencies(counts);
    match (with_mean(&grid, means.0), with_mean(&grid, means.1)) {
        (Some(first), Some(second)) => {
            let total: f64 = filled(counts).sum();
            let each = grid.iter().zip(first.iter().zip(&second)).map(|((_, p), (q0, q1))| p * libm::log(q1 / q0));
            total * each.sum::<f64>()
        }
        // A hypothesis that no frequencies satisfy is rejected.
        (Some(_), None) => f64::NEG_INFINITY,
        (None, Some(_)) => f64::INFINITY,
        (None, None) => 0.0,
    }
}

/// The counts with a substitute for 0.
fn filled(counts: &[u64]) -> impl Iterator<Item = f64> {
    counts.iter().map(|&count| if count == 0 { EMPTY } else { count as f64 })
}

/// The values of the grid with their frequencies.
fn frequencies(counts: &[u64]) -> Vec<(f64, f64)> {
    let (last, total) = ((counts.len() - 1) as f64, filled(counts).sum::<f64>());
    filled(counts).enumerate().map(|(cell, count)| (cell as f64 / last, count / total)).collect()
}

/// The log likelihood ratio of a mean that is `means.0` under the first hypothesis and `means.1` under the second: (ν + 1) / 2
/// ln((1 + T₀² / ν) / (1 + T₁² / ν)), where T₀ and T₁ are the [statistics](Interval::statistic) of the mean against the
/// hypotheses, with ν [degrees of freedom](Interval::freedom). If these are Student's, it is the ratio of normal variables
/// with an unknown variance, each likelihood at its maximum over the variance. That ratio accepts a wrong hypothesis far too
/// often if few clusters differ from the others, because a sample without them has no variance; the statistic allows for an
/// unseen cluster. 0 with fewer than two clusters.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::log_likelihood_ratio_of_mean;
/// use cambio_stats::{Interval, Support};
///
/// // The mean is 3 standard errors above the first hypothesis, and at the second.
/// let mean = Interval::new(0.53, Some(0.01), 1000, Support::MeanWithin(0.0, 1.0));
/// let ratio = log_likelihood_ratio_of_mean(&mean, (0.5, 0.53));
/// assert!((ratio - 4.5).abs() < 0.03);
/// // Clusters that all agree are little evidence.
/// let agreeing = Interval::new(0.5, Some(0.0), 30, Support::MeanWithin(0.0, 1.0));
/// let ratio = log_likelihood_ratio_of_mean(&agreeing, (0.5, 0.53));
/// assert!((ratio + 0.9).abs() < 0.1);
/// ```
pub fn log_likelihood_ratio_of_mean(mean: &Interval, means: (f64, f64)) -> f64 {
    let freedom = mean.freedom();
    let term = |against: f64| Some(libm::log1p(mean.statistic(against)?.powi(2) / freedom));
    term(means.0).zip(term(means.1)).map_or(0.0, |(first, second)| f64::midpoint(freedom, 1.0) * (first - second))
}

/// The maximum likelihood frequencies with this mean: q = p / (1 + θ(x − mean)), with the root θ of the decreasing function
/// Σ p (x − mean) / (1 + θ(x − mean)), by bisection. `None` if there are none.
fn with_mean(grid: &[(f64, f64)], mean: f64) -> Option<Vec<f64>> {
    let values: Vec<(f64, f64)> = grid.iter().map(|(x, p)| (x - mean, *p)).collect();
    let least = values.iter().map(|value| value.0).fold(f64::INFINITY, f64::min);
    let most = values.iter().map(|value| value.0).fold(f64::NEG_INFINITY, f64::max);
    // This also rejects NaN.
    if !(least < 0.0 && most > 0.0) {
        return None;
    }
    let sum = |theta: f64| values.iter().map(|(v, p)| p * v / (1.0 + theta * v)).sum::<f64>();
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if sum(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let theta = f64::midpoint(low, high);
    Some(values.iter().map(|(v, p)| p / (1.0 + theta * v)).collect())
}

/// The expected score of an Elo difference.
///
/// # Examples
/// ```
/// assert_eq!(cambio_stats::sprt::score_of_elo(400.0), 10.0 / 11.0);
/// ```
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, -elo / 400.0))
}

/// The Elo difference of an expected score; `None` at 0 and 1, where it is infinite.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::elo_of_score;
///
/// assert!((elo_of_score(0.75).unwrap() - 190.85).abs() < 0.01);
/// assert_eq!(elo_of_score(1.0), None);
/// ```
pub fn elo_of_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| -400.0 * libm::log10(1.0 / score - 1.0))
}

#[cfg(test)]
mod tests;
