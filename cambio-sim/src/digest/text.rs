//! The derived tables for people: as text and as Markdown.

use std::fmt::Write as _;

use cambio_core::text::{duration, noun};
use cambio_exec::Estimate;
use cambio_stats::Support;
use cambio_stats::ratings::Fit;
use itertools::Itertools as _;

use super::tables::{BaselineRow, EquivalenceRow, PairRow, SummaryRow};
use super::{BEYOND, Derived};
use crate::plan::{Payoff, Plan, PlannedAgent};
use crate::play::Timing;
use crate::table::{NONE, Table, ends, in_full, in_short, maybe, p_figure, signed};

/// Tables with fewer deals have a note that intervals are rough.
pub const FEW_DEALS: u64 = 30;

/// The note below several tables.
const SEPARATE: &str = "Tables are not corrected together.\n";

/// The columns of the text of a run, at most 80 wide in total: the least width of each.
const WIDTHS: [usize; 8] = [20, 13, 5, 6, 5, 5, 14, 5];

/// A note if intervals are from fewer than [`FEW_DEALS`] deals; otherwise empty.
pub fn few_deals_note(mut deals: impl Iterator<Item = u64>) -> String {
    let is_few = deals.any(|deals| deals < FEW_DEALS);
    let note = || format!("Intervals from fewer than {FEW_DEALS} deals are rough, however many matches are played.\n");
    is_few.then(note).unwrap_or_default()
}

impl Derived {
    /// The results of a run as text: one table for each rule system and number of seats, at most 80 columns wide unless a label is
    /// wider. Lines of the best agents begin with a star. `cambio run` and Python's `print(run)` show it.
    pub fn text(&self, plan: &Plan, timing: &Timing) -> String {
        let mut text = String::new();
        for (index, cell) in plan.cells.iter().enumerate() {
            let rows = self.summary.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect_vec();
            let pairs = self.pairwise.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect_vec();
            let Some(first) = rows.first() else { continue };
            let name = plan.payoff.name();
            // The column `points` is per round.
            let payoff =
                if plan.payoff.support() == Support::Share { name.to_owned() } else { format!("{name}/match") };
            let last = if plan.measures_luck() { "raw" } else { "turns" };
            let heads = ["  agent", &payoff, "win", "points", "calls", "ok", "snaps r/w/l", last];
            let mut table = Table::shown(heads, &WIDTHS);
            let best = rows.iter().find(|row| row.rank == 1 && rows.len() > 1).map(|row| &*row.agent);
            for row in &rows {
                let is_best = best.is_some_and(|best| is_among_best(&row.agent, best, &pairs));
                let label = format!("{} {}", if is_best { "*" } else { " " }, row.agent);
                table.push(std::iter::once(label).chain(figures(plan, row)));
            }
            let times = times(plan, timing, index).unwrap_or_default();
            text += &format!("{cell}, {} {}\n{}{times}\n", first.deals, noun(first.deals, "deal"), table.text());
        }
        let by = if plan.payoff == Payoff::RankPoints { String::new() } else { format!(" by {}", plan.payoff.unit()) };
        text += &format!("* best agent{by}, and agents not distinguishable from it\n");
        text += "  (among the agents of its table; 95 %, simultaneous for all pairs)\n";
        text += &few_deals_note(self.summary.iter().map(|row| row.deals));
        text += if plan.cells.len() > 1 { SEPARATE } else { "" };
        text += if plan.payoff == Payoff::RankPoints { "rank points: 1 best, 0 worst, 0.5 average; " } else { "" };
        text += "single 95 % intervals by deal.\n";
        if plan.measures_luck() {
            text += "The luck of the cards is subtracted from these and from win. All other figures\n";
            text += &format!("are with the luck of the cards; raw: {} with the luck.\n", plan.payoff.name());
        }
        text += &self.beyond_note();
        text += "win: share of wins. Per round: points of the layout; calls, and the share that\n";
        let turns = if plan.measures_luck() { "" } else { "; turns of all seats" };
        text + &format!("succeeds (ok); snaps that are right, wrong and late{turns}.\n")
    }

