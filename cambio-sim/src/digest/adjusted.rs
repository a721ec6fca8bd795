//! Payoffs without the luck of the cards.

use cambio_stats::{ControlVariate, Interval, Joint, Matrix, Moments, Support};

use crate::plan::Payoff;
use crate::rows::LuckShare;

/// The number of units of an adjusted payoff in one unit of the payoff.
pub(crate) const FINE: i64 = 1_000_000;

/// The sums of the adjusted payoffs of a cell: the payoffs minus the luck of the cards, times a coefficient.
///
/// The luck is measured as a share of the win. For another payoff it is a control variate, with one coefficient for all
/// agents of the cell.
#[derive(Clone, Debug)]
pub(super) struct Adjusted {
    seats: usize,
    payoff: Payoff,
    /// One control variate for each payoff, in the order of [`Payoff::ALL`].
    controls: [ControlVariate; 4],
    payoffs: Vec<[Moments; 4]>,
    /// The number and the sum of each agent's payoffs, with their luck, in the deals that have ended.
    earlier: Vec<[(i64, i64); 4]>,
    /// The adjusted payoffs of the plan's payoff, and their products by deal.
    joint: Joint,
    luck: Vec<Moments>,
    /// The luck of each agent in the deal that is being read.
    pub(super) open: Vec<i64>,
}

impl Adjusted {
    pub(super) fn new(agents: usize, seats: usize, payoff: Payoff) -> Adjusted {
        Adjusted {
            seats,
            payoff,
            controls: Payoff::ALL.map(|payoff| ControlVariate::new(payoff.luck_coefficient(seats))),
            payoffs: vec![[Moments::default(); 4]; agents],
            earlier: vec![[(0, 0); 4]; agents],
            joint: Joint::new(agents),
            luck: vec![Moments::default(); agents],
            open: vec![0; agents],
        }
    }

    /// The plan's payoff of one match without its luck.
    pub(super) fn of_match(&self, payoff: i64, luck: i32) -> i64 {
        let coefficient = self.controls[self.payoff as usize].coefficient();
        without_luck(payoff, coefficient * share_of(luck.into()) * self.payoff.scale(self.seats))
    }

    /// Ends a deal, with the number of results and the sum of each agent's payoffs. Returns the sums of its
    /// adjusted payoffs.
    pub(super) fn end_deal(&mut self, sums: &[[(i64, i64); 4]]) -> Vec<[i64; 4]> {
        let (mut counts, mut adjusted) = (vec![0; sums.len()], vec![[0; 4]; sums.len()]);
        for payoff in Payoff::ALL {
            let (index, scale) = (payoff as usize, payoff.scale(self.seats));
            let control = &mut self.controls[index];
            let coefficient = control.coefficient();
            for (agent, payoffs) in sums.iter().enumerate() {
                let ((known, sum), luck) = (payoffs[index], self.open[agent]);
                let share = share_of(luck);
                let fine = without_luck(sum, coefficient * share * scale);
                self.payoffs[agent][index].add(known, fine);
                let (count, before) = &mut self.earlier[agent][index];
                if *count > 0 {
                    let mean = *before as f64 / *count as f64 / scale;
                    control.add(share, sum as f64 / scale - known as f64 * mean);
                }
                (*count, *before) = (*count + known, *before + sum);
                adjusted[agent][index] = fine;
                if payoff == self.payoff {
                    counts[agent] = known;
                }
                if payoff == Payoff::RankPoints {
                    self.luck[agent].add(known, luck);
                }
            }
            control.end_cluster();
        }
        let joint: Vec<i64> = adjusted.iter().map(|own| own[self.payoff as usize]).collect();
        self.joint.add(&counts, &joint);
        self.open.fill(0);
        adjusted
    }

    fn scale(&self, payoff: Payoff) -> f64 {
        payoff.scale(self.seats) * FINE as f64
    }

    pub(super) fn payoff(&self, agent: usize, payoff: Payoff) -> Option<Interval> {
        self.payoffs[agent][payoff as usize].interval(self.scale(payoff), payoff.support().without_luck())
    }

    pub(super) fn difference(&self, first: usize, second: usize) -> Option<(Interval, Option<f64>)> {
        let support = self.payoff.support_of_difference().without_luck();
        self.joint.difference(first, second, self.scale(self.payoff), support)
    }

    pub(super) fn covariance(&self, agents: &[usize]) -> Option<Matrix> {
        covariances(&self.joint, agents, self.scale(self.payoff))
    }

    /// The mean luck of an agent, as a share of the win.
    pub(super) fn luck(&self, agent: usize) -> Option<Interval> {
        self.luck[agent].interval(f64::from(LuckShare::UNITS), Support::Line)
    }
}

/// The explanation of shares for which [`is_beyond`] holds.
pub const BEYOND: &str = "A share below 0 or above 1 is possible because the subtracted luck is an estimate; the expected share is \
    between 0 and 1.";

/// Whether a mean share or an end of its interval is below 0 or above 1, because luck was subtracted.
pub fn is_beyond(mean: f64, ends: Option<(f64, f64)>) -> bool {
    let (low, high) = ends.unwrap_or((mean, mean));
    [mean, low, high].iter().any(|value| !(-1e-9..=1.0 + 1e-9).contains(value))
}

/// Luck in its units as a share of the win.
pub(crate) fn share_of(luck: i64) -> f64 {
    luck as f64 / f64::from(LuckShare::UNITS)
}

/// A sum of payoffs minus what the luck added to it, in the units of adjusted payoffs.
pub(crate) fn without_luck(sum: i64, added: f64) -> i64 {
    sum * FINE - (added * FINE as f64).round_ties_even() as i64
}

/// The covariance matrix of these means in units of `1 / scale`; `None` with fewer than two deals.
pub(super) fn covariances(joint: &Joint, agents: &[usize], scale: f64) -> Option<Matrix> {
    let mut matrix = Matrix::zeros(agents.len(), agents.len());
    for (i, &one) in agents.iter().enumerate() {
        for (j, &other) in agents.iter().enumerate() {
            matrix[(i, j)] = joint.covariance(one, other)? / (scale * scale);
        }
    }
    Some(matrix)
}
