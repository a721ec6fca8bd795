//! Runs tuning tasks.

use std::ops::Range;

use cambio_agents::Roster;
use cambio_stats::empirical::EmpiricalGame;
use cambio_stats::race::halve;
use cambio_stats::{Joint, Matrix};
use itertools::Itertools;

use super::result::{AgainstField, AgainstItself, Comparison, TuningOutcome, TuningResult, Validation};
use super::task::{FieldScores, Opponents, Task, TuneError, TuneMethod, TuneStep, Tuned, invalid, spaced};
use super::{Candidates, ResponsePoint, Scorer, search};
use crate::plan::Payoff;
use crate::play::PlayError;

impl Task {
    /// Searches for the best values. The `scorer` plays the deals: an [`Executor`](crate::Executor), or another [`Scorer`]. Calls
    /// `progress` before each step.
    ///
    /// # Errors
    /// If the task is invalid, an agent is at fault, or play was interrupted.
    ///
    /// # Determinism
    /// The result does not depend on the number of threads or machines.
    ///
    /// ```
    /// use cambio_sim::tune::{Opponents, PlaySetting, Task, TuneMethod, TuningOutcome};
    /// use cambio_sim::{Executor, Unit};
    ///
    /// let task = Task {
    ///     agent: "greedy(call_at=?)".into(),
    ///     ranges: vec!["0..30:15".parse()?],
    ///     opponents: Opponents::Field(vec!["greedy(call_at=6)".into()]),
    ///     setting: PlaySetting { unit: Unit::Rounds, ..PlaySetting::default() },
    ///     method: TuneMethod::Sweep { deals: 40 },
    ///     validate: 20,
    ///     incumbent: Some("greedy(call_at=30)".into()),
    ///     command: String::new(),
    /// };
    /// let mut steps = Vec::new();
    /// let roster = cambio_agents::roster();
    /// let tuned = task.run(&roster, &Executor::new(1)?, |step| steps.push(step.to_string()))?;
    /// assert_eq!(steps[0], "against greedy(call_at=6); the incumbent is greedy(call_at=30)");
    /// assert_eq!(steps[1..], ["3 values, deals 0 to 40", "validation, deals 40 to 60"]);
    ///
    /// let values: Vec<&str> = tuned.points.iter().map(|point| point.value.as_str()).collect();
    /// assert_eq!(values, ["0", "15", "30"]);
    /// assert_eq!(tuned.scores[0].by_deal[2].len(), 40);
    /// let TuningOutcome::AgainstField(found) = tuned.result.found else { panic!("a tuning against a field") };
    /// assert_ne!(found.best_value, "30", "a greedy player that calls with 30 points loses");
    /// assert_eq!(found.blocks, 120);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        roster: &Roster,
        scorer: &dyn Scorer,
        mut progress: impl FnMut(TuneStep),
    ) -> Result<Tuned, TuneError> {
        self.check()?;
        let drive = TaskRun { task: self, roster, scorer, progress: &mut progress };
        match &self.opponents {
            Opponents::Defaults => drive.against_field(vec![self.bare(roster)?]),
            Opponents::Field(field) => drive.against_field(field.clone()),
            Opponents::Themselves => drive.against_itself(),
        }
    }
}

/// A task that is being executed.
struct TaskRun<'a> {
    task: &'a Task,
    roster: &'a Roster,
    scorer: &'a dyn Scorer,
    progress: &'a mut dyn FnMut(TuneStep),
}

struct SearchResult {
    points: Vec<ResponsePoint>,
    best: usize,
    blocks: u64,
    used: u64,
    scores: Vec<FieldScores>,
    /// Whether the scores are without the luck of the cards.
    adjusted: bool,
}

