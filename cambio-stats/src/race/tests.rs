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
    let choice = race(5, 300, planted(&means, 7)).unwrap();
    assert!(choice.best == 1 && choice.spent <= 300, "{}", choice.spent);
    assert!(choice.scores[1].len() > choice.scores[0].len());
    let alone = race(1, 64, planted(&[0.5], 7)).unwrap();
    assert_eq!((alone.best, alone.spent, alone.scores[0].len()), (0, 64, 64));
}

#[test]
fn the_first_of_equal_candidates_wins_a_race() {
    let same = |which: &[usize], replications: Range<u64>| -> Result<Vec<Vec<f64>>, Infallible> {
        Ok(which.iter().map(|_| replications.clone().map(|replication| (replication % 3) as f64).collect()).collect())
    };
    assert_eq!(race(4, 100, same).unwrap().best, 0);
}
