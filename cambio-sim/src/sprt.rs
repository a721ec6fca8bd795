//! The sequential probability ratio test (SPRT) of two agents, which stops as soon as one hypothesis is accepted. The test plays
//! deals, or reads the deals of a stored run.

mod stored;

use std::ops::Range;

use cambio_agents::Roster;
use cambio_exec::{Executor, ExecutorError, Worker};
use cambio_stats::sprt::{
    FIRST_LOOK, Hypotheses, Sprt, Verdict, log_likelihood_ratio_of_mean, score_of_elo, t_of_normalized_elo,
};
use cambio_stats::stopping::{MedianEstimate, Steps, StoppedTest};
use cambio_stats::{Interval, Moments, Support};

use crate::digest::FINE;
use crate::plan::{Block, Cell, Experiment, Lineup, PlanError, PlayablePlan};
use crate::play::{AgentFault, PlayError, play_block};
use crate::rows::PlayerRow;
use crate::tune::PlaySetting;

pub use stored::{DuelError, StoredDuel, StoredSprtResult};

/// A test: is the first agent better than the second by `elo_0` (H0) or by `elo_1` (H1)?
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SprtQuestion {
    /// The Elo difference of H0.
    pub elo_0: f64,
    /// The Elo difference of H1.
    pub elo_1: f64,
    /// The Elo scale of the hypotheses.
    pub scale: EloScale,
    /// The probability of accepting H1 if H0 is true.
    pub alpha: f64,
    /// The probability of accepting H0 if H1 is true.
    pub beta: f64,
    /// The maximum number of deals, after which the test remains undecided.
    pub most_deals: u64,
}

/// A scale of Elo differences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EloScale {
    /// Logistic Elo of the expected pairwise score.
    Logistic,
    /// Normalized Elo: (expected score − ½) over the standard deviation of a game. This scale depends less on luck.
    Normalized,
}

/// The result of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct SprtResult {
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
    /// The first agent's expected score, corrected for the bias of stopping; `None` if the test stopped after the first look
    /// and all deals have the same score.
    pub estimate: Option<MedianEstimate>,
    /// The number of deals with each possible score.
    pub counts: Vec<u64>,
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
}

/// The first agent's score on a deal: the sum over all pairs of seats, one seat of each agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DealScore {
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
    scores: Moments,
    /// For a test without the luck of the cards: the means of the hypotheses, and the adjusted scores.
    adjusted: Option<((f64, f64), Moments)>,
    /// The number of pairs of seats on a deal, one seat of each agent.
    pairs: usize,
}

impl SequentialReader {
    fn new(question: &SprtQuestion, pairs: usize, measures_luck: bool) -> SequentialReader {
        let hypotheses = match question.scale {
            EloScale::Logistic => Hypotheses::Mean(score_of_elo(question.elo_0), score_of_elo(question.elo_1)),
            EloScale::Normalized => {
                let t = |elo| t_of_normalized_elo(elo, pairs);
                Hypotheses::Normalized(t(question.elo_0), t(question.elo_1))
            }
        };
        let adjusted = match hypotheses {
            Hypotheses::Mean(first, second) if measures_luck => Some(((first, second), Moments::default())),
            _ => None,
        };
        let test = Sprt::new(hypotheses, 2 * pairs + 1, question.alpha, question.beta);
        SequentialReader { test, scores: Moments::default(), adjusted, pairs }
    }

    fn add(&mut self, score: DealScore) {
        self.test.add(score.halves);
        let (pairs, halves) = (self.pairs as i64, score.halves as i64);
        self.scores.add(pairs, halves);
        if let Some((_, adjusted)) = &mut self.adjusted {
            adjusted.add(pairs, halves * FINE - score.luck.unwrap_or(0));
        }
    }

    fn deals(&self) -> u64 {
        self.scores.clusters
    }

    /// The log likelihood ratio.
    fn ratio(&self) -> f64 {
        let Some((means, adjusted)) = &self.adjusted else { return self.test.ratio() };
        mean_without_luck(adjusted).map_or(0.0, |mean| log_likelihood_ratio_of_mean(&mean, *means))
    }

    fn verdict(&self) -> Verdict {
        self.test.verdict_at(self.deals(), self.ratio())
    }

