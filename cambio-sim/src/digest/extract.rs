//! The data that a digest needs from the rows.

use serde::{Deserialize, Serialize};

use crate::plan::{Block, Payoff, Plan};
use crate::rows::{MatchRow, PlayerRow, QuantitySums};

impl Payoff {
    /// The payoff of a row in integer units; `None` for the margin of a forfeited match.
    pub(crate) fn units(self, row: &PlayerRow<'_>) -> Option<i64> {
        let value = match self {
            Payoff::Points => return Some(row.counts.points),
            Payoff::RankPoints => row.rank_points,
            Payoff::Win => row.win_share,
            Payoff::Margin => row.counts.margin?,
        };
        // The product is an integer up to rounding errors.
        let units = value * self.scale(row.key.seats);
        Some((units + 0.5_f64.copysign(units)) as i64)
    }
}

/// The rank and the payoffs of one seat in a match.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct SeatOutcome {
    pub(super) rank: usize,
    /// The payoffs, in the order of [`Payoff::ALL`].
    pub(super) payoffs: [Option<i64>; 4],
    /// The luck of the cards in millionths of a win; 0 if it is not measured.
    pub(super) luck: i32,
}

/// The number of groups of neighbouring deals, by which the errors of the behaviour are clustered. With fewer deals, each
/// deal is a group.
const GROUPS: u64 = 100;

fn group(plan: &Plan, deal: u64) -> u64 {
    (u128::from(deal) * u128::from(GROUPS) / u128::from(plan.deals.max(GROUPS))) as u64
}

/// The data that a digest needs from the rows of some neighbouring blocks. The worker that played the blocks adds up
/// the behaviour, because the order of addition does not matter. Only the small outcomes must be added in canonical
/// order. All values are integers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Extract {
    /// The measured quantities of the agents, by their numbers in the plan, in each cell and group of deals, with the numbers of the cell and
    /// the group.
    pub(super) behaviour: Vec<(usize, u64, Vec<QuantitySums>)>,
    /// The outcomes, ordered by match in canonical order, then by seat.
    outcomes: Vec<SeatOutcome>,
    /// For each block, the number of outcomes before the block.
    blocks: Vec<usize>,
}

impl Extract {
    pub(crate) fn clear(&mut self) {
        self.behaviour.clear();
        self.outcomes.clear();
        self.blocks.clear();
    }

    pub(crate) fn add(&mut self, plan: &Plan, block: &Block<'_>, matches: &[MatchRow<'_>], players: &[PlayerRow<'_>]) {
        self.blocks.push(self.outcomes.len());
        let (cell, group) = (block.cell_index, group(plan, block.deal));
        if self.behaviour.last().is_none_or(|&(index, last, _)| (index, last) != (cell, group)) {
            self.behaviour.push((cell, group, Vec::new()));
        }
        let (.., behaviour) = self.behaviour.last_mut().expect("an element was just pushed");
        for (row, table) in matches.iter().zip(players.chunks_exact(block.cell.seats)) {
            for (seat, player) in table.iter().enumerate() {
                let agent = block.agent(seat, row.key.rotation);
                if agent >= behaviour.len() {
                    behaviour.resize(agent + 1, QuantitySums::default());
                }
                behaviour[agent].add(player, row.turns);
                let payoffs = Payoff::ALL.map(|payoff| payoff.units(player));
                self.outcomes.push(SeatOutcome { rank: player.rank, payoffs, luck: player.luck.units().unwrap_or(0) });
            }
        }
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = &[SeatOutcome]> {
        let ends = self.blocks.iter().skip(1).copied().chain([self.outcomes.len()]);
        self.blocks.iter().zip(ends).map(|(&from, to)| &self.outcomes[from..to])
    }
}
