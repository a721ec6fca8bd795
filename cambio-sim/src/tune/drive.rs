//! Runs tuning tasks.

use std::ops::Range;

use cambio_agents::Roster;
use cambio_exec::Estimate;
use cambio_stats::Joint;
use cambio_stats::race::race;
use cambio_stats::search::CmaEs;
use itertools::Itertools;

use super::result::{Comparison, MethodName, TuningResult, Validation};
use super::task::{TuneOptions, Tuned, corners, spaced};
use super::values::Values;
use super::{Candidates, ResponsePoint};
use crate::digest::{resampling, streams};
use crate::play::PlayError;
use crate::study::{StudyDriver, StudyError, StudyStep, lock_of};

impl TuneOptions {
    /// Searches for the best values. After an interrupt, the result is undecided: it has the best values so far.
    ///
    /// # Errors
    /// If an option is invalid, an agent is at fault, or play was interrupted before anything was computed.
    ///
    /// # Determinism
    /// The result does not depend on the number of threads or machines.
    ///
    /// ```
    /// use cambio_sim::tune::TuneOptions;
    /// use cambio_sim::{Executor, SettingOptions, StudyDriver};
    ///
    /// let options = TuneOptions {
    ///     agent: "greedy(call_at=?)".into(),
    ///     range: vec!["0..30:15".into()],
    ///     field: vec!["greedy(call_at=6)".into()],
    ///     setting: SettingOptions { rounds: true, ..SettingOptions::default() },
    ///     deals: 40,
    ///     validate: 20,
    ///     incumbent: Some("greedy(call_at=30)".into()),
    ///     ..TuneOptions::default()
    /// };
    /// let executor = Executor::new(1)?;
    /// let tuned = options.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ()))?;
    /// let values: Vec<&str> = tuned.points.iter().map(|point| point.value.as_str()).collect();
    /// assert_eq!(values, ["0", "15", "30"]);
    /// assert_eq!(tuned.scores[2].len(), 40);
    /// assert_ne!(tuned.result.best_value, "30", "a greedy player that calls with 30 points loses");
    /// assert_eq!(tuned.result.blocks, 120);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, roster: &Roster, driver: &mut StudyDriver<'_>) -> Result<Tuned, StudyError> {
        let ranges = self.check()?;
        TuningRun { task: self, ranges, roster, driver }.run()
    }
}

/// A tuning that is being executed.
struct TuningRun<'a, 'd> {
    task: &'a TuneOptions,
    ranges: Vec<Values>,
    roster: &'a Roster,
    driver: &'a mut StudyDriver<'d>,
}

/// The candidates at the end of a search.
struct SearchResult {
    measured: Candidates,
    values: Vec<Vec<f64>>,
    /// The scores of each candidate by deal; a higher score is better.
    scores: Vec<Vec<f64>>,
    /// The index of the best candidate.
    best: usize,
    /// The number of deal blocks that the search played.
    blocks: u64,
    /// The number of deals that the search used.
    deals: u64,
}

impl TuningRun<'_, '_> {
    fn measured(&self, candidates: &[String], field: &[String]) -> Result<Candidates, StudyError> {
        Candidates::new(self.task, self.roster, candidates, field)
    }

    fn seed(&self) -> cambio_core::rng::Seed {
        self.task.setting.table.seed("tune")
    }

