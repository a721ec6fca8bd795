//! The solutions of the empirical game of a cell.

use cambio_exec::Estimate;

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
        let Some(nash) = game.nash() else { return shares };
        let mut rng = resampling(self.plan.seed, streams::GAMES + self.index as u32);
        let games: Vec<_> = (0..RESAMPLES).filter_map(|_| sums.resampled(scale, &mut rng)).collect();
        let solved: Vec<_> = games.iter().filter_map(|game| Some((game.nash()?, game))).collect();
        let scores: Vec<Vec<f64>> = solved.iter().map(|(nash, game)| game.payoffs(nash)).collect();
        let shares_of_resamples: Vec<Vec<f64>> = solved.into_iter().map(|(nash, _)| nash).collect();
        shares.score = Some(estimates(&game.payoffs(&nash), &scores));
        shares.nash = Some(estimates(&nash, &shares_of_resamples));
        shares
    }
}

/// The agents' shares in the equilibrium, and their payoffs against it, by their number in the plan.
#[derive(Default)]
pub(super) struct Shares {
    pub(super) nash: Option<Vec<Estimate>>,
    pub(super) score: Option<Vec<Estimate>>,
}

/// Values with 95 % percentile intervals from resamples.
fn estimates(values: &[f64], resamples: &[Vec<f64>]) -> Vec<Estimate> {
    // Round to nine places, the precision to which the iterations converge.
    let rounded = |value: f64| (value * 1e9).round() / 1e9;
    let estimate = |(index, &value): (usize, &f64)| {
        let mut sorted: Vec<f64> = resamples.iter().map(|resample| resample[index]).collect();
        sorted.sort_by(f64::total_cmp);
        let percentile = |level: f64| {
            let last = sorted.len().checked_sub(1)?;
            Some(rounded(sorted[((level * sorted.len() as f64) as usize).min(last)]))
        };
        Estimate { mean: rounded(value), low: percentile(0.025), high: percentile(0.975), ..Estimate::default() }
    };
    values.iter().enumerate().map(estimate).collect()
}
