//! Goodness of fit: whether one strength for each player describes the results of every pair.

use std::collections::BTreeMap;

use super::{Cluster, Fit, MAX_ENTRIES, Model, PositionEffects, RankingTerms, Rankings};
use crate::distributions::t_quantile;
use crate::hotelling::{self, HotellingTest};
use crate::interval::{Interval, LEVEL, Support};
use crate::matrix::{Matrix, Vector};

/// The maximum number of pairs. The work grows with the cube of this number.
const MOST_PAIRS: usize = 300;
/// The maximum number of groups of neighbouring clusters.
const GROUPS: usize = 2048;
/// The number of groups for each pair, below which there is no test. With fewer, the covariance is too inaccurate.
const GROUPS_A_PAIR: usize = 10;
/// The number of comparisons that the weaker player of a pair must be expected to win. With fewer, the distribution of
/// the residual is too skewed for a test.
const FEWEST: f64 = 5.0;

/// The deviations of pairs from a fit, and the test that there are none.
#[derive(Clone, PartialEq, Debug)]
pub struct Misfit {
    /// The residuals, ordered by pair. Pairs without enough games are omitted.
    pub residuals: Vec<Residual>,
    /// The test that no pair deviates. `None` with too few clusters, or if every pair can be fitted exactly.
    pub test: Option<HotellingTest>,
}

/// The deviation of one pair from the strengths that the other games support.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Residual {
    /// The two players, the lower number first.
    pub players: (usize, usize),
    /// By how much the first player is stronger against the second than the strengths say, in log odds.
    pub interval: Interval,
}

impl Misfit {
    /// The residual of two players, the lower number first.
    pub fn residual(&self, one: usize, other: usize) -> Option<&Residual> {
        self.residuals.iter().find(|residual| residual.players == (one, other))
    }

    /// The root mean square of the residuals without the part that is expected from chance; 0 if chance explains them.
    pub fn size(&self) -> f64 {
        let excess = |own: &Residual| own.interval.mean.powi(2) - own.interval.error.unwrap_or(0.0).powi(2);
        let sum: f64 = self.residuals.iter().map(excess).sum();
        (sum / self.residuals.len().max(1) as f64).max(0.0).sqrt()
    }

    /// The ends of a residual's interval, corrected for all residuals (Bonferroni).
    pub fn wide(&self, residual: &Residual) -> Option<(f64, f64)> {
        let outside = (1.0 - LEVEL) / self.residuals.len() as f64;
        residual.interval.ends_at(t_quantile(1.0 - outside / 2.0, residual.interval.freedom()))
    }
}

