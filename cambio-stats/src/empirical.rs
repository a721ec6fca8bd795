//! Empirical games: symmetric games whose payoffs were measured.
//!
//! A game of two players is a payoff matrix. A game of more players is a heuristic payoff table over *compositions*:
//! the numbers of players of each strategy (Walsh, Das, Tesauro and Kephart 2002). Payoffs are from 0 to 1 and have a
//! constant sum. If all players have the same strategy, each gets ½.

use rand::Rng;

use crate::matrix::{Matrix, Vector};
use crate::resampling::ResampleRng as _;

/// The number of groups of clusters for resampling. At twice this number, neighbouring groups are merged.
const GROUPS: usize = 512;
/// The maximum numbers of strategies and compositions of a game.
const MOST_STRATEGIES: usize = 24;
const MOST_COMPOSITIONS: usize = 5000;

/// The payoffs of every composition, summed by groups of clusters.
///
/// # Examples
/// ```
/// use cambio_stats::empirical::GameSums;
///
/// // Strategies 0 and 1 played each other twice. The sums are in half wins, so that a tie counts 1.
/// let mut sums = GameSums::new(&[&[0, 1]], 2).unwrap();
/// for won in [2, 1] {
///     sums.add(0, 0, 1, won);
///     sums.add(0, 1, 1, 2 - won);
///     sums.end_cluster();
/// }
/// assert_eq!(sums.game(2.0).unwrap().payoffs(&[0.0, 1.0]), [0.75, 0.5]);
/// ```
#[derive(Clone, Debug)]
pub struct GameSums {
    strategies: usize,
    players: usize,
    /// The number of players of each strategy in each composition.
    compositions: Vec<Vec<u8>>,
    /// The index of each profile's composition.
    of_profile: Vec<usize>,
    /// By group, then composition and strategy: the number of results and their sum.
    groups: Vec<Vec<(i64, i64)>>,
    width: u64,
    in_group: u64,
}

fn composition(profile: &[usize], strategies: usize) -> Vec<u8> {
    let mut counts = vec![0; strategies];
    for &strategy in profile {
        counts[strategy] += 1;
    }
    counts
}

impl GameSums {
    /// Creates sums for these profiles, each a list of its players' strategies. `None` if a composition of more than
    /// one strategy is missing, or there are too many strategies or compositions.
    ///
    /// # Panics
    /// Does not panic: the composition of every profile is in the list that is searched.
    pub fn new(profiles: &[&[usize]], strategies: usize) -> Option<GameSums> {
        let players = profiles.first()?.len();
        let mut compositions: Vec<Vec<u8>> = profiles.iter().map(|profile| composition(profile, strategies)).collect();
        compositions.sort();
        compositions.dedup();
        let mixed = compositions.iter().filter(|counts| counts.iter().filter(|count| **count > 0).count() > 1).count();
        let wanted = (0..players as u128).fold(1, |count, step| count * (strategies as u128 + step) / (step + 1));
        if !(2..=MOST_STRATEGIES).contains(&strategies) || compositions.len() > MOST_COMPOSITIONS {
            return None;
        }
        if mixed as u128 + strategies as u128 != wanted {
            return None;
        }
        let index =
            |profile: &&[usize]| compositions.binary_search(&composition(profile, strategies)).expect("it is listed");
        let of_profile = profiles.iter().map(index).collect();
        Some(GameSums { strategies, players, compositions, of_profile, groups: Vec::new(), width: 1, in_group: 0 })
    }

    /// Adds payoffs to the current cluster: the number of results of a strategy in a profile, and their sum.
    ///
    /// # Panics
    /// If there is no such profile.
    pub fn add(&mut self, profile: usize, strategy: usize, n: i64, s: i64) {
        if self.in_group == 0 {
            self.groups.push(vec![(0, 0); self.compositions.len() * self.strategies]);
            self.in_group = 1;
        }
        let index = self.of_profile[profile] * self.strategies + strategy;
        let sums = &mut self.groups.last_mut().expect("a group was begun")[index];
        sums.0 += n;
        sums.1 += s;
    }

    /// Ends the current cluster.
    pub fn end_cluster(&mut self) {
        if self.in_group == 0 {
            return;
        }
        if self.in_group < self.width {
            self.in_group += 1;
            return;
        }
        self.in_group = 0;
        if self.groups.len() == 2 * GROUPS {
            self.width *= 2;
            let join = |pair: &[Vec<(i64, i64)>]| {
                pair[0].iter().zip(&pair[1]).map(|(one, other)| (one.0 + other.0, one.1 + other.1)).collect()
            };
            self.groups = self.groups.chunks_exact(2).map(join).collect();
        }
    }

