//! The value of an agent's decisions, compared with a policy that also plays all other seats.

use std::ops::ControlFlow;

use cambio_agents::{
    AdvantageEstimator, AgentSpec, Blueprint, BlueprintName, Guarded, PolicyAgent, Roster, WordEnum as _,
};
use cambio_core::rng::{Key, Purpose, Seed};
use cambio_core::{Agent, MatchSetup, Phase, Rules, Seat, play_match};
use cambio_exec::Worker;
use cambio_stats::{Interval, Moments, Support};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::plan::Unit;
use crate::play::PlayError;
use crate::study::{Stage, StudyDriver, StudyError, TableOptions, in_range, lock_of};

/// Rounds between an agent in one seat and a policy in all other seats. Each deal is played in every seat.
///
/// The gain, which is the agent's win share minus an equal share, is estimated twice: from the results, and from the
/// advantages of the agent's decisions ([`AdvantageEstimator`]). The second estimate does not contain the luck of the
/// cards.
///
/// ```
/// use cambio_sim::{AdvantageOptions, Executor, StudyDriver};
///
/// let options =
///     AdvantageOptions { agent: "random".into(), over: "sharp".into(), deals: 20, playouts: 20, ..AdvantageOptions::default() };
/// let executor = Executor::new(1)?;
/// let worth = options.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ()))?;
/// assert!(worth.decisions.mean < 0.0 && worth.results.mean < 0.0, "a random player is the worse one");
/// assert!(worth.asked.iter().any(|asked| asked.what == "a held card" && asked.otherwise > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AdvantageOptions {
    /// The agent whose decisions are measured
    pub agent: String,
    /// The policy to compare with, which also plays in the other seats: `learned`, or a heuristic such as `sharp`
    #[cfg_attr(feature = "clap", arg(long, value_name = "POLICY", default_value_t = Self::default().over))]
    pub over: String,
    /// The table. Each match is a single round.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub table: TableOptions,
    /// The number of deals; each is played once with the agent in each seat
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().deals))]
    pub deals: u64,
    /// The number of playouts after each of the two decisions, wherever the agent and the policy differ
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().playouts))]
    pub playouts: u32,
}

impl Default for AdvantageOptions {
    fn default() -> AdvantageOptions {
        let (agent, over, table) = (String::new(), "learned".to_owned(), TableOptions::default());
        AdvantageOptions { agent, over, table, deals: 1000, playouts: 200 }
    }
}

/// The value of an agent's decisions. All intervals are 95 %, clustered by deal, in win shares per round.
#[derive(Clone, PartialEq, Debug)]
pub struct AdvantageResult {
    /// The options.
    pub options: AdvantageOptions,
    /// The name of the rules.
    pub rules: String,
    /// The agent, as written in rows.
    pub agent: String,
    /// The number of deals; fewer than planned if the measurement was interrupted.
    pub deals: u64,
    /// The gain, which is the agent's win share minus an equal share, estimated from the results.
    pub results: Interval,
    /// The same gain, estimated from the agent's decisions.
    pub decisions: Interval,
    /// The same gain by kind of decision, for all kinds that occurred, in the order of a round.
    pub asked: Vec<DecisionKindAdvantage>,
}

impl AdvantageResult {
    /// The result as an object, for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let interval = |interval: &Interval| json!({ "mean": interval.mean, "half_width": interval.half_width() });
        let kind = |kind: &DecisionKindAdvantage| {
            json!({
                "decision": kind.what, "times_per_round": kind.times, "differs_per_round": kind.otherwise,
                "advantage": interval(&kind.advantage),
            })
        };
        let AdvantageResult { options, rules, agent, deals, .. } = self;
        json!({
            "rules": rules, "seats": options.table.seats(), "agent": agent, "over": options.over, "deals": deals,
            "playouts": options.playouts, "seed": options.table.seed("advantage").to_string(),
            "results": interval(&self.results), "decisions": interval(&self.decisions),
            "asked": self.asked.iter().map(kind).collect::<Vec<_>>(),
        })
    }
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
#[derive(Clone, Copy, Default, Debug, Deserialize, Serialize)]
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

    fn worth(&self, options: &AdvantageOptions, rules: &Rules, agent: String) -> AdvantageResult {
        let (deals, seats) = (self.results.clusters, options.table.seats());
        let rounds = deals * seats as u64;
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
        let (results, decisions) = (interval(&self.results, whole), interval(&self.decisions, whole));
        AdvantageResult {
            options: options.clone(),
            rules: rules.name().to_owned(),
            agent,
            deals,
            results,
            decisions,
            asked,
        }
    }
}

