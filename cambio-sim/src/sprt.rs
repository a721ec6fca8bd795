//! The sequential probability ratio test (SPRT) of two agents, which stops as soon as one hypothesis is accepted.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_stats::sprt::{FIRST_LOOK, Sprt, Verdict, log_likelihood_ratio_of_mean, score_of_elo};
use cambio_stats::stopping::{MedianEstimate, Steps, StoppedTest};
use cambio_stats::{Interval, Moments, Support};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::digest::FINE;
use crate::plan::{Block, Cell, Experiment, PlayablePlan};
use crate::play::play_block;
use crate::rows::PlayerRow;
use crate::study::{SettingOptions, Stage, StudyDriver, StudyError, in_range, lock_of, probability, scores_of};

/// A test: is the agent better than the other by `elo0` (H0) or by `elo1` (H1)?
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SprtOptions {
    /// The agent to test
    pub agent: String,
    /// The opponent
    pub other: String,
    /// The table.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub setting: SettingOptions,
    /// The hypothesis H0: the agent is better than the opponent by ELO Elo points
    #[cfg_attr(feature = "clap", arg(long, value_name = "ELO", default_value_t = Self::default().elo0, allow_negative_numbers = true))]
    pub elo0: f64,
    /// The hypothesis H1: the agent is better than the opponent by ELO Elo points; ELO must be above --elo0
    #[cfg_attr(feature = "clap", arg(long, value_name = "ELO", default_value_t = Self::default().elo1, allow_negative_numbers = true))]
    pub elo1: f64,
    /// The probability of accepting H1 if H0 is true
    #[cfg_attr(feature = "clap", arg(long, default_value_t = Self::default().alpha))]
    pub alpha: f64,
    /// The probability of accepting H0 if H1 is true
    #[cfg_attr(feature = "clap", arg(long, default_value_t = Self::default().beta))]
    pub beta: f64,
    /// Stop without a decision after N deals
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().deals))]
    pub deals: u64,
}

impl Default for SprtOptions {
    fn default() -> SprtOptions {
        SprtOptions {
            agent: String::new(),
            other: String::new(),
            setting: SettingOptions::default(),
            elo0: 0.0,
            elo1: 10.0,
            alpha: 0.05,
            beta: 0.05,
            deals: 100_000,
        }
    }
}

/// The largest difference in Elo that is accepted. Beyond it, the stronger side practically always wins.
const MAX_ELO: f64 = 5000.0;

/// The result of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct SprtResult {
    /// The test.
    pub options: SprtOptions,
    /// The verdict; undecided if all deals were used.
    pub verdict: Verdict,
    /// The log likelihood ratio.
    pub ratio: f64,
    /// The bounds at which the test accepts a hypothesis.
    pub bounds: (f64, f64),
    /// The number of deals that the test used.
    pub deals: u64,
    /// The number of matches on these deals.
    pub matches: u64,
    /// The first agent's pairwise scores, in halves. Their mean is biased, because the test stops at an extreme mean.
    pub scores: Moments,
    /// The same without the luck of the cards, in millionths of halves; `None` if the luck was not measured. The verdict
    /// then depends on these scores.
    pub adjusted: Option<Moments>,
    /// The number of deals with each possible score.
    pub counts: Vec<u64>,
    /// The first agent's expected score, corrected for the bias of stopping; `None` if the test stopped after the first look
    /// and all deals have the same score.
    pub estimate: Option<MedianEstimate>,
}

impl SprtResult {
    /// The mean of the first agent's scores, without the luck of the cards if it was measured. It is biased like
    /// [`SprtResult::scores`].
    pub fn mean(&self) -> Option<Interval> {
        match &self.adjusted {
            Some(adjusted) => mean_without_luck(adjusted),
            None => self.scores.interval(2.0, Support::Share),
        }
    }

    /// The result as an object, for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let (options, table) = (&self.options, &self.options.setting.table);
        let score = self.scores.interval(2.0, Support::Share);
        let adjusted = self.adjusted.as_ref().and_then(|_| self.mean());
        let verdict = match self.verdict {
            Verdict::First => "first",
            Verdict::Second => "second",
            Verdict::Undecided => "undecided",
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"), "estimate": self.estimate.map(|found| found.median),
            "estimate_low": self.estimate.map(|found| found.low), "estimate_high": self.estimate.map(|found| found.high),
            "agent": options.agent, "other": options.other, "rules": table.rules(), "seats": table.seats(),
            "seed": table.seed("sprt").to_string(), "elo_0": options.elo0, "elo_1": options.elo1,
            "alpha": options.alpha, "beta": options.beta, "verdict": verdict, "log_likelihood_ratio": self.ratio,
            "bounds": [self.bounds.0, self.bounds.1], "deals": self.deals, "matches": self.matches,
            "counts": self.counts, "score": score.map(|score| score.mean),
            "score_adjusted": adjusted.map(|score| score.mean),
        })
    }
}

