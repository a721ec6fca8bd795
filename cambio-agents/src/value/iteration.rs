//! Value iteration for two seats and a match to a total of points: the chance to win from every pair of totals.

use std::collections::BTreeMap;

use cambio_core::Score;

use super::rounds::RoundOutcome;

/// The lowest total in the table; lower totals are clamped to this value.
const LOWEST: i32 = -30;

/// The chance of a seat to win a match, by its total, the other seat's total, and whether it starts the next round.
#[derive(Clone, Debug)]
pub(super) struct ValueTable {
    width: usize,
    values: Vec<f64>,
}

impl ValueTable {
    /// Computes the table of a match to `most` points (Bellman 1957). Each sweep begins with the highest totals, so
    /// that a few sweeps converge.
    pub(super) fn compute(outcomes: &[RoundOutcome], most: i32) -> ValueTable {
        const SWEEPS: usize = 8;
        let width = (most - LOWEST).max(1) as usize;
        let mut table = ValueTable { width, values: vec![0.5; width * width * 2] };
        let mut distinct: BTreeMap<(i32, i32, usize), f64> = BTreeMap::new();
        for RoundOutcome { added, next } in outcomes {
            let points = |index: usize| added[index].units().div_euclid(Score::UNITS);
            *distinct.entry((points(0), points(1), *next)).or_default() += 1.0 / outcomes.len() as f64;
        }
        let mut pairs: Vec<(i32, i32)> =
            (LOWEST..most).flat_map(|own| (LOWEST..most).map(move |other| (own, other))).collect();
        pairs.sort_by_key(|(own, other)| -(own + other));
        for _ in 0..SWEEPS {
            for &(own, other) in &pairs {
                for starts in [false, true] {
                    let mut value = 0.0;
                    for (&(first, second, next), weight) in &distinct {
                        let (mine, theirs) = if starts { (first, second) } else { (second, first) };
                        let (own, other) = (own + mine, other + theirs);
                        // `next` counts from the starter, so 0 means that the starter also starts the next round.
                        let starts_next = (next == 0) == starts;
                        value += weight
                            * if own >= most || other >= most {
                                if own == other { 0.5 } else { f64::from(u8::from(own < other)) }
                            } else {
                                table.chance(own, other, starts_next)
                            };
                    }
                    let index = table.index(own, other, starts);
                    table.values[index] = value;
                }
            }
        }
        table
    }

    /// The chance to win the match for a seat with `own` points against a seat with `other` points.
    pub(super) fn chance(&self, own: i32, other: i32, starts: bool) -> f64 {
        self.values[self.index(own, other, starts)]
    }

    fn index(&self, own: i32, other: i32, starts: bool) -> usize {
        let clamp = |total: i32| (total - LOWEST).clamp(0, self.width as i32 - 1) as usize;
        (clamp(own) * self.width + clamp(other)) * 2 + usize::from(starts)
    }
}
