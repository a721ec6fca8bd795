//! The leaderboard of a benchmark.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::text::duration;
use cambio_report::{LEADERBOARD_LEGEND, Leaderboard, of_leaderboard};
use cambio_sim::{ReplayScope, RunError, StoredRun, verify_with};
use cambio_stats::is_even;

use super::result::{BenchRequest, BenchResult, RobustResult, WinShare, refusal_file};
use super::robust;
use super::suite::{RUN_PARTS, Suite};
use crate::exit::{CliResult, Exit};
use crate::output::write_page;
use crate::say::{plain, stdout};
use crate::tables::Format;

pub(super) fn run(folders: &[PathBuf], html: Option<&Path>, format: Format, roster: &Roster) -> CliResult {
    let suite = Suite::own();
    let mut results = folders.iter().map(|folder| checked(folder, &suite, roster)).collect::<Result<Vec<_>, _>>()?;
    let score = |(result, _): &(BenchResult, _)| result.part("duel").map_or(0.0, |share| share.win_share);
    results.sort_by(|one, other| score(other).total_cmp(&score(one)));
    let (results, unchecked): (Vec<BenchResult>, Vec<BTreeSet<&str>>) = results.into_iter().unzip();
    let mut board = leaderboard(&suite, &results);
    for (row, unchecked) in board.rows.iter_mut().zip(&unchecked) {
        let cells = board.columns.iter().zip(row).filter(|(column, cell)| unchecked.contains(*column) && *cell != "–");
        cells.for_each(|(_, cell)| cell.push('?'));
    }
    if let Some(file) = html {
        write_page(file, &of_leaderboard(&board).html())?;
    }
    let mut out = stdout();
    match format {
        Format::Json => {
            for (result, unchecked) in results.iter().zip(&unchecked) {
                let mut result = serde_json::to_value(result)?;
                result["unchecked"] = serde_json::to_value(unchecked)?;
                writeln!(out, "{result}")?;
            }
        }
        Format::Csv => {
            let mut csv = csv::Writer::from_writer(&mut out);
            csv.write_record(board.columns)?;
            board.rows.iter().try_for_each(|row| csv.write_record(row))?;
            csv.flush()?;
        }
        Format::Md => {
            let line = |cells: &[String]| format!("| {} |", cells.join(" | ").replace('\n', " "));
            writeln!(out, "{}", line(&board.columns.map(str::to_owned)))?;
            writeln!(out, "|---|{}", "---:|".repeat(board.columns.len() - 1))?;
            for [agent, rest @ ..] in &board.rows {
                let cells: Vec<String> = std::iter::once(format!("`{agent}`")).chain(rest.iter().cloned()).collect();
                writeln!(out, "{}", line(&cells))?;
            }
        }
        Format::Table => write!(out, "{}", text(&board))?,
    }
    Ok(Exit::Done)
}

/// The result of a complete benchmark, after checking that it matches its runs, and that a sample of matches can be repeated. Also
/// the columns of the leaderboard that were not checked: those that take long to repeat, depend on the machine, or have runs
/// without a repeated match.
fn checked(
    folder: &Path,
    suite: &Suite,
    roster: &Roster,
) -> Result<(BenchResult, BTreeSet<&'static str>), Box<dyn std::error::Error>> {
    let shown = folder.display();
    let result = BenchResult::of(folder, roster)?;
    if !result.complete {
        return Err(format!("{shown} is not complete; `cambio bench --resume` continues it").into());
    }
    result.check_file(folder)?;
    if result.robust_error.is_some()
        && result.robust_error != robust::refusal(suite, &roster.parse(&result.request.agent)?, roster)?
    {
        let what = "responders can be trained, or cannot for another reason";
        return Err(RunError::damaged(&refusal_file(folder), what).into());
    }
    let mut unchecked = BTreeSet::from(["exact", "responder", "time"]);
    for table in result.request.tables(suite, roster)? {
        let stored = StoredRun::open(&folder.join(&table.name))?;
        let findings = verify_with(&stored, roster, ReplayScope::Sample(1));
        if let Some(wrong) = findings.wrong.first() {
            return Err(RunError::damaged(&stored.path, wrong.clone()).into());
        }
        unchecked.extend(RUN_PARTS.into_iter().filter(|part| findings.replayed == 0 && *part == table.part));
    }
    Ok((result, unchecked))
}

pub(super) fn leaderboard(suite: &Suite, results: &[BenchResult]) -> Leaderboard {
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
    let row = |result: &BenchResult| {
        let BenchRequest { agent, class, quick, .. } = result.request.clone();
        let class = if quick { format!("{class}, quick") } else { class };
        let [duel, table, matches, transfer] = RUN_PARTS.map(|part| share(result.part(part)));
        let forfeits: Vec<String> = RUN_PARTS.into_iter().filter_map(|part| forfeited(result, part)).collect();
        let forfeits = if forfeits.is_empty() { "0".to_owned() } else { forfeits.join(", ") };
        let exact = result.exploitability().map_or("–".to_owned(), |(mean, games)| match games {
            all if all == suite.exact.games.len() => format!("{mean:.3}"),
            some => format!("{mean:.3} in {some}"),
        });
        let responder = share(result.robust.as_ref().map(RobustResult::wins));
        let time = result.time.map_or("–".to_owned(), |time| {
            let over = if time.of_class > 1.0 { "!" } else { "" };
            format!("{}{over}", duration(time.ms / 1000.0))
        });
        [agent, class, duel, table, matches, transfer, forfeits, exact, responder, time]
    };
    Leaderboard {
        title: suite.name.clone(),
        columns: ["agent", "class", "duel", "table", "match", "transfer", "forfeits", "exact", "responder", "time"],
        rows: results.iter().map(row).collect(),
    }
}

/// The share of a part's matches that the agent forfeited, in words; `None` without forfeits.
fn forfeited(result: &BenchResult, part: &str) -> Option<String> {
    let percent = 100.0 * result.forfeited(part);
    let shown = if percent < 0.1 { "<0.1".to_owned() } else { format!("{percent:.1}") };
    (percent > 0.0).then(|| format!("{shown} % of {part}"))
}

/// The leaderboard as aligned text, at most 80 columns wide: two lines for each agent. The forfeits are in the first.
pub(super) fn text(board: &Leaderboard) -> String {
    const FORFEITS: usize = 6;
    let headings = board.columns.map(str::to_owned);
    let width = |column: usize| {
        let cells = board.rows.iter().chain([&headings]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let cells = |row: &[String; 10]| {
        let columns = (2..row.len()).filter(|&column| column != FORFEITS);
        let cells = columns.map(|column| format!("{:>width$}", row[column], width = width(column)));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  "))
    };
    let named =
        |row: &[String; 10]| format!("{} ({}; forfeits: {})\n{}", plain(&row[0]), row[1], row[FORFEITS], cells(row));
    let rows: String = board.rows.iter().map(named).collect();
    format!("{}\n{}{rows}\n{LEADERBOARD_LEGEND}\n", board.title, cells(&headings))
}