/// The first agent's score on a deal: the sum over all pairs of seats, one seat of each agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub(crate) struct DealScore {
    /// The score in halves: 2 for a better rank, 1 for an equal rank.
    pub halves: usize,
    /// The part of `halves` that is luck of the cards, in millionths of a half; `None` if it was not measured.
    pub luck: Option<i64>,
}

impl DealScore {
    /// The sum of no scores.
    const ZERO: DealScore = DealScore { halves: 0, luck: Some(0) };

    fn plus(self, other: DealScore) -> DealScore {
        let luck = self.luck.zip(other.luck).map(|(one, other)| one + other);
        DealScore { halves: self.halves + other.halves, luck }
    }
}

/// The mean of adjusted pairwise scores, which are in millionths of halves.
fn mean_without_luck(adjusted: &Moments) -> Option<Interval> {
    adjusted.interval(2.0 * FINE as f64, Support::Share.without_luck())
}

struct SequentialReader {
    test: Sprt,
    /// The means of the hypotheses.
    means: (f64, f64),
    scores: Moments,
    /// For a test without the luck of the cards: the adjusted scores.
    adjusted: Option<Moments>,
    /// The number of pairs of seats on a deal, one seat of each agent.
    pairs: usize,
}

impl SequentialReader {
    fn new(options: &SprtOptions, pairs: usize, measures_luck: bool) -> SequentialReader {
        let means = (score_of_elo(options.elo0), score_of_elo(options.elo1));
        let adjusted = measures_luck.then(Moments::default);
        let test = Sprt::new(means, 2 * pairs + 1, options.alpha, options.beta);
        SequentialReader { test, means, scores: Moments::default(), adjusted, pairs }
    }

    fn add(&mut self, score: DealScore) {
        self.test.add(score.halves);
        let (pairs, halves) = (self.pairs as i64, score.halves as i64);
        self.scores.add(pairs, halves);
        if let Some(adjusted) = &mut self.adjusted {
            adjusted.add(pairs, halves * FINE - score.luck.unwrap_or(0));
        }
    }

    fn deals(&self) -> u64 {
        self.scores.clusters
    }

    /// The log likelihood ratio.
    fn ratio(&self) -> f64 {
        let Some(adjusted) = &self.adjusted else { return self.test.ratio() };
        mean_without_luck(adjusted).map_or(0.0, |mean| log_likelihood_ratio_of_mean(&mean, self.means))
    }

    fn verdict(&self) -> Verdict {
        self.test.verdict_at(self.deals(), self.ratio())
    }

    /// The result of the test in this cell.
    fn answer(self, options: &SprtOptions, cell: &Cell) -> SprtResult {
        let (deals, ratio) = (self.deals(), self.ratio());
        let SequentialReader { test, scores, adjusted, .. } = self;
        let mut result = SprtResult {
            options: options.clone(),
            verdict: test.verdict_at(deals, ratio),
            ratio,
            bounds: test.bounds(),
            deals,
            matches: deals * cell.matches_a_deal(),
            scores,
            adjusted,
            counts: test.counts().to_vec(),
            estimate: None,
        };
        result.estimate = options.estimate(&result, &test);
        result
    }
}

impl SprtOptions {
    fn check(&self) -> Result<(), StudyError> {
        self.setting.table.check()?;
        for (name, elo) in [("elo0", self.elo0), ("elo1", self.elo1)] {
            if !elo.is_finite() || elo.abs() > MAX_ELO {
                let what = format!("must be a number from -{MAX_ELO} to {MAX_ELO}, found {elo}");
                return Err(StudyError::Option(name, what));
            }
        }
        if self.elo1 <= self.elo0 {
            let what = format!("must be above elo0 ({}), found {}", self.elo0, self.elo1);
            return Err(StudyError::Option("elo1", what));
        }
        probability("alpha", self.alpha)?;
        probability("beta", self.beta)?;
        if self.alpha + self.beta >= 1.0 {
            let what = format!("must be below 1 together with beta, found {} and {}", self.alpha, self.beta);
            return Err(StudyError::Option("alpha", what));
        }
        in_range("deals", self.deals, 1, 1 << 30)
    }

