//! Strengths from rankings: Plackett–Luce, which for two players is Bradley–Terry.
//!
//! All games at once, maximum likelihood, so that the order of games does not matter. A game is a ranking of positions; ties
//! have the weights of Efron 1977 ("The efficiency of Cox's likelihood function for censored data", eq. 1.9), which makes
//! the likelihood that of a Cox model stratified by game: two who tie have a win and a loss each. Newton's method with the exact Hessian (Hunter 2004, "MM
//! algorithms for generalized Bradley–Terry models", section 5, for when the maximum exists); standard errors from the
//! sandwich H⁻¹ (D/(D−1) Σ g gᵀ) H⁻¹ with one score vector g a cluster (Lin and Wei 1989).

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

/// The most players in one ranking.
pub const MAX_ENTRIES: usize = 8;

/// The ranking of one game: the player in each position, and its rank; positions without a player have rank 0.
///
/// Four positions to a word, each with 20 bits for the player and 4 for the rank, so that rankings are compared at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Ranking([u128; MAX_ENTRIES / 4]);

impl Ranking {
    /// Player and rank by position; equal ranks are ties, a lower rank is better.
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
}

/// How many clusters are kept; beyond, neighbouring clusters share one, and memory does not grow with the games.
const MOST_CLUSTERS: usize = 1 << 15;

/// The rankings of many games, counted, by cluster.
#[derive(Clone, Debug, Default)]
pub struct Rankings {
    numbers: BTreeMap<Ranking, u32>,
    list: Vec<Ranking>,
    counts: Vec<u64>,
    clusters: Vec<Vec<(u32, u32)>>,
    open: Vec<(u32, u32)>,
    in_open: u64,
    width: u64,
}

fn add_count(counts: &mut Vec<(u32, u32)>, number: u32, count: u32) {
    match counts.iter_mut().find(|(other, _)| *other == number) {
        Some((_, counted)) => *counted += count,
        None => counts.push((number, count)),
    }
}

impl Rankings {
    /// Adds a game of the present cluster.
    pub fn add(&mut self, ranking: Ranking) {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(ranking).or_insert(next);
        if number == next {
            self.list.push(ranking);
            self.counts.push(0);
        }
        self.counts[number as usize] += 1;
        add_count(&mut self.open, number, 1);
    }

    /// Ends the present cluster.
    pub fn end_cluster(&mut self) {
        self.in_open += 1;
        if self.in_open < self.width.max(1) {
            return;
        }
        if !self.open.is_empty() {
            self.clusters.push(std::mem::take(&mut self.open));
        }
        self.in_open = 0;
        if self.clusters.len() == 2 * MOST_CLUSTERS {
            self.width = 2 * self.width.max(1);
            let join = |pair: &[Vec<(u32, u32)>]| {
                let mut joined = pair[0].clone();
                pair[1].iter().for_each(|&(number, count)| add_count(&mut joined, number, count));
                joined
            };
            self.clusters = self.clusters.chunks_exact(2).map(join).collect();
        }
    }

    /// How many games there are.
    pub fn games(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many games each of so many players has, one for each of its positions.
    pub fn games_of(&self, players: usize) -> Vec<u64> {
        let mut games = vec![0; players];
        for (ranking, count) in self.list.iter().zip(&self.counts) {
            ranking.entries().for_each(|(player, _)| games[player] += count);
        }
        games
    }

    fn all_clusters(&self) -> impl Iterator<Item = &Vec<(u32, u32)>> {
        self.clusters.iter().chain((!self.open.is_empty()).then_some(&self.open))
    }

    /// The components within which everybody can be compared with everybody: players have the same number if each has
    /// beaten or tied the other, over others if need be (Ford 1957). Strengths exist if there is one component.
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

/// Whether strengths take the position into account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionEffects {
    /// Positions do not matter.
    Ignored,
    /// Each position adds an advantage of its own, the first's being 0.
    Fitted,
}

/// Strengths of players on the natural scale: one is stronger than another with odds e to the difference.
///
/// # Examples
/// ```
/// use cambio_stats::ratings::{PositionEffects, Ranking, Rankings, fit};
///
/// // Player 0 beats player 1 three times out of four. A ranking is the player and its rank in each position.
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
    /// Of each player; their sum is 0, or the anchor's is.
    pub strengths: Vec<f64>,
    /// Their covariance.
    pub covariance: DMatrix<f64>,
    /// The advantage of each position over the first, with its standard error; empty where positions are ignored.
    pub positions: Vec<(f64, Option<f64>)>,
    /// How many clusters the covariance is from.
    pub clusters: u64,
    /// The log likelihood.
    pub likelihood: f64,
}

