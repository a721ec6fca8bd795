//! The sequential probability ratio test on cluster means.
//!
//! This is the generalized test of Van den Bergh ("A practical introduction to the GSPRT", and "Comments on normalized
//! Elo"). An outcome is the mean of a cluster, which lies on a finite grid; under each hypothesis the frequencies are
//! the maximum likelihood estimates (his "Support for the MLE of a multinomial distribution"). Add clusters in an order
//! that is fixed in advance, not in the order of arrival, because clusters that finish early are not a random sample.

/// The two hypotheses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hypotheses {
    /// The mean is `.0`, or `.1`.
    Mean(f64, f64),
    /// (mean − ½) divided by the standard deviation of a cluster's mean is `.0`, or `.1`.
    Normalized(f64, f64),
}

/// A test in progress, with the count of each grid value.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::{Hypotheses, Sprt, Verdict};
///
/// // Is the mean of clusters of two games ½ or 0.6? A cluster's mean is one of 0, ½ and 1.
/// let mut test = Sprt::new(Hypotheses::Mean(0.5, 0.6), 3, 0.05, 0.05);
/// while test.verdict() == Verdict::Undecided {
///     for cell in [2, 1, 2, 0] {
///         test.add(cell);
///     }
/// }
/// assert_eq!(test.verdict(), Verdict::Second);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Sprt {
    hypotheses: Hypotheses,
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
    /// A test on a grid of `cells` values from 0 to 1, with error probabilities alpha and beta.
    pub fn new(hypotheses: Hypotheses, cells: usize, alpha: f64, beta: f64) -> Sprt {
        // Wald 1945, eq. 3:27 and 3:28.
        let (lower, upper) = (libm::log(beta / (1.0 - alpha)), libm::log((1.0 - beta) / alpha));
        Sprt { hypotheses, lower, upper, counts: vec![0; cells] }
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
        log_likelihood_ratio(&self.counts, self.hypotheses)
    }

    /// The verdict for the clusters so far.
    pub fn verdict(&self) -> Verdict {
        match self.ratio() {
            ratio if ratio >= self.upper => Verdict::Second,
            ratio if ratio <= self.lower => Verdict::First,
            _ => Verdict::Undecided,
        }
    }
}

/// The log likelihood ratio of counts on a grid from 0 to 1; 0 without any count.
///
/// # Examples
/// ```
/// use cambio_stats::sprt::{Hypotheses, log_likelihood_ratio};
///
/// // Equally many wins and losses are evidence for a mean of ½.
/// assert!(log_likelihood_ratio(&[30, 40, 30], Hypotheses::Mean(0.5, 0.6)) < 0.0);
/// ```
pub fn log_likelihood_ratio(counts: &[u64], hypotheses: Hypotheses) -> f64 {
    if counts.iter().all(|count| *count == 0) {
        return 0.0;
    }
    let last = (counts.len() - 1) as f64;
    let filled = counts.iter().map(|&count| if count == 0 { EMPTY } else { count as f64 });
    let total: f64 = filled.clone().sum();
    let grid: Vec<(f64, f64)> = filled.enumerate().map(|(cell, count)| (cell as f64 / last, count / total)).collect();
    let (first, second) = match hypotheses {
        Hypotheses::Mean(first, second) => (with_mean(&grid, first), with_mean(&grid, second)),
        Hypotheses::Normalized(first, second) => (with_t_value(&grid, first), with_t_value(&grid, second)),
    };
    match (first, second) {
        (Some(first), Some(second)) => {
            let each = grid.iter().zip(first.iter().zip(&second)).map(|((_, p), (q0, q1))| p * libm::log(q1 / q0));
            total * each.sum::<f64>()
        }
        // A hypothesis that no frequencies satisfy is rejected.
        (Some(_), None) => f64::NEG_INFINITY,
        (None, Some(_)) => f64::INFINITY,
        (None, None) => 0.0,
    }
}

/// The maximum likelihood frequencies with mean `mean`: q = p / (1 + θ(x − s)). `None` if there are none.
fn with_mean(grid: &[(f64, f64)], mean: f64) -> Option<Vec<f64>> {
    let shifted: Vec<(f64, f64)> = grid.iter().map(|(x, p)| (x - mean, *p)).collect();
    with_mean_zero(&shifted)
}

