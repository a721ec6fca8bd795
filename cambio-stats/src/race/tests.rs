use super::*;
use crate::resampling::ResampleRng as _;
use crate::resampling::stream;
use std::convert::Infallible;

/// Scores with given means, separate noise of each candidate, and noise that all candidates share in a replication.
fn planted(means: &[f64], seed: u64) -> impl FnMut(&[usize], Range<u64>) -> Result<Vec<Vec<f64>>, Infallible> + '_ {
    move |which, replications| {
        let score = |i: usize, replication: u64| {
            let mut own = stream(seed * 1_000_003 + replication, i as u32 + 1);
            let mut shared = stream(seed * 1_000_003 + replication, 0);
            means[i] + 0.2 * shared.normal() + 0.1 * own.normal()
        };
        Ok(which.iter().map(|&i| replications.clone().map(|replication| score(i, replication)).collect()).collect())
    }
}

#[test]
fn a_race_finds_a_clear_best_within_its_budget() {
    let means = [0.1, 0.9, 0.2, 0.3, 0.4];
    let asked = |means: &[f64], budget: u64| {
        let (mut scores, mut asked) = (planted(means, 7), vec![0; means.len()]);
        let best = race(means.len(), budget, |which, replications| {
            which.iter().for_each(|&candidate| asked[candidate] += replications.end - replications.start);
            scores(which, replications)
        });
        (best, asked)
    };
    let (best, scores) = asked(&means, 300);
    assert!(best == Ok(1) && scores.iter().sum::<u64>() <= 300 && scores[1] > scores[0], "{scores:?}");
    assert_eq!(asked(&[0.5], 64), (Ok(0), vec![64]));
}

#[test]
fn the_first_of_equal_candidates_wins_a_race() {
    let same = |which: &[usize], replications: Range<u64>| -> Result<Vec<Vec<f64>>, Infallible> {
        Ok(which.iter().map(|_| replications.clone().map(|replication| (replication % 3) as f64).collect()).collect())
    };
    assert_eq!(race(4, 100, same), Ok(0));
}
