//! Plans, and their blocks in canonical order.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use cambio_agents::AgentSpec;
use cambio_core::Rules;
use cambio_core::rng::{Key, Seed};
use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::experiment::{FaultPolicy, Payoff, Rotations, Unit};
use super::lineups::Lineup;

/// The label of figures from which the luck of the cards is not subtracted, and of figures from which it is.
pub(crate) const WITH_LUCK: &str = "with the luck of the cards";
const WITHOUT_LUCK: &str = "without the luck of the cards";

/// One rule system at one number of seats, with its lineups.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The rules.
    pub rules: Rules,
    /// The number of seats.
    pub seats: usize,
    /// The lineups.
    pub lineups: Vec<Lineup>,
    /// The agents that are measured against a field of which they are a part. Only the results of the first agent of a lineup
    /// count towards their means.
    pub focal: Vec<usize>,
    /// The seatings: for each rotation, the index in the lineup of the agent in seat a, b and so on.
    pub seatings: Vec<Vec<usize>>,
    /// The baseline for the luck of the cards; `None` if the luck is not measured.
    pub(crate) baseline: Option<Baseline>,
}

impl Cell {
    /// The lineups in which results count towards the mean of an agent.
    pub(crate) fn lineups_of(&self, agent: usize) -> impl Iterator<Item = &Lineup> {
        let is_focal = self.focal.contains(&agent);
        let counts = move |agents: &[usize]| if is_focal { agents[0] == agent } else { agents.contains(&agent) };
        self.lineups.iter().filter(move |lineup| counts(lineup.agents()))
    }

    /// Whether an agent plays only with copies of itself in all its lineups.
    pub fn is_mirrored(&self, agent: usize) -> bool {
        self.lineups_of(agent).flat_map(Lineup::agents).all(|&other| other == agent)
    }

    /// The agents whose means can be compared: a set of agents with the same opponents, up to an exchange of two of them. The agents of
    /// a fixed field have other opponents than the agents that play against it. Of several such sets, this is the one with the first
    /// agent of the first lineup, or else the largest. Two agents of a cell are always compared, and no set has only one of several.
    pub fn compared(&self) -> Vec<usize> {
        let mut opponents: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
        for agents in self.lineups.iter().map(Lineup::agents) {
            for (place, agent) in agents.iter().enumerate() {
                let counts = place == 0 || !agents[..place].contains(agent) && !self.focal.contains(agent);
                if counts {
                    let others = [&agents[..place], &agents[place + 1..]].concat();
                    opponents.entry(*agent).or_default().push(others);
                }
            }
        }
        if opponents.len() <= 2 {
            return opponents.into_keys().collect();
        }
        let exchanged = |found: &[Vec<usize>], one: usize, other: usize| {
            let moved = |&agent: &usize| match agent {
                agent if agent == one => other,
                agent if agent == other => one,
                agent => agent,
            };
            let mut moved: Vec<Vec<usize>> =
                found.iter().map(|agents| agents.iter().map(moved).sorted_unstable().collect()).collect();
            moved.sort_unstable();
            moved
        };
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (&agent, own) in &opponents {
            let sorted = exchanged(own, agent, agent);
            let fits = |set: &&mut Vec<usize>| {
                let first = &opponents[&set[0]];
                let is_same = |one| exchanged(first, one, agent) == sorted;
                first.len() == own.len() && (is_same(agent) || is_same(set[0]))
            };
            match sets.iter_mut().find(fits) {
                Some(set) => set.push(agent),
                None => sets.push(vec![agent]),
            }
        }
        let first = self.lineups[0].agents()[0];
        sets.retain(|set| set.len() > 1);
        sets.into_iter().rev().max_by_key(|set| (set.contains(&first), set.len())).unwrap_or_default()
    }

    /// Whether this is the cell of a row with these rules and seats.
    pub fn is_of(&self, rules: &str, seats: usize) -> bool {
        self.rules.name() == rules && self.seats == seats
    }

    /// The number of matches on each deal.
    pub(crate) fn matches_a_deal(&self) -> u64 {
        (self.lineups.len() * self.seatings.len()) as u64
    }
}

/// The name of the cell in texts: `classic, 2 seats`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} seats", self.rules.name(), self.seats)
    }
}

/// The maximum number of matches of a plan.
pub(super) const MOST_MATCHES: u128 = 1 << 40;

pub(super) fn matches_in(cells: &[Cell], deals: u64) -> u128 {
    cells.iter().map(|cell| u128::from(cell.matches_a_deal()) * u128::from(deals)).sum()
}

