//! What agents did, summed up.

use cambio_stats::histogram::Histogram;

use crate::plan::Block;
use crate::rows::{RoundRow, Sums};

/// What an agent did: sums that do not mind the order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Doing {
    /// The measured quantities, summed.
    pub sums: Sums,
    /// The turns of the table in which it called first.
    pub call_turns: Histogram,
    /// The points of its layouts at the ends of rounds.
    pub points: Histogram,
}

/// What was done in a cell.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Doings {
    /// By agent.
    pub agents: Vec<Doing>,
    /// How many rounds there were.
    pub rounds: u64,
    /// How many of them somebody called.
    pub called: u64,
}

impl Doings {
    pub(super) fn of(&mut self, agent: usize) -> &mut Doing {
        if agent >= self.agents.len() {
            self.agents.resize(agent + 1, Doing::default());
        }
        &mut self.agents[agent]
    }

    pub(super) fn add_round(&mut self, block: &Block<'_>, row: &RoundRow<'_>) {
        self.rounds += 1;
        for (seat, &points) in row.points.as_slice().iter().take(block.cell.seats).enumerate() {
            self.of(block.agent(seat, row.rotation)).points.add(i64::from(points));
        }
        if let (Some(caller), Some(turn)) = (row.callers.first(), row.call_turn) {
            self.called += 1;
            self.of(block.agent(caller.index(), row.rotation)).call_turns.add(i64::from(turn));
        }
    }

    pub(super) fn merge(&mut self, other: &Doings) {
        self.rounds += other.rounds;
        self.called += other.called;
        for (agent, doing) in other.agents.iter().enumerate() {
            let sum = self.of(agent);
            sum.sums += &doing.sums;
            sum.call_turns.merge(&doing.call_turns);
            sum.points.merge(&doing.points);
        }
    }
}