/// The maximum likelihood frequencies for which these values have mean 0, from the root of the decreasing function Σ
/// p·v / (1 + θv), by bisection. `None` if there are none.
fn with_mean_zero(values: &[(f64, f64)]) -> Option<Vec<f64>> {
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

/// The maximum likelihood frequencies with (mean − ½) / deviation = t: the constraint is linearised around the current
/// mean and deviation, and the solution is iterated ("Comments on normalized Elo", section 4.1).
///
/// The iteration begins with equal frequencies, or, if no frequencies satisfy the constraint linearised there, with
/// frequencies that already have this t. A step is halved until another step can follow it. `None` if the iteration
/// fails.
fn with_t_value(grid: &[(f64, f64)], t: f64) -> Option<Vec<f64>> {
    let step = |from: &[f64]| {
        let (mean, deviation) = moments(grid, from);
        let value = |x: f64| x - 0.5 - t * deviation * (1.0 + ((mean - x) / deviation).powi(2)) / 2.0;
        let values: Vec<(f64, f64)> = grid.iter().map(|(x, p)| (value(*x), *p)).collect();
        with_mean_zero(&values)
    };
    let between = |one: &[f64], other: &[f64], share: f64| -> Vec<f64> {
        one.iter().zip(other).map(|(one, other)| one + share * (other - one)).collect()
    };
    let mut found = vec![1.0 / grid.len() as f64; grid.len()];
    let mut next = step(&found);
    if next.is_none() {
        // Towards the end of the grid, t goes to infinity.
        let mut end = vec![0.0; grid.len()];
        *if t > 0.0 { end.last_mut() } else { end.first_mut() }? = 1.0;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let share = f64::midpoint(low, high);
            let (mean, deviation) = moments(grid, &between(&found, &end, share));
            *if ((mean - 0.5) / deviation).abs() < t.abs() { &mut low } else { &mut high } = share;
        }
        found = between(&found, &end, low);
        next = step(&found);
    }
    for _ in 0..200 {
        let goal = next?;
        let mut share = 1.0;
        let (reached, beyond) = loop {
            let reached = between(&found, &goal, share);
            match step(&reached) {
                Some(beyond) => break (reached, beyond),
                None if share < 1e-9 => return None,
                None => share /= 2.0,
            }
        };
        let change = reached.iter().zip(&found).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        (found, next) = (reached, Some(beyond));
        if change < 1e-12 {
            break;
        }
    }
    Some(found)
}

