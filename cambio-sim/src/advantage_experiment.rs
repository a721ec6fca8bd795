//! The value of an agent's decisions, compared with a policy that also plays all other seats.

use cambio_agents::{AdvantageEstimator, AgentSpec, Blueprint, Guarded, PolicyAgent};
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Agent, MatchSetup, Phase, Rules, Seat, play_match};
use cambio_exec::Executor;
use cambio_stats::{Interval, Moments, Support};

use crate::plan::Unit;
use crate::play::{RoundError, play_rounds};

/// Rounds between an agent in one seat and a policy in all other seats. Each deal is played in every seat.
///
/// The gain, which is the agent's win share minus an equal share, is estimated twice: from the results, and from the
/// advantages of the agent's decisions ([`AdvantageEstimator`]). The second estimate does not contain the luck of the
/// cards.
///
/// ```
/// use cambio_agents::{Blueprint, Preset};
/// use cambio_core::Rules;
/// use cambio_sim::{AdvantageExperiment, Executor};
///
/// let (rules, agent) = (Rules::preset("classic")?, cambio_agents::roster().parse("random")?);
/// let over = Blueprint::Heuristic(Preset::Sharp.params());
/// let advantages = AdvantageExperiment { rules: &rules, seats: 2, agent: &agent, over: &over, deals: 20, playouts: 20, seed: 1.into() };
/// let worth = advantages.play(&Executor::new(1)?, |_| ())?;
/// assert!(worth.decisions.mean < 0.0 && worth.results.mean < 0.0, "a random player is the worse one");
/// assert!(worth.asked.iter().any(|asked| asked.what == "a held card" && asked.otherwise > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdvantageExperiment<'a> {
    /// The rules. Each match is a single round.
    pub rules: &'a Rules,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: &'a AgentSpec,
    /// The policy in all other seats, which is also the reference for the agent's decisions.
    pub over: &'a Blueprint,
    /// The number of deals.
    pub deals: u64,
    /// The number of playouts for each of the two decisions, if agent and policy decide differently.
    pub playouts: u32,
    /// The seed of the deals.
    pub seed: cambio_core::rng::Seed,
}

/// The value of an agent's decisions. All intervals are 95 %, clustered by deal, in win shares per round.
#[derive(Clone, PartialEq, Debug)]
pub struct AdvantageResult {
    /// The gain, which is the agent's win share minus an equal share, estimated from the results.
    pub results: Interval,
    /// The same gain, estimated from the agent's decisions.
    pub decisions: Interval,
    /// The same gain by kind of decision, for all kinds that occurred, in the order of a round.
    pub asked: Vec<DecisionKindAdvantage>,
}

/// The value of an agent's decisions of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct DecisionKindAdvantage {
    /// The kind of decision.
    pub what: &'static str,
    /// The number of decisions per round.
    pub times: f64,
    /// The number of decisions per round that differ from the policy's decision.
    pub otherwise: f64,
    /// The sum of the decisions' advantages per round.
    pub advantage: Interval,
}

/// Win shares are summed as integer multiples of 1 / `UNITS`.
const UNITS: f64 = 1e6;

/// The kinds of decisions, in the order of a round.
const ASKED: [&str; 9] = [
    "the first peeks",
    "a turn's start",
    "a held card",
    "a step of a power",
    "a snap window",
    "a gift",
    "after a snap",
    "a card to show",
    "a turn's end",
];

/// The kind of decision that a seat makes in this phase, in words.
///
/// ```
/// assert_eq!(cambio_sim::decision_kind(cambio_core::Phase::Window), "a snap window");
/// ```
pub fn decision_kind(phase: Phase) -> &'static str {
    ASKED[index(phase)]
}

fn index(phase: Phase) -> usize {
    match phase {
        Phase::Peek => 0,
        Phase::Start => 1,
        Phase::Held(_) => 2,
        Phase::Power => 3,
        Phase::Window => 4,
        Phase::Gift => 5,
        Phase::Chain => 6,
        Phase::Show => 7,
        Phase::Close | Phase::Over => 8,
    }
}

/// The sums of one round with the agent in one seat.
#[derive(Clone, Copy, Default, Debug)]
struct RoundSums {
    results: i64,
    /// For each kind: the numbers of decisions and of decisions unlike the policy's, and the sum of their advantages.
    asked: [(u64, u64, i64); ASKED.len()],
}

#[derive(Clone, Copy, Default, Debug)]
struct DealTotals {
    results: Moments,
    decisions: Moments,
    asked: [(u64, u64, Moments); ASKED.len()],
}

