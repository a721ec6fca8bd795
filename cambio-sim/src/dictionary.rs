//! The data dictionary: name, type, unit and meaning of each column of the CSV files, from the declarations of the rows.

use cambio_exec::{Column, Row, table};
use serde::Serialize;

use crate::comparison::ComparisonRow;
use crate::digest::{BaselineRow, EquivalenceRow, FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
use crate::plan::{WITH_LUCK, WITHOUT_LUCK};
use crate::play::{TIMING_FILE, TimingRow};
use crate::rows::{BehaviourRow, ColumnKind, FILES};
use crate::tune::ResponsePoint;

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DocumentedColumn {
    /// The command that writes the table.
    pub command: &'static str,
    /// The CSV file with the table, or the options with which the command prints the table.
    pub file: &'static str,
    /// The name in the header. A name in angle brackets stands for several columns.
    pub name: String,
    /// The type: `text`, `boolean`, an integer or float type, or a list of integers or floats.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether a cell may be empty because the value is unknown or undefined.
    pub may_be_empty: bool,
    /// The unit of the values; `None` for texts and numbers without a unit.
    pub unit: Option<String>,
    /// The meaning.
    pub meaning: String,
}

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
    pub columns: Vec<DocumentedColumn>,
}

impl DocumentedTable {
    /// The table of a row type. Columns that end with `_low` or another suffix of estimates have the unit of the column
    /// without the suffix.
    ///
    /// ```
    /// use cambio_sim::{DocumentedTable, SummaryRow};
    ///
    /// let table = DocumentedTable::of::<SummaryRow>("run", "summary.csv");
    /// let column = table.columns.iter().find(|column| column.name == "win_share_low").unwrap();
    /// assert_eq!((column.kind, column.may_be_empty, column.unit.as_deref()), ("float64", true, Some("wins")));
    /// ```
    pub fn of<R: Row>(command: &'static str, file: &'static str) -> DocumentedTable {
        let unit = |name: &str| {
            let stems = std::iter::successors(Some(name), |name| {
                let (stem, suffix) = name.rsplit_once('_')?;
                ESTIMATES.contains(&suffix).then_some(stem)
            });
            let declared = |stem| R::COLUMNS.iter().find(|column| column.name == stem && !column.unit.is_empty());
            stems.filter_map(declared).map(|column| column.unit.to_owned()).next()
        };
        let column = |column: &Column| DocumentedColumn {
            command,
            file,
            name: column.name.to_owned(),
            kind: column.kind,
            may_be_empty: column.may_be_empty,
            unit: unit(column.name),
            meaning: one_line(column.meaning),
        };
        DocumentedTable { command, file, row: one_line(R::MEANING), columns: R::COLUMNS.iter().map(column).collect() }
    }

    /// Says in the meaning of each figure whether it contains the luck of the cards in a run that measures it: `_adjusted`
    /// figures do not, all others do. `luck` is the label of the others.
    fn labelled(mut self, luck: &str) -> DocumentedTable {
        let is_figure = |column: &&mut DocumentedColumn| {
            let name = column.name.as_str();
            let is_number = column.kind == "float64" || ["wins", "ties", "losses"].contains(&name);
            let is_neither = ["luck", "luck_error", "variance_ratio", "equivalence_margin"].contains(&name);
            is_number && !is_neither && !name.contains("adjusted") && !name.ends_with("ator")
        };
        let (first, rest) = luck.split_at(1);
        for column in self.columns.iter_mut().filter(is_figure) {
            column.meaning = format!("{} {}{rest}.", column.meaning, first.to_uppercase());
        }
        self
    }

    /// Adds a column, or several columns with a name in angle brackets, that the row type does not declare.
    fn with(mut self, name: &str, kind: &'static str, unit: Option<&str>, meaning: &str) -> DocumentedTable {
        let (command, file, unit) = (self.command, self.file, unit.map(str::to_owned));
        let (name, meaning) = (name.to_owned(), meaning.to_owned());
        self.columns.push(DocumentedColumn { command, file, name, kind, may_be_empty: true, unit, meaning });
        self
    }
}

/// The suffixes of columns that belong to an estimate and have its unit.
const ESTIMATES: [&str; 7] = ["low", "high", "error", "simultaneous", "anytime", "adjusted", "fitted"];

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tables of runs and tunings.
///
/// ```
/// let tables = cambio_sim::documented_tables();
/// let players = tables.iter().find(|table| table.file == "players.csv").unwrap();
/// let points = players.columns.iter().find(|column| column.name == "points").unwrap();
/// assert_eq!((points.kind, points.unit.as_deref()), ("int64", Some("points")));
/// ```
pub fn documented_tables() -> Vec<DocumentedTable> {
    let rows = FILES.map(|file| {
        let column = |column: crate::rows::Column| DocumentedColumn {
            command: "run",
            file: file.name,
            name: column.name.to_owned(),
            kind: match column.kind {
                ColumnKind::Word | ColumnKind::Print => "text",
                ColumnKind::U32 => "uint32",
                ColumnKind::U64 => "uint64",
                ColumnKind::I64 => "int64",
                ColumnKind::F64 => "float64",
                ColumnKind::Bool => "boolean",
                ColumnKind::I32BySeat => "list of int32",
                ColumnKind::F64BySeat => "list of float64",
            },
            may_be_empty: column.may_be_empty,
            unit: Some(column.unit.to_owned()).filter(|unit| !unit.is_empty()),
            meaning: one_line(column.meaning),
        };
        let columns = file.columns(true).into_iter().map(column).collect();
        DocumentedTable { command: "run", file: file.name, row: one_line(file.row), columns }
    });
    let if_measured = format!("{WITHOUT_LUCK} if the run measures it");
    let mut tables = Vec::from(rows);
    tables.extend([
        DocumentedTable::of::<SummaryRow>("run", "summary.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<PairRow>("run", "pairwise.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<RatingRow>("run", "ratings.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<PooledRow>("run", "pooled.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<SeatRow>("run", "seats.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<BehaviourRow>("run", "behaviour.csv").labelled(WITH_LUCK),
        DocumentedTable::of::<FaultRow>("run", "faults.csv"),
        DocumentedTable::of::<TimingRow>("run", TIMING_FILE),
        DocumentedTable::of::<BaselineRow>("report", "--baseline").labelled(&if_measured),
        DocumentedTable::of::<EquivalenceRow>("report", "--margin").labelled(&if_measured),
        DocumentedTable::of::<ComparisonRow>("report", "A B"),
        DocumentedTable::of::<ResponsePoint>("tune", "curve.csv").with(
            "<parameter>",
            "text",
            None,
            "A column for each tuned parameter, with its value.",
        ),
        DocumentedTable::of::<ScoreRow>("tune", "scores.csv").with(
            "<agent>",
            "float64",
            Some("payoff"),
            "A column for each candidate, with its payoff in the deal; empty after the candidate is eliminated.",
        ),
    ]);
    tables
}

table! {
    /// A row of `scores.csv`: the payoffs of all candidates against one field in one deal. CMA-ES does not write this file.
    ScoreRow {
        /// The field, that is, the opponents, separated by ` | `.
        field: String,
        /// The number of the deal, counted from 0.
        deal: u64,
    }
}

#[cfg(test)]
mod tests;
