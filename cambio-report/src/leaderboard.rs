//! The page of a leaderboard.

use serde::Serialize;

use crate::parts::{ReportTable, TableRow, code};
use crate::template::page;

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

#[derive(Serialize)]
struct LeaderboardPage {
    title: String,
    headline: String,
    board: ReportTable,
    how: String,
    command: &'static str,
}

/// Makes the page of a leaderboard.
pub fn of_leaderboard(board: &Leaderboard) -> String {
    let headline = match board.rows.first() {
        Some([best, _, duel, ..]) => format!("{} wins most duels: {duel} %.", code(best)),
        None => "No agent has been measured.".into(),
    };
    let row = |[agent, rest @ ..]: &[String; 10]| TableRow::new(code(agent), rest.iter().map(String::as_str));
    let shown = LeaderboardPage {
        title: board.title.clone(),
        headline,
        board: ReportTable {
            caption: LEADERBOARD_LEGEND.replace('\n', " "),
            corner: board.columns[0],
            columns: board.columns[1..].iter().map(|&column| column.into()).collect(),
            rows: board.rows.iter().map(row).collect(),
        },
        how: "This command measures an agent:".into(),
        command: "cambio bench AGENT --out DIR",
    };
    page("leaderboard.html", shown)
}