    /// The result of the test; `matches` is the number of matches per deal.
    fn answer(self, question: &SprtQuestion, matches: u64) -> SprtResult {
        let (deals, ratio) = (self.deals(), self.ratio());
        let SequentialReader { test, scores, adjusted, .. } = self;
        let mut result = SprtResult {
            verdict: test.verdict_at(deals, ratio),
            ratio,
            bounds: test.bounds(),
            deals,
            matches: deals * matches,
            scores,
            adjusted: adjusted.map(|(_, adjusted)| adjusted),
            estimate: None,
            counts: test.counts().to_vec(),
        };
        result.estimate = question.estimate(&result, &test);
        result
    }
}

/// The reason why the test stops reading deals.
enum StopReason {
    Decided,
    Fault(Box<AgentFault>),
}

impl SprtQuestion {
    /// Plays until a hypothesis is accepted. Calls `progress` regularly with the number of deals and the log likelihood ratio.
    ///
    /// # Errors
    /// If the setting is invalid, an agent is at fault, or the executor was cancelled.
    ///
    /// # Determinism
    /// The answer does not depend on the number of threads: deals are evaluated in order, each with all its lineups.
    ///
    /// ```
    /// use cambio_sim::sprt::{EloScale, SprtQuestion};
    /// use cambio_sim::tune::PlaySetting;
    /// use cambio_sim::{Executor, Unit};
    /// use cambio_stats::sprt::Verdict;
    ///
    /// let setting = PlaySetting { unit: Unit::Rounds, ..PlaySetting::default() };
    /// let question =
    ///     SprtQuestion { elo_0: 0.0, elo_1: 50.0, scale: EloScale::Logistic, alpha: 0.05, beta: 0.05, most_deals: 1000 };
    /// let (roster, executor, agents) = (cambio_agents::roster(), Executor::new(1)?, ["greedy", "random"]);
    /// let answer = question.ask(&setting, &roster, &executor, agents, |_, _| ())?;
    /// assert_eq!(answer.verdict, Verdict::Second, "greedy is the better agent");
    /// assert!(answer.deals < 100);
    ///
    /// // Two machines play. Deals after the decision are ignored.
    /// let mut scores = question.scores(&setting, &roster, &executor, agents, 0..100)?;
    /// scores.extend(question.scores(&setting, &roster, &executor, agents, 100..200)?);
    /// assert_eq!(question.answer(&setting, &roster, agents, scores)?, answer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask(
        &self,
        setting: &PlaySetting,
        roster: &Roster,
        executor: &Executor,
        agents: [&str; 2],
        mut progress: impl FnMut(u64, f64),
    ) -> Result<SprtResult, PlayError> {
        let plan = self.plan(setting, roster, agents)?;
        plan.check_agents()?;
        let mut reading = self.reader(&plan);
        let work = |deal, worker: &Worker<'_>| score_of_deal(&plan, deal, worker).transpose();
        // Deals after the decision are ignored, and so are faults on these deals.
        let commit = |reading: &mut SequentialReader, _, score: Result<DealScore, _>| {
            reading.add(score.map_err(StopReason::Fault)?);
            if reading.verdict() == Verdict::Undecided { Ok(()) } else { Err(StopReason::Decided) }
        };
        let look = |reading: &mut SequentialReader, _| {
            progress(reading.deals(), reading.ratio());
            Ok(())
        };
        match executor.run_watched(0..self.most_deals, &mut reading, work, commit, look) {
            Ok(()) | Err(ExecutorError::Failed(StopReason::Decided)) => {}
            Err(ExecutorError::Failed(StopReason::Fault(fault))) => return Err(fault.into()),
            Err(ExecutorError::Cancelled) => return Err(PlayError::Interrupted),
        }
        Ok(reading.answer(self, plan.cells[0].matches_a_deal()))
    }

    fn plan(&self, setting: &PlaySetting, roster: &Roster, agents: [&str; 2]) -> Result<PlayablePlan, PlanError> {
        let experiment = Experiment {
            seed: Some(setting.seed),
            deals: self.most_deals,
            unit: setting.unit,
            luck: setting.luck.only_if(self.scale == EloScale::Logistic, "normalized Elo")?,
            ..Experiment::at(&setting.rules, setting.seats, &agents)
        };
        experiment.plan(roster, &setting.folder)
    }

    fn reader(&self, plan: &PlayablePlan) -> SequentialReader {
        let cell = &plan.cells[0];
        SequentialReader::new(self, pairs_a_deal(cell, cell.lineups.iter(), 0), plan.measures_luck())
    }

    /// Plays a range of deals and returns the first agent's score on each. For tests on several machines; see the example of
    /// [`SprtQuestion::ask`].
    ///
    /// # Errors
    /// The errors of [`SprtQuestion::ask`].
    pub fn scores(
        &self,
        setting: &PlaySetting,
        roster: &Roster,
        executor: &Executor,
        agents: [&str; 2],
        deals: Range<u64>,
    ) -> Result<Vec<DealScore>, PlayError> {
        let plan = self.plan(setting, roster, agents)?;
        plan.check_agents()?;
        let mut found = Vec::new();
        let work = |deal, worker: &Worker<'_>| score_of_deal(&plan, deal, worker).transpose();
        let commit = |found: &mut Vec<DealScore>, _, score: Result<DealScore, Box<AgentFault>>| {
            found.push(score?);
            Ok::<(), Box<AgentFault>>(())
        };
        executor.run_watched(deals, &mut found, work, commit, |_, _| Ok(()))?;
        Ok(found)
    }

    /// Evaluates scores in the order of their deals, from deal 0 on, until a hypothesis is accepted or the scores end. A decided
    /// answer equals the answer of [`SprtQuestion::ask`].
    ///
    /// # Errors
    /// If the setting is invalid.
    pub fn answer(
        &self,
        setting: &PlaySetting,
        roster: &Roster,
        agents: [&str; 2],
        scores: impl IntoIterator<Item = DealScore>,
    ) -> Result<SprtResult, PlayError> {
        let plan = self.plan(setting, roster, agents)?;
        let mut reading = self.reader(&plan);
        for score in scores {
            reading.add(score);
            if reading.verdict() != Verdict::Undecided {
                break;
            }
        }
        Ok(reading.answer(self, plan.cells[0].matches_a_deal()))
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
                .then(|| Steps::of_normal(score.mean, deviation, (score_of_elo(self.elo_0), score_of_elo(self.elo_1)))),
        };
        let stopped =
            |steps| StoppedTest { steps, bounds, mean: score.mean, clusters, first: FIRST_LOOK, ratio }.estimate();
        (deviation > 0.0).then(|| steps.and_then(stopped).unwrap_or(usual))
    }
}

