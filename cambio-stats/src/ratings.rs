//! Strengths from rankings: Plackett–Luce, which for two players is Bradley–Terry.
//!
//! Strengths are fitted to all games at once by maximum likelihood, so the order of games does not matter. A game is a
//! ranking of positions. Ties have the weights of Efron 1977 ("The efficiency of Cox's likelihood function for censored
//! data", eq. 1.9), as in a Cox model stratified by game: a tie of two is a win and a loss for each. Newton's method
//! uses the exact Hessian (Hunter 2004, "MM algorithms for generalized Bradley–Terry models", section 5, has the
//! condition for a maximum); standard errors are from the sandwich estimator H⁻¹ (D/(D−1) Σ g gᵀ + H/D) H⁻¹ with one
//! score vector g for each of the D clusters (Lin and Wei 1989). The term H/D adds one cluster whose variance is the
//! model's, because a few clusters of a player that almost always has the same rank do not contain its rare results.
//! Without it, the interval of such a player covers its strength in 85 % of samples of 30 deals instead of 95 %. If the
//! likelihood has no maximum, a prior is added ([`Fit::Regularised`]).

mod misfit;
mod pooled;

use std::collections::BTreeMap;

pub use misfit::{Misfit, Residual, misfit};
pub use pooled::pool;

use crate::interval::{Interval, Support};
use crate::matrix::{Matrix, Vector};

/// The maximum number of players in one ranking.
pub const MAX_ENTRIES: usize = 8;

/// The ranking of one game: the player in each position, and its rank; positions without a player have rank 0.
///
/// Four positions are packed into a word, each with 20 bits for the player and 4 for the rank, for fast comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Ranking([u128; MAX_ENTRIES / 4]);

impl Ranking {
    /// Creates a ranking from the player and the rank in each position; equal ranks are ties, a lower rank is better.
    pub fn new(positions: impl IntoIterator<Item = (usize, usize)>) -> Ranking {
        let mut ranking = Ranking::default();
        for (position, (player, rank)) in positions.into_iter().enumerate() {
            ranking.0[position / 4] |= ((player << 4 | rank) as u128) << (24 * (position % 4));
        }
        ranking
    }

    fn entries(&self) -> impl Iterator<Item = (usize, usize)> {
        let packed =
            (0..MAX_ENTRIES).map(|position| (self.0[position / 4] >> (24 * (position % 4))) as usize & 0xff_ffff);
        packed.map(|position| (position >> 4, position & 15)).filter(|(_, rank)| *rank > 0)
    }

    /// The ranking without positions: its entries sorted by rank.
    fn unplaced(&self) -> Ranking {
        let mut entries: Vec<(usize, usize)> = self.entries().collect();
        entries.sort_by_key(|&(player, rank)| (rank, player));
        Ranking::new(entries)
    }
}

/// The number of clusters to keep. At twice this number, neighbouring clusters are merged, which bounds the memory.
const MOST_CLUSTERS: usize = 1 << 15;

/// The counted rankings of many games, by cluster.
#[derive(Clone, Debug, Default)]
pub struct Rankings {
    numbers: BTreeMap<Ranking, u32>,
    list: Vec<Ranking>,
    counts: Vec<u64>,
    clusters: Vec<Cluster>,
    open: Cluster,
    in_open: u64,
    width: u64,
    /// The number of the next cluster.
    ended: u64,
}

/// The rankings of a cluster, or of several merged neighbours.
#[derive(Clone, Debug, Default)]
struct Cluster {
    /// The number of the first of these clusters.
    number: u64,
    /// The numbers of rankings and their counts.
    counts: Vec<(u32, u32)>,
}

fn add_count(counts: &mut Vec<(u32, u32)>, number: u32, count: u32) {
    match counts.iter_mut().find(|(other, _)| *other == number) {
        Some((_, counted)) => *counted += count,
        None => counts.push((number, count)),
    }
}

impl Rankings {
    /// Adds a game to the current cluster.
    pub fn add(&mut self, ranking: Ranking) {
        let number = self.number_of(ranking);
        self.counts[number as usize] += 1;
        add_count(&mut self.open.counts, number, 1);
    }