impl DealTotals {
    fn add(&mut self, seats: &[RoundSums]) {
        let each = seats.len() as i64;
        self.results.add(each, seats.iter().map(|sums| sums.results).sum());
        self.decisions.add(each, seats.iter().flat_map(|sums| &sums.asked).map(|&(.., worth)| worth).sum());
        for (index, total) in self.asked.iter_mut().enumerate() {
            let asked = || seats.iter().map(|sums| sums.asked[index]);
            total.0 += asked().map(|(asked, ..)| asked).sum::<u64>();
            total.1 += asked().map(|(_, otherwise, _)| otherwise).sum::<u64>();
            total.2.add(each, asked().map(|(.., worth)| worth).sum());
        }
    }

    fn worth(&self, rounds: u64, seats: usize) -> AdvantageResult {
        let interval = |moments: &Moments, support: Support| {
            moments.interval(UNITS, support).unwrap_or_else(|| Interval::new(0.0, None, 0, support))
        };
        // The gains of all decisions together are a win share minus an equal share.
        let par = 1.0 / seats as f64;
        let whole = Support::MeanWithin(-par, 1.0 - par);
        let a_round = |number: u64| number as f64 / rounds.max(1) as f64;
        let of_kind =
            |(&what, (times, otherwise, moments)): (&&'static str, &(u64, u64, Moments))| DecisionKindAdvantage {
                what,
                times: a_round(*times),
                otherwise: a_round(*otherwise),
                advantage: interval(moments, Support::Line),
            };
        let asked = ASKED.iter().zip(&self.asked).filter(|(_, asked)| asked.0 > 0).map(of_kind).collect();
        AdvantageResult { results: interval(&self.results, whole), decisions: interval(&self.decisions, whole), asked }
    }
}

impl AdvantageExperiment<'_> {
    /// The maximum number of deals that the command and the Python package accept.
    pub const MOST_DEALS: u64 = 1_000_000_000;

    /// Plays the deals. Calls `progress` with the number of finished deals about ten times a second.
    ///
    /// # Errors
    /// If the policy cannot play these rules; if an agent is at fault (the first such deal is reported); or if the
    /// executor was cancelled.
    ///
    /// # Determinism
    /// The result does not depend on the number of threads.
    pub fn play(&self, executor: &Executor, progress: impl FnMut(u64)) -> Result<AdvantageResult, RoundError> {
        let rules = Unit::Rounds.of(*self.rules);
        let round = |deal, seat| self.round(&rules, deal, seat);
        let mut totals = DealTotals::default();
        play_rounds(executor, (self.deals, self.seats), &mut totals, round, DealTotals::add, progress)?;
        Ok(totals.worth(self.deals * self.seats as u64, self.seats))
    }

    /// Plays a round with the agent in this seat.
    fn round(&self, rules: &Rules, deal: u64, seat: Seat) -> Result<RoundSums, RoundError> {
        let key = Key::new(self.seed, deal);
        // The agents' own streams have other random keys, so this stream is independent of theirs.
        let stream = key.stream(Purpose::Agent, seat.index() as u32);
        let over = self.over.clone();
        let mut advantage = AdvantageEstimator::new(over, rules, self.seats, seat, self.playouts, stream)
            .map_err(RoundError::Policy)?;
        let mut agents: Vec<Guarded<Box<dyn Agent>>> = Vec::with_capacity(self.seats);
        for other in Seat::ALL.into_iter().take(self.seats) {
            agents.push(Guarded::new(if other == seat {
                self.agent.make()
            } else {
                Box::new(PolicyAgent::new(self.over.clone()))
            }));
        }
        let match_setup = MatchSetup { rules: *rules, seats: self.seats, key };
        let failed = |error| RoundError::Round(deal, seat, error);
        let result = play_match(&match_setup, &mut agents, &mut advantage).map_err(failed)?;
        let winners = result.ranks.iter().filter(|&&rank| rank == 1).count();
        let share = if result.ranks[seat.index()] == 1 { 1.0 / winners as f64 } else { 0.0 };
        let mut sums = RoundSums { results: units(share - 1.0 / self.seats as f64), ..RoundSums::default() };
        for decided in advantage.decided() {
            let (asked, otherwise, worth) = &mut sums.asked[index(decided.phase)];
            *asked += 1;
            *otherwise += u64::from(decided.differs);
            *worth += units(decided.advantage);
        }
        Ok(sums)
    }
}

fn units(share: f64) -> i64 {
    (share * UNITS).round() as i64
}