    /// The results of a run as Markdown: the means of each agent with its rating, and the pooled ratings.
    pub fn markdown(&self, plan: &Plan) -> String {
        let mut payoffs = vec![Payoff::RankPoints, Payoff::Win];
        if !payoffs.contains(&plan.payoff) {
            payoffs.insert(0, plan.payoff);
        }
        let elo = |elo: &Estimate, fit: &str| {
            // The mark for ratings that needed a prior.
            let mark = if fit == Fit::Regularised.method() { "~" } else { "" };
            format!("{mark}{}", in_full(elo.mean, elo.ends(), 0))
        };
        let head = format!("Elo{}", plan.with_luck());
        let means = payoffs.iter().map(|payoff| payoff.name());
        let heads = ["rules", "seats", "agent", "deals"].into_iter().chain(means).chain([&*head]);
        let mut table = Table::shown(heads, &[]);
        for (row, rating) in self.summary.iter().zip(&self.ratings) {
            let mean = |payoff: &Payoff| {
                let mean = row.leading(*payoff);
                mean.map_or(NONE.to_owned(), |found| in_full(found.mean, found.ends(), payoff.digits()))
            };
            let elo = rating.elo.as_ref().map_or(NONE.to_owned(), |own| elo(own, rating.fit.unwrap_or_default()));
            let about = [row.rules.clone(), row.seats.to_string(), code(&row.agent), row.deals.to_string()];
            table.push(about.into_iter().chain(payoffs.iter().map(mean)).chain([elo]));
        }
        let mut text = table.markdown();
        if !self.pooled.is_empty() {
            let head = format!("Elo over all tables{}", plan.with_luck());
            let mut table = Table::shown(["agent", "tables", "games", &head], &[]);
            for row in &self.pooled {
                table.push([code(&row.agent), row.tables.to_string(), row.games.to_string(), elo(&row.elo, row.fit)]);
            }
            text += &format!("\n{}", table.markdown());
        }
        let beyond = self.has_beyond().then(|| format!("\n{BEYOND}\n"));
        text + &beyond.unwrap_or_default()
    }

    fn beyond_note(&self) -> String {
        if self.has_beyond() { textwrap::fill(BEYOND, 80) + "\n" } else { String::new() }
    }
}

/// A comparison of pairs of agents for people.
pub struct ComparedPairs {
    /// The line above the tables.
    title: String,
    /// For each cell: its name and its number of deals, and the table.
    tables: Vec<(String, Table)>,
    /// All rows in one table, whose first columns are the rules and the seats.
    all: Table,
    /// The lines below the tables.
    notes: String,
}

impl ComparedPairs {
    /// The agents against the baseline.
    ///
    /// # Panics
    /// If there is no row.
    pub fn against(plan: &Plan, rows: &[BaselineRow]) -> ComparedPairs {
        let cells = |row: &BaselineRow| {
            let found = &row.difference;
            let verdict = match found.ends().map(|(low, high)| [low, high].map(|end| plan.payoff.sign() * end)) {
                Some(ends) if ends.iter().all(|end| *end > 0.0) => "better",
                Some(ends) if ends.iter().all(|end| *end < 0.0) => "worse",
                _ => "undecided",
            };
            let figures = [signed(found.mean, 4), ends(found.ends(), 4), p_figure(found.p), verdict.to_owned()];
            (row.rules.clone(), row.seats, row.deals, vec![row.agent.clone()], figures.to_vec())
        };
        let heads = [&["agent"][..], &["difference", "95 %, simultaneous", "p", "verdict"]];
        let (first, separate) = (&rows[0], if plan.cells.len() > 1 { format!(" {SEPARATE}") } else { "\n".to_owned() });
        ComparedPairs::new(
            format!("against {}, in {}, paired by deal", first.baseline, plan.payoff.unit()),
            heads,
            rows.iter().map(cells),
            format!(
                "95 % {} intervals and p-values, simultaneous for all agents of a table (Dunnett).{separate}",
                first.difference.method
            ),
        )
    }