/// A validated and expanded experiment. A plan can be stored, read back and summarised; a
/// [`PlayablePlan`](super::PlayablePlan) can also be played.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::Experiment;
///
/// let experiment = Experiment { deals: 5, ..Experiment::at("classic", 2, &["random", "greedy", "heuristic"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// // Three pairs of agents meet on five deals, in two rotations.
/// assert_eq!((plan.block_count(), plan.matches()), (15, 30));
/// // Every pair plays deal 0 before deal 1 begins.
/// let block = plan.block(3);
/// assert_eq!((block.deal, block.lineup.label()), (1, "random | greedy"));
/// # Ok::<(), cambio_sim::PlanError>(())
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "mirrors the fields of the experiment")]
pub struct Plan {
    /// The version of the program that made the plan. A part of the run id, and kept when a plan is read.
    pub version: String,
    /// The name of the experiment.
    pub name: String,
    /// The seed of the cards and races.
    pub seed: Seed,
    /// The seed of the agents' streams.
    pub agent_seed: Seed,
    /// The number of deals that each lineup plays.
    pub deals: u64,
    /// The seatings in which a lineup plays each deal.
    pub rotations: Rotations,
    /// Whether each deal is played as a match or as a single round.
    pub unit: Unit,
    /// The payoff for differences and seat effects.
    pub payoff: Payoff,
    /// The handling of agents' faults.
    pub faults: FaultPolicy,
    /// Whether full records are written.
    pub records: bool,
    /// Whether the rows are compressed, which this version does not support.
    pub compress: bool,
    /// Whether agents that see hidden cards may take part.
    pub analysis: bool,
    /// Whether ratings include seat effects.
    pub seat_effects: bool,
    /// The number of the agent whose rating is fixed at 0.
    pub anchor: Option<usize>,
    /// The agents.
    pub agents: Vec<PlannedAgent>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The question that the run answers first, if the experiment has one.
    pub hypothesis: Option<Hypothesis>,
}

/// A hypothesis about two agents, which is fixed before the first deal; [`HypothesisSpec`](crate::HypothesisSpec) explains the
/// fields.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, Serialize)]
pub struct Hypothesis {
    /// The numbers of the two agents in [`Plan::agents`].
    pub pair: [usize; 2],
    /// The index of the table in [`Plan::cells`].
    pub table: usize,
    /// The margin.
    pub margin: f64,
    /// The level of the test.
    pub alpha: f64,
    /// The number of deals that the test reads.
    pub deals: u64,
}

/// An agent of a plan, as rows and reports describe it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedAgent {
    /// The agent's name or spec, as written in every row.
    pub label: String,
    /// The agent's spec. It begins with the name if the agent has one.
    pub spec: String,
    /// Whether the agent sees hidden cards.
    pub sees_all: bool,
    /// Whether the agent makes the same decisions on every machine if the seed is the same.
    pub reproducible: bool,
}

impl From<&AgentSpec> for PlannedAgent {
    fn from(spec: &AgentSpec) -> PlannedAgent {
        let (label, reproducible) = (spec.label(), spec.is_reproducible());
        PlannedAgent { label, spec: spec.to_string(), sees_all: spec.sees_all(), reproducible }
    }
}

/// One deal block: a lineup on one deal in all its rotations. The unit of play.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// The number of the block in canonical order.
    pub number: u64,
    /// The index of the cell in the plan.
    pub cell_index: usize,
    /// The cell.
    pub cell: &'p Cell,
    /// The index of the lineup in the cell.
    pub lineup_index: usize,
    /// The lineup.
    pub lineup: &'p Lineup,
    /// The deal.
    pub deal: u64,
}

impl Block<'_> {
    /// The number in [`Plan::agents`] of the agent in this seat in this rotation.
    pub(crate) fn agent(&self, seat: usize, rotation: usize) -> usize {
        self.lineup.agents()[self.cell.seatings[rotation][seat]]
    }

    /// Whether the result in this seat counts towards the mean of its agent.
    pub(crate) fn counts(&self, seat: usize, rotation: usize) -> bool {
        self.cell.seatings[rotation][seat] == 0 || !self.cell.focal.contains(&self.agent(seat, rotation))
    }

    /// The first earlier rotation with the same agents in the same seats, if any. Lineups that contain an agent more
    /// than once have such rotations.
    pub(crate) fn twin(&self, rotation: usize) -> Option<usize> {
        let seats = 0..self.cell.seats;
        let is_twin = |&other: &usize| seats.clone().all(|seat| self.agent(seat, other) == self.agent(seat, rotation));
        (0..rotation).find(is_twin)
    }
}

impl Plan {
    /// The label of figures from which the luck of the cards is not subtracted, to follow their name. Empty if the run does
    /// not measure the luck, because then all figures are alike.
    pub fn with_luck(&self) -> String {
        if self.measures_luck() { format!(", {WITH_LUCK}") } else { String::new() }
    }

    /// The label of figures from which the luck of the cards is subtracted; empty if the run does not measure it.
    pub fn without_luck(&self) -> String {
        if self.measures_luck() { format!(", {WITHOUT_LUCK}") } else { String::new() }
    }

    /// The tables and deals of a batch, as text: `classic, 2 seats, deals 0 to 3`.
    ///
    /// # Panics
    /// If the plan has no such batch.
    pub fn describe(&self, batch: u64) -> String {
        let blocks = self.batch(batch);
        let (first, last) = (self.block(blocks.start), self.block(blocks.end - 1));
        let (one, other) = (first.cell.to_string(), last.cell.to_string());
        if one == other {
            format!("{one}, deals {} to {}", first.deal, last.deal)
        } else {
            format!("{one}, deal {}, to {other}, deal {}", first.deal, last.deal)
        }
    }

