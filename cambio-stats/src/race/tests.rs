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
fn the_race_chooses_the_best_as_often_as_it_promises() {
    // The least favourable means: all others are worse by exactly the indifference.
    let means = [0.45, 0.45, 0.5, 0.45, 0.45, 0.45];
    let race = RaceSettings { indifference: 0.05, alpha: 0.05, first: 20, step: 10 };
    let runs = crate::amount(300, 2000);
    let right = (0..runs).filter(|&seed| race.run(6, planted(&means, seed)).unwrap().best == 2).count();
    // P(correct) ≥ 0.95; a share below 0.95 − 3.3 standard deviations has a probability of 1 in 2,000.
    let share = right as f64 / runs as f64;
    assert!(share > 0.95 - 3.3 * (0.95 * 0.05 / runs as f64).sqrt(), "{share}");
}

#[test]
fn a_race_of_clear_means_ends_soon_and_halving_keeps_to_its_budget() {
    let means = [0.1, 0.9, 0.2, 0.3, 0.4];
    let race = RaceSettings { indifference: 0.05, alpha: 0.05, first: 10, step: 5 };
    let choice = race.run(5, planted(&means, 7)).unwrap();
    assert_eq!((choice.best, choice.spent), (1, 50));
    let close = [0.45, 0.5, 0.49];
    let (few, many) = (RaceSettings { step: 3, ..race }, RaceSettings { step: 50, ..race });
    let (few, many) = (few.run(3, planted(&close, 7)).unwrap(), many.run(3, planted(&close, 7)).unwrap());
    assert_eq!((few.best, few.scores), (many.best, many.scores), "requesting replications ahead changes nothing");
    let choice = halve(5, 300, planted(&means, 7)).unwrap();
    assert!(choice.best == 1 && choice.spent <= 300, "{}", choice.spent);
    assert!(choice.scores[1].len() > choice.scores[0].len());
    let alone = halve(1, 64, planted(&[0.5], 7)).unwrap();
    assert_eq!((alone.best, alone.spent, alone.scores[0].len()), (0, 64, 64));
}

#[test]
fn who_is_level_throughout_does_not_race_for_ever() {
    let race = RaceSettings { indifference: 0.05, alpha: 0.05, first: 10, step: 5 };
    let same = |which: &[usize], replications: Range<u64>| -> Result<Vec<Vec<f64>>, Infallible> {
        Ok(which.iter().map(|_| replications.clone().map(|replication| (replication % 3) as f64).collect()).collect())
    };
    assert_eq!(race.run(4, same).unwrap().best, 0);
}
