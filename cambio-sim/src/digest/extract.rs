//! The parts of rows that a digest needs.

use super::behaviour::CellBehaviour;
use crate::plan::{Block, Payoff};
use crate::rows::{MatchRow, PlayerRow, RoundRow};

impl Payoff {
    /// The payoff of a row as a whole number of a unit; `None` of a margin in a match that was forfeited.
    pub(crate) fn units(self, row: &PlayerRow<'_>) -> Option<i64> {
        let value = match self {
            Payoff::Points => return Some(row.points),
            Payoff::RankPoints => row.rank_points,
            Payoff::Win => row.win,
            Payoff::Margin => row.margin?,
        };
        // It differs from a whole number by rounding alone.
        let units = value * self.scale(row.seats);
        Some((units + 0.5_f64.copysign(units)) as i64)
    }
}

/// What one seat got from a match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) rank: usize,
    /// In the order of [`Payoff::ALL`].
    pub(super) payoffs: [Option<i64>; 4],
}

/// What a digest needs of the rows of some neighbouring blocks. The worker that played them sums up behaviour, which can be
/// added in any order. Only the small outcomes are left to be added in canonical order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extract {
    /// The numbers of cells, and the behaviour in each.
    pub(super) behaviour: Vec<(usize, CellBehaviour)>,
    /// The outcomes by match in canonical order, then by seat.
    outcomes: Vec<Outcome>,
    /// For each block, the number of outcomes before it.
    blocks: Vec<usize>,
}

impl Extract {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.behaviour.clear();
        self.outcomes.clear();
        self.blocks.clear();
    }

    /// Takes the rows of the next block.
    pub(crate) fn add(
        &mut self,
        block: &Block<'_>,
        matches: &[MatchRow<'_>],
        rounds: &[RoundRow<'_>],
        players: &[PlayerRow<'_>],
    ) {
        self.blocks.push(self.outcomes.len());
        if self.behaviour.last().is_none_or(|(place, _)| *place != block.place) {
            self.behaviour.push((block.place, CellBehaviour::default()));
        }
        let (_, behaviour) = self.behaviour.last_mut().expect("it was just pushed");
        for row in rounds {
            behaviour.add_round(block, row);
        }
        for (row, table) in matches.iter().zip(players.chunks_exact(block.cell.seats)) {
            for (seat, player) in table.iter().enumerate() {
                behaviour.of(block.agent(seat, row.rotation)).sums.add(player, row.turns);
                let payoffs = Payoff::ALL.map(|payoff| payoff.units(player));
                self.outcomes.push(Outcome { rank: player.rank, payoffs });
            }
        }
    }

    /// The outcomes of each block.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[Outcome]> {
        let ends = self.blocks.iter().skip(1).copied().chain([self.outcomes.len()]);
        self.blocks.iter().zip(ends).map(|(&from, to)| &self.outcomes[from..to])
    }
}
