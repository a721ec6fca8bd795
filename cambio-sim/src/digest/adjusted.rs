//! Payoffs without the luck of the cards.

use cambio_stats::{ControlVariate, Interval, Moments, Support};

use super::sums::PayoffSums;
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
    pub(super) sums: PayoffSums,
    /// One control variate for each payoff, in the order of [`Payoff::ALL`].
    controls: [ControlVariate; 4],
    /// The number and the sum of each agent's payoffs, with their luck, in the deals that have ended.
    earlier: Vec<[(i64, i64); 4]>,
    luck: Vec<Moments>,
    /// The luck of each agent in the deal that is being read.
    pub(super) open: Vec<i64>,
}

impl Adjusted {
    pub(super) fn new(sums: PayoffSums) -> Adjusted {
        let (agents, seats) = (sums.agents, sums.seats);
        Adjusted {
            sums,
            controls: Payoff::ALL.map(|payoff| ControlVariate::new(payoff.luck_coefficient(seats))),
            earlier: vec![[(0, 0); 4]; agents],
            luck: vec![Moments::default(); agents],
            open: vec![0; agents],
        }
    }

    /// The plan's payoff of one match without its luck.
    pub(super) fn of_match(&self, payoff: i64, luck: i32) -> i64 {
        let coefficient = self.controls[self.sums.payoff as usize].coefficient();
        without_luck(payoff, coefficient * share_of(luck.into()) * self.sums.payoff.scale(self.sums.seats))
    }

    /// Ends a deal, with the number of results and the sum of each agent's payoffs. Returns the sums of its
    /// adjusted payoffs. The luck is not subtracted from a fixed payoff, because copies of an agent share it.
    pub(super) fn end_deal(&mut self, sums: &[[(i64, i64); 4]]) -> Vec<[i64; 4]> {
        let (mut counts, mut joint) = (vec![0; sums.len()], vec![0; sums.len()]);
        let mut adjusted = vec![[0; 4]; sums.len()];
        for payoff in Payoff::ALL {
            let (index, scale) = (payoff as usize, payoff.scale(self.sums.seats));
            let control = &mut self.controls[index];
            let coefficient = control.coefficient();
            for (agent, payoffs) in sums.iter().enumerate() {
                let ((known, sum), luck) = (payoffs[index], self.open[agent]);
                let share = share_of(luck);
                let fine = without_luck(sum, coefficient * share * scale);
                let own = if self.sums.is_fixed(agent, payoff) { sum * FINE } else { fine };
                self.sums.payoffs[agent][index].add(known, own);
                let (count, before) = &mut self.earlier[agent][index];
                if *count > 0 {
                    let mean = *before as f64 / *count as f64 / scale;
                    control.add(share, sum as f64 / scale - known as f64 * mean);
                }
                (*count, *before) = (*count + known, *before + sum);
                adjusted[agent][index] = own;
                if payoff == self.sums.payoff {
                    (counts[agent], joint[agent]) = (known, fine);
                }
                if payoff == Payoff::RankPoints {
                    self.luck[agent].add(known, luck);
                }
            }
            control.end_cluster();
        }
        self.sums.joint.add(&counts, &joint);
        self.open.fill(0);
        adjusted
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