    /// The game of all clusters, with payoffs in units of `1 / scale`; `None` if a composition has no result.
    pub fn game(&self, scale: f64) -> Option<EmpiricalGame> {
        self.weighted(scale, &vec![1; self.groups.len()])
    }

    /// A bootstrap resample of the game, over groups of clusters (Efron 1979); `None` with fewer than two groups, which have
    /// only one resample, or if a composition has no result.
    pub fn resampled(&self, scale: f64, rng: &mut impl Rng) -> Option<EmpiricalGame> {
        if self.groups.len() < 2 {
            return None;
        }
        let mut weights = vec![0; self.groups.len()];
        for _ in 0..self.groups.len() {
            weights[rng.index(self.groups.len())] += 1;
        }
        self.weighted(scale, &weights)
    }

    fn weighted(&self, scale: f64, weights: &[i64]) -> Option<EmpiricalGame> {
        let mut sums = vec![(0, 0); self.compositions.len() * self.strategies];
        for (group, weight) in self.groups.iter().zip(weights).filter(|(_, weight)| **weight > 0) {
            for (sum, part) in sums.iter_mut().zip(group) {
                sum.0 += weight * part.0;
                sum.1 += weight * part.1;
            }
        }
        let mut payoffs = Vec::new();
        for (index, counts) in self.compositions.iter().enumerate() {
            let mut row = vec![0.0; self.strategies];
            for strategy in (0..self.strategies).filter(|&strategy| counts[strategy] > 0) {
                let (n, s) = sums[index * self.strategies + strategy];
                if n == 0 {
                    return None;
                }
                row[strategy] = s as f64 / n as f64 / scale;
            }
            payoffs.push((counts.clone(), row));
        }
        Some(EmpiricalGame { strategies: self.strategies, players: self.players, payoffs })
    }
}

/// A symmetric game: the payoff of each strategy in each composition of its players.
///
/// # Examples
/// ```
/// use cambio_stats::Matrix;
/// use cambio_stats::empirical::EmpiricalGame;
///
/// // Rock, paper, scissors: a win is 1, a loss 0, a tie ½.
/// let game = EmpiricalGame::of_matrix(&Matrix::from_row_slice(3, 3, &[0.5, 0.0, 1.0, 1.0, 0.5, 0.0, 0.0, 1.0, 0.5]));
/// let mixture = game.nash().unwrap();
/// assert!(mixture.iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-6));
/// assert_eq!(game.payoffs(&[1.0, 0.0, 0.0]), [0.5, 1.0, 0.0]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct EmpiricalGame {
    strategies: usize,
    players: usize,
    payoffs: Vec<(Vec<u8>, Vec<f64>)>,
}

impl EmpiricalGame {
    /// A two-player game from its matrix: row i, column j is the payoff of i against j.
    pub fn of_matrix(matrix: &Matrix) -> EmpiricalGame {
        let strategies = matrix.nrows();
        let mut payoffs = Vec::new();
        for i in 0..strategies {
            for j in i + 1..strategies {
                let mut row = vec![0.0; strategies];
                (row[i], row[j]) = (matrix[(i, j)], matrix[(j, i)]);
                payoffs.push((composition(&[i, j], strategies), row));
            }
        }
        EmpiricalGame { strategies, players: 2, payoffs }
    }

    /// The matrix of a two-player game: the payoff of i against j, ½ against itself; `None` with more players.
    fn matrix(&self) -> Option<Matrix> {
        (self.players == 2).then_some(())?;
        let mut matrix = Matrix::from_fn(self.strategies, self.strategies, |_, _| 0.5);
        for (counts, row) in &self.payoffs {
            let present: Vec<usize> = (0..self.strategies).filter(|&strategy| counts[strategy] > 0).collect();
            if let [i, j] = present[..] {
                matrix[(i, j)] = row[i];
                matrix[(j, i)] = row[j];
            }
        }
        Some(matrix)
    }

    /// The expected payoff of each strategy if all other players draw their strategies from this mixture.
    pub fn payoffs(&self, mixture: &[f64]) -> Vec<f64> {
        let powers = Powers::new(mixture, self.players);
        let mut expected = vec![0.0; self.strategies];
        for (strategy, expected) in expected.iter_mut().enumerate() {
            // If all other players have this strategy too, each player gets ½.
            *expected += 0.5 * powers.all * powers.of(strategy, self.players - 1);
        }
        for (counts, row) in self.mixed() {
            for strategy in (0..self.strategies).filter(|&strategy| counts[strategy] > 0) {
                expected[strategy] += powers.likely(counts, &[strategy]) * row[strategy];
            }
        }
        expected
    }

