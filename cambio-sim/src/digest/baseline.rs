//! Every agent against one.

use cambio_stats::simultaneous::{Contrasts, Together};
use serde::Serialize;

use super::resampling::resampling;
use super::sums::Digest;
use crate::plan::Plan;

/// Streams of resampling, by cell.
const BASELINE: u32 = 7 << 16;

/// One agent against the baseline at one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct BaselineRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// What it is compared with.
    pub baseline: String,
    /// How many deals have matches of both.
    pub deals: u64,
    /// The difference of their payoffs, agent less baseline, paired by deal.
    pub difference: f64,
    /// Lower end of the interval that holds together with those of all agents of the table.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// The p-value, corrected for all agents of the table.
    pub p: Option<f64>,
    /// How the interval is made: `score`, or `t`.
    pub method: &'static str,
}

/// Compares every agent with one, table by table (Dunnett 1955): fewer comparisons than all pairs, and so narrower intervals.
/// The baseline is an agent's place in the plan; tables at which it has no match are left out.
pub(crate) fn against(plan: &Plan, digest: &Digest, baseline: usize) -> Vec<BaselineRow> {
    let mut rows = Vec::new();
    for (place, (cell, sums)) in plan.cells.iter().zip(&digest.cells).enumerate() {
        let present: Vec<usize> = (0..plan.agents.len()).filter(|&agent| sums.matches(agent) > 0).collect();
        let Some(base) = present.iter().position(|&agent| agent == baseline) else { continue };
        let mut rng = resampling(plan.seed, BASELINE + place as u32);
        let covariance = sums.covariance(&present);
        let together = covariance.and_then(|covariance| Together::new(&covariance, Contrasts::Against(base), &mut rng));
        for &agent in present.iter().filter(|&&agent| agent != baseline) {
            let Some((difference, _)) = sums.difference(agent, baseline) else { continue };
            let ends = together.as_ref().and_then(|together| together.ends(&difference));
            rows.push(BaselineRow {
                rules: cell.rules.name().to_owned(),
                seats: cell.seats,
                agent: plan.agents[agent].label.clone(),
                baseline: plan.agents[baseline].label.clone(),
                deals: difference.clusters,
                difference: difference.mean,
                low: ends.map(|ends| ends.0),
                high: ends.map(|ends| ends.1),
                p: together.as_ref().zip(difference.p(0.0)).map(|(together, p)| together.p(p)),
                method: difference.support.method(),
            });
        }
    }
    rows
}