    /// The number of a ranking, which is added if it is new.
    fn number_of(&mut self, ranking: Ranking) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(ranking).or_insert(next);
        if number == next {
            self.list.push(ranking);
            self.counts.push(0);
        }
        number
    }

    /// Ends the current cluster. Clusters are numbered from 0.
    pub fn end_cluster(&mut self) {
        self.end_cluster_of(self.ended);
    }

    /// Ends the current cluster and gives it this number, which identifies the same cluster at other tables
    /// ([`Rankings::pooled`]). Numbers must increase.
    pub fn end_cluster_of(&mut self, number: u64) {
        self.ended = number + 1;
        if self.in_open == 0 {
            self.open.number = number;
        }
        self.in_open += 1;
        if self.in_open < self.width.max(1) {
            return;
        }
        if !self.open.counts.is_empty() {
            self.clusters.push(std::mem::take(&mut self.open));
        }
        self.in_open = 0;
        if self.clusters.len() == 2 * MOST_CLUSTERS {
            self.width = 2 * self.width.max(1);
            let join = |pair: &[Cluster]| {
                let mut joined = pair[0].clone();
                pair[1].counts.iter().for_each(|&(number, count)| add_count(&mut joined.counts, number, count));
                joined
            };
            self.clusters = self.clusters.chunks_exact(2).map(join).collect();
        }
    }

    /// The number of games.
    pub fn games(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The number of games of each player. A player counts once for each of its positions in a game.
    pub fn games_of(&self, players: usize) -> Vec<u64> {
        let mut games = vec![0; players];
        for (ranking, count) in self.list.iter().zip(&self.counts) {
            ranking.entries().for_each(|(player, _)| games[player] += count);
        }
        games
    }

    fn all_clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().chain((!self.open.counts.is_empty()).then_some(&self.open))
    }

    /// The strongly connected components of the players: two have the same number if each has beaten or tied the other,
    /// directly or through other players (Ford 1957). The likelihood has a maximum if there is one component.
    pub fn components(&self, players: usize) -> Vec<usize> {
        let mut above = vec![false; players * players];
        for ranking in &self.list {
            for (one, rank) in ranking.entries() {
                for (other, below) in ranking.entries() {
                    above[one * players + other] |= rank <= below;
                }
            }
        }
        for via in 0..players {
            for from in 0..players {
                if above[from * players + via] {
                    for to in 0..players {
                        above[from * players + to] |= above[via * players + to];
                    }
                }
            }
        }
        let mut numbers: Vec<usize> = Vec::new();
        let mut next = 0;
        for player in 0..players {
            let same = |&other: &usize| above[player * players + other] && above[other * players + player];
            let number = (0..player).find(same).map_or(next, |other| numbers[other]);
            next = next.max(number + 1);
            numbers.push(number);
        }
        numbers
    }
}

/// Whether the model has position effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionEffects {
    /// Positions do not matter.
    Ignored,
    /// Each position has an advantage; the advantage of the first is 0.
    Fitted,
}

/// How strengths are fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// By maximum likelihood alone.
    Likelihood,
    /// With a prior, because the likelihood has no maximum: as if each player had won and lost a game against a player
    /// of strength 0.
    Regularised,
}

impl Fit {
    /// The name of the method.
    pub fn method(self) -> &'static str {
        match self {
            Fit::Likelihood => "likelihood",
            Fit::Regularised => "regularised",
        }
    }
}

/// Strengths of players in log odds: a player beats another with odds of e to the power of the difference.
///
/// # Examples
/// ```
/// use cambio_stats::ratings::{PositionEffects, Ranking, Rankings, fit};
///
/// // Player 0 beats player 1 three times out of four. A ranking has the player and its rank in each position.
/// let mut rankings = Rankings::default();
/// for [first, second] in [[1, 2], [1, 2], [2, 1], [1, 2]] {
///     rankings.add(Ranking::new([(0, first), (1, second)]));
///     rankings.end_cluster();
/// }
/// let fitted = fit(&rankings, 2, Some(1), PositionEffects::Ignored).unwrap();
/// assert!((fitted.strengths[0] - 3_f64.ln()).abs() < 1e-6);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Strengths {
    /// The method of the fit.
    pub fit: Fit,
    /// The strength of each player. The sum is 0, or the anchor's strength is 0.
    pub strengths: Vec<f64>,
    /// The covariance of the strengths.
    pub covariance: Matrix,
    /// The advantage of each position over the first, with its standard error; empty if positions are ignored.
    pub positions: Vec<(f64, Option<f64>)>,
    /// The number of clusters in the covariance.
    pub clusters: u64,
    /// The log likelihood.
    pub likelihood: f64,
}