    /// The partial derivatives of each strategy's payoff (row) with respect to each strategy's share (column).
    fn slopes(&self, mixture: &[f64]) -> Matrix {
        let powers = Powers::new(mixture, self.players);
        let mut slopes = Matrix::zeros(self.strategies, self.strategies);
        for strategy in 0..self.strategies {
            slopes[(strategy, strategy)] += 0.5 * powers.all * powers.of(strategy, self.players - 2);
        }
        for (counts, row) in self.mixed() {
            for strategy in (0..self.strategies).filter(|&strategy| counts[strategy] > 0) {
                for other in (0..self.strategies).filter(|&other| counts[other] > u8::from(other == strategy)) {
                    slopes[(strategy, other)] += powers.likely(counts, &[strategy, other]) * row[strategy];
                }
            }
        }
        slopes
    }

    /// The compositions of more than one strategy.
    fn mixed(&self) -> impl Iterator<Item = (&[u8], &[f64])> {
        let is_mixed = |counts: &[u8]| counts.iter().filter(|count| **count > 0).count() > 1;
        self.payoffs.iter().map(|(counts, row)| (&counts[..], &row[..])).filter(move |(counts, _)| is_mixed(counts))
    }

    /// The gain of a best response over the mixture itself; 0 in a symmetric equilibrium.
    fn regret(&self, mixture: &[f64]) -> f64 {
        let payoffs = self.payoffs(mixture);
        let own: f64 = payoffs.iter().zip(mixture).map(|(payoff, share)| payoff * share).sum();
        payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max) - own
    }

    /// The shares after this time of replicator dynamics (Taylor and Jonker 1978) from equal shares, in small steps of time: the
    /// logarithms of shares grow at rates that differ by the differences of the payoffs.
    fn replicator(&self, time: f64) -> Vec<f64> {
        let step = 0.1;
        let mut logits = Vector::zeros(self.strategies);
        for _ in 0..(time / step) as usize {
            logits += step * Vector::from(self.payoffs(softmax(logits.clone()).as_slice()));
        }
        softmax(logits).data.into()
    }

    /// A symmetric equilibrium; `None` if none is found. With two players it is the equilibrium of maximum entropy
    /// (Ortiz, Schapire and Kakade 2007). With more it is the limit of the logit equilibria from equal shares
    /// (`McKelvey` and Palfrey 1995), or the limit of the replicator dynamics if that path turns back.
    ///
    /// The first two equilibria are limits of the mixtures p ∝ exp(u(p) / τ) as τ goes to 0. In a two-player
    /// constant-sum game these mixtures are the saddle points of the game with added entropy, and converge to the
    /// equilibrium of maximum entropy.
    pub fn nash(&self) -> Option<Vec<f64>> {
        const REGRET: f64 = 1e-6;
        if let Some(matrix) = self.matrix() {
            // Made exactly antisymmetric, so that the value is 0.
            let game = (&matrix - matrix.transpose()) * 0.5;
            return self.logit_limit(|p| (&game * p, game.clone()));
        }
        let payoffs = |p: &Vector| {
            let slopes = self.slopes(p.as_slice());
            // Payoffs are homogeneous in the shares (Euler's theorem).
            (&slopes * p / (self.players as f64 - 1.0), slopes)
        };
        let found = self.logit_limit(payoffs).filter(|shares| self.regret(shares) < REGRET);
        found.or_else(|| Some(self.replicator(2000.0)).filter(|shares| self.regret(shares) < 1e-3))
    }

    /// Follows the logit equilibria from equal shares to zero temperature; `None` if the path turns back. `payoffs`
    /// returns the payoffs of a mixture and their derivatives.
    ///
    /// The variables are the logarithms x of the shares, up to a constant: x = u(p(x)) / τ (Turocy 2005, "A dynamic
    /// homotopy interpretation of the logistic quantal response equilibrium correspondence"). Each step along the
    /// tangent is corrected by Newton's method. In a two-player constant-sum game all eigenvalues of the derivative of
    /// x − u / τ have real part 1, so the path never turns back.
    fn logit_limit(&self, payoffs: impl Fn(&Vector) -> (Vector, Matrix)) -> Option<Vec<f64>> {
        const COLDEST: f64 = 1e-7;
        const WIDEST: f64 = 0.5;
        let mut at = Logits { logits: Vector::zeros(self.strategies), temperature: 1.0 }.corrected(&payoffs)?;
        let mut ratio = WIDEST;
        while at.temperature > COLDEST {
            if let Some(next) = at.ahead(ratio, &payoffs).and_then(|next| next.corrected(&payoffs)) {
                at = next;
                ratio = (ratio * ratio).max(WIDEST);
            } else {
                ratio = ratio.sqrt();
                (ratio < 0.999).then_some(())?;
            }
        }
        Some(softmax(at.logits).data.into())
    }
}

