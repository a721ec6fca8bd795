//! Plans, and their blocks in canonical order.

use std::ops::Range;

use cambio_agents::AgentSpec;
use cambio_core::Rules;

use super::experiment::{FaultPolicy, Payoff, Rotations, Unit};
use super::lineups::Lineup;

/// One rule system at one number of seats, and the lineups that play there.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The rules.
    pub rules: Rules,
    /// The number of seats.
    pub seats: usize,
    /// Who meets.
    pub lineups: Vec<Lineup>,
    /// In which seatings: for each rotation, which place of the lineup sits in seat a, b and so on.
    pub seatings: Vec<Vec<usize>>,
}

/// What is played, written out. It can be stored, read back and summed up; a [`PlayablePlan`](super::PlayablePlan) can also be
/// played.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "as the experiment's fields")]
pub struct Plan {
    /// What the experiment is called.
    pub name: String,
    /// The master seed.
    pub seed: u64,
    /// How many deals each lineup plays.
    pub deals: u64,
    /// In which seatings a lineup plays each deal.
    pub rotations: Rotations,
    /// What a deal is played for.
    pub unit: Unit,
    /// What differences, ratings and seat effects are measured in.
    pub payoff: Payoff,
    /// What becomes of a match in which an agent is at fault.
    pub faults: FaultPolicy,
    /// Whether full records are written.
    pub records: bool,
    /// Whether the rows are compressed.
    pub compress: bool,
    /// Whether agents that see hidden cards may take part.
    pub analysis: bool,
    /// Whether ratings take the seat into account.
    pub seat_effects: bool,
    /// The place of the agent whose rating is 0.
    pub anchor: Option<usize>,
    /// The agents.
    pub agents: Vec<PlannedAgent>,
    /// The tables.
    pub cells: Vec<Cell>,
}

/// What rows and reports need to know of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedAgent {
    /// Its spec, as every row carries it.
    pub label: String,
    /// Whether it sees hidden cards.
    pub sees_all: bool,
    /// Whether it decides the same on every machine.
    pub reproducible: bool,
}

impl From<&AgentSpec> for PlannedAgent {
    fn from(spec: &AgentSpec) -> PlannedAgent {
        PlannedAgent { label: spec.to_string(), sees_all: spec.sees_all(), reproducible: spec.is_reproducible() }
    }
}

/// One deal block: a lineup on one deal in all its rotations. The unit of randomness, scheduling and storage.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// Its number in canonical order.
    pub number: u64,
    /// Which cell of the plan.
    pub place: usize,
    /// The cell.
    pub cell: &'p Cell,
    /// Which lineup of the cell.
    pub lineup_place: usize,
    /// Who meets.
    pub lineup: &'p Lineup,
    /// The deal.
    pub deal: u64,
}

impl Block<'_> {
    /// The agent in a seat in this rotation, by its place in [`Plan::agents`].
    pub fn agent(&self, seat: usize, rotation: usize) -> usize {
        self.lineup.agents()[self.cell.seatings[rotation][seat]]
    }

    /// The first rotation before this one in which the same agents sit in the same seats, if there is one: where a lineup
    /// has an agent more than once.
    pub fn twin(&self, rotation: usize) -> Option<usize> {
        let seats = 0..self.cell.seats;
        let is_twin = |&other: &usize| seats.clone().all(|seat| self.agent(seat, other) == self.agent(seat, rotation));
        (0..rotation).find(is_twin)
    }
}