impl Strengths {
    /// The strength of a player with Student's interval. Only a strength that is 0 by definition has no error.
    pub fn interval(&self, player: usize) -> Interval {
        let (strength, clusters) = (self.strengths[player], self.clusters);
        match (clusters > 1).then(|| self.covariance[(player, player)].max(0.0).sqrt()) {
            Some(0.0) => Interval::exact(strength, clusters),
            error => Interval::new(strength, error, clusters, Support::Line),
        }
    }
}

/// The contribution of one ranking at the current strengths, by player: log likelihood, score, and negative Hessian.
struct RankingTerms {
    likelihood: f64,
    score: [f64; MAX_ENTRIES],
    hessian: [[f64; MAX_ENTRIES]; MAX_ENTRIES],
}

fn part(entries: &[(usize, usize)], strengths: impl Fn(usize) -> f64) -> RankingTerms {
    let n = entries.len();
    let natural: Vec<f64> = (0..n).map(&strengths).collect();
    let most = natural.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = natural.iter().map(|strength| libm::exp(strength - most)).collect();
    let mut part =
        RankingTerms { likelihood: 0.0, score: [0.0; MAX_ENTRIES], hessian: [[0.0; MAX_ENTRIES]; MAX_ENTRIES] };
    for rank in 1..=n {
        let tied: Vec<bool> = entries.iter().map(|player| player.1 == rank).collect();
        let together = tied.iter().filter(|tied| **tied).count();
        for step in 0..together {
            let less = step as f64 / together as f64;
            let left = |player: usize| match entries[player].1 {
                other if other < rank => 0.0,
                _ if tied[player] => weights[player] * (1.0 - less),
                _ => weights[player],
            };
            let sum: f64 = (0..n).map(left).sum();
            part.likelihood -= libm::log(sum) + most;
            let shares: Vec<f64> = (0..n).map(|player| left(player) / sum).collect();
            for one in 0..n {
                part.score[one] -= shares[one];
                part.hessian[one][one] += shares[one];
                for other in 0..n {
                    part.hessian[one][other] -= shares[one] * shares[other];
                }
            }
        }
        for player in (0..n).filter(|&player| tied[player]) {
            part.likelihood += natural[player];
            part.score[player] += 1.0;
        }
    }
    part
}

/// Fits strengths to rankings by maximum likelihood; `None` if there is no ranking. A prior is added if the likelihood
/// has no maximum, because there are several components (see [`Rankings::components`]) or because positions decide
/// every game.
///
/// The prior is a logistic density of each strength, and of each position effect: as if each player had won and lost
/// one game against a player of strength 0 (Caron and Doucet 2012, "Efficient Bayesian inference for generalized
/// Bradley–Terry models", use a gamma prior for the same purpose). The distance between components then depends only on
/// the prior and the number of games. If all clusters agree, the sandwich is too small, so in each direction the larger
/// of the sandwich and the inverse Hessian is used.
pub fn fit(rankings: &Rankings, players: usize, anchor: Option<usize>, effects: PositionEffects) -> Option<Strengths> {
    let (model, found) = maximum(rankings, players, effects)?;
    Some(model.strengths(&found, anchor))
}

/// The maximum of the likelihood, or with a prior if the likelihood has none; `None` if there is no ranking.
fn maximum(rankings: &Rankings, players: usize, effects: PositionEffects) -> Option<(Model<'_>, Maximum)> {
    if rankings.list.is_empty() {
        return None;
    }
    let model = Model::new(rankings, players, effects);
    let is_connected = rankings.components(players).iter().all(|component| *component == 0);
    let likely = is_connected.then(|| model.maximum(Fit::Likelihood)).flatten();
    let found = likely.or_else(|| model.maximum(Fit::Regularised))?;
    Some((model, found))
}

