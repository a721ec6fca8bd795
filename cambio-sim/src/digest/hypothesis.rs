//! The answer to the hypothesis of an experiment.

use cambio_core::text::noun;
use cambio_stats::{Interval, equivalence, t_quantile};
use serde::Serialize;

use super::Digest;
use crate::plan::{Hypothesis, Plan};

/// The verdict on a [`Hypothesis`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HypothesisVerdict {
    /// Not all of the deals are complete. No difference is shown before, so that it cannot decide when play stops.
    Undecided,
    /// The hypothesis is shown.
    Shown,
    /// The hypothesis is not shown, which does not mean that it is false.
    NotShown,
}

/// The answer to the hypothesis of an experiment, from its first deals.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HypothesisAnswer {
    /// The rules of the table.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The first agent of the pair.
    pub agent: String,
    /// The second agent of the pair.
    pub other: String,
    /// The margin in units of the payoff; 0 for a test of a difference.
    pub margin: f64,
    /// The level of the test.
    pub alpha: f64,
    /// The number of deals that the test reads.
    pub deals: u64,
    /// The number of these deals that are complete.
    pub complete_deals: u64,
    /// The verdict.
    pub verdict: HypothesisVerdict,
    /// The mean payoff of the first agent minus the mean payoff of the second, without the luck of the cards if the run measures it.
    pub difference: Option<f64>,
    /// The lower end of the interval that corresponds to the test: at the level 1 − alpha for a difference, and 1 − 2 alpha
    /// for equivalence.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The p-value: two-sided for a difference, the larger of two one-sided tests for equivalence.
    pub p: Option<f64>,
    /// The unit of the payoff.
    pub unit: &'static str,
}

impl HypothesisAnswer {
    /// The answer from the sums of a plan's rows; `None` if the plan has no hypothesis.
    pub(super) fn of(plan: &Plan, digest: &Digest) -> Option<HypothesisAnswer> {
        let hypothesis = plan.hypothesis.as_ref()?;
        let &Hypothesis { pair: [one, other], table, margin, alpha, deals } = hypothesis;
        let cell = &plan.cells[table];
        let lineups = |cell: &crate::plan::Cell| cell.lineups.len() as u64;
        let before: u64 = plan.cells[..table].iter().map(|cell| lineups(cell) * plan.deals).sum();
        let complete_deals = (digest.blocks.saturating_sub(before) / lineups(cell)).min(deals);
        let is_decided = complete_deals == deals;
        let found = digest.cells.get(table).filter(|_| is_decided).and_then(|cell| cell.tested_difference(hypothesis));
        let p = found.and_then(|found| if margin > 0.0 { equivalence::p_value(&found, margin) } else { found.p(0.0) });
        let level = if margin > 0.0 { 1.0 - alpha } else { 1.0 - alpha / 2.0 };
        let ends = |found: Interval| found.error.and_then(|_| found.ends_at(t_quantile(level, found.freedom())));
        let ends = found.and_then(ends);
        let label = |agent: usize| plan.agents[agent].label.clone();
        Some(HypothesisAnswer {
            rules: cell.rules.name().to_owned(),
            seats: cell.seats,
            agent: label(one),
            other: label(other),
            margin,
            alpha,
            deals,
            complete_deals,
            verdict: match p {
                _ if !is_decided => HypothesisVerdict::Undecided,
                Some(p) if p < alpha => HypothesisVerdict::Shown,
                _ => HypothesisVerdict::NotShown,
            },
            difference: found.map(|found| found.mean),
            low: ends.map(|ends| ends.0),
            high: ends.map(|ends| ends.1),
            p,
            unit: plan.payoff.unit(),
        })
    }

    /// The hypothesis and its answer as two sentences. `name` formats the name of an agent.
    pub fn text(&self, name: impl Fn(&str) -> String) -> String {
        let HypothesisAnswer { rules, seats, margin, alpha, deals, complete_deals, unit, .. } = self;
        let by = if *margin > 0.0 { format!("differ by less than {margin}") } else { "differ".to_owned() };
        let asked = format!(
            "Hypothesis: {} and {} {by} in {unit} ({rules}, {seats} seats, alpha {alpha}, {deals} {}).",
            name(&self.agent),
            name(&self.other),
            noun(*deals, "deal")
        );
        let verdict = match self.verdict {
            HypothesisVerdict::Undecided => {
                return format!("{asked} Undecided: {complete_deals} of {deals} deals are complete.");
            }
            HypothesisVerdict::Shown => "Shown",
            HypothesisVerdict::NotShown => "Not shown",
        };
        let Some(difference) = self.difference else {
            return format!("{asked} {verdict}: the agents have no common deals.");
        };
        let Some((p, (low, high))) = self.p.zip(self.low.zip(self.high)) else {
            return format!("{asked} {verdict}: the difference is {difference:+.4}, and no error can be estimated.");
        };
        let level = 100.0 * (1.0 - if *margin > 0.0 { 2.0 * alpha } else { *alpha });
        let p = if p < 5e-5 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
        format!(
            "{asked} {verdict}: the difference is {difference:+.4}, {level:.4} % interval {low:+.4} to {high:+.4}, {p}."
        )
        .replace(".0000 % interval", " % interval")
    }
}