impl Plan {
    /// How many matches are played.
    pub fn matches(&self) -> u64 {
        self.cells.iter().map(|cell| (cell.lineups.len() * cell.seatings.len()) as u64 * self.deals).sum()
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.lineups.len() as u64 * self.deals).sum()
    }

    /// The block with this number in canonical order: by cell, then deal, then lineup.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn block(&self, number: u64) -> Block<'_> {
        let mut left = number;
        for (place, cell) in self.cells.iter().enumerate() {
            let lineups = cell.lineups.len() as u64;
            if left < lineups * self.deals {
                let lineup_place = (left % lineups) as usize;
                let lineup = &cell.lineups[lineup_place];
                return Block { number, place, cell, lineup_place, lineup, deal: left / lineups };
            }
            left -= lineups * self.deals;
        }
        panic!("block {number} of {}", self.block_count())
    }

    /// The blocks in canonical order.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.block_count()).map(|number| self.block(number))
    }

    /// How many blocks a batch has: few enough that little is lost with slow agents, enough that the
    /// ledger stays short. Depends on the plan alone, so that the ledger does as well.
    fn blocks_a_batch(&self) -> u64 {
        let wanted = (self.matches() / 256).clamp(16, 4096);
        let in_block = self.cells.iter().map(|cell| cell.seatings.len()).max().unwrap_or(1) as u64;
        (wanted / in_block).max(1)
    }

    /// How many batches there are.
    pub fn batch_count(&self) -> u64 {
        self.block_count().div_ceil(self.blocks_a_batch())
    }

    /// The blocks of a batch.
    pub fn batch(&self, batch: u64) -> Range<u64> {
        let each = self.blocks_a_batch();
        batch * each..((batch + 1) * each).min(self.block_count())
    }

    /// Whether a lineup has an agent that sees hidden cards.
    pub fn is_analysis(&self, lineup: &Lineup) -> bool {
        lineup.agents().iter().any(|&agent| self.agents[agent].sees_all)
    }

    /// Whether all agents of a lineup decide the same on every machine.
    pub fn is_reproducible(&self, lineup: &Lineup) -> bool {
        lineup.agents().iter().all(|&agent| self.agents[agent].reproducible)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::{Experiment, lock_differences};

    fn experiment(lineups: &str, seats: usize) -> Experiment {
        let text = format!(
            "seed = 1\ndeals = 10\nrules = ['original']\nseats = [{seats}]\n\
             agents = ['random', 'greedy', 'heuristic']\nlineups = {lineups}"
        );
        toml::from_str(&text).unwrap()
    }

    fn labels(lineups: &str, seats: usize) -> Vec<String> {
        let plan = experiment(lineups, seats).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        plan.cells[0].lineups.iter().map(|lineup| lineup.label().to_owned()).collect()
    }

    #[test]
    fn lineups_are_what_their_rule_says() {
        assert_eq!(labels("'compositions'", 2), ["random | greedy", "random | heuristic", "greedy | heuristic"]);
        assert_eq!(labels("'compositions'", 3).len(), 10 - 3);
        let field = "{ field = ['heuristic'] }";
        assert_eq!(labels(field, 3), ["random | heuristic | heuristic", "greedy | heuristic | heuristic"]);
        let own = "{ focal = ['greedy'], field = ['random', 'heuristic'] }";
        assert_eq!(labels(own, 3), ["greedy | random | heuristic"]);
        let pools = "{ pools = [['random', 'greedy'], ['heuristic', 'greedy']] }";
        let expected = ["random | heuristic", "random | greedy", "greedy | heuristic", "greedy | greedy"];
        assert_eq!(labels(pools, 2), expected);
        assert_eq!(labels("{ pools = [['random', 'greedy']] }", 2).len(), 3);
    }

    #[test]
    fn a_plan_is_read_back_from_its_lock_and_differences_are_named() {
        let roster = cambio_agents::roster();
        let mut experiment = experiment("'all'", 3);
        experiment.unit = Unit::Rounds;
        let plan = experiment.plan(&roster, Path::new(".")).unwrap();
        let lock = plan.lock();
        assert_eq!(Plan::unlock(&lock).unwrap().lock(), lock);
        assert!(lock.contains("\"match_end\":\"rounds(1)\""));
        experiment.deals = 11;
        experiment.rules = vec!["original-b".into()];
        let other = experiment.plan(&roster, Path::new(".")).unwrap();
        let found = lock_differences(&lock, &other.lock());
        assert!(found[0] == "`deals` was 10 and is now 11" && found[1].starts_with("`tables[0].rules.name` was "));
        assert!(Plan::unlock(&lock.replace("\"deals\":10", "\"deals\": 10")).is_err());
    }

    #[test]
    fn blocks_come_deal_by_deal_and_lines_cover_them_once() {
        let plan = experiment("'all'", 2).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let keys: Vec<(u64, usize)> = plan.blocks().map(|block| (block.deal, block.lineup_place)).collect();
        assert_eq!(keys[..4], [(0, 0), (0, 1), (0, 2), (1, 0)]);
        let covered: Vec<u64> = (0..plan.batch_count()).flat_map(|batch| plan.batch(batch)).collect();
        assert_eq!(covered, (0..plan.block_count()).collect::<Vec<_>>());
    }
}
