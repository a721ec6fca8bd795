//! The leaderboard of a benchmark.

use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_core::text::duration;
use cambio_sim::table::Table;
use cambio_stats::is_even;

use crate::bench::{Bench, BenchError, BenchRequest, BenchResult, RUN_PARTS, RobustResult, WinShare};

/// What the columns of a leaderboard mean.
const LEGEND: &str = include_str!("../templates/leaderboard.txt");

/// The names of the columns.
const COLUMNS: [&str; 10] =
    ["agent", "class", "duel", "table", "match", "transfer", "forfeits", "exact", "responder", "time"];

/// The results of several agents in one benchmark, the best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaderboard {
    title: String,
    /// One row for each agent.
    rows: Vec<[String; 10]>,
    /// The lines of `result.json`.
    results: String,
}

impl Leaderboard {
    /// Reads complete benchmarks, and checks a sample of their matches.
    ///
    /// # Errors
    /// If a benchmark is not complete, damaged or of another suite.
    pub fn read(folders: &[PathBuf], roster: &Roster) -> Result<Leaderboard, BenchError> {
        let checked = |folder: &PathBuf| Bench::open(folder, roster)?.checked();
        let mut results = folders.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
        let score = |result: &BenchResult| result.part("duel").map_or(0.0, |share| share.win_share);
        results.sort_by(|one, other| score(other).total_cmp(&score(one)));
        Ok(Leaderboard::of(&results))
    }

    /// The leaderboard of results that are not checked.
    pub fn of(results: &[BenchResult]) -> Leaderboard {
        let title = results.first().map(|result| result.request.benchmark.clone()).unwrap_or_default();
        let (rows, results) = (results.iter().map(row).collect(), results.iter().map(BenchResult::line).collect());
        Leaderboard { title, rows, results }
    }

    /// The results as lines of JSON.
    pub fn json(&self) -> &str {
        &self.results
    }

    /// The leaderboard as CSV.
    pub fn csv(&self) -> String {
        Table::shown(COLUMNS, self.rows.iter().cloned()).csv()
    }

    /// The leaderboard in Markdown.
    pub fn markdown(&self) -> String {
        let row = |[agent, rest @ ..]: &[String; 10]| std::iter::once(format!("`{agent}`")).chain(rest.clone());
        Table::shown(COLUMNS, self.rows.iter().map(row)).markdown()
    }

    /// The leaderboard as aligned text: two lines for each agent. The class and the forfeits are in the first.
    pub fn text(&self) -> String {
        let heads = ["agent", "duel", "table", "match", "transfer", "exact", "responder", "time"];
        let row = |row: &[String; 10]| {
            let [agent, class, duel, table, matches, transfer, forfeits, exact, responder, time] = row;
            let name = format!("{agent} ({class}; forfeits: {forfeits})");
            [&name, duel, table, matches, transfer, exact, responder, time].map(String::clone)
        };
        format!("{}\n\n{}\n{LEGEND}", self.title, Table::shown(heads, self.rows.iter().map(row)).text())
    }
}

/// The row of a result.
fn row(result: &BenchResult) -> [String; 10] {
    let share = |share: Option<WinShare>| {
        share.map_or("–".to_owned(), |WinShare { win_share, low, high }| match low.zip(high) {
            Some((low, high)) => {
                let [below, above] = [win_share - low, high - win_share].map(|distance| 100.0 * distance);
                let half = if is_even(below, above, 1) { f64::midpoint(below, above) } else { below.max(above) };
                format!("{:.1} ± {half:.1}", 100.0 * win_share)
            }
            None => format!("{:.1}", 100.0 * win_share),
        })
    };
    let BenchRequest { agent, class, quick, .. } = result.request.clone();
    let class = if quick { format!("{class}, quick") } else { class };
    let [duel, table, matches, transfer] = RUN_PARTS.map(|part| share(result.part(part)));
    let forfeits: Vec<String> = RUN_PARTS.into_iter().filter_map(|part| forfeited(result, part)).collect();
    let forfeits = if forfeits.is_empty() { "0".to_owned() } else { forfeits.join(", ") };
    let exact = result.exploitability().map_or("–".to_owned(), |(mean, games)| match games {
        all if all == result.exact.len() => format!("{mean:.3}"),
        some => format!("{mean:.3} in {some}"),
    });
    let responder = share(result.robust.as_ref().map(RobustResult::wins));
    let time = result.time.map_or("–".to_owned(), |time| {
        let over = if time.of_class > 1.0 { "!" } else { "" };
        format!("{}{over}", duration(time.ms / 1000.0))
    });
    [agent, class, duel, table, matches, transfer, forfeits, exact, responder, time]
}

/// The share of a part's matches that the agent forfeited, in words; `None` without forfeits.
fn forfeited(result: &BenchResult, part: &str) -> Option<String> {
    let percent = 100.0 * result.forfeited(part);
    let shown = if percent < 0.1 { "<0.1".to_owned() } else { format!("{percent:.1}") };
    (percent > 0.0).then(|| format!("{shown} % of {part}"))
}