    /// Plays until a hypothesis is accepted.
    ///
    /// # Errors
    /// If an option is invalid, or an agent is at fault.
    ///
    /// # Determinism
    /// The answer does not depend on the number of threads: deals are evaluated in order, each with all its lineups.
    ///
    /// ```
    /// use cambio_sim::sprt::SprtOptions;
    /// use cambio_sim::{Executor, SettingOptions, StudyDriver};
    /// use cambio_stats::sprt::Verdict;
    ///
    /// let setting = SettingOptions { rounds: true, ..SettingOptions::default() };
    /// let test = SprtOptions { agent: "greedy".into(), other: "random".into(), setting, elo1: 50.0, ..SprtOptions::default() };
    /// let executor = Executor::new(1)?;
    /// let answer = test.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ()))?;
    /// assert_eq!(answer.verdict, Verdict::Second, "greedy is the better agent");
    /// assert!(answer.deals < 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, roster: &Roster, driver: &mut StudyDriver<'_>) -> Result<SprtResult, StudyError> {
        let plan = self.plan(roster)?;
        let cell = &plan.cells[0];
        let mut reading = SequentialReader::new(self, pairs_a_deal(cell), plan.measures_luck());
        driver.begin(&lock_of("sprt", self, &plan.run_id()))?;
        let add = |reading: &mut SequentialReader, lineups: &[DealScore]| {
            reading.add(lineups.iter().fold(DealScore::ZERO, |sum, score| sum.plus(*score)));
            if reading.verdict() == Verdict::Undecided { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let status = |reading: &SequentialReader, _| {
            Some(format!("{} deals, log likelihood ratio {:+.2}", reading.deals(), reading.ratio()))
        };
        let stage = Stage { request: String::new(), deals: 0..self.deals, parts: cell.lineups.len() };
        driver.play(stage, &mut reading, |deal, lineup, _| Some(score_of_lineup(&plan, deal, lineup)), add, status)?;
        Ok(reading.answer(self, cell))
    }

    /// The score estimate after the test has stopped. Uses the sample standard deviation of the deals' means.
    fn estimate(&self, result: &SprtResult, test: &Sprt) -> Option<MedianEstimate> {
        let SprtResult { deals: clusters, bounds, ratio, .. } = *result;
        let score = result.mean()?;
        let usual = MedianEstimate { median: score.mean, low: score.low()?, high: score.high()? };
        if clusters <= FIRST_LOOK {
            // The test could not stop before, so the mean is not biased.
            return Some(usual);
        }
        let deviation = score.error? * (clusters as f64).sqrt();
        let steps = match &result.adjusted {
            None => test.steps(),
            // Of agents that play nearly alike, few deals determine the ratio, and the correction is not valid.
            Some(_) => (2.0 * score.freedom() > clusters as f64)
                .then(|| Steps::of_normal(score.mean, deviation, (score_of_elo(self.elo0), score_of_elo(self.elo1)))),
        };
        let stopped =
            |steps| StoppedTest { steps, bounds, mean: score.mean, clusters, first: FIRST_LOOK, ratio }.estimate();
        (deviation > 0.0).then(|| steps.and_then(stopped).unwrap_or(usual))
    }

    fn plan(&self, roster: &Roster) -> Result<PlayablePlan, StudyError> {
        self.check()?;
        let setting = self.setting.experiment("sprt", &[&self.agent, &self.other]);
        let experiment = Experiment { deals: self.deals, ..setting };
        let plan = experiment.plan(roster, Path::new("."))?;
        plan.check_agents()?;
        Ok(plan)
    }

    /// Plays a range of deals for [`RemotePlayer`](crate::RemotePlayer): the scores of each deal as a JSON list.
    ///
    /// # Errors
    /// The errors of [`SprtOptions::run`].
    pub fn scores(&self, roster: &Roster, executor: &Executor, deals: Range<u64>) -> Result<String, StudyError> {
        let plan = self.plan(roster)?;
        let parts = plan.cells[0].lineups.len();
        scores_of(executor, (deals, parts), |deal, lineup| score_of_lineup(&plan, deal, lineup))
    }
}

/// The number of pairs of seats on a deal, one seat of each agent. A deal has two lineups if the number of seats is odd.
fn pairs_a_deal(cell: &Cell) -> usize {
    let firsts = cell.lineups.iter().map(|lineup| lineup.agents().iter().filter(|&&agent| agent == 0).count());
    firsts.map(|first| first * (cell.seats - first) * cell.seatings.len()).sum()
}

/// The first agent's score in a lineup on a deal.
fn score_of_lineup(plan: &PlayablePlan, deal: u64, lineup: usize) -> Result<DealScore, StudyError> {
    let block = plan.block(deal * plan.cells[0].lineups.len() as u64 + lineup as u64);
    let rows = play_block(plan, &block)?;
    Ok(score(&block, &rows.players))
}

/// The first agent's score in a block. The luck of two seats changes the probability that the first one has the better rank
/// by half of its difference.
fn score(block: &Block<'_>, players: &[PlayerRow<'_>]) -> DealScore {
    let mut sum = DealScore::ZERO;
    for table in players.chunks_exact(block.cell.seats) {
        let of = |agent| table.iter().filter(move |row| block.agent(row.seat.index(), row.key.rotation) == agent);
        for one in of(0) {
            for other in of(1) {
                let halves = usize::from(one.rank < other.rank) + usize::from(one.rank <= other.rank);
                let luck = one.luck.units().zip(other.luck.units());
                sum = sum.plus(DealScore { halves, luck: luck.map(|(one, other)| i64::from(one) - i64::from(other)) });
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests;
