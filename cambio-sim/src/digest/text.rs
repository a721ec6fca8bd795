//! The derived tables for people: as text and as Markdown.

use std::collections::BTreeSet;

use cambio_core::text::{duration, noun};
use cambio_stats::Support;
use itertools::Itertools as _;

use super::tables::{PairRow, SummaryRow};
use super::{BEYOND, Derived};
use crate::plan::{Cell, Lineup, Payoff, Plan, PlannedAgent};
use crate::play::Timing;
use crate::table::{NONE, Table, Tables, in_full, in_short, maybe};

/// Tables with fewer deals have a note that intervals are rough.
pub const FEW_DEALS: u64 = 30;

/// The columns of the text of a run, at most 80 wide in total: the least width of each.
const WIDTHS: [usize; 8] = [20, 13, 5, 6, 5, 5, 14, 5];

/// A note if intervals are from fewer than [`FEW_DEALS`] deals; otherwise empty.
pub fn few_deals_note(mut deals: impl Iterator<Item = u64>) -> String {
    let is_few = deals.any(|deals| deals < FEW_DEALS);
    let note = || format!("Intervals from fewer than {FEW_DEALS} deals are rough, however many matches are played.\n");
    is_few.then(note).unwrap_or_default()
}

impl Derived {
    /// The results of a run for people: one table for each rule system and number of seats. As text, they are at most 80 columns wide
    /// unless a label is wider. Lines of the best agents begin with a star. `cambio run` and Python's `print(run)` show them.
    pub fn tables(&self, plan: &Plan, timing: &Timing) -> Tables {
        let name = plan.payoff.name();
        // The column `points` is per round.
        let payoff = if plan.payoff.support() == Support::Share { name.to_owned() } else { format!("{name}/match") };
        let last = if plan.measures_luck() { "raw" } else { "turns" };
        let heads = ["  agent", &payoff, "win", "points", "calls", "ok", "snaps r/w/l", last];
        let mut has_others = false;
        let table = |(index, cell): (usize, &Cell)| {
            let rows = self.summary.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect_vec();
            let pairs = self.pairwise.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect_vec();
            let deals = rows.first()?.deals;
            let compared: BTreeSet<&str> = cell.compared().iter().map(|&agent| &*plan.agents[agent].label).collect();
            has_others |= rows.iter().any(|row| !compared.contains(&*row.agent));
            let ranked = rows.iter().filter(|row| compared.contains(&*row.agent));
            let best = ranked.min_by_key(|row| row.rank).filter(|_| compared.len() > 1).map(|row| &*row.agent);
            let cells = |row: &&SummaryRow| {
                let mark = match best {
                    _ if !compared.contains(&*row.agent) => "†",
                    Some(best) if is_among_best(&row.agent, best, &pairs) => "*",
                    _ => " ",
                };
                let label = format!("{mark} {}", row.agent);
                std::iter::once(label).chain(figures(plan, row))
            };
            let table = Table::shown(heads, rows.iter().map(cells)).with_widths(&WIDTHS);
            Some((format!("{cell}, {deals} {}\n", noun(deals, "deal")), table, times(plan, timing, index)))
        };
        let parts = plan.cells.iter().enumerate().filter_map(table).collect();
        let answer = self.hypothesis.as_ref().map(|answer| textwrap::fill(&answer.text(str::to_owned), 80) + "\n\n");
        Tables { title: answer.unwrap_or_default(), parts, notes: self.legend(plan, has_others) }
    }