/// Tests whether the strengths of [`fit`](super::fit) describe all pairs. `None` if the fit needs a prior, or there are
/// too many pairs.
///
/// The model gets one more parameter for each pair: in the common games of the two players, the first is stronger by
/// half of it and the second weaker by half of it. With two players in a game, these parameters describe any results.
/// The test is the score test that all of them are 0, with the covariance by clusters of scores from which the
/// estimated strengths were projected out (Boos 1992, "On generalized score tests"). This projection accounts for the
/// estimation: results that determine the fit do not count as evidence for it. The covariance is estimated, so the
/// statistic is Hotelling's. In games of two players, the scores of a pair are scaled to the variance that the fitted
/// odds imply, as in the score interval of a share; otherwise the test rejects too often where a player wins nearly
/// every game. A residual is the estimate of the pair's own parameter alone, by one step of Newton's method.
///
/// # Examples
/// ```
/// use cambio_stats::ratings::{PositionEffects, Ranking, Rankings, misfit};
///
/// // Each of three players beats the next one in two games of three, as in rock, paper, scissors.
/// let mut rankings = Rankings::default();
/// for cluster in 0..90 {
///     for (one, other) in [(0, 1), (1, 2), (2, 0)] {
///         let ranks = if cluster / (1 + one * one) % 3 == 0 { [2, 1] } else { [1, 2] };
///         rankings.add(Ranking::new([(one, ranks[0]), (other, ranks[1])]));
///     }
///     rankings.end_cluster();
/// }
/// let found = misfit(&rankings, 3, PositionEffects::Ignored).unwrap();
/// assert!(found.test.unwrap().p < 1e-4);
/// // All strengths are equal, but the odds of the first pair are 2.
/// assert!(found.residual(0, 1).unwrap().interval.mean > 1.0);
/// ```
pub fn misfit(rankings: &Rankings, players: usize, effects: PositionEffects) -> Option<Misfit> {
    let (model, found) = super::maximum(rankings, players, effects)?;
    (found.fit == Fit::Likelihood).then_some(())?;
    let parts = model.parts(found.fit, &found.at);
    let pairs = model.pairs(&parts);
    (1..=MOST_PAIRS).contains(&pairs.len()).then_some(())?;
    let (size, all) = (found.at.len(), found.at.len() + pairs.len());
    let factors: Vec<Vec<Factors>> = (0..parts.len()).map(|game| model.factors(game, &pairs)).collect();

    let mut curvature = Matrix::zeros(all, all);
    for ((part, factors), &count) in parts.iter().zip(&factors).zip(&rankings.counts) {
        for (one, own) in factors.iter().enumerate() {
            for (other, its) in factors.iter().enumerate() {
                let value = count as f64 * part.hessian[one][other];
                for &(row, factor) in own {
                    for &(column, with) in its {
                        curvature[(row, column)] += factor * with * value;
                    }
                }
            }
        }
    }
    let of_strengths = curvature.view((0, 0), (size, size)).into_owned().cholesky()?;
    let across = curvature.view((0, size), (size, pairs.len())).into_owned();
    let slopes = of_strengths.solve(&across);
    // The information on the parameters of the pairs that is left when the strengths are unknown.
    let information = curvature.view((size, size), (pairs.len(), pairs.len())) - across.transpose() * &slopes;

    // The scores of the pairs by group of clusters, with the estimated strengths projected out.
    let scores: Vec<_> = (0..parts.len()).map(|game| model.scores(game, &parts[game], &pairs)).collect();
    let clusters: Vec<&Cluster> = rankings.all_clusters().collect();
    let projected = |group: &[&Cluster]| {
        let mut score = Vector::zeros(all);
        for &(number, count) in group.iter().flat_map(|cluster| &cluster.counts) {
            let number = number as usize;
            for (own, value) in factors[number].iter().zip(scores[number]) {
                for &(index, factor) in own {
                    score[index] += f64::from(count) * factor * value;
                }
            }
        }
        score.rows(size, pairs.len()) - slopes.transpose() * score.rows(0, size)
    };
    let groups: Vec<Vector> = clusters.chunks(clusters.len().div_ceil(GROUPS).max(1)).map(projected).collect();
    (groups.len() > 1).then_some(())?;
    let count = groups.len() as f64;
    let mean = groups.iter().fold(Vector::zeros(pairs.len()), |sum, group| sum + group) / count;
    let mut covariance = Matrix::zeros(pairs.len(), pairs.len());
    for group in &groups {
        let centred = group - &mean;
        covariance.ger(count / (count - 1.0), &centred, &centred, 1.0);
    }

    // At the maximum the scores of the strengths add up to 0, so the sums of the pairs' scores need no projection.
    let sum = Vector::from_iterator(pairs.len(), pairs.values().map(|pair| pair.residual));
    let residual = |(place, &players): (usize, &(usize, usize))| {
        let (own, variance) = (information[(place, place)], covariance[(place, place)]);
        let is_free = own > 1e-9 * curvature[(size + place, size + place)] && variance > 1e-9 * own;
        let interval =
            || Interval::new(sum[place] / own, Some(variance.sqrt() / own), groups.len() as u64, Support::Line);
        is_free.then(|| Residual { players, interval: interval() })
    };
    let residuals: Vec<Residual> = pairs.keys().enumerate().filter_map(residual).collect();
    let is_enough = groups.len() >= GROUPS_A_PAIR * pairs.len();
    // Scaled by the information of the games, so that pairs with few games do not vanish beside pairs with many.
    let scale = Vector::from_fn(pairs.len(), |place, _| 1.0 / curvature[(size + place, size + place)].sqrt());
    let scaled = Matrix::from_fn(pairs.len(), pairs.len(), |i, j| covariance[(i, j)] * scale[i] * scale[j]);
    let test = is_enough.then(|| tested(&sum.component_mul(&scale), scaled, groups.len())).flatten();
    Some(Misfit { residuals, test })
}