    /// Searches for the best value, and compares it with the incumbent.
    fn run(mut self) -> Result<Tuned, StudyError> {
        let task = self.task;
        let field = match task.field.as_slice() {
            [] => vec![task.bare(self.roster, &self.ranges)?],
            field => field.to_vec(),
        };
        let incumbent = match (&task.incumbent, task.validate) {
            (_, 0 | 1) => None,
            (Some(incumbent), _) => Some(incumbent.clone()),
            (None, _) => Some(task.bare(self.roster, &self.ranges)?),
        };
        self.begin(&field, incumbent.as_ref())?;
        let SearchResult { measured, values, mut scores, best, blocks, deals } = match task.method {
            MethodName::Sweep | MethodName::Race => self.choose(&field)?,
            MethodName::Cma => self.evolve(&field)?,
        };
        // The sign is restored after the curve, because simultaneous inference needs a payoff that is maximized.
        let values: Vec<String> = values.iter().map(|values| spaced(values)).collect();
        let mut points = measured.curve(&task.field_name(&field), &values, &scores, self.seed());
        if task.payoff.sign() < 0.0 {
            scores.iter_mut().flatten().for_each(|score| *score = -*score);
            for point in &mut points {
                point.payoff = point.payoff.scaled(-1.0);
            }
        }
        let ResponsePoint { agent: best, value: best_value, payoff: Estimate { mean: estimate, .. }, .. } =
            points[best].clone();
        let validation = match incumbent.filter(|_| !self.driver.is_interrupted()) {
            Some(incumbent) => self.validate(&best, incumbent, &field, deals..deals + task.validate)?,
            None => None,
        };
        let TuneOptions { agent, range, setting, payoff, mixture, method, .. } = task;
        let result = TuningResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agent: agent.clone(),
            ranges: range.clone(),
            rules: setting.table.rules().to_owned(),
            seats: setting.table.seats(),
            field,
            payoff: *payoff,
            seed: self.seed().to_string(),
            mixture: *mixture,
            adjusted: measured.measures_luck(),
            undecided: self.driver.is_interrupted(),
            method: *method,
            blocks,
            best,
            best_value,
            estimate,
            validation,
        };
        let scores = if task.method == MethodName::Cma { Vec::new() } else { scores };
        Ok(Tuned { points, scores, result })
    }

    /// Runs the method sweep or race.
    fn choose(&mut self, field: &[String]) -> Result<SearchResult, StudyError> {
        let task = self.task;
        let values = task.grid(&self.ranges)?;
        let candidates: Vec<String> = values.iter().map(|values| task.filled(values)).collect();
        let measured = self.measured(&candidates, field)?;
        let sign = task.payoff.sign();
        let mut scores = vec![Vec::new(); candidates.len()];
        let mut ask = |which: &[usize], deals: Range<u64>| {
            self.driver.tell(StudyStep::Play(format!(
                "{} values, deals {} to {}",
                which.len(),
                deals.start,
                deals.end
            )));
            let mut found = measured.scores(self.driver, which, deals)?;
            found.iter_mut().flatten().for_each(|score| *score *= sign);
            for (&candidate, found) in which.iter().zip(&found) {
                scores[candidate].extend_from_slice(found);
            }
            if self.driver.is_interrupted() { Err(PlayError::Interrupted.into()) } else { Ok::<_, StudyError>(found) }
        };
        let all: Vec<usize> = (0..candidates.len()).collect();
        let best = match task.method {
            MethodName::Race => race(candidates.len(), task.deals, ask).map(Some),
            MethodName::Sweep | MethodName::Cma => ask(&all, 0..task.deals).map(|_| None),
        };
        let best = match best {
            Ok(best) => best,
            Err(StudyError::Play(PlayError::Interrupted)) => None,
            Err(error) => return Err(error),
        };
        let deals = scores.iter().map(Vec::len).max().unwrap_or(0);
        interrupted_if(scores.iter().any(Vec::is_empty))?;
        // Before the end of a race, only candidates that have not been dropped can be the best.
        let best = best.unwrap_or_else(|| {
            highest(scores.iter().map(|scores| if scores.len() == deals { mean(scores) } else { f64::NEG_INFINITY }))
        });
        let blocks = scores.iter().map(|scores| scores.len() as u64).sum();
        Ok(SearchResult { measured, values, scores, best, blocks, deals: deals as u64 })
    }

    /// Runs a CMA-ES search. After an interrupt, the centre has the scores of the last generation.
    fn evolve(&mut self, field: &[String]) -> Result<SearchResult, StudyError> {
        let (task, each, sign) = (self.task, self.task.deals, self.task.payoff.sign());
        let ranges = self.ranges.clone();
        let at = |point: &[f64]| ranges.iter().zip(point).map(|(values, place)| values.at(*place)).collect_vec();
        let mut search = CmaEs::new(ranges.len(), resampling(self.seed(), streams::SEARCH));
        let (mut deals, mut blocks, mut last) = (0, 0, Vec::new());
        for number in 0..task.generations {
            let centre = spaced(&at(&search.centre()));
            self.driver.tell(StudyStep::Play(format!("generation {number}, centre {centre}")));
            let score = |points: &[Vec<f64>]| {
                let specs = points.iter().map(|point| task.filled(&at(point))).collect_vec();
                let distinct = specs.iter().cloned().sorted().dedup().collect_vec();
                let which = (0..distinct.len()).collect_vec();
                let scores = self.measured(&distinct, field)?.scores(self.driver, &which, deals..deals + each)?;
                interrupted_if(self.driver.is_interrupted())?;
                deals += each;
                blocks += distinct.len() as u64 * each;
                let of_deal = |deal| scores.iter().map(|scores| scores[deal]).sum::<f64>() / scores.len() as f64;
                last = (0..each as usize).map(of_deal).collect();
                let mean_of =
                    |spec| mean(&scores[distinct.binary_search(spec).expect("`distinct` contains all specs")]);
                Ok::<_, StudyError>(specs.iter().map(|spec| sign * mean_of(spec)).collect())
            };
            match search.step(score) {
                Ok(()) if search.spread() >= 0.01 => {}
                Ok(()) | Err(StudyError::Play(PlayError::Interrupted)) => break,
                Err(error) => return Err(error),
            }
        }
        let values = at(&search.centre());
        let measured = self.measured(&[task.filled(&values)], field)?;
        let mut scores = measured.scores(self.driver, &[0], deals..deals + each)?;
        blocks += scores[0].len() as u64;
        if scores[0].is_empty() {
            interrupted_if(last.is_empty())?;
            scores = vec![last];
        }
        scores[0].iter_mut().for_each(|score| *score *= sign);
        Ok(SearchResult { measured, values: vec![values], scores, best: 0, blocks, deals: deals + each })
    }

    /// Checks the first and last candidates, the field and the incumbent before play begins.
    fn begin(&mut self, field: &[String], incumbent: Option<&String>) -> Result<(), StudyError> {
        if self.task.method != MethodName::Cma {
            self.task.grid(&self.ranges)?;
        }
        for agent in incumbent.into_iter().chain(field) {
            self.roster.parse(agent)?;
        }
        let mut identity = String::new();
        for values in corners(&self.ranges) {
            identity = self.measured(&[self.task.filled(&values)], field)?.plan.run_id();
        }
        let mixture = if self.task.mixture { "the mixture of " } else { "" };
        let against = incumbent.map_or_else(String::new, |incumbent| format!("; the incumbent is {incumbent}"));
        let (TuneOptions { agent, .. }, table, field) = (self.task, &self.task.setting.table, field.join(", "));
        let about = format!("{agent} on {}, {} seats, against {mixture}{field}{against}", table.rules(), table.seats());
        self.driver.begin(&lock_of("tune", self.task, &identity))?;
        self.driver.tell(StudyStep::Begin(about));
        Ok(())
    }

    /// Compares the winner with the incumbent on fresh deals.
    fn validate(
        &mut self,
        winner: &str,
        incumbent: String,
        field: &[String],
        deals: Range<u64>,
    ) -> Result<Option<Validation>, StudyError> {
        if self.roster.parse(winner)?.is(&self.roster.parse(&incumbent)?) {
            return Ok(Some(Validation::Same { deals: 0, incumbent }));
        }
        self.driver.tell(StudyStep::Play(format!("validation, deals {} to {}", deals.start, deals.end)));
        let measured = self.measured(&[winner.to_owned(), incumbent.clone()], field)?;
        let scores = measured.scores(self.driver, &[0, 1], deals)?;
        let count = scores[0].len() as u64;
        if count < 2 {
            return Ok(None);
        }
        let units = measured.units();
        let whole = |score: &f64| (score * units).round() as i64;
        let mut joint = Joint::new(2);
        for (one, other) in scores[0].iter().zip(&scores[1]) {
            joint.add(&[1, 1], &[whole(one), whole(other)]);
        }
        let support = measured.adjusted(self.task.payoff.support_of_difference());
        let (difference, _) = joint.difference(0, 1, units, support).expect("both agents played every deal");
        Ok(Some(Validation::Played(Comparison {
            deals: count,
            winner: mean(&scores[0]),
            incumbent,
            incumbent_mean: mean(&scores[1]),
            difference: difference.mean,
            low: difference.low(),
            high: difference.high(),
        })))
    }
}

/// The error of a tuning that was interrupted before it had a result; otherwise nothing.
fn interrupted_if(is_empty: bool) -> Result<(), StudyError> {
    if is_empty { Err(PlayError::Interrupted.into()) } else { Ok(()) }
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// The index of the highest mean; the first one if several are equal.
fn highest(means: impl Iterator<Item = f64>) -> usize {
    let means: Vec<f64> = means.collect();
    (0..means.len()).rev().max_by(|&one, &other| means[one].total_cmp(&means[other])).unwrap_or(0)
}

#[cfg(test)]
mod tests;
