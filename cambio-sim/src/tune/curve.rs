//! Response curves: the payoff of each value, with intervals that hold one by one and all together.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::stats::many::{Contrasts, best_set, simultaneous_factor};
use crate::stats::moments::Interval;
use crate::stats::{LEVEL, Resampling};

/// A point of a response curve: a row of `curve.csv`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Point {
    /// The field that it was measured against.
    pub field: String,
    /// The agent with its value.
    pub agent: String,
    /// The value; with several parameters they are separated by spaces.
    pub value: String,
    /// How many deals.
    pub deals: u64,
    /// The mean payoff.
    pub mean: f64,
    /// Its standard error.
    pub error: Option<f64>,
    /// Lower end of its own 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its own interval.
    pub high: Option<f64>,
    /// Lower end of the band that holds for all values together; empty where not all have the same deals.
    pub low_simultaneous: Option<f64>,
    /// Upper end of the band.
    pub high_simultaneous: Option<f64>,
    /// Whether it cannot be told from the best (Hsu); empty where not all have the same deals.
    pub among_best: Option<bool>,
    /// How often it is the best when deals are drawn again with replacement.
    pub best_share: Option<f64>,
}

/// How many times deals are drawn again.
const RESAMPLES: usize = 1000;

/// The curve of candidates with these specs and values from their scores, one for each deal. Joint statements need the
/// same deals of all.
pub fn curve(field: &str, agents: &[String], values: &[String], scores: &[Vec<f64>], seed: u64) -> Vec<Point> {
    let deals = scores.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = scores.iter().all(|scores| scores.len() == deals) && deals > 1 && scores.len() > 1;
    let covariance = covariance_of_means(scores, deals);
    let freedom = deals as f64 - 1.0;
    let mut rng = Resampling::new(seed, 4 << 16);
    let band =
        is_common.then(|| simultaneous_factor(&covariance, freedom, Contrasts::Single, LEVEL, &mut rng)).flatten();
    let means: Vec<f64> = scores.iter().map(|scores| scores.iter().sum::<f64>() / scores.len() as f64).collect();
    let best = is_common.then(|| best_set(&means, &covariance, freedom, LEVEL, &mut rng));
    let shares = is_common.then(|| best_shares(scores, deals, &mut rng));
    let point = |place: usize| {
        let own = &scores[place];
        let count = own.len() as f64;
        let squares: f64 = own.iter().map(|score| (score - means[place]).powi(2)).sum();
        let error = (own.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        let interval = Interval::new(means[place], error, own.len() as u64);
        let wide = error.zip(band).map(|(error, band)| error * band);
        Point {
            field: field.to_owned(),
            agent: agents[place].clone(),
            value: values[place].clone(),
            deals: own.len() as u64,
            mean: interval.mean,
            error,
            low: interval.low(),
            high: interval.high(),
            low_simultaneous: wide.map(|wide| interval.mean - wide),
            high_simultaneous: wide.map(|wide| interval.mean + wide),
            among_best: best.as_ref().map(|best| best[place]),
            best_share: shares.as_ref().map(|shares| shares[place]),
        }
    };
    (0..scores.len()).map(point).collect()
}

/// The covariance of the means over the first deals, which all have.
fn covariance_of_means(scores: &[Vec<f64>], deals: usize) -> DMatrix<f64> {
    let count = deals as f64;
    let means: Vec<f64> = scores.iter().map(|scores| scores[..deals].iter().sum::<f64>() / count).collect();
    let of = |i: usize, j: usize| {
        let products = scores[i][..deals].iter().zip(&scores[j][..deals]);
        products.map(|(one, other)| (one - means[i]) * (other - means[j])).sum::<f64>() / (count - 1.0) / count
    };
    DMatrix::from_fn(scores.len(), scores.len(), of)
}

/// How often each candidate has the best mean when deals are drawn with replacement; the first of those that are level.
fn best_shares(scores: &[Vec<f64>], deals: usize, rng: &mut Resampling) -> Vec<f64> {
    let mut shares = vec![0.0; scores.len()];
    let mut times = vec![0_u32; deals];
    for _ in 0..RESAMPLES {
        times.fill(0);
        for _ in 0..deals {
            times[rng.below(deals)] += 1;
        }
        let sum = |own: &Vec<f64>| own.iter().zip(&times).map(|(score, times)| score * f64::from(*times)).sum::<f64>();
        let sums: Vec<f64> = scores.iter().map(sum).collect();
        let best = (0..sums.len()).rev().max_by(|&one, &other| sums[one].total_cmp(&sums[other]));
        shares[best.expect("there is a candidate")] += 1.0 / RESAMPLES as f64;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_planted_means_is_told_from_the_rest() {
        let mut rng = Resampling::new(5, 5);
        let means = [0.40, 0.50, 0.51, 0.42];
        let mut scores = vec![Vec::new(); 4];
        for _ in 0..400 {
            let shared = rng.normal();
            for (scores, mean) in scores.iter_mut().zip(means) {
                scores.push(mean + 0.3 * shared + 0.1 * rng.normal());
            }
        }
        let names: Vec<String> = (0..4).map(|value| value.to_string()).collect();
        let curve = curve("field", &names, &names, &scores, 1);
        let among: Vec<bool> = curve.iter().map(|point| point.among_best.unwrap()).collect();
        assert_eq!(among, [false, true, true, false]);
        assert!(curve[2].best_share.unwrap() > 0.6 && curve[0].best_share.unwrap() < 0.01);
        for point in &curve {
            assert!(point.low_simultaneous.unwrap() < point.low.unwrap() && point.high < point.high_simultaneous);
        }
    }
}
