//! Behaviour: what agents did, summed up.

use cambio_stats::histogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::plan::Block;
use crate::rows::{RoundRow, Sums};

/// What one agent did in a cell. All parts are sums, so the order of the matches does not matter.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Behaviour {
    /// The sums of the measured quantities.
    pub sums: Sums,
    /// The turns in which the agent made the first call of a round, counted over all seats.
    pub call_turns: Histogram,
    /// The points of its layout at the end of each round.
    pub points: Histogram,
}

/// What all agents did in a cell.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct CellBehaviour {
    /// The behaviour of each agent, by its number in the plan.
    pub agents: Vec<Behaviour>,
    /// The number of rounds.
    pub rounds: u64,
    /// The number of rounds in which somebody called.
    pub called: u64,
}

impl CellBehaviour {
    pub(super) fn of(&mut self, agent: usize) -> &mut Behaviour {
        if agent >= self.agents.len() {
            self.agents.resize(agent + 1, Behaviour::default());
        }
        &mut self.agents[agent]
    }

    pub(super) fn add_round(&mut self, block: &Block<'_>, row: &RoundRow<'_>) {
        self.rounds += 1;
        for (seat, &points) in row.points.iter().enumerate() {
            self.of(block.agent(seat, row.key.rotation)).points.add(i64::from(points));
        }
        if let (Some(caller), Some(turn)) = (row.callers.first(), row.call_turn) {
            self.called += 1;
            self.of(block.agent(caller.index(), row.key.rotation)).call_turns.add(i64::from(turn));
        }
    }

    pub(super) fn merge(&mut self, other: &CellBehaviour) {
        self.rounds += other.rounds;
        self.called += other.called;
        for (agent, behaviour) in other.agents.iter().enumerate() {
            let sum = self.of(agent);
            sum.sums += &behaviour.sums;
            sum.call_turns.merge(&behaviour.call_turns);
            sum.points.merge(&behaviour.points);
        }
    }
}
