//! Selection of the best candidate with few replications: a race by sequential halving.

use std::ops::Range;

/// Halves the candidates until one is left, with a total budget of scores: sequential halving (Karnin, Koren and Somekh
/// 2013, "Almost optimal exploration in multi-armed bandits", algorithm 2; changed: a candidate is judged by all its
/// replications, and replications are common to all candidates). `ask` returns the scores of the surviving candidates on the
/// next replications. Returns the candidate that is left.
///
/// # Errors
/// If `ask` fails.
///
/// # Panics
/// If there is no candidate.
///
/// # Examples
/// ```
/// use cambio_stats::race::race;
///
/// let choice = race(4, 800, |alive, replications| {
///     let score = |candidate: usize, replication: u64| -(candidate as f64 - 1.0).powi(2) + (replication as f64).sin();
///     Ok::<_, ()>(alive.iter().map(|&candidate| replications.clone().map(|r| score(candidate, r)).collect()).collect())
/// });
/// assert_eq!(choice, Ok(1));
/// ```
pub fn race<E>(
    candidates: usize,
    budget: u64,
    mut ask: impl FnMut(&[usize], Range<u64>) -> Result<Vec<Vec<f64>>, E>,
) -> Result<usize, E> {
    assert!(candidates > 0, "a race needs a candidate");
    let rounds = u64::from(candidates.next_power_of_two().ilog2()).max(1);
    let mut alive: Vec<usize> = (0..candidates).collect();
    let mut scores = vec![Vec::new(); candidates];
    let mut played = 0;
    if candidates == 1 {
        // A single candidate gets the whole budget.
        ask(&alive, 0..budget.max(1))?;
    }
    while alive.len() > 1 {
        let replications = (budget / (alive.len() as u64 * rounds)).max(1);
        for (&i, fresh) in alive.iter().zip(ask(&alive, played..played + replications)?) {
            scores[i].extend(fresh);
        }
        played += replications;
        let mean = |i: usize| scores[i].iter().sum::<f64>() / scores[i].len() as f64;
        alive.sort_by(|&one, &other| mean(other).total_cmp(&mean(one)).then(one.cmp(&other)));
        alive.truncate(alive.len().div_ceil(2));
    }
    Ok(alive[0])
}

#[cfg(test)]
mod tests;
