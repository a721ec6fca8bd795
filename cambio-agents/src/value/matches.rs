//! The values of matches: the chance of each seat to win a match, computed from the totals.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cambio_core::rng::Bounded as _;
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::{Best, MatchEnd, Score as ScoreKnob};
use cambio_core::{Rules, Score, Seat};

use super::iteration::ValueTable;
use super::logistic::{Sample, exponential, slope};
use super::rounds::{RoundOutcome, SEED, sample};
use crate::bits::Bits;

/// Matches to more points than this use the fitted curve, because they have too many pairs of totals.
const LARGEST: u16 = 200;

/// The number of stages that a match is divided into.
const STAGES: usize = 10;

/// The chance of each seat to win a match, from the totals and the starter of the next round.
///
/// # Provenance
/// The distribution of round scores comes from 20,000 rounds with the default heuristic in every seat, under a fixed
/// seed. For two seats and a match to a total of points, value iteration over all pairs of totals gives the chances
/// (Bellman 1957). Otherwise a logistic curve is fitted to matches drawn from the same rounds: the chance of a seat is
/// proportional to exp(−β total), with one β for each tenth of the match. Cards and looks that a round carries over to
/// the next one are ignored.
///
/// # Examples
/// ```
/// use cambio_agents::MatchValues;
/// use cambio_core::{Rules, Score, Seat};
///
/// let values = MatchValues::of(&Rules::preset("original").unwrap(), 2);
/// let chances = values.chances(&[Score::points(10), Score::points(40)], Seat::A, 3);
/// assert!(chances[0] > 0.8 && (chances[0] + chances[1] - 1.0).abs() < 0.02);
/// ```
#[derive(Clone, Debug)]
pub struct MatchValues {
    seats: usize,
    fewest_wins: bool,
    end: MatchEnd,
    /// The value table, for two seats and a match to a total of points.
    table: Option<ValueTable>,
    /// For all other matches: the fitted β for each stage.
    slopes: Vec<f64>,
}