/// The number of pairs of seats, one seat of each agent, in these lineups of a deal. A deal has two lineups if the
/// number of seats is odd.
fn pairs_a_deal<'l>(cell: &Cell, lineups: impl Iterator<Item = &'l Lineup>, agent: usize) -> usize {
    let firsts = lineups.map(|lineup| lineup.agents().iter().filter(|&&other| other == agent).count());
    firsts.map(|first| first * (cell.seats - first) * cell.seatings.len()).sum()
}

/// The first agent's score on a deal; `None` if the worker was stopped.
fn score_of_deal(plan: &PlayablePlan, deal: u64, worker: &Worker<'_>) -> Result<Option<DealScore>, Box<AgentFault>> {
    let lineups = plan.cells[0].lineups.len() as u64;
    let mut sum = DealScore::ZERO;
    for block in (deal * lineups..(deal + 1) * lineups).map(|number| plan.block(number)) {
        if worker.is_stopped() {
            return Ok(None);
        }
        sum = sum.plus(score(&block, &play_block(plan, &block)?.players, [0, 1]));
    }
    Ok(Some(sum))
}

/// The first agent's score in a block. The luck of two seats changes the probability that the first one has the better rank
/// by half of its difference.
fn score(block: &Block<'_>, players: &[PlayerRow<'_>], agents: [usize; 2]) -> DealScore {
    let mut sum = DealScore::ZERO;
    for table in players.chunks_exact(block.cell.seats) {
        let of = |agent| table.iter().filter(move |row| block.agent(row.seat.index(), row.key.rotation) == agent);
        for one in of(agents[0]) {
            for other in of(agents[1]) {
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
