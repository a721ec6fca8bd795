//! The verdict on a table: which agent leads, by how much, and whether the lead is significant.

use std::collections::{BTreeMap, BTreeSet};

use cambio_sim::{Derived, Estimate, PairRow, Payoff, Plan, PlayedBatches, SummaryRow};
use serde_json::json;

use crate::numbers::{number, p_figure, plus_minus};
use crate::page::prose;

/// The agents of one table, the best mean first; then the agents that have other opponents.
pub(super) struct RankedAgents<'a> {
    pub(super) payoff: Payoff,
    pub(super) agents: Vec<RankedAgent<'a>>,
    pairs: BTreeMap<(&'a str, &'a str), &'a PairRow>,
    /// The labels of the agents that are compared.
    compared: BTreeSet<&'a str>,
    /// Whether every agent meets only copies of itself.
    is_mirror: bool,
}

pub(super) struct RankedAgent<'a> {
    pub(super) label: &'a str,
    /// The number of the agent in the plan.
    pub(super) index: usize,
    pub(super) mean: &'a Estimate,
    pub(super) summary: &'a SummaryRow,
    /// Whether the agent has the same opponents as the others, up to an exchange.
    pub(super) is_compared: bool,
    /// Whether the agent leads or is not distinguishable from the leader.
    pub(super) is_among_best: bool,
}