    /// The tests of whether the agents of a pair are equally good.
    ///
    /// # Panics
    /// If there is no row.
    pub fn equivalent(plan: &Plan, rows: &[EquivalenceRow]) -> ComparedPairs {
        let cells = |row: &EquivalenceRow| {
            let verdict = match row.p_holm {
                Some(p) if p < 0.05 => format!("as good, within {}", row.equivalence_margin),
                Some(_) => "not shown".to_owned(),
                None if row.deals < 2 => "a test needs 2 deals".to_owned(),
                None => "no variance to test with".to_owned(),
            };
            let (found, [alone, all]) = (&row.difference, [row.p, row.p_holm].map(p_figure));
            let figures = vec![signed(found.mean, 4), ends(found.ends(), 4), alone, all, verdict];
            (row.rules.clone(), row.seats, row.deals, vec![row.agent.clone(), row.other.clone()], figures)
        };
        let heads = [&["agent", "other"][..], &["difference", "90 %", "p", "p, all pairs", "verdict"]];
        let (first, separate) = (&rows[0], if plan.cells.len() > 1 { SEPARATE } else { "" });
        ComparedPairs::new(
            format!(
                "as good within {} {}? Differences are paired by deal",
                first.equivalence_margin,
                plan.payoff.unit()
            ),
            heads,
            rows.iter().map(cells),
            format!(
                "Two one-sided tests at 5 %: single 90 % {} intervals, p-values corrected\nfor all pairs of a table that are listed \
                 (Holm). “Not shown” does not mean different.\n{separate}",
                first.method
            ),
        )
    }

    /// `rows` are the rules, the seats, the number of deals, the agents and the figures of each pair.
    fn new(
        title: String,
        [agents, figures]: [&[&str]; 2],
        rows: impl Iterator<Item = (String, usize, u64, Vec<String>, Vec<String>)>,
        notes: String,
    ) -> ComparedPairs {
        let pair = agents.join(" – ");
        let mut all = Table::shown([&["rules", "seats"], agents, &["deals"], figures].concat(), &[]);
        let (mut tables, mut least) = (Vec::<(String, Table)>::new(), Vec::new());
        for (rules, seats, deals, agents, shown) in rows {
            let name = format!("{rules}, {seats} seats, ");
            if tables.last().is_none_or(|(last, _)| !last.starts_with(&name)) {
                let heads = std::iter::once(&*pair).chain(figures.iter().copied());
                tables.push((format!("{name}{deals} {}", noun(deals, "deal")), Table::shown(heads, &[])));
            }
            let (_, table) = tables.last_mut().expect("a table was just pushed");
            table.push(std::iter::once(agents.join(" – ")).chain(shown.iter().cloned()));
            let begin = [rules, seats.to_string()];
            all.push(
                begin.into_iter().chain(agents.iter().map(|agent| code(agent))).chain([deals.to_string()]).chain(shown),
            );
            least.push(deals);
        }
        ComparedPairs { title, tables, all, notes: few_deals_note(least.into_iter()) + &notes }
    }

    /// The comparison as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (name, table) in &self.tables {
            write!(text, "{name}\n{}", table.text()).expect("a string accepts writes");
        }
        text + &self.notes
    }

    /// The comparison as one Markdown table.
    pub fn markdown(&self) -> String {
        self.all.markdown()
    }
}

/// The name of an agent as Markdown.
fn code(agent: &str) -> String {
    format!("`{agent}`")
}

/// The times of the agents of a cell as a paragraph; `None` if no agent was timed.
fn times(plan: &Plan, timing: &Timing, cell: usize) -> Option<String> {
    let time = |(index, agent): (usize, &PlannedAgent)| {
        let seconds = timing.agent(cell, index)?.per_decision()?;
        // No line break inside an entry.
        Some(format!("{} {}", agent.label, duration(seconds)).replace(' ', "\u{a0}"))
    };
    let times: Vec<String> = plan.agents.iter().enumerate().filter_map(time).collect();
    let text = format!("time per decision: {}", times.join(", "));
    let options = textwrap::Options::new(80).initial_indent("  ").subsequent_indent("    ").break_words(false);
    (!times.is_empty()).then(|| textwrap::fill(&text, options).replace('\u{a0}', " ") + "\n")
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