/// Hotelling's test that the sum of the groups' scores is 0, in the directions in which the scores vary.
fn tested(sum: &Vector, covariance: Matrix, groups: usize) -> Option<HotellingTest> {
    let eigen = covariance.symmetric_eigen();
    let kept: Vec<usize> = (0..sum.len()).filter(|&at| eigen.eigenvalues[at] > 1e-9).collect();
    let means: Vec<f64> = kept.iter().map(|&at| eigen.eigenvectors.column(at).dot(sum)).collect();
    let variances = Vector::from_iterator(kept.len(), kept.iter().map(|&at| eigen.eigenvalues[at]));
    hotelling::test(&means, &Matrix::from_diagonal(&variances), groups as u64)
}

/// The parameters on which the strength in one position depends, each with its factor.
type Factors = Vec<(usize, f64)>;

/// The common games of two players, as comparisons: a tie is two comparisons, of which each player wins one.
#[derive(Clone, Copy, Default)]
struct CommonGames {
    /// The index of the pair.
    place: usize,
    comparisons: f64,
    /// The comparisons that the first player won.
    won: f64,
    /// The sum of the pair's scores: in games of two players, the comparisons won minus those expected.
    residual: f64,
}

impl CommonGames {
    /// The share of comparisons that the first player won, and the fitted share. With more than two players in a game
    /// the model has no fitted share, and both are equal.
    fn shares(&self, is_duel: bool) -> (f64, f64) {
        let share = self.won / self.comparisons;
        (share, if is_duel { share - self.residual / self.comparisons } else { share })
    }
}

type Pairs = BTreeMap<(usize, usize), CommonGames>;

impl Model<'_> {
    fn has_duels_only(&self) -> bool {
        self.games.iter().all(|entries| entries.len() == 2)
    }

    /// The pairs of players with enough games for a test.
    fn pairs(&self, parts: &[RankingTerms]) -> Pairs {
        let mut pairs = Pairs::new();
        for ((entries, part), &count) in self.games.iter().zip(parts).zip(&self.rankings.counts) {
            let count = count as f64;
            for (position, &(one, rank)) in entries.iter().enumerate() {
                for (other_position, &(other, below)) in entries.iter().enumerate().filter(|(_, rival)| one < rival.0) {
                    let games = pairs.entry((one, other)).or_default();
                    games.comparisons += if rank == below { 2.0 * count } else { count };
                    games.won += if rank <= below { count } else { 0.0 };
                    games.residual += count * (part.score[position] - part.score[other_position]) / 2.0;
                }
            }
        }
        let is_duel = self.has_duels_only();
        pairs.retain(|_, games| {
            let (_, fitted) = games.shares(is_duel);
            games.comparisons * fitted.min(1.0 - fitted) >= FEWEST
        });
        pairs.values_mut().zip(0..).for_each(|(games, place)| games.place = place);
        pairs
    }

    /// The factors of each position of a game: the factors of the model, and ½ or −½ for the pair with each other player.
    fn factors(&self, game: usize, pairs: &Pairs) -> Vec<Factors> {
        let (entries, size) = (&self.games[game], self.free(Fit::Likelihood) + self.positions);
        let of = |(position, &(player, _)): (usize, &(usize, usize))| {
            let own = self.indices(Fit::Likelihood, player, position).map(|index| (index, 1.0));
            let with = entries.iter().filter_map(|&(other, _)| {
                let games = pairs.get(&(player.min(other), player.max(other)))?;
                Some((size + games.place, if player < other { 0.5 } else { -0.5 }))
            });
            own.chain(with).collect()
        };
        entries.iter().enumerate().map(of).collect()
    }

    /// The scores of the positions of a game, for the covariance. In games of two players they are centred at the
    /// pair's own share, and scaled to the variance of the fitted share.
    fn scores(&self, game: usize, part: &RankingTerms, pairs: &Pairs) -> [f64; MAX_ENTRIES] {
        let mut scores = part.score;
        let [(one, rank), (other, below)] = self.games[game][..] else { return scores };
        let games = pairs.get(&(one.min(other), one.max(other))).filter(|_| self.has_duels_only());
        let Some(games) = games else { return scores };
        let (share, fitted) = games.shares(true);
        let least = 0.5 / games.comparisons;
        let own = share.clamp(least, 1.0 - least);
        let scale = (fitted * (1.0 - fitted) / (own * (1.0 - own))).sqrt();
        let excess = (share - fitted) * if rank == below { 2.0 } else { 1.0 };
        for (score, sign) in scores.iter_mut().zip(if one < other { [1.0, -1.0] } else { [-1.0, 1.0] }) {
            *score = scale * (*score - sign * excess);
        }
        scores
    }
}

#[cfg(test)]
mod tests;