/// The mean and standard deviation of these frequencies on a grid.
fn moments(grid: &[(f64, f64)], frequencies: &[f64]) -> (f64, f64) {
    let mean: f64 = grid.iter().zip(frequencies).map(|((x, _), q)| x * q).sum();
    let variance: f64 = grid.iter().zip(frequencies).map(|((x, _), q)| (x - mean).powi(2) * q).sum();
    (mean, variance.sqrt())
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

/// The t value of a cluster mean for a difference in normalized Elo, with this many games in a cluster.
pub fn t_of_normalized_elo(elo: f64, games: usize) -> f64 {
    elo * std::f64::consts::LN_10 / 800.0 * (games as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::beta;
    use crate::resampling::{ResampleRng as _, stream};

    #[test]
    fn frequencies_under_a_hypothesis_have_its_mean_or_t_value() {
        let grid = [(0.0, 0.1), (0.25, 0.2), (0.5, 0.3), (0.75, 0.25), (1.0, 0.15)];
        let found = with_mean(&grid, 0.48).unwrap();
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mean: f64 = grid.iter().zip(&found).map(|((x, _), q)| x * q).sum();
        assert!((mean - 0.48).abs() < 1e-12);
        let found = with_t_value(&grid, 0.1).unwrap();
        let mean: f64 = grid.iter().zip(&found).map(|((x, _), q)| x * q).sum();
        let variance: f64 = grid.iter().zip(&found).map(|((x, _), q)| (x - mean).powi(2) * q).sum();
        assert!(((mean - 0.5) / variance.sqrt() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn hypotheses_far_from_what_is_seen_are_not_accepted() {
        let even = [40_u32, 70, 90, 65, 35];
        for far in [100.0, 150.0, 200.0, 240.0, 250.0, 280.0, 300.0, 500.0, 1000.0] {
            let t = t_of_normalized_elo(far, 2);
            let counts: Vec<f64> = even.iter().map(|count| f64::from(*count) / 300.0).collect();
            let grid: Vec<(f64, f64)> = (0..5).map(|cell| f64::from(cell) / 4.0).zip(counts).collect();
            for t in [t, -t] {
                let found = with_t_value(&grid, t).unwrap();
                let (mean, deviation) = moments(&grid, &found);
                assert!(((mean - 0.5) / deviation - t).abs() < 1e-6, "{far}: {mean} {deviation}");
                assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            let even = even.map(u64::from);
            let ratio = log_likelihood_ratio(&even, Hypotheses::Normalized(0.0, t));
            assert!(ratio < -10.0, "{far}: {ratio}");
            let other = log_likelihood_ratio(&even, Hypotheses::Normalized(-t, 0.0));
            assert!(other > 10.0, "{far}: {other}");
        }
        let impossible = |first, second| log_likelihood_ratio(&[1, 2, 3], Hypotheses::Mean(first, second));
        assert!(impossible(0.5, 1.0).is_infinite() && impossible(0.5, 1.0) < 0.0);
        assert!(impossible(0.0, 0.5).is_infinite() && impossible(0.0, 0.5) > 0.0);
    }

    #[test]
    fn a_clear_winner_is_accepted_and_a_clear_loser_rejected() {
        let hypotheses = Hypotheses::Mean(score_of_elo(0.0), score_of_elo(20.0));
        let verdict = |cells: &[usize]| {
            let mut test = Sprt::new(hypotheses, 5, 0.05, 0.05);
            (0..2000).find_map(|block| {
                test.add(cells[block % cells.len()]);
                Some(test.verdict()).filter(|verdict| *verdict != Verdict::Undecided)
            })
        };
        assert_eq!(verdict(&[2, 4, 3, 1, 4]), Some(Verdict::Second));
        assert_eq!(verdict(&[2, 0, 1, 3, 0]), Some(Verdict::First));
    }

    /// Reference: the values in fastchess's own tests of pentanomial ratios, and for the last four a solution of
    /// fishtest's equations by another root finder.
    #[test]
    fn ratios_agree_with_fastchess_and_fishtest() {
        let logistic = |first, second| Hypotheses::Mean(score_of_elo(first), score_of_elo(second));
        let normalized =
            |first, second| Hypotheses::Normalized(t_of_normalized_elo(first, 2), t_of_normalized_elo(second, 2));
        for (counts, hypotheses, expected, by) in [
            ([365, 16618, 36229, 16974, 390], normalized(0.0, 2.0), 2.25, 0.01),
            ([127, 4883, 10712, 5150, 104], normalized(-1.75, 0.25), 3.01, 0.01),
            ([223, 9863, 21279, 10037, 246], logistic(0.5, 2.5), -3.07, 0.01),
            ([871, 26175, 55983, 26678, 821], logistic(0.0, 2.0), -4.98, 0.01),
            ([10, 20, 50, 30, 15], logistic(0.0, 10.0), 0.784_601_267_708_662_3, 1e-9),
            ([0, 3, 50, 9, 1], logistic(0.0, 10.0), 1.569_803_226_861_084_9, 1e-9),
            ([10, 20, 50, 30, 15], normalized(0.0, 10.0), 0.637_121_690_857_747_8, 1e-6),
            ([100, 0, 800, 0, 130], normalized(-3.0, 1.0), 1.101_713_124_619_827_3, 1e-6),
        ] {
            let found = log_likelihood_ratio(&counts, hypotheses);
            assert!((found - expected).abs() <= by * expected.abs().max(1.0), "{counts:?}: {found}, not {expected}");
        }
    }

    /// The largest count that `runs` trials with this probability exceed with a probability below 0.0005.
    fn limit(runs: u64, probability: f64) -> u64 {
        let at_most = |count: u64| beta((runs - count) as f64, count as f64 + 1.0, 1.0 - probability, probability);
        (0..runs).find(|&count| at_most(count) > 0.9995).unwrap()
    }

    #[test]
    fn wrong_verdicts_are_as_rare_as_promised() {
        let runs = crate::amount(400, 5000);
        for (elo_0, elo_1, normalized) in [(0.0, 40.0, false), (-10.0, 30.0, false), (0.0, 50.0, true)] {
            let grid: Vec<(f64, f64)> =
                [0.06, 0.14, 0.5, 0.2, 0.1].iter().zip(0..).map(|(p, x)| (f64::from(x) / 4.0, *p)).collect();
            let hypotheses = if normalized {
                Hypotheses::Normalized(t_of_normalized_elo(elo_0, 2), t_of_normalized_elo(elo_1, 2))
            } else {
                Hypotheses::Mean(score_of_elo(elo_0), score_of_elo(elo_1))
            };
            let truth = |second: bool| match hypotheses {
                Hypotheses::Mean(first, other) => with_mean(&grid, if second { other } else { first }),
                Hypotheses::Normalized(first, other) => with_t_value(&grid, if second { other } else { first }),
            };
            for second in [false, true] {
                let frequencies = truth(second).unwrap();
                let mut wrong = 0;
                for run in 0..runs {
                    let mut rng = stream(run, 77);
                    let mut test = Sprt::new(hypotheses, 5, 0.05, 0.05);
                    let verdict = loop {
                        let mut left = rng.uniform();
                        let cell = frequencies.iter().position(|p| {
                            left -= p;
                            left < 0.0
                        });
                        test.add(cell.unwrap_or(4));
                        if test.verdict() != Verdict::Undecided {
                            break test.verdict();
                        }
                    };
                    wrong += u64::from((verdict == Verdict::Second) != second);
                }
                assert!(wrong <= limit(runs, 0.05), "{wrong} of {runs} wrong, {hypotheses:?}, second {second}");
            }
        }
    }
}
