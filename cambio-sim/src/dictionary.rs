//! The data dictionary: name, type, unit and meaning of each column of the CSV files, from the declarations of the rows.

use cambio_exec::{Column, Row, one_line, table};
use serde::Serialize;

use crate::advice::AdviceRow;
use crate::comparison::ComparisonRow;
use crate::digest::{FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
use crate::plan::WITH_LUCK;
use crate::play::{TIMING_FILE, TimingRow};
use crate::rows::{BehaviourRow, FILES};
use crate::suite::SuiteRow;
use crate::tune::ResponsePoint;

/// A table with its columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentedTable {
    /// The command that writes the table.
    pub command: &'static str,
    /// The CSV file with the table, or the options with which the command prints the table.
    pub file: &'static str,
    /// The meaning of a row.
    pub row: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
}

impl DocumentedTable {
    /// The table of a row type.
    ///
    /// ```
    /// use cambio_sim::{DocumentedTable, SummaryRow};
    ///
    /// let table = DocumentedTable::of::<SummaryRow>("run", "summary.csv");
    /// let column = table.columns.iter().find(|column| column.name == "win_share_low").unwrap();
    /// assert_eq!((column.kind, column.may_be_empty, column.unit), ("float64", true, Some("wins")));
    /// ```
    pub fn of<R: Row>(command: &'static str, file: &'static str) -> DocumentedTable {
        DocumentedTable { command, file, row: one_line(R::MEANING), columns: R::columns().to_vec() }
    }

    /// The columns with the command and the file, which serialize to objects.
    pub fn listed(&self) -> impl Iterator<Item = impl Serialize + '_> {
        #[derive(Serialize)]
        struct Listed<'a> {
            command: &'a str,
            file: &'a str,
            #[serde(flatten)]
            column: &'a Column,
        }
        self.columns.iter().map(|column| Listed { command: self.command, file: self.file, column })
    }

    /// The table of a row type of `cambio run`. The meaning of each figure says that it contains the luck of the cards in a run that measures
    /// it; `_adjusted` figures do not.
    fn of_run<R: Row>(file: &'static str) -> DocumentedTable {
        let mut table = DocumentedTable::of::<R>("run", file);
        let is_figure = |column: &&mut Column| {
            let name = &*column.name;
            let is_number = column.kind == "float64" || ["wins", "ties", "losses"].contains(&name);
            let is_neither = ["luck", "luck_error", "variance_ratio"].contains(&name);
            is_number && !is_neither && !name.contains("adjusted") && !name.ends_with("ator")
        };
        let (first, rest) = WITH_LUCK.split_at(1);
        for column in table.columns.iter_mut().filter(is_figure) {
            column.meaning = format!("{} {}{rest}.", column.meaning, first.to_uppercase());
        }
        table
    }
}

/// The tables of runs and tunings.
///
/// ```
/// let tables = cambio_sim::documented_tables();
/// let players = tables.iter().find(|table| table.file == "players.csv").unwrap();
/// let points = players.columns.iter().find(|column| column.name == "points").unwrap();
/// assert_eq!((points.kind, points.unit), ("int64", Some("points")));
/// ```
pub fn documented_tables() -> Vec<DocumentedTable> {
    let rows = FILES.map(|file| DocumentedTable {
        command: "run",
        file: file.name,
        row: one_line(file.row),
        columns: file.columns(true),
    });
    let derived = [
        DocumentedTable::of_run::<SummaryRow>("summary.csv"),
        DocumentedTable::of_run::<PairRow>("pairwise.csv"),
        DocumentedTable::of_run::<RatingRow>("ratings.csv"),
        DocumentedTable::of_run::<PooledRow>("pooled.csv"),
        DocumentedTable::of_run::<SeatRow>("seats.csv"),
        DocumentedTable::of_run::<BehaviourRow>("behaviour.csv"),
        DocumentedTable::of::<FaultRow>("run", "faults.csv"),
        DocumentedTable::of::<TimingRow>("run", TIMING_FILE),
        DocumentedTable::of::<ComparisonRow>("report", "A B"),
        DocumentedTable::of::<AdviceRow>("advise", "--format csv"),
        DocumentedTable::of::<SuiteRow>("advise", "--suite"),
        DocumentedTable::of::<ResponsePoint>("tune", "curve.csv"),
        DocumentedTable::of::<ScoreRow>("tune", "scores.csv"),
    ];
    rows.into_iter().chain(derived).collect()
}

table! {
    /// A row of `scores.csv`: the payoffs of all candidates against one field in one deal. A further column for each
    /// candidate has its payoff in the deal; it is empty after the candidate is eliminated. CMA-ES does not write this file.
    ScoreRow {
        /// The field, that is, the opponents, separated by ` | `.
        field: String,
        /// The number of the deal, counted from 0.
        deal: u64,
    }
}

#[cfg(test)]
mod tests;