impl<'a> RankedAgents<'a> {
    pub(super) fn new(plan: &Plan, index: usize, derived: &'a Derived) -> RankedAgents<'a> {
        let table = &plan.cells[index];
        let compared = table.compared();
        let agent = |summary: &'a SummaryRow| {
            let index = plan.agent(&summary.agent)?;
            let mean = summary.leading(plan.payoff)?;
            let is_compared = compared.contains(&index);
            Some(RankedAgent { label: &summary.agent, index, mean, summary, is_compared, is_among_best: false })
        };
        let here = derived.summary.iter().filter(|row| table.is_of(&row.rules, row.seats));
        let mut agents: Vec<RankedAgent<'a>> = here.filter_map(agent).collect();
        let sign = plan.payoff.sign();
        agents.sort_by(|one, other| {
            let by_mean = (sign * other.mean.mean).total_cmp(&(sign * one.mean.mean));
            other.is_compared.cmp(&one.is_compared).then(by_mean)
        });
        let pairs = derived.pairwise.iter().filter(|row| table.is_of(&row.rules, row.seats));
        let pairs = pairs.map(|row| ((row.agent.as_str(), row.other.as_str()), row)).collect();
        let compared = agents.iter().filter(|agent| agent.is_compared).map(|agent| agent.label).collect();
        let is_mirror = (0..plan.agents.len()).all(|agent| table.is_mirrored(agent));
        let mut ranked = RankedAgents { payoff: plan.payoff, agents, pairs, compared, is_mirror };
        let leader = ranked.agents.first().map(|agent| agent.label);
        let is_level = |agent: &RankedAgent<'a>| {
            let gap = leader.filter(|leader| *leader != agent.label).and_then(|leader| ranked.gap(leader, agent.label));
            agent.is_compared && ranked.compares() && gap.is_none_or(|gap| gap.side().is_eq())
        };
        let level: Vec<bool> = ranked.agents.iter().map(is_level).collect();
        for (agent, is_among_best) in ranked.agents.iter_mut().zip(level) {
            agent.is_among_best = is_among_best;
        }
        ranked
    }

    /// The row of a pair of agents, and whether the row has the two agents in reversed order.
    fn pair(&self, one: &str, other: &str) -> Option<(&'a PairRow, bool)> {
        let straight = self.pairs.get(&(one, other)).map(|row| (*row, false));
        straight.or_else(|| self.pairs.get(&(other, one)).map(|row| (*row, true)))
    }

    /// The difference of two agents' payoffs, first minus second; `None` for agents that are not compared.
    pub(super) fn gap(&self, one: &str, other: &str) -> Option<Estimate> {
        let are_compared = self.compared.contains(one) && self.compared.contains(other);
        let (row, is_turned) = self.pair(one, other).filter(|_| are_compared)?;
        Some(row.leading().scaled(if is_turned { -1.0 } else { 1.0 }))
    }

    /// A sentence for captions of scores that says whether they contain the luck of the cards; empty if it is not measured.
    pub(super) fn luck_of_scores(&self, plan: &Plan) -> String {
        if self.pairs.values().any(|row| row.score_adjusted.is_some()) {
            return " The luck of the cards is subtracted.".to_owned();
        }
        let label = plan.with_luck();
        if label.is_empty() { label } else { format!(" The scores are {}.", label.trim_start_matches(", ")) }
    }

    /// The score of one agent against another and the ends of its interval, without the luck of the cards if the run
    /// measures it for pairs.
    pub(super) fn score(&self, one: &str, other: &str) -> Option<(f64, Option<(f64, f64)>)> {
        let (row, is_turned) = self.pair(one, other)?;
        let (mean, ends) = row.leading_score().map(|score| (score.mean, score.ends()))?;
        Some(if is_turned { (1.0 - mean, ends.map(|(low, high)| (1.0 - high, 1.0 - low))) } else { (mean, ends) })
    }

    /// The rank of the agent at this index, with the mark `=` if agents share it; `†` for an agent with other opponents.
    pub(super) fn rank(&self, index: usize) -> String {
        if !self.agents[index].is_compared {
            return "†".to_owned();
        }
        let own = self.agents[index].summary.rank;
        let ranks = self.compared().iter().map(|agent| agent.summary.rank);
        let are_equal = ranks.clone().filter(|rank| *rank == own).count() > 1;
        format!("{}{}", 1 + ranks.filter(|rank| *rank < own).count(), if are_equal { "=" } else { "" })
    }

    /// The agents that are compared.
    pub(super) fn compared(&self) -> &[RankedAgent<'a>] {
        &self.agents[..self.compared.len()]
    }

    /// Whether some agents have other opponents than those that are compared.
    pub(super) fn has_others(&self) -> bool {
        self.compared().len() < self.agents.len()
    }

    /// Describes how the leader depends on the field: its rank without one of the other agents, and the agent that scores above one
    /// half against each other agent. `None` for two agents.
    pub(super) fn field(&self) -> Option<String> {
        let [leader, others @ ..] = &self.agents[..] else { return None };
        (self.compares() && !self.has_others() && others.len() > 1).then_some(())?;
        let scores = |one: &RankedAgent<'a>| {
            let others = self.agents.iter().filter(|other| other.index != one.index);
            others.map(|other| Some(self.score(one.label, other.label)?.0)).collect::<Option<Vec<f64>>>()
        };
        let scores: Option<Vec<Vec<f64>>> = self.agents.iter().map(scores).collect();
        let wins = |scores: &Vec<Vec<f64>>| scores.iter().position(|own| own.iter().all(|score| *score > 0.5));
        let values = json!({
            "agents": self.agents.len(),
            "leader": leader.label,
            "worst": leader.summary.rank_worst_without_one,
            "has_scores": scores.is_some(),
            "winner": scores.as_ref().and_then(wins).map(|index| self.agents[index].label),
        });
        Some(prose("field", values))
    }

    /// The number of pairs that are tested together.
    pub(super) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn compares(&self) -> bool {
        self.compared().len() > 1 && !(self.is_mirror && self.payoff != Payoff::Points)
    }

    /// The agents that are not distinguishable from the leader.
    pub(super) fn rivals(&self) -> Vec<&RankedAgent<'a>> {
        self.agents.iter().skip(1).filter(|agent| agent.is_among_best).collect()
    }

    /// A mean with its interval.
    pub(super) fn told(&self, mean: &Estimate) -> String {
        plus_minus(mean.mean, mean.ends(), self.payoff.digits())
    }

    /// By how much the first agent is better than the second, and the simultaneous interval.
    pub(super) fn told_gap(&self, gap: &Estimate) -> (String, Option<String>) {
        let (sign, digits) = (self.payoff.sign(), self.payoff.digits());
        let interval = gap.simultaneous.map(|(low, high)| {
            let (low, high) = if sign < 0.0 { (-high, -low) } else { (low, high) };
            format!("{} to {}", number(low, digits), number(high, digits))
        });
        (number(sign * gap.mean, digits), interval)
    }

    /// Describes the significance of a gap in this many deals: the simultaneous interval, its method, and the p-value.
    fn assurance(&self, deals: u64, gap: &Estimate) -> String {
        let (p, interval) = gap.p_simultaneous.map(p_value).zip(self.told_gap(gap).1).unzip();
        let values = json!({
            "p": p, "interval": interval, "method": gap.method, "deals": deals, "is_constant": gap.p.is_none(),
            "pairs": self.pair_count()
        });
        prose("assurance", values)
    }

    /// Describes which agent leads, and whether its lead is significant.
    pub(super) fn verdict(&self, extent: PlayedBatches) -> String {
        let (leader, rivals) = (self.agents.first(), self.rivals());
        let other = rivals.first().copied().or(self.agents.get(1));
        let gap = leader.zip(other).and_then(|(leader, other)| self.gap(leader.label, other.label));
        let deals = leader.zip(other).and_then(|(leader, other)| self.pair(leader.label, other.label));
        let deals = deals.map_or(0, |(row, _)| row.deals);
        let shown_gap = gap.as_ref().zip(other).map(
            |(gap, other)| json!({ "by": self.told_gap(gap).0, "other": other.label, "is_zero": gap.mean == 0.0 }),
        );
        let values = json!({
            "agents": self.compared().len(),
            "others": self.agents[self.compared().len()..].iter().map(|agent| agent.label).collect::<Vec<_>>(),
            "compares": self.compares(),
            "is_partial": !extent.is_whole(),
            "leader": leader.map(|leader| leader.label),
            "mean": leader.map(|leader| self.told(leader.mean)),
            "unit": self.payoff.unit(),
            "more": if self.payoff == Payoff::Points { "fewer" } else { "more" },
            "behind": self.compared().len().saturating_sub(1 + rivals.len()),
            "rivals": rivals.iter().map(|agent| agent.label).collect::<Vec<_>>(),
            "gap": shown_gap,
            "assurance": gap.as_ref().map(|gap| self.assurance(deals, gap)),
        });
        prose("verdict", values)
    }
}

pub(super) fn p_value(p: f64) -> String {
    let figure = p_figure(Some(p));
    if figure.starts_with('<') { format!("p {figure}") } else { format!("p = {figure}") }
}
