//! The page of a leaderboard.

use serde_json::json;

use crate::page::{Block, Page, ReportTable, Section, TableRow, code, how, prose};

/// What the columns of a leaderboard mean.
pub const LEADERBOARD_LEGEND: &str = "\
duel, table, match, transfer: wins in percent, with 95 % intervals. Equal
players win 50 % at two seats, and 25 % at the table of four. Duel: single
rounds of classic against six opponents. Table: among three copies of another
agent. Match: whole matches of original and faessler. Transfer: twelve rule
systems that no bundled network knows. forfeits: the matches that the agent lost
by a fault, for example because it has no network for the rules; they count in
the means. exact: the mean exploitability in the mini games, 0 is perfect; an
agent that does not report its probabilities decides with 16 random streams.
responder: the wins in percent of a network that learned to beat the agent in
five minutes of one core, with a 95 % interval; 50 is perfect, and more training
can find more. time: of a decision in the duel, with `!` if it is longer than
the slower search of the class takes. A value with `?` is as stored and was not
repeated; `cambio verify DIR --all` repeats all values except times.";

/// The results of several agents in one benchmark, the best first.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaderboard {
    /// The name of the benchmark.
    pub title: String,
    /// The names of the columns. The first is the agent.
    pub columns: [&'static str; 10],
    /// One row for each agent.
    pub rows: Vec<[String; 10]>,
}

/// Makes the page of a leaderboard.
pub fn of_leaderboard(board: &Leaderboard) -> Page {
    let best = board.rows.first().map(|[best, _, duel, ..]| (best, duel)).unzip();
    let headline = prose("leaderboard", json!({ "best": best.0, "duel": best.1 }));
    let row = |[agent, rest @ ..]: &[String; 10]| TableRow::new(code(agent), rest.iter().map(String::as_str));
    let [corner, columns @ ..] = board.columns;
    let rows = board.rows.iter().map(row).collect();
    let table = ReportTable::new("Leaderboard", LEADERBOARD_LEGEND.replace('\n', " "), corner, columns, rows);
    let how = how("This command measures an agent:".to_owned(), "cambio bench AGENT --out DIR");
    Page {
        title: board.title.clone(),
        header: vec![Block::verdict("verdict", headline)],
        has_contents: false,
        sections: vec![Section::new("board", "Leaderboard", vec![Block::Table(table)]), how],
    }
}