/// The powers of the shares of a mixture, each divided by the factorial of its exponent.
struct Powers {
    /// For each share in turn, from exponent 0 on.
    by_share: Vec<f64>,
    players: usize,
    /// The number of orders of all players but one: a factorial.
    all: f64,
}

impl Powers {
    fn new(mixture: &[f64], players: usize) -> Powers {
        let mut by_share = Vec::with_capacity(mixture.len() * players);
        for share in mixture {
            let mut power = 1.0;
            for exponent in 1..=players {
                by_share.push(power);
                power *= share / exponent as f64;
            }
        }
        Powers { by_share, players, all: (1..players).map(|factor| factor as f64).product() }
    }

    fn of(&self, strategy: usize, exponent: usize) -> f64 {
        self.by_share[strategy * self.players + exponent]
    }

    /// The probability that the other players form this composition without one player of each strategy in `left_out`.
    /// With two strategies in `left_out`, the partial derivative with respect to the share of the second.
    fn likely(&self, counts: &[u8], left_out: &[usize]) -> f64 {
        let exponent = |strategy: usize| {
            let out = left_out.iter().filter(|&&other| other == strategy).count();
            usize::from(counts[strategy]) - out
        };
        // The power is 1 for a strategy without players.
        let present = (0..counts.len()).filter(|&strategy| counts[strategy] > 0);
        present.map(|strategy| self.of(strategy, exponent(strategy))).product::<f64>() * self.all
    }
}

/// A point on or near the path of logit equilibria.
#[derive(Clone)]
struct Logits {
    logits: Vector,
    temperature: f64,
}

/// The distance of logits from an equilibrium, and its derivative.
struct Gap {
    payoffs: Vector,
    distance: Vector,
    slope: Matrix,
}

impl Logits {
    fn gap(&self, payoffs: &impl Fn(&Vector) -> (Vector, Matrix)) -> Gap {
        let shares = softmax(self.logits.clone());
        let (mut values, slopes) = payoffs(&shares);
        values /= self.temperature;
        let distance = &self.logits - &values;
        let mean = &slopes * &shares;
        let slope = Matrix::from_fn(shares.len(), shares.len(), |i, j| {
            let own = if i == j { 1.0 } else { 0.0 };
            own - (slopes[(i, j)] - mean[i]) * shares[j] / self.temperature
        });
        Gap { payoffs: values, distance, slope }
    }

    /// The equilibrium at this temperature, by Newton's method; `None` if the method does not converge.
    fn corrected(mut self, payoffs: &impl Fn(&Vector) -> (Vector, Matrix)) -> Option<Logits> {
        let mut now = self.gap(payoffs);
        for _ in 0..50 {
            // The tolerance grows at low temperatures: payoffs with rounding errors are divided by the temperature.
            if now.distance.amax() <= 1e-12 + 1e-15 / self.temperature {
                return Some(self);
            }
            let step = now.slope.lu().solve(&now.distance)?;
            let mut share = 1.0;
            now = loop {
                let mut next = self.clone();
                next.logits -= share * &step;
                let there = next.gap(payoffs);
                if there.distance.norm() <= (1.0 - 0.1 * share) * now.distance.norm() {
                    self = next;
                    break there;
                }
                share /= 2.0;
                (share > 1e-4).then_some(())?;
            };
        }
        None
    }

    /// A step along the tangent, to `ratio` times the temperature.
    fn ahead(&self, ratio: f64, payoffs: &impl Fn(&Vector) -> (Vector, Matrix)) -> Option<Logits> {
        let now = self.gap(payoffs);
        let tangent = now.slope.lu().solve(&now.payoffs)?;
        Some(Logits { logits: &self.logits + (1.0 / ratio - 1.0) * tangent, temperature: self.temperature * ratio })
    }
}

fn softmax(mut values: Vector) -> Vector {
    let most = values.max();
    values.apply(|value| *value = libm::exp(*value - most));
    let sum = values.sum();
    values / sum
}

#[cfg(test)]
mod tests;
