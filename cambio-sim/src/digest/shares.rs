//! The solutions of the empirical game of a cell.

use super::derived::CellSums;
use super::{resampling, streams};
use crate::plan::Payoff;

/// The number of bootstrap resamples for the intervals of an empirical game.
pub const RESAMPLES: usize = 1000;

impl CellSums<'_> {
    /// The agents' shares in the solutions of the empirical game, with bootstrap intervals over deals.
    pub(super) fn shares(&self) -> Shares {
        let mut shares = Shares::default();
        let scale = Payoff::RankPoints.scale(self.seat_count());
        let Some((sums, game)) = self.cell.game.as_ref().and_then(|sums| Some((sums, sums.game(scale)?))) else {
            return shares;
        };
        shares.nash = game.nash();
        let mut rng = resampling(self.plan.seed, streams::GAMES + self.index as u32);
        let games: Vec<_> = (0..RESAMPLES).filter_map(|_| sums.resampled(scale, &mut rng)).collect();
        let solved: Vec<_> = games.iter().filter_map(|game| Some((game.nash()?, game))).collect();
        let scores: Vec<Vec<f64>> = solved.iter().map(|(nash, game)| game.payoffs(nash)).collect();
        let nash: Vec<Vec<f64>> = solved.into_iter().map(|(nash, _)| nash).collect();
        shares.score = shares.nash.as_ref().map(|nash| game.payoffs(nash));
        shares.score_low = percentile(&scores, 0.025);
        shares.score_high = percentile(&scores, 0.975);
        shares.nash_low = percentile(&nash, 0.025);
        shares.nash_high = percentile(&nash, 0.975);
        shares
    }
}

/// The shares of the agents in each solution, by their number in the plan.
#[derive(Default)]
pub(super) struct Shares {
    pub(super) nash: Option<Vec<f64>>,
    pub(super) nash_low: Option<Vec<f64>>,
    pub(super) nash_high: Option<Vec<f64>>,
    pub(super) score: Option<Vec<f64>>,
    pub(super) score_low: Option<Vec<f64>>,
    pub(super) score_high: Option<Vec<f64>>,
}

fn percentile(samples: &[Vec<f64>], level: f64) -> Option<Vec<f64>> {
    let size = samples.first()?.len();
    let of = |index: usize| {
        let mut values: Vec<f64> = samples.iter().map(|sample| sample[index]).collect();
        values.sort_by(f64::total_cmp);
        values[((level * values.len() as f64) as usize).min(values.len() - 1)]
    };
    Some((0..size).map(of).collect())
}