impl AdvantageOptions {
    /// Plays the deals.
    ///
    /// # Errors
    /// If an option is invalid, the policy cannot play these rules, an agent is at fault (the first such deal is reported), or
    /// play was interrupted before the first deal was finished.
    ///
    /// # Determinism
    /// The result does not depend on the number of threads.
    pub fn run(&self, roster: &Roster, driver: &mut StudyDriver<'_>) -> Result<AdvantageResult, StudyError> {
        self.table.check()?;
        in_range("deals", self.deals, 1, 1_000_000_000)?;
        in_range("playouts", self.playouts.into(), 1, 1_000_000)?;
        let agent = roster.player(&self.agent)?;
        let over = BlueprintName::named(&self.over).map(BlueprintName::policy).ok_or_else(|| {
            let (allowed, over) = (BlueprintName::WORDS.join(", "), cambio_core::text::excerpt(&self.over));
            StudyError::Option("over", format!("must be one of {allowed}, found `{over}`"))
        })?;
        let (named, seats, seed) = (self.table.read_rules()?, self.table.seats(), self.table.seed("advantage"));
        let rules = Unit::Rounds.of(named);
        rules.covers(seats).map_err(|error| StudyError::Option("seats", error.to_string()))?;
        let identity = rules.spec().to_json().to_string();
        driver.begin(&lock_of("advantage", self, &identity))?;
        let round = Round { rules: &rules, seats, agent: &agent, over: &over, playouts: self.playouts, seed };
        let part = |deal, seat: usize, _: &Worker<'_>| Some(round.play(deal, Seat::ALL[seat]));
        let add = |totals: &mut DealTotals, seats: &[RoundSums]| {
            totals.add(seats);
            ControlFlow::Continue(())
        };
        let status = |_: &DealTotals, played| Some(format!("{played} of {} deals", self.deals));
        let stage = Stage { request: String::new(), deals: 0..self.deals, parts: seats };
        let mut totals = DealTotals::default();
        driver.play(stage, &mut totals, part, add, status)?;
        if totals.results.clusters == 0 {
            return Err(PlayError::Interrupted.into());
        }
        Ok(totals.worth(self, &named, agent.to_string()))
    }
}

/// The rounds of an experiment.
struct Round<'a> {
    rules: &'a Rules,
    seats: usize,
    agent: &'a AgentSpec,
    over: &'a Blueprint,
    playouts: u32,
    seed: Seed,
}

impl Round<'_> {
    /// Plays a round with the agent in this seat.
    fn play(&self, deal: u64, seat: Seat) -> Result<RoundSums, StudyError> {
        let (rules, key) = (self.rules, Key::new(self.seed, deal));
        // The agents' own streams have other random keys, so this stream is independent of theirs.
        let stream = key.stream(Purpose::Agent, seat.index() as u32);
        let over = self.over.clone();
        let mut advantage =
            AdvantageEstimator::new(over, rules, self.seats, seat, self.playouts, stream).map_err(StudyError::Task)?;
        let mut agents: Vec<Guarded<Box<dyn Agent>>> = Vec::with_capacity(self.seats);
        for other in Seat::ALL.into_iter().take(self.seats) {
            agents.push(Guarded::new(if other == seat {
                self.agent.make()
            } else {
                Box::new(PolicyAgent::new(self.over.clone()))
            }));
        }
        let match_setup = MatchSetup { rules: *rules, seats: self.seats, key };
        let failed = |error| StudyError::of_match(self.agent, deal, seat, error);
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