    /// The lines below the text of a run.
    fn legend(&self, plan: &Plan, has_others: bool) -> String {
        let by = if plan.payoff == Payoff::RankPoints { String::new() } else { format!(" by {}", plan.payoff.unit()) };
        let mut text = format!("* best agent{by}, and agents not distinguishable from it\n");
        let compared = if has_others { "compared " } else { "" };
        text.extend([format!("  (among the {compared}agents of its table; 95 %, simultaneous for all pairs)\n")]);
        if has_others {
            text += "† has other opponents than the rest, so its mean is not compared\n";
        }
        let seated: BTreeSet<usize> =
            plan.cells.iter().flat_map(|cell| &cell.lineups).flat_map(Lineup::agents).copied().collect();
        for (_, idle) in plan.agents.iter().enumerate().filter(|(agent, _)| !seated.contains(agent)) {
            let note = format!("{} plays no match: no lineup contains it.", idle.label);
            text.extend([textwrap::fill(&note, 80), "\n".to_owned()]);
        }
        text += &few_deals_note(self.summary.iter().map(|row| row.deals));
        text += if plan.cells.len() > 1 { "Tables are not corrected together.\n" } else { "" };
        text += if plan.payoff == Payoff::RankPoints { "rank points: 1 best, 0 worst, 0.5 average; " } else { "" };
        text += "single 95 % intervals by deal.\n";
        if plan.measures_luck() {
            text += "The luck of the cards is subtracted from these and from win. All other figures\n";
            text.extend(["are with the luck of the cards; raw: ", plan.payoff.name(), " with the luck.\n"]);
        }
        if self.has_beyond() {
            text.extend([textwrap::fill(BEYOND, 80), "\n".to_owned()]);
        }
        text += "win: share of wins. Per round: points of the layout; calls, and the share that\n";
        let turns = if plan.measures_luck() { "" } else { "; turns of all seats" };
        text + &format!("succeeds (ok); snaps that are right, wrong and late{turns}.\n")
    }
}

/// The times of the agents of a cell as a paragraph; empty if no agent was timed.
fn times(plan: &Plan, timing: &Timing, cell: usize) -> String {
    let time = |(index, agent): (usize, &PlannedAgent)| {
        let seconds = timing.agent(cell, index)?.per_decision()?;
        // No line break inside an entry.
        Some(format!("{} {}", agent.label, duration(seconds)).replace(' ', "\u{a0}"))
    };
    let times: Vec<String> = plan.agents.iter().enumerate().filter_map(time).collect();
    let text = format!("time per decision: {}", times.join(", "));
    let options = textwrap::Options::new(80).initial_indent("  ").subsequent_indent("    ").break_words(false);
    if times.is_empty() { String::new() } else { textwrap::fill(&text, options).replace('\u{a0}', " ") + "\n" }
}

/// Whether an agent is the best or not distinguishable from it.
fn is_among_best(agent: &str, best: &str, pairs: &[&PairRow]) -> bool {
    let is_pair = |pair: &PairRow, one: &str, other: &str| pair.agent == one && pair.other == other;
    let is_level =
        |pair: &&PairRow| pair.leading().side().is_eq() && (is_pair(pair, agent, best) || is_pair(pair, best, agent));
    agent == best || pairs.iter().any(is_level)
}

/// The figures of an agent in the text of a run.
fn figures(plan: &Plan, row: &SummaryRow) -> [String; 7] {
    let digits = plan.payoff.digits();
    let payoff = row.leading(plan.payoff).map_or(NONE.to_owned(), |mean| match plan.payoff.support() {
        Support::Share => in_short(mean),
        _ => in_full(mean.mean, mean.ends(), digits),
    });
    let snaps = [row.snaps_right_per_round, row.snaps_wrong_per_round, row.snaps_late_per_round];
    let raw = row.raw(plan.payoff).filter(|_| row.luck.is_some());
    [
        payoff,
        maybe(row.leading(Payoff::Win).map(|win| win.mean), 3),
        maybe(row.points_per_round, 1),
        maybe(row.calls_per_round, 2),
        row.calls_succeeded_share.map_or(NONE.to_owned(), |share| format!("{:.0} %", share * 100.0)),
        snaps.map(|snaps| maybe(snaps, 2)).join("/"),
        raw.map_or_else(|| maybe(row.turns_per_round, 1), |raw| maybe(Some(raw.mean), digits)),
    ]
}
