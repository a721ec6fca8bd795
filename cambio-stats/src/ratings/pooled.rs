//! One rating over several tables: pooled rankings, with cluster bootstrap intervals.

use rand::Rng;

use super::{Cluster, Fit, Maximum, Model, PositionEffects, Rankings, Strengths};
use crate::distributions::{normal_cdf, t_quantile};
use crate::interval::LEVEL;
use crate::matrix::{Matrix, Vector};
use crate::resampling::ResampleRng as _;

/// The number of groups of neighbouring clusters that are resampled.
const GROUPS: u64 = 512;
/// The number of bootstrap resamples.
const RESAMPLES: usize = 1000;

/// Strengths over several tables.
#[derive(Clone, PartialEq, Debug)]
pub struct PooledStrengths {
    /// The strengths and their covariance.
    pub strengths: Strengths,
    /// The 95 % interval of each player's strength; `None` with fewer than two clusters.
    pub intervals: Option<Vec<(f64, f64)>>,
}

impl Rankings {
    /// Pools the games of several tables. Clusters with the same number are one cluster, so that shared randomness is
    /// not counted twice. Positions are dropped, because the first of two positions is not comparable with the first of
    /// eight.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::ratings::{Ranking, Rankings};
    ///
    /// let table = |players: &[(usize, usize)]| {
    ///     let mut rankings = Rankings::default();
    ///     for deal in 0..3 {
    ///         rankings.add(Ranking::new(players.iter().copied()));
    ///         rankings.end_cluster_of(deal);
    ///     }
    ///     rankings
    /// };
    /// let pooled = Rankings::pooled(&[&table(&[(0, 1), (1, 2)]), &table(&[(2, 2), (1, 3), (0, 1)])]);
    /// assert_eq!((pooled.games(), pooled.games_of(3)), (6, vec![6, 6, 3]));
    /// ```
    pub fn pooled(tables: &[&Rankings]) -> Rankings {
        let width = tables.iter().map(|table| table.width).max().unwrap_or(0).max(1);
        let mut pooled = Rankings { width, ..Rankings::default() };
        let mut counts: Vec<(u64, u32, u32)> = Vec::new();
        for table in tables {
            let numbers: Vec<u32> = table.list.iter().map(|ranking| pooled.number_of(ranking.unplaced())).collect();
            for cluster in table.all_clusters() {
                for &(number, count) in &cluster.counts {
                    let own = numbers[number as usize];
                    pooled.counts[own as usize] += u64::from(count);
                    counts.push((cluster.number / width, own, count));
                }
            }
        }
        counts.sort_unstable();
        for cluster in counts.chunk_by(|one, next| one.0 == next.0) {
            let sum = |same: &[(u64, u32, u32)]| (same[0].1, same.iter().map(|entry| entry.2).sum());
            let counts = cluster.chunk_by(|one, next| one.1 == next.1).map(sum).collect();
            pooled.clusters.push(Cluster { number: cluster[0].0 * width, counts });
        }
        pooled
    }
}