impl<'a> TaskRun<'a> {
    fn measured(&self, candidates: &[String], field: &[String]) -> Result<Candidates<'a>, PlayError> {
        Candidates::new(&self.task.setting, self.roster, self.scorer, candidates, field)
    }

    fn result(&self, adjusted: bool, found: TuningOutcome) -> TuningResult {
        let Task { agent, ranges, setting, command, .. } = self.task;
        TuningResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agent: agent.clone(),
            ranges: ranges.iter().map(ToString::to_string).collect(),
            rules: setting.rules.clone(),
            seats: setting.seats,
            payoff: setting.payoff,
            seed: setting.seed,
            mixture: setting.mixture,
            adjusted,
            command: command.clone(),
            found,
        }
    }

    fn against_field(mut self, field: Vec<String>) -> Result<Tuned, TuneError> {
        let incumbent = match (&self.task.incumbent, self.task.validate) {
            (_, 0 | 1) => None,
            (Some(incumbent), _) => Some(incumbent.clone()),
            (None, _) => Some(self.task.bare(self.roster)?),
        };
        self.begin(&field, incumbent.clone())?;
        let SearchResult { points, best, blocks, used, scores, adjusted } = match self.task.method {
            TuneMethod::Cma { deals, generations } => self.search(&field, deals, generations)?,
            _ => self.choose(&field)?,
        };
        let ResponsePoint { agent: best, value: best_value, payoff: estimate, .. } = points[best].clone();
        let fresh = used..used + self.task.validate;
        let validation = incumbent.map(|incumbent| self.validate(&best, incumbent, &field, fresh)).transpose()?;
        let method = self.task.method.name();
        let found = AgainstField { field, method, blocks, best, best_value, estimate, validation };
        Ok(Tuned { points, scores, result: self.result(adjusted, TuningOutcome::AgainstField(found)) })
    }

    /// Checks the first and last candidates, the field and the incumbent before play begins.
    fn begin(&mut self, field: &[String], incumbent: Option<String>) -> Result<(), TuneError> {
        if !matches!(self.task.method, TuneMethod::Cma { .. }) {
            self.task.grid(Some(1))?;
        }
        for agent in incumbent.iter().chain(field) {
            self.roster.parse(agent).map_err(invalid)?;
        }
        for values in self.task.corners() {
            self.measured(&[self.task.filled(&values)], field)?;
        }
        let mixture = if self.task.setting.mixture { "the mixture of " } else { "" };
        (self.progress)(TuneStep::Begin(format!("{mixture}{}", field.join(", ")), incumbent));
        Ok(())
    }

    /// Runs the method sweep, race or halving.
    fn choose(&mut self, field: &[String]) -> Result<SearchResult, TuneError> {
        let task = self.task;
        let grid = task.grid(Some(1))?;
        let candidates: Vec<String> = grid.iter().map(|values| task.filled(values)).collect();
        let measured = self.measured(&candidates, field)?;
        let sign = task.setting.payoff.sign();
        let mut used = 0;
        let mut ask = |which: &[usize], deals: Range<u64>| {
            let step = format!("{} values, deals {} to {}", which.len(), deals.start, deals.end);
            (self.progress)(TuneStep::Play(step));
            used = used.max(deals.end);
            let mut scores = measured.scores(which, deals)?;
            scores.iter_mut().flatten().for_each(|score| *score *= sign);
            Ok::<_, PlayError>(scores)
        };
        let (mut scores, best, blocks) = match task.method {
            TuneMethod::Race(race) => {
                let choice = race.run(candidates.len(), ask)?;
                (choice.scores, Some(choice.best), choice.spent)
            }
            TuneMethod::Halving { blocks } => {
                let choice = halve(candidates.len(), blocks, ask)?;
                (choice.scores, Some(choice.best), choice.spent)
            }
            TuneMethod::Sweep { deals } | TuneMethod::Cma { deals, .. } => {
                let all: Vec<usize> = (0..candidates.len()).collect();
                (ask(&all, 0..deals)?, None, candidates.len() as u64 * deals)
            }
        };
        let best = best.unwrap_or_else(|| highest(scores.iter().map(|scores| mean(scores))));
        // The sign is restored after the curve, because simultaneous inference needs a payoff that is maximized.
        let values: Vec<String> = grid.iter().map(|values| spaced(values)).collect();
        let mut points = measured.curve(&task.setting.field_name(field), &values, &scores, task.setting.seed);
        if sign < 0.0 {
            scores.iter_mut().flatten().for_each(|score| *score *= sign);
            points.iter_mut().for_each(negate);
        }
        let scores = FieldScores { field: task.setting.field_name(field), agents: measured.labels(), by_deal: scores };
        let adjusted = measured.measures_luck();
        Ok(SearchResult { points, best, blocks, used, scores: vec![scores], adjusted })
    }

    /// Runs a CMA-ES search.
    fn search(&mut self, field: &[String], each: u64, generations: u32) -> Result<SearchResult, TuneError> {
        let task = self.task;
        let sign = task.setting.payoff.sign();
        let mut search = search(task.ranges.len(), task.setting.seed);
        let at = |point: &[f64]| -> Vec<f64> {
            task.ranges.iter().zip(point).map(|(values, place)| values.at(*place)).collect()
        };
        let (mut deals, mut blocks) = (0, 0);
        for number in 0..generations {
            let centre = spaced(&at(&search.centre()));
            (self.progress)(TuneStep::Play(format!("generation {number}, centre {centre}")));
            let score = |points: &[Vec<f64>]| {
                let specs: Vec<String> = points.iter().map(|point| task.filled(&at(point))).collect();
                let distinct = specs.iter().cloned().sorted().dedup().collect_vec();
                let measured = self.measured(&distinct, field)?;
                let which: Vec<usize> = (0..distinct.len()).collect();
                let scores = measured.scores(&which, deals..deals + each)?;
                blocks += distinct.len() as u64 * each;
                let mean = |spec: &String| {
                    let place = distinct.binary_search(spec).expect("`distinct` contains all specs");
                    sign * scores[place].iter().sum::<f64>() / each as f64
                };
                Ok::<_, PlayError>(specs.iter().map(mean).collect())
            };
            search.step(score)?;
            deals += each;
            if search.spread() < 0.01 {
                break;
            }
        }
        let values = at(&search.centre());
        let measured = self.measured(&[task.filled(&values)], field)?;
        let scores = measured.scores(&[0], deals..deals + each)?;
        blocks += each;
        let points = measured.curve(&task.setting.field_name(field), &[spaced(&values)], &scores, task.setting.seed);
        let adjusted = measured.measures_luck();
        Ok(SearchResult { points, best: 0, blocks, used: deals + each, scores: Vec::new(), adjusted })
    }

    /// Compares the winner with the incumbent on fresh deals.
    fn validate(
        &mut self,
        winner: &str,
        incumbent: String,
        field: &[String],
        deals: Range<u64>,
    ) -> Result<Validation, TuneError> {
        let parsed = |spec| self.roster.parse(spec).map_err(invalid);
        if parsed(winner)?.is(&parsed(&incumbent)?) {
            return Ok(Validation::Same { incumbent });
        }
        (self.progress)(TuneStep::Play(format!("validation, deals {} to {}", deals.start, deals.end)));
        let measured = self.measured(&[winner.to_owned(), incumbent.clone()], field)?;
        let count = deals.end - deals.start;
        let scores = measured.scores(&[0, 1], deals)?;
        let units = measured.units();
        let whole = |score: &f64| (score * units).round() as i64;
        let mut joint = Joint::new(2);
        for (one, other) in scores[0].iter().zip(&scores[1]) {
            joint.add(&[1, 1], &[whole(one), whole(other)]);
        }
        let support = self.task.setting.payoff.support_of_difference();
        let (difference, _) = joint.difference(0, 1, units, support).expect("both agents played every deal");
        Ok(Validation::Played(Comparison {
            deals: count,
            winner: mean(&scores[0]),
            incumbent,
            incumbent_mean: mean(&scores[1]),
            difference: difference.mean,
            low: difference.low(),
            high: difference.high(),
        }))
    }

    /// Self-play mode: plays each value against copies of each value, to find best responses and symmetric equilibria.
    fn against_itself(self) -> Result<Tuned, TuneError> {
        let task = self.task;
        let TuneMethod::Sweep { deals } = task.method else {
            return Err(TuneError::ItselfNeedsSweep(task.method.name()));
        };
        if task.setting.payoff == Payoff::Points {
            return Err(TuneError::ItselfNeedsShares);
        }
        let grid = task.grid(None)?;
        let candidates: Vec<String> = grid.iter().map(|values| task.filled(values)).collect();
        let values: Vec<String> = grid.iter().map(|values| spaced(values)).collect();
        let size = candidates.len();
        let which: Vec<usize> = (0..size).collect();
        (self.progress)(TuneStep::Begin("itself".to_owned(), None));
        let (mut points, mut all_scores, mut equilibria) = (Vec::new(), Vec::new(), Vec::new());
        let (mut matrix, mut adjusted) = (Matrix::zeros(size, size), false);
        for (rival, field) in candidates.iter().enumerate() {
            (self.progress)(TuneStep::Play(format!("field {} of {size}: {field}", rival + 1)));
            let measured = self.measured(&candidates, std::slice::from_ref(field))?;
            adjusted |= measured.measures_luck();
            let scores = measured.scores(&which, 0..deals)?;
            let curve = measured.curve(field, &values, &scores, task.setting.seed);
            for (place, point) in curve.iter().enumerate() {
                matrix[(place, rival)] = point.payoff;
            }
            if curve[rival].among_best == Some(true) {
                equilibria.push(values[rival].clone());
            }
            points.extend(curve);
            all_scores.push(FieldScores { field: field.clone(), agents: measured.labels(), by_deal: scores });
        }
        let is_game = task.setting.seats == 2 && task.setting.payoff == Payoff::RankPoints && size > 1;
        let nash = is_game.then(|| EmpiricalGame::of_matrix(&matrix).nash()).flatten();
        let found = AgainstItself { deals, symmetric_equilibria: equilibria, nash, values };
        Ok(Tuned { points, scores: all_scores, result: self.result(adjusted, TuningOutcome::AgainstItself(found)) })
    }
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// The index of the highest mean; the first one if several are equal.
fn highest(means: impl Iterator<Item = f64>) -> usize {
    let means: Vec<f64> = means.collect();
    (0..means.len()).rev().max_by(|&one, &other| means[one].total_cmp(&means[other])).unwrap_or(0)
}

/// Restores the sign of a point whose payoff was negated for maximization.
fn negate(point: &mut ResponsePoint) {
    point.payoff = -point.payoff;
    let flip = |low: &mut Option<f64>, high: &mut Option<f64>| {
        std::mem::swap(low, high);
        for end in [low, high].into_iter().flatten() {
            *end = -*end;
        }
    };
    flip(&mut point.low, &mut point.high);
    flip(&mut point.low_simultaneous, &mut point.high_simultaneous);
}

#[cfg(test)]
mod tests;