/// The model of strengths and position effects, with the rankings as games.
struct Model<'a> {
    rankings: &'a Rankings,
    games: Vec<Vec<(usize, usize)>>,
    players: usize,
    /// The number of positions with an effect.
    positions: usize,
}

/// A maximum: a parameter for each player and position.
struct Maximum {
    fit: Fit,
    at: Vector,
    covariance: Matrix,
    clusters: u64,
    likelihood: f64,
}

impl Model<'_> {
    fn new(rankings: &Rankings, players: usize, effects: PositionEffects) -> Model<'_> {
        let games: Vec<Vec<_>> = rankings.list.iter().map(|ranking| ranking.entries().collect()).collect();
        let seats = games.iter().map(Vec::len).max().unwrap_or(0);
        let positions = if effects == PositionEffects::Fitted { seats.saturating_sub(1) } else { 0 };
        Model { rankings, games, players, positions }
    }

    /// The parameters of a player and a position. The first position has none. Without a prior the last player has none
    /// either, because only differences of strengths are identified.
    fn indices(&self, fit: Fit, player: usize, position: usize) -> impl Iterator<Item = usize> {
        let free = self.free(fit);
        let of_player = (player < free).then_some(player);
        let of_position = (self.positions > 0 && position > 0).then(|| free + position - 1);
        of_player.into_iter().chain(of_position)
    }

    /// The number of players with a parameter.
    fn free(&self, fit: Fit) -> usize {
        if fit == Fit::Likelihood { self.players - 1 } else { self.players }
    }

    fn parts(&self, fit: Fit, at: &Vector) -> Vec<RankingTerms> {
        let strength = |player, position| self.indices(fit, player, position).map(|index| at[index]).sum();
        self.games.iter().map(|entries| part(entries, |position| strength(entries[position].0, position))).collect()
    }

    fn likelihood(&self, parts: &[RankingTerms]) -> f64 {
        parts.iter().zip(&self.rankings.counts).map(|(part, n)| *n as f64 * part.likelihood).sum()
    }

    /// Adds the contribution of a ranking, `count` times, to the score and the negative Hessian.
    fn add(&self, fit: Fit, game: usize, part: &RankingTerms, count: f64, score: &mut Vector, hessian: &mut Matrix) {
        let entries = &self.games[game];
        for (one, &(player, _)) in entries.iter().enumerate() {
            for index in self.indices(fit, player, one) {
                score[index] += count * part.score[one];
                for (other, &(rival, _)) in entries.iter().enumerate() {
                    for next in self.indices(fit, rival, other) {
                        hessian[(index, next)] += count * part.hessian[one][other];
                    }
                }
            }
        }
    }

    /// Newton's method; `None` if there is no maximum.
    fn maximum(&self, fit: Fit) -> Option<Maximum> {
        let size = self.free(fit) + self.positions;
        let has_prior = fit == Fit::Regularised;
        // The log density of one parameter is θ − 2 ln(1 + e^θ); `share` gives its slope and curvature.
        let prior = |value: f64| -value.abs() - 2.0 * libm::log1p(libm::exp(-value.abs()));
        let share = |value: f64| 1.0 / (1.0 + libm::exp(-value));
        let goal = |parts: &[RankingTerms], at: &Vector| {
            let extra = if has_prior { at.iter().map(|value| prior(*value)).sum() } else { 0.0 };
            self.likelihood(parts) + extra
        };
        let mut at = Vector::zeros(size);
        let mut now = self.parts(fit, &at);
        let mut inverse = Matrix::zeros(size, size);
        for _ in 0..100 {
            let mut score = Vector::zeros(size);
            let mut hessian = Matrix::zeros(size, size);
            for ((game, part), &count) in now.iter().enumerate().zip(&self.rankings.counts) {
                self.add(fit, game, part, count as f64, &mut score, &mut hessian);
            }
            for index in (0..size).filter(|_| has_prior) {
                let won = share(at[index]);
                score[index] += 1.0 - 2.0 * won;
                hessian[(index, index)] += 2.0 * won * (1.0 - won);
            }
            inverse = hessian.cholesky()?.inverse();
            let step = &inverse * score;
            let before = goal(&now, &at);
            let mut share = 1.0;
            loop {
                let next = &at + share * &step;
                let there = self.parts(fit, &next);
                if goal(&there, &next) >= before - 1e-12 * before.abs() || share < 1e-6 {
                    (at, now) = (next, there);
                    break;
                }
                share /= 2.0;
            }
            if step.amax() < 1e-12 {
                break;
            }
            if at.amax() > 50.0 {
                return None;
            }
        }
        let (meat, clusters) = self.meat(fit, &now);
        let factor = if clusters > 1 { clusters as f64 / (clusters as f64 - 1.0) } else { f64::NAN };
        let covariance = if has_prior && clusters > 1 {
            larger(inverse, &(meat * factor))?
        } else {
            // The cluster with the variance of the model: H⁻¹ (H / D) H⁻¹ = H⁻¹ / D.
            &inverse * meat * &inverse * factor + inverse / clusters as f64
        };
        Some(Maximum { fit, likelihood: self.likelihood(&now), at, covariance, clusters })
    }

    /// Σ g gᵀ over the clusters, and their number.
    fn meat(&self, fit: Fit, now: &[RankingTerms]) -> (Matrix, u64) {
        let size = self.free(fit) + self.positions;
        let mut meat = Matrix::zeros(size, size);
        let mut clusters = 0_u64;
        for cluster in self.rankings.all_clusters() {
            let mut score = Vector::zeros(size);
            for &(number, count) in &cluster.counts {
                for (position, &(player, _)) in self.games[number as usize].iter().enumerate() {
                    for index in self.indices(fit, player, position) {
                        score[index] += f64::from(count) * now[number as usize].score[position];
                    }
                }
            }
            meat.ger(1.0, &score, &score, 1.0);
            clusters += 1;
        }
        (meat, clusters)
    }

    /// The matrix that shifts fitted parameters so that the sum of the strengths is 0, or the anchor's strength.
    fn change(&self, fit: Fit, anchor: Option<usize>) -> Matrix {
        Matrix::from_fn(self.players, self.free(fit), |player, index| {
            let own = if player == index { 1.0 } else { 0.0 };
            own - anchor.map_or(1.0 / self.players as f64, |anchor| if anchor == index { 1.0 } else { 0.0 })
        })
    }

    /// The shifted strengths of fitted parameters.
    fn shifted(&self, fit: Fit, at: &Vector, anchor: Option<usize>) -> Vec<f64> {
        // Adding 0 turns −0 into 0.
        (self.change(fit, anchor) * at.rows(0, self.free(fit))).iter().map(|strength| strength + 0.0).collect()
    }

    fn strengths(&self, found: &Maximum, anchor: Option<usize>) -> Strengths {
        let free = self.free(found.fit);
        let change = self.change(found.fit, anchor);
        let of_players = found.covariance.view((0, 0), (free, free));
        let position = |position: usize| {
            let index = free + position;
            (found.at[index], (found.clusters > 1).then(|| found.covariance[(index, index)].max(0.0).sqrt()))
        };
        Strengths {
            fit: found.fit,
            strengths: self.shifted(found.fit, &found.at, anchor),
            covariance: &change * of_players * change.transpose(),
            positions: (0..self.positions).map(position).collect(),
            clusters: found.clusters,
            likelihood: found.likelihood,
        }
    }
}

/// The larger of the sandwich and the inverse Hessian H⁻¹ = L Lᵀ, direction by direction: L max(1, Lᵀ M L) Lᵀ.
fn larger(inverse: Matrix, meat: &Matrix) -> Option<Matrix> {
    let root = inverse.cholesky()?.unpack();
    let mut wider = (root.transpose() * meat * &root).symmetric_eigen();
    wider.eigenvalues.apply(|value| *value = value.max(1.0));
    Some(&root * wider.recompose() * root.transpose())
}

#[cfg(test)]
mod tests;