/// What one ranking adds at the present strengths, by player: log likelihood, score, and negative Hessian.
struct Part {
    likelihood: f64,
    score: [f64; MAX_ENTRIES],
    hessian: [[f64; MAX_ENTRIES]; MAX_ENTRIES],
}

fn part(entries: &[(usize, usize)], strengths: impl Fn(usize) -> f64) -> Part {
    let n = entries.len();
    let natural: Vec<f64> = (0..n).map(&strengths).collect();
    let most = natural.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = natural.iter().map(|strength| (strength - most).exp()).collect();
    let mut part = Part { likelihood: 0.0, score: [0.0; MAX_ENTRIES], hessian: [[0.0; MAX_ENTRIES]; MAX_ENTRIES] };
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
            part.likelihood -= sum.ln() + most;
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

/// Fits strengths to rankings of so many players; `None` if they are not all comparable, or positions decide everything.
///
/// # Panics
/// Never.
pub fn fit(rankings: &Rankings, players: usize, anchor: Option<usize>, effects: PositionEffects) -> Option<Strengths> {
    if rankings.list.is_empty() || rankings.components(players).iter().any(|component| *component > 0) {
        return None;
    }
    let positions = rankings.list.iter().map(|ranking| ranking.entries().count()).max().unwrap_or(0);
    // The last player is at 0 while fitting, and so is the first position.
    let fitted_positions = if effects == PositionEffects::Fitted { positions - 1 } else { 0 };
    let size = players - 1 + fitted_positions;
    let features = |player: usize, position: usize| {
        let of_player = (player + 1 < players).then_some(player);
        let of_position = (effects == PositionEffects::Fitted && position > 0).then(|| players - 1 + position - 1);
        [of_player, of_position]
    };
    let games: Vec<Vec<(usize, usize)>> = rankings.list.iter().map(|ranking| ranking.entries().collect()).collect();
    let parts = |at: &DVector<f64>| -> Vec<Part> {
        let strength = |player, position| features(player, position).into_iter().flatten().map(|place| at[place]).sum();
        games.iter().map(|entries| part(entries, |position| strength(entries[position].0, position))).collect()
    };
    let likelihood =
        |parts: &[Part]| parts.iter().zip(&rankings.counts).map(|(part, n)| *n as f64 * part.likelihood).sum::<f64>();
    let mut at = DVector::zeros(size);
    let mut now = parts(&at);
    let mut inverse = DMatrix::zeros(size, size);
    for _ in 0..100 {
        let mut score = DVector::zeros(size);
        let mut hessian = DMatrix::zeros(size, size);
        for ((entries, part), &count) in games.iter().zip(&now).zip(&rankings.counts) {
            for (one, &(player, _)) in entries.iter().enumerate() {
                for place in features(player, one).into_iter().flatten() {
                    score[place] += count as f64 * part.score[one];
                    for (other, &(rival, _)) in entries.iter().enumerate() {
                        for next in features(rival, other).into_iter().flatten() {
                            hessian[(place, next)] += count as f64 * part.hessian[one][other];
                        }
                    }
                }
            }
        }
        inverse = hessian.cholesky()?.inverse();
        let step = &inverse * &score;
        let before = likelihood(&now);
        let mut share = 1.0;
        loop {
            let next = &at + &step * share;
            let there = parts(&next);
            if likelihood(&there) >= before - 1e-12 * before.abs() || share < 1e-6 {
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
    let mut meat = DMatrix::<f64>::zeros(size, size);
    let mut clusters = 0_u64;
    for cluster in rankings.all_clusters() {
        let mut score = DVector::zeros(size);
        for &(number, count) in cluster {
            for (position, &(player, _)) in games[number as usize].iter().enumerate() {
                for place in features(player, position).into_iter().flatten() {
                    score[place] += f64::from(count) * now[number as usize].score[position];
                }
            }
        }
        meat.ger(1.0, &score, &score, 1.0);
        clusters += 1;
    }
    let factor = if clusters > 1 { clusters as f64 / (clusters as f64 - 1.0) } else { f64::NAN };
    let covariance = &inverse * meat * &inverse * factor;
    // From "the last player is at 0" to "the sum is 0", or the anchor.
    let mut change = DMatrix::zeros(players, players - 1);
    for player in 0..players {
        for place in 0..players - 1 {
            let own = if player == place { 1.0 } else { 0.0 };
            let origin = anchor.map_or(1.0 / players as f64, |anchor| if anchor == place { 1.0 } else { 0.0 });
            change[(player, place)] = own - origin;
        }
    }
    let of_players = covariance.view((0, 0), (players - 1, players - 1));
    let strengths = &change * at.rows(0, players - 1);
    let position = |position: usize| {
        let place = players - 1 + position;
        (at[place], (clusters > 1).then(|| covariance[(place, place)].max(0.0).sqrt()))
    };
    Some(Strengths {
        // Adding 0 makes an anchor of −0 one of 0.
        strengths: strengths.iter().map(|strength| strength + 0.0).collect(),
        covariance: &change * of_players * change.transpose(),
        positions: (0..fitted_positions).map(position).collect(),
        clusters,
        likelihood: likelihood(&now),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rankings(games: &[&[(usize, usize)]]) -> Rankings {
        let mut rankings = Rankings::default();
        for game in games {
            rankings.add(Ranking::new(game.iter().copied()));
            rankings.end_cluster();
        }
        rankings
    }

    #[test]
    fn two_players_have_the_odds_of_their_wins_and_a_tie_is_a_win_and_a_loss() {
        let win: &[(usize, usize)] = &[(0, 1), (1, 2)];
        let loss: &[(usize, usize)] = &[(0, 2), (1, 1)];
        let tie: &[(usize, usize)] = &[(0, 1), (1, 1)];
        let fitted = fit(&rankings(&[win, win, win, loss, tie, tie]), 2, Some(1), PositionEffects::Ignored).unwrap();
        assert!((fitted.strengths[0] - (5.0_f64 / 3.0).ln()).abs() < 1e-12 && fitted.strengths[1].abs() < 1e-15);
        // With p = 5/8 the scores are 3/8, −5/8 and −2/8, and H is 15/64 a comparison, two in a tie.
        let squares = (3.0 * 9.0 + 25.0 + 2.0 * 4.0) / 64.0;
        let variance = 6.0 / 5.0 * squares / (8.0_f64 * 15.0 / 64.0).powi(2);
        assert!((fitted.covariance[(0, 0)] - variance).abs() < 1e-12);
    }

    #[test]
    fn who_never_lost_to_whom_is_a_component_and_nothing_is_fitted() {
        let games = rankings(&[&[(0, 1), (1, 2)], &[(1, 1), (2, 2)], &[(2, 1), (1, 2)]]);
        assert_eq!(games.components(3), [0, 1, 1]);
        assert!(fit(&games, 3, None, PositionEffects::Ignored).is_none());
    }

    #[test]
    fn an_advantage_of_the_first_seat_is_found() {
        let mut rankings = Rankings::default();
        for game in 0..400 {
            let (first, second) = if game % 2 == 0 { (0, 1) } else { (1, 0) };
            let first_wins = game % 4 < 2 || game % 3 == 0;
            let ranks = if first_wins { (1, 2) } else { (2, 1) };
            rankings.add(Ranking::new([(first, ranks.0), (second, ranks.1)]));
            rankings.end_cluster();
        }
        let fitted = fit(&rankings, 2, None, PositionEffects::Fitted).unwrap();
        assert!(fitted.positions[0].0 < -0.5 && fitted.positions[0].1.unwrap() < 0.2, "{:?}", fitted.positions);
        assert!((fitted.strengths[0] + fitted.strengths[1]).abs() < 1e-12);
    }
}