impl MatchValues {
    /// The values of matches with these rules and this number of seats. They are computed once per process, in well
    /// under a second.
    ///
    /// # Panics
    /// If the rules do not allow this number of seats.
    pub fn of(rules: &Rules, seats: usize) -> Arc<MatchValues> {
        type MatchValueCache = BTreeMap<(String, usize), Arc<MatchValues>>;
        static MADE: OnceLock<Mutex<MatchValueCache>> = OnceLock::new();
        let made = MADE.get_or_init(Mutex::default);
        let key = (rules.spec().to_json().to_string(), seats);
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(key).or_insert_with(|| Arc::new(MatchValues::compute(rules, seats))))
    }

    fn compute(rules: &Rules, seats: usize) -> MatchValues {
        let spec = rules.spec();
        let mut values = MatchValues {
            seats,
            fewest_wins: spec.best == Best::Fewest,
            end: spec.match_end,
            table: None,
            slopes: Vec::new(),
        };
        if spec.match_end == MatchEnd::Rounds(1) {
            return values;
        }
        let outcomes = sample(rules, seats);
        match spec.match_end {
            MatchEnd::Total(most)
                if seats == 2 && most <= LARGEST && spec.score == ScoreKnob::Points && values.fewest_wins =>
            {
                values.table = Some(ValueTable::compute(&outcomes, i32::from(most)));
            }
            _ => values.slopes = values.fit(&outcomes),
        }
        values
    }

    /// The chance of each seat, seat a first, to win the match.
    ///
    /// `totals` are the scores after `rounds` rounds, and `starter` starts the next round. Seats that win with equal
    /// totals share the win.
    pub fn chances(&self, totals: &[Score], starter: Seat, rounds: usize) -> [f64; MAX_SEATS] {
        if self.is_over(totals, rounds) {
            return self.shares(totals);
        }
        let mut chances = [0.0; MAX_SEATS];
        let points = |seat: usize| totals[seat].units().div_euclid(Score::UNITS);
        if let Some(table) = &self.table {
            for (seat, chance) in chances[..2].iter_mut().enumerate() {
                *chance = table.chance(points(seat), points(1 - seat), starter.index() == seat);
            }
            return chances;
        }
        let slope = self.slopes.get(self.stage(totals, rounds)).copied().unwrap_or(0.0);
        let sign = if self.fewest_wins { -1.0 } else { 1.0 };
        let best = self.best(totals);
        for (chance, total) in chances.iter_mut().zip(totals) {
            let behind = f64::from(total.units() - best) / f64::from(Score::UNITS);
            *chance = exponential(sign * slope * behind);
        }
        // Summed in playing order, so that the last bit does not depend on the letters of the seats.
        let all: f64 = starter.round(totals.len()).map(|seat| chances[seat.index()]).sum();
        for chance in &mut chances[..totals.len()] {
            *chance /= all;
        }
        chances
    }

    fn is_over(&self, totals: &[Score], rounds: usize) -> bool {
        match self.end {
            MatchEnd::Total(most) => totals.iter().any(|&total| total >= Score::points(i32::from(most))),
            MatchEnd::Rounds(number) => rounds >= usize::from(number),
        }
    }

    fn best(&self, totals: &[Score]) -> i32 {
        let units = totals.iter().map(|total| total.units());
        if self.fewest_wins { units.min() } else { units.max() }.unwrap_or(0)
    }

    fn shares(&self, totals: &[Score]) -> [f64; MAX_SEATS] {
        let best = self.best(totals);
        let winners = totals.iter().filter(|total| total.units() == best).count();
        let mut shares = [0.0; MAX_SEATS];
        for (share, total) in shares.iter_mut().zip(totals) {
            *share = if total.units() == best { 1.0 / winners as f64 } else { 0.0 };
        }
        shares
    }

    /// The stage of the match, from 0.
    fn stage(&self, totals: &[Score], rounds: usize) -> usize {
        match self.end {
            MatchEnd::Total(most) => {
                let highest = totals.iter().map(|total| total.units() / Score::UNITS).max().unwrap_or(0);
                (highest * STAGES as i32 / i32::from(most).max(1)).clamp(0, STAGES as i32 - 1) as usize
            }
            MatchEnd::Rounds(number) => (rounds * STAGES / usize::from(number).max(1)).min(STAGES - 1),
        }
    }

    /// Fits β for each stage to simulated matches, whose rounds are drawn from `outcomes`.
    fn fit(&self, outcomes: &[RoundOutcome]) -> Vec<f64> {
        const MATCHES: u32 = 3000;
        const MOST_ROUNDS: usize = 1000;
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); STAGES];
        let mut bits = Bits::new(SEED, 1_u32);
        let sign = if self.fewest_wins { -1.0 } else { 1.0 };
        for _ in 0..MATCHES {
            let mut totals = vec![Score::default(); self.seats];
            let mut starter = Seat::A;
            let mut seen = Vec::new();
            let mut rounds = 0;
            while !self.is_over(&totals, rounds) && rounds < MOST_ROUNDS {
                let best = self.best(&totals);
                let mut behind = [0.0; MAX_SEATS];
                for (behind, total) in behind.iter_mut().zip(&totals) {
                    *behind = sign * f64::from(total.units() - best) / f64::from(Score::UNITS);
                }
                seen.push((self.stage(&totals, rounds), behind));
                let RoundOutcome { added, next } = outcomes[bits.below(outcomes.len() as u32) as usize];
                for (seat, score) in starter.round(self.seats).zip(added) {
                    totals[seat.index()] = totals[seat.index()] + score;
                }
                starter = starter.ahead(next, self.seats);
                rounds += 1;
            }
            let shares = self.shares(&totals);
            for (stage, behind) in seen {
                samples[stage].push((behind, shares));
            }
        }
        samples.iter().map(|samples| slope(samples, self.seats)).collect()
    }
}