    /// Whether the run measures the luck of the cards.
    pub fn measures_luck(&self) -> bool {
        self.cells.iter().any(|cell| cell.baseline.is_some())
    }

    /// The number of the agent with this label, or with this spec if it has a name.
    pub fn agent(&self, text: &str) -> Option<usize> {
        let has_spec = |agent: &PlannedAgent| {
            agent.spec == text || agent.spec.split_once(" = ").is_some_and(|named| named.1 == text)
        };
        let labelled = self.agents.iter().position(|agent| agent.label == text);
        labelled.or_else(|| self.agents.iter().position(has_spec))
    }

    /// The number of the cell with these rules and seats.
    pub fn cell(&self, rules: &str, seats: usize) -> Option<usize> {
        self.cells.iter().position(|cell| cell.is_of(rules, seats))
    }

    /// The seed of the agents' streams as written to files: `None` if it is the default.
    pub(crate) fn said_agent_seed(&self) -> Option<String> {
        (self.agent_seed != Seed::AGENTS).then(|| self.agent_seed.to_string())
    }

    /// The random key from which the cards and the agents' streams of a deal are derived.
    pub(crate) fn key(&self, deal: u64) -> Key {
        Key { seed: self.seed, agents: self.agent_seed, deal }
    }

    /// The number of matches.
    pub fn matches(&self) -> u64 {
        self.cells.iter().map(|cell| cell.matches_a_deal() * self.deals).sum()
    }

    /// The number of blocks.
    pub fn block_count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.lineups.len() as u64 * self.deals).sum()
    }

    /// The block with this number in canonical order: by cell, then deal, then lineup.
    ///
    /// # Panics
    /// If the plan has no such block.
    pub fn block(&self, number: u64) -> Block<'_> {
        let mut left = number;
        for (cell_index, cell) in self.cells.iter().enumerate() {
            let lineups = cell.lineups.len() as u64;
            if left < lineups * self.deals {
                let lineup_index = (left % lineups) as usize;
                let lineup = &cell.lineups[lineup_index];
                return Block { number, cell_index, cell, lineup_index, lineup, deal: left / lineups };
            }
            left -= lineups * self.deals;
        }
        panic!("block {number} of {}", self.block_count())
    }

    /// The labels of the agents of a match, seat a first.
    pub fn seated(&self, block: &Block<'_>, rotation: usize) -> Vec<&str> {
        (0..block.cell.seats).map(|seat| self.agents[block.agent(seat, rotation)].label.as_str()).collect()
    }

    /// The blocks in canonical order.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.block_count()).map(|number| self.block(number))
    }

    /// The number of blocks in a batch: small enough that an interruption loses little work with slow agents, and large
    /// enough that the ledger stays short. The number depends only on the plan, so that the ledger does too.
    fn blocks_a_batch(&self) -> u64 {
        let wanted = (self.matches() / 256).clamp(16, 4096);
        let in_block = self.cells.iter().map(|cell| cell.seatings.len()).max().unwrap_or(1) as u64;
        (wanted / in_block).max(1)
    }

    /// The number of batches, which is the number of lines of the ledger.
    pub fn batch_count(&self) -> u64 {
        self.block_count().div_ceil(self.blocks_a_batch())
    }

    /// The numbers of the blocks of a batch.
    pub(crate) fn batch(&self, batch: u64) -> Range<u64> {
        let each = self.blocks_a_batch();
        batch * each..((batch + 1) * each).min(self.block_count())
    }

    /// The number of matches of some batches.
    pub(crate) fn matches_of(&self, batches: Range<u64>) -> u64 {
        let blocks = self.batch(batches.start).start..self.batch(batches.end).start;
        let (mut from, mut matches) = (0, 0);
        for cell in &self.cells {
            let to = from + cell.lineups.len() as u64 * self.deals;
            let inside = blocks.end.min(to).saturating_sub(blocks.start.max(from));
            matches += inside * cell.seatings.len() as u64;
            from = to;
        }
        matches
    }

    /// Whether agents are timed on this deal. At least 64 deals are timed, or all if there are fewer. In long runs, one deal in
    /// 256 is timed, because reading the clock takes as long as a simple decision.
    pub(crate) fn is_timed(&self, deal: u64) -> bool {
        deal.is_multiple_of((self.deals / 64).clamp(1, 256))
    }

    /// Whether a lineup has an agent that sees hidden cards.
    pub(crate) fn is_analysis(&self, lineup: &Lineup) -> bool {
        lineup.agents().iter().any(|&agent| self.agents[agent].sees_all)
    }

    pub(crate) fn is_reproducible(&self, lineup: &Lineup) -> bool {
        lineup.agents().iter().all(|&agent| self.agents[agent].reproducible)
    }
}

/// The progress of a stored run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedBatches {
    /// The number of batches on disk.
    pub batches: u64,
    /// The number of batches in the plan.
    pub of: u64,
}

impl PlayedBatches {
    /// Whether all batches are on disk.
    pub fn is_whole(self) -> bool {
        self.batches == self.of
    }
}

#[cfg(test)]
mod tests;