/// Fits one strength for each player to the games of several tables, as [`fit`](super::fit) does for one. `None` if
/// there is no ranking.
///
/// The model assumes that a player is equally strong at every table; a table with more games has more weight. The
/// intervals are from a cluster bootstrap: the strengths of each resample are one step of Newton's method from the full
/// fit (Moulton and Zeger 1989, "Analyzing repeated measures on generalized linear models via the bootstrap"), and the
/// percentiles are widened by Student's t for few clusters (Hesterberg 2015, "What teachers should know about the
/// bootstrap"). If the fit needs a prior, all clusters may agree and a bootstrap shows no variation; the interval is
/// then Student's with the standard error of the fit.
///
/// # Examples
/// ```
/// use cambio_stats::ratings::{Ranking, Rankings, pool};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// // Player 0 wins two games of three at each of two tables, on the same forty deals.
/// let table = || {
///     let mut rankings = Rankings::default();
///     for deal in 0..40 {
///         for game in 0..3 {
///             let ranks = if (game + deal) % 3 == 0 { [2, 1] } else { [1, 2] };
///             rankings.add(Ranking::new([(0, ranks[0]), (1, ranks[1])]));
///         }
///         rankings.end_cluster_of(deal);
///     }
///     rankings
/// };
/// let found = pool(&[&table(), &table()], 2, Some(1), &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
/// assert!((found.strengths.strengths[0] - 2_f64.ln()).abs() < 1e-9);
/// assert_eq!(found.strengths.clusters, 40);
/// ```
pub fn pool(
    tables: &[&Rankings],
    players: usize,
    anchor: Option<usize>,
    rng: &mut impl Rng,
) -> Option<PooledStrengths> {
    let rankings = Rankings::pooled(tables);
    let (model, found) = super::maximum(&rankings, players, PositionEffects::Ignored)?;
    let strengths = model.strengths(&found, anchor);
    let clusters = strengths.clusters;
    let intervals = (clusters > 1).then(|| match found.fit {
        Fit::Likelihood => {
            let drawn = model.resampled(&found, anchor, rng);
            (0..players).map(|player| percentiles(&drawn, player, clusters.min(GROUPS) as f64)).collect()
        }
        Fit::Regularised => {
            let t = t_quantile(0.5 + LEVEL / 2.0, clusters as f64 - 1.0);
            let half = |player: usize| t * strengths.covariance[(player, player)].max(0.0).sqrt();
            let ends = |player: usize| {
                (strengths.strengths[player] - half(player), strengths.strengths[player] + half(player))
            };
            (0..players).map(ends).collect()
        }
    });
    Some(PooledStrengths { strengths, intervals })
}

impl Model<'_> {
    /// The strengths in each bootstrap resample of the clusters.
    fn resampled(&self, found: &Maximum, anchor: Option<usize>, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let size = found.at.len();
        let parts = self.parts(found.fit, &found.at);
        let clusters: Vec<&Cluster> = self.rankings.all_clusters().collect();
        let width = clusters.len().div_ceil(GROUPS as usize).max(1);
        let groups: Vec<(Vector, Matrix)> = clusters
            .chunks(width)
            .map(|group| {
                let (mut score, mut hessian) = (Vector::zeros(size), Matrix::zeros(size, size));
                let counts = group.iter().flat_map(|cluster| &cluster.counts);
                for &(number, count) in counts {
                    self.add(
                        found.fit,
                        number as usize,
                        &parts[number as usize],
                        f64::from(count),
                        &mut score,
                        &mut hessian,
                    );
                }
                (score, hessian)
            })
            .collect();
        let draw = |_| {
            let (mut score, mut hessian) = (Vector::zeros(size), Matrix::zeros(size, size));
            let mut times = vec![0_u32; groups.len()];
            for _ in 0..groups.len() {
                times[rng.index(groups.len())] += 1;
            }
            for ((own, slope), times) in groups.iter().zip(times).filter(|(_, times)| *times > 0) {
                score += f64::from(times) * own;
                hessian += f64::from(times) * slope;
            }
            let at = &found.at + hessian.cholesky()?.solve(&score);
            Some(self.shifted(found.fit, &at, anchor))
        };
        (0..RESAMPLES).filter_map(draw).collect()
    }
}

/// The percentile interval of the resamples, widened for few clusters.
fn percentiles(drawn: &[Vec<f64>], player: usize, clusters: f64) -> (f64, f64) {
    let mut values: Vec<f64> = drawn.iter().map(|strengths| strengths[player]).collect();
    values.sort_by(f64::total_cmp);
    let outside = normal_cdf(-(clusters / (clusters - 1.0)).sqrt() * t_quantile(0.5 + LEVEL / 2.0, clusters - 1.0));
    let last = values.len().saturating_sub(1);
    let from_end = (outside * values.len() as f64) as usize;
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    (at(from_end.min(last)), at(last - from_end.min(last)))
}

#[cfg(test)]
mod tests;
