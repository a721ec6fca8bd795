//! A sequential test of two agents: plays until it is decided who is better, and no longer.

use cambio_agents::Roster;

use crate::plan::Experiment;
use crate::plan::{Cell, Plan};
use crate::play::{MeasureError, Workers};
use crate::tune::Setting;
use cambio_stats::Moments;
use cambio_stats::sprt::{Hypotheses, Sprt, Verdict, score_of_elo, t_of_normalized_elo};

/// What is tested: that the first agent is better than the second by `elo_0`, against that it is better by `elo_1`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Question {
    /// The first hypothesis.
    pub elo_0: f64,
    /// The second hypothesis.
    pub elo_1: f64,
    /// What Elo means.
    pub scale: Scale,
    /// The probability of accepting the second where the first holds.
    pub alpha: f64,
    /// The probability of accepting the first where the second holds.
    pub beta: f64,
    /// After so many deals it stays undecided.
    pub most_deals: u64,
}

/// What Elo means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// The logistic of the expected pairwise score.
    Logistic,
    /// The expected score over a game's standard deviation, which depends less on luck.
    Normalized,
}

/// How a test came out.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// What it says; undecided if the deals ran out.
    pub verdict: Verdict,
    /// The log likelihood ratio.
    pub ratio: f64,
    /// Its bounds.
    pub bounds: (f64, f64),
    /// How many deals were read.
    pub deals: u64,
    /// How many matches that is.
    pub matches: u64,
    /// The first agent's pairwise scores, in halves. Their mean is biased by stopping when it was extreme.
    pub scores: Moments,
    /// The counts of the deals' means.
    pub counts: Vec<u64>,
}

/// How many deals are played at a time. Those after the decision are not read, so the answer does not depend on it.
const BATCH: u64 = 256;

impl Question {
    /// Plays until it is answered.
    ///
    /// # Errors
    /// If the setting is not allowed or an agent is at fault.
    ///
    /// # Determinism
    /// Deals are read in their order, each with all its lineups at once: the answer does not depend on the number of
    /// threads.
    pub fn ask(
        &self,
        setting: &Setting,
        roster: &Roster,
        workers: &Workers<'_>,
        agents: [&str; 2],
        mut progress: impl FnMut(u64, f64),
    ) -> Result<Answer, MeasureError> {
        let experiment = Experiment {
            seed: setting.seed,
            deals: self.most_deals,
            rules: vec![setting.rules.clone()],
            seats: vec![setting.seats],
            agents: agents.map(str::to_owned).to_vec(),
            unit: setting.unit,
            ..Experiment::default()
        };
        let plan = experiment.plan(roster, &setting.folder)?;
        let pairs = pairs_a_deal(&plan);
        let hypotheses = match self.scale {
            Scale::Logistic => Hypotheses::Mean(score_of_elo(self.elo_0), score_of_elo(self.elo_1)),
            Scale::Normalized => {
                let t = |elo| t_of_normalized_elo(elo, pairs);
                Hypotheses::Normalized(t(self.elo_0), t(self.elo_1))
            }
        };
        let mut test = Sprt::new(hypotheses, 2 * pairs + 1, self.alpha, self.beta);
        let mut scores = Moments::default();
        let mut deals = 0;
        let mut verdict = Verdict::Undecided;
        while deals < self.most_deals && verdict == Verdict::Undecided {
            let end = (deals + BATCH).min(self.most_deals);
            let played: Vec<Result<usize, MeasureError>> = workers.all(deals..end, |deal| halves(&plan, deal, workers));
            for halves in played {
                // Of several faults the first in the order of the deals counts, and none behind the decision.
                let halves = halves?;
                test.add(halves);
                scores.add(pairs as i64, halves as i64);
                deals += 1;
                verdict = test.verdict();
                if verdict != Verdict::Undecided {
                    break;
                }
            }
            progress(deals, test.ratio());
        }
        let matches = deals * (plan.cells[0].lineups.len() * plan.cells[0].seatings.len()) as u64;
        let (ratio, bounds, counts) = (test.ratio(), test.bounds(), test.counts().to_vec());
        Ok(Answer { verdict, ratio, bounds, deals, matches, scores, counts })
    }
}

/// How many pairs of seats with both agents a deal has: in all its lineups, of which an odd number of seats has two.
fn pairs_a_deal(plan: &Plan) -> usize {
    let Cell { seats, lineups, seatings, .. } = &plan.cells[0];
    let firsts = lineups.iter().map(|lineup| lineup.agents().iter().filter(|agent| **agent == 0).count());
    firsts.map(|first| first * (seats - first) * seatings.len()).sum()
}

/// The first agent's pairwise score on a deal, in halves.
fn halves(plan: &Plan, deal: u64, workers: &Workers<'_>) -> Result<usize, MeasureError> {
    let lineups = plan.cells[0].lineups.len() as u64;
    let mut halves = 0;
    for block in (deal * lineups..(deal + 1) * lineups).map(|number| plan.block(number)) {
        let rows = workers.play(plan, &block)?;
        for table in rows.players.chunks_exact(block.cell.seats) {
            for one in table.iter().filter(|row| block.agent(row.seat.index(), row.rotation) == 0) {
                for other in table.iter().filter(|row| block.agent(row.seat.index(), row.rotation) == 1) {
                    halves += match one.rank.cmp(&other.rank) {
                        std::cmp::Ordering::Less => 2,
                        std::cmp::Ordering::Equal => 1,
                        std::cmp::Ordering::Greater => 0,
                    };
                }
            }
        }
    }
    Ok(halves)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::plan::{Payoff, Unit};

    /// At an odd number of seats a deal has two lineups. To read them as two deals would take what they share for
    /// evidence twice.
    #[test]
    fn a_deal_counts_once_however_many_lineups_it_has() {
        let stop = AtomicBool::new(false);
        let workers = Workers::new(2, &stop).unwrap();
        for (seats, matches, pairs) in [(2, 2, 2), (3, 6, 12), (4, 4, 16), (5, 10, 60)] {
            let setting = Setting {
                rules: "classic".into(),
                folder: PathBuf::new(),
                seats,
                unit: Unit::Match,
                payoff: Payoff::RankPoints,
                seed: 4,
            };
            let question =
                Question { elo_0: 0.0, elo_1: 1.0, scale: Scale::Normalized, alpha: 1e-9, beta: 1e-9, most_deals: 10 };
            let ask = |agents| question.ask(&setting, &cambio_agents::roster(), &workers, agents, |_, _| ()).unwrap();
            let answer = ask(["greedy", "random"]);
            assert_eq!((answer.deals, answer.matches), (10, 10 * matches), "{seats} seats");
            assert_eq!((answer.scores.clusters, answer.scores.results()), (10, 10 * pairs));
            assert_eq!(answer.counts.len(), 2 * pairs as usize + 1);
            let (own, other) = (answer.scores.interval(2.0).unwrap(), ask(["random", "greedy"]).scores.interval(2.0));
            assert!(own.mean > 0.6 && (own.mean + other.unwrap().mean - 1.0).abs() < 1e-12, "{}", own.mean);
        }
    }
}
