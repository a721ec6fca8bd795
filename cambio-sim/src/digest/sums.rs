//! The sums of payoffs, with the luck of the cards or without it.

use cambio_stats::{Interval, Joint, Matrix, Moments, Support};

use crate::plan::{Cell, Payoff, Plan};

/// The sums of payoffs in a cell, either with the luck of the cards or without it.
#[derive(Clone, Debug)]
pub struct PayoffSums {
    pub(super) agents: usize,
    pub(super) seats: usize,
    /// The plan's payoff.
    pub(super) payoff: Payoff,
    /// The number of units of a sum in one unit of the payoff: 1, or `FINE` without the luck.
    units: i64,
    /// For each agent, whether it plays only against copies of itself, so that its mean payoff is fixed.
    pub(super) is_mirrored: Vec<bool>,
    /// For each agent, the sums of each payoff in the order of [`Payoff::ALL`].
    pub(super) payoffs: Vec<[Moments; 4]>,
    /// The sums of the plan's payoff for each agent, then for each seat if the luck is included, and their products by
    /// deal.
    pub(super) joint: Joint,
    /// The pairwise scores of the first agent of each pair, in halves, clustered by deal. Without the luck they are known
    /// at two seats only.
    pub(super) duels: Vec<Moments>,
}

impl PayoffSums {
    pub(super) fn new(plan: &Plan, cell: &Cell, units: i64, quantities: usize) -> PayoffSums {
        let agents = plan.agents.len();
        PayoffSums {
            agents,
            seats: cell.seats,
            payoff: plan.payoff,
            units,
            is_mirrored: (0..agents).map(|agent| cell.is_mirrored(agent)).collect(),
            payoffs: vec![[Moments::default(); 4]; agents],
            joint: Joint::new(quantities),
            duels: vec![Moments::default(); agents * agents],
        }
    }

    /// Whether the luck of the cards is subtracted.
    pub(crate) fn is_adjusted(&self) -> bool {
        self.units != 1
    }

    fn scale(&self, payoff: Payoff) -> f64 {
        payoff.scale(self.seats) * self.units as f64
    }

    fn support(&self, support: Support) -> Support {
        if self.is_adjusted() { support.without_luck() } else { support }
    }

    /// Whether an agent's mean payoff does not depend on the deals, because it plays only against copies of itself.
    pub(super) fn is_fixed(&self, agent: usize, payoff: Payoff) -> bool {
        self.is_mirrored[agent] && payoff != Payoff::Points
    }

    /// An agent's mean payoff; `None` without a match. Exact for an agent that plays only against copies of itself.
    pub fn payoff(&self, agent: usize, payoff: Payoff) -> Option<Interval> {
        let support = self.support(payoff.support());
        let found = self.payoffs[agent][payoff as usize].interval(self.scale(payoff), support)?;
        Some(if self.is_fixed(agent, payoff) { exact(found) } else { found })
    }

    /// The difference of two agents' mean payoffs, paired by deal, and the efficiency of the pairing: the fraction of
    /// the variance that pairing removes.
    pub fn difference(&self, first: usize, second: usize) -> Option<(Interval, Option<f64>)> {
        let (scale, support) = (self.scale(self.payoff), self.support(self.payoff.support_of_difference()));
        let (mut found, efficiency) = self.joint.difference(first, second, scale, support)?;
        if !self.is_fixed(first, self.payoff) || !self.is_fixed(second, self.payoff) {
            return Some((found, efficiency));
        }
        // The joint sums without luck contain the rounding of the luck of copies of an agent, which add up to 0.
        found.mean = self.payoff(first, self.payoff)?.mean - self.payoff(second, self.payoff)?.mean;
        Some((exact(found), efficiency))
    }

    /// The covariance matrix of these agents' mean payoffs; `None` with fewer than two deals.
    pub fn covariance(&self, agents: &[usize]) -> Option<Matrix> {
        let scale = self.scale(self.payoff);
        let mut matrix = Matrix::zeros(agents.len(), agents.len());
        for (i, &one) in agents.iter().enumerate() {
            for (j, &other) in agents.iter().enumerate() {
                matrix[(i, j)] = self.joint.covariance(one, other)? / (scale * scale);
            }
        }
        Some(matrix)
    }

    /// The mean pairwise score of two agents, with the number of scores; `first` is the agent with the lower number.
    pub(crate) fn score(&self, first: usize, second: usize) -> &Moments {
        &self.duels[first * self.agents + second]
    }

    /// The interval of [`PayoffSums::score`]; `None` if the agents never met.
    pub(crate) fn score_interval(&self, first: usize, second: usize) -> Option<Interval> {
        self.score(first, second).interval(2.0 * self.units as f64, self.support(Support::Share))
    }
}

/// The same mean without sampling error, if there are enough deals for an interval.
fn exact(found: Interval) -> Interval {
    if found.clusters > 1 { Interval::exact(found.mean, found.clusters) } else { found }
}
