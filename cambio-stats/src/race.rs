//! Selection of the best candidate with few replications: the race of Kim and Nelson, and sequential halving.
//!
//! Both request the scores of the surviving candidates on the next replications, which are the same for all candidates.

use std::ops::Range;

/// The result of a selection.
#[derive(Clone, PartialEq, Debug)]
pub struct RaceResult {
    /// The selected candidate.
    pub best: usize,
    /// The scores of each candidate on the replications by which the candidate was judged.
    pub scores: Vec<Vec<f64>>,
    /// The total number of scores that were requested.
    pub spent: u64,
}

/// The parameters of Kim and Nelson's race.
///
/// # Examples
/// ```
/// use cambio_stats::race::RaceSettings;
///
/// // Candidate 2 is better than all others by 1; the noise is common to all candidates.
/// let race = RaceSettings { indifference: 0.5, alpha: 0.05, first: 10, step: 10 };
/// let choice = race.run(3, |alive, replications| {
///     let score = |candidate: usize, replication: u64| f64::from(candidate == 2) + (replication as f64).sin();
///     Ok::<_, ()>(alive.iter().map(|&candidate| replications.clone().map(|r| score(candidate, r)).collect()).collect())
/// });
/// assert_eq!(choice.unwrap().best, 2);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RaceSettings {
    /// The difference δ below which any choice is acceptable.
    pub indifference: f64,
    /// The maximum probability of a wrong choice if the best is better by more than `indifference`.
    pub alpha: f64,
    /// The replications of the first stage, at least 2.
    pub first: u64,
    /// The number of replications that are requested at a time. Scores after the elimination of a candidate are unused.
    pub step: u64,
}

impl RaceSettings {
    /// Runs the race (Kim and Nelson 2001, "A fully sequential procedure for indifference-zone selection in
    /// simulation", with c = 1 and common random numbers). The first stage gives the variances S² of the differences.
    /// After r replications, a candidate is eliminated if its mean is below another's by more than max{0, δ/(2r) ·
    /// (h²S²/δ² − r)}.
    ///
    /// # Errors
    /// If `ask` fails.
    ///
    /// # Panics
    /// If there is no candidate, or the first stage has fewer than 2 replications.
    pub fn run<E>(
        &self,
        candidates: usize,
        mut ask: impl FnMut(&[usize], Range<u64>) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<RaceResult, E> {
        assert!(candidates > 0 && self.first >= 2, "a race needs a candidate, and two replications in its first stage");
        let mut alive: Vec<usize> = (0..candidates).collect();
        let mut scores = ask(&alive, 0..self.first)?;
        let mut spent = candidates as u64 * self.first;
        let freedom = self.first as f64 - 1.0;
        let eta = 0.5 * (libm::pow(2.0 * self.alpha / (candidates as f64 - 1.0).max(1.0), -2.0 / freedom) - 1.0);
        let h2 = 2.0 * eta * freedom;
        let mut variances = vec![vec![0.0; candidates]; candidates];
        for i in 0..candidates {
            for l in 0..candidates {
                variances[i][l] = variance(scores[i].iter().zip(&scores[l]).map(|(one, other)| one - other));
            }
        }
        let mut sums: Vec<f64> = scores.iter().map(|scores| scores.iter().sum()).collect();
        let mut r = self.first;
        loop {
            let mean = |i: usize| sums[i] / r as f64;
            let margin = |i: usize, l: usize| {
                let delta = self.indifference;
                (delta / (2.0 * r as f64) * (h2 * variances[i][l] / (delta * delta) - r as f64)).max(0.0)
            };
            // If two candidates are equal when the margin is 0, the first stays.
            let beats = |l: usize, i: usize| {
                let (lead, margin) = (mean(l) - mean(i), margin(i, l));
                lead > margin || (margin == 0.0 && lead == 0.0 && l < i)
            };
            let (out, rest): (Vec<usize>, _) = alive.iter().partition(|&&i| alive.iter().any(|&l| beats(l, i)));
            alive = rest;
            let is_over = alive.len() == 1;
            for &i in out.iter().chain(alive.iter().filter(|_| is_over)) {
                scores[i].truncate(r as usize);
            }
            if is_over {
                break;
            }
            if scores[alive[0]].len() as u64 == r {
                let fresh = ask(&alive, r..r + self.step)?;
                spent += alive.len() as u64 * self.step;
                for (&i, fresh) in alive.iter().zip(fresh) {
                    scores[i].extend(fresh);
                }
            }
            for &i in &alive {
                sums[i] += scores[i][r as usize];
            }
            r += 1;
        }
        Ok(RaceResult { best: alive[0], scores, spent })
    }
}

fn variance(differences: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = differences.clone().count() as f64;
    let mean = differences.clone().sum::<f64>() / count;
    differences.map(|difference| (difference - mean).powi(2)).sum::<f64>() / (count - 1.0)
}

/// Sequential halving: halves the candidates until one is left, with a total budget of scores (Karnin, Koren and Somekh
/// 2013, "Almost optimal exploration in multi-armed bandits", algorithm 2; changed: a candidate is judged by all its
/// replications, and replications are common to all candidates).
///
/// # Errors
/// If `ask` fails.
///
/// # Panics
/// If there is no candidate.
///
/// # Examples
/// ```
/// use cambio_stats::race::halve;
///
/// let choice = halve(4, 800, |alive, replications| {
///     let score = |candidate: usize, replication: u64| -(candidate as f64 - 1.0).powi(2) + (replication as f64).sin();
///     Ok::<_, ()>(alive.iter().map(|&candidate| replications.clone().map(|r| score(candidate, r)).collect()).collect())
/// });
/// assert_eq!(choice.unwrap().best, 1);
/// ```
pub fn halve<E>(
    candidates: usize,
    budget: u64,
    mut ask: impl FnMut(&[usize], Range<u64>) -> Result<Vec<Vec<f64>>, E>,
) -> Result<RaceResult, E> {
    assert!(candidates > 0, "halving needs a candidate");
    let rounds = u64::from(candidates.next_power_of_two().ilog2()).max(1);
    let mut alive: Vec<usize> = (0..candidates).collect();
    let mut scores = vec![Vec::new(); candidates];
    let (mut spent, mut played) = (0, 0);
    if candidates == 1 {
        // A single candidate gets the whole budget.
        return Ok(RaceResult { best: 0, scores: ask(&alive, 0..budget.max(1))?, spent: budget.max(1) });
    }
    while alive.len() > 1 {
        let replications = (budget / (alive.len() as u64 * rounds)).max(1);
        for (&i, fresh) in alive.iter().zip(ask(&alive, played..played + replications)?) {
            scores[i].extend(fresh);
        }
        spent += replications * alive.len() as u64;
        played += replications;
        let mean = |i: usize| scores[i].iter().sum::<f64>() / scores[i].len() as f64;
        alive.sort_by(|&one, &other| mean(other).total_cmp(&mean(one)).then(one.cmp(&other)));
        alive.truncate(alive.len().div_ceil(2));
    }
    Ok(RaceResult { best: alive[0], scores, spent })
}

#[cfg(test)]
mod tests;
