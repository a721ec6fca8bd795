//! Response curves: the payoff for each value of a parameter, with pointwise intervals and a simultaneous band.

use rand::Rng;

use crate::distributions::t_quantile;
use crate::interval::{Interval, LEVEL, PowerSums, Support};
use crate::matrix::Matrix;
use crate::simultaneous::{Contrasts, SimultaneousIntervals, best_set};

/// The estimate of one candidate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CandidateEstimate {
    /// The mean, with a pointwise interval.
    pub interval: Interval,
    /// The ends of the simultaneous band over all candidates; `None` if the candidates have different clusters.
    pub band: Option<(f64, f64)>,
    /// Whether the candidate is not distinguishable from the best: by Hsu's comparison, or, if the candidates have different
    /// clusters, by the paired difference to the best on their common clusters, with Bonferroni's correction. `None` for a single
    /// candidate, and with fewer than two clusters.
    pub among_best: Option<bool>,
}

/// Estimates the mean of each candidate from its scores, one for each cluster, each the mean of this many results. Bands
/// and comparisons need the same clusters for all candidates.
///
/// # Examples
/// ```
/// use cambio_stats::Support;
/// use cambio_stats::curve::estimates;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// let noise = |cluster: u64| (cluster as f64).sin();
/// let scores: Vec<Vec<f64>> = [0.0, 1.0].map(|value| (0..50).map(|cluster| value + noise(cluster)).collect()).to_vec();
/// let found = estimates(&scores, 1.0, Support::Line, &mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!((found[0].among_best, found[1].among_best), (Some(false), Some(true)));
/// ```
pub fn estimates(scores: &[Vec<f64>], results: f64, support: Support, rng: &mut impl Rng) -> Vec<CandidateEstimate> {
    let clusters = scores.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = scores.iter().all(|scores| scores.len() == clusters) && clusters > 1 && scores.len() > 1;
    let covariance = covariance_of_means(scores, clusters);
    let freedom = clusters as f64 - 1.0;
    let together = is_common.then(|| SimultaneousIntervals::new(&covariance, Contrasts::Single, rng)).flatten();
    let means: Vec<f64> = scores.iter().map(|scores| scores.iter().sum::<f64>() / scores.len() as f64).collect();
    let best = if is_common {
        Some(best_set(&means, &covariance, freedom, LEVEL, rng))
    } else {
        (clusters > 1 && scores.len() > 1).then(|| level_with_leader(scores, &means))
    };
    let estimate = |index: usize| {
        let own = &scores[index];
        let count = own.len() as f64;
        // The rounding error of the mean of equal scores is not variance.
        let are_equal = own.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
        let squares: f64 = if are_equal { 0.0 } else { own.iter().map(|score| (score - means[index]).powi(2)).sum() };
        let mut powers = PowerSums::default();
        for score in own {
            powers.add(score - means[index]);
        }
        let error = (own.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        let clusters = own.len() as u64;
        let interval =
            Interval::new(means[index], error, clusters, support).with_shape(powers.shape(clusters, results));
        CandidateEstimate {
            interval,
            band: together.as_ref().and_then(|together| together.ends(&interval)),
            among_best: best.as_ref().map(|best| best[index]),
        }
    };
    (0..scores.len()).map(estimate).collect()
}

/// For each candidate, whether it is not distinguishable from the leader, which is the best of the candidates with the most clusters.
/// Each comparison is one-sided and uses the common clusters of the two.
fn level_with_leader(scores: &[Vec<f64>], means: &[f64]) -> Vec<bool> {
    let most = scores.iter().map(Vec::len).max().unwrap_or(0);
    let longest = (0..scores.len()).filter(|&index| scores[index].len() == most);
    let leader = longest.max_by(|&one, &other| means[one].total_cmp(&means[other]).then(other.cmp(&one))).unwrap_or(0);
    let probability = 1.0 - (1.0 - LEVEL) / (scores.len() as f64 - 1.0);
    let is_level = |own: &Vec<f64>| {
        let behind: Vec<f64> = scores[leader].iter().zip(own).map(|(leader, own)| leader - own).collect();
        let count = behind.len() as f64;
        let mean = behind.iter().sum::<f64>() / count;
        let squares: f64 = behind.iter().map(|difference| (difference - mean).powi(2)).sum();
        mean <= t_quantile(probability, count - 1.0) * (squares / (count - 1.0) / count).sqrt()
    };
    scores.iter().map(is_level).collect()
}

/// The covariance of the candidates' means over the first `clusters` clusters, which all candidates have.
fn covariance_of_means(scores: &[Vec<f64>], clusters: usize) -> Matrix {
    let count = clusters as f64;
    let means: Vec<f64> = scores.iter().map(|scores| scores[..clusters].iter().sum::<f64>() / count).collect();
    let of = |i: usize, j: usize| {
        let products = scores[i][..clusters].iter().zip(&scores[j][..clusters]);
        products.map(|(one, other)| (one - means[i]) * (other - means[j])).sum::<f64>() / (count - 1.0) / count
    };
    Matrix::from_fn(scores.len(), scores.len(), of)
}

#[cfg(test)]
mod tests;
