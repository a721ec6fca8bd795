//! Tables of results as CSV, JSON, Markdown and text, and the one set of number formats that all printers and pages use.

use std::fmt::Write as _;

use cambio_exec::{Cell, Column, Estimate, Row};
use cambio_stats::is_even;

/// The placeholder for a missing number.
pub const NONE: &str = "–";

/// The greatest width of a label in the text of a table. A longer label has its own line.
const LABEL_WIDTH: usize = 20;

/// The greatest width of the text of a table, if its cells have room.
const TEXT_WIDTH: usize = 80;

/// A table: its columns, and the cells of its rows.
///
/// ```
/// use cambio_sim::table::Table;
///
/// let table = Table::shown(["agent", "score"], [["greedy", "0.5"]]);
/// assert_eq!(table.markdown(), "| agent | score |\n|---|---|\n| greedy | 0.5 |\n");
/// assert_eq!(table.text(), "agent   score\ngreedy    0.5\n");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The cells of each row.
    pub rows: Vec<Vec<Cell>>,
    /// The least width of each column in [`Table::text`].
    widths: Vec<usize>,
}

impl Table {
    /// The table of these rows, with all digits.
    pub fn of<R: Row>(rows: &[R]) -> Table {
        Table { columns: R::columns().to_vec(), rows: rows.iter().map(Row::cells).collect(), widths: Vec::new() }
    }

    /// A table for people with these heads, and rows of texts.
    pub fn shown<H, R>(heads: H, rows: impl IntoIterator<Item = R>) -> Table
    where
        H: IntoIterator<Item: Into<String>>,
        R: IntoIterator<Item: Into<String>>,
    {
        let column = |head: H::Item| Column { name: head.into(), ..Column::default() };
        let cells = |row: R| row.into_iter().map(|cell| Cell::Text(cell.into())).collect();
        let columns = heads.into_iter().map(column).collect();
        Table { columns, rows: rows.into_iter().map(cells).collect(), widths: Vec::new() }
    }

    /// The same table, whose text has columns of at least these widths.
    pub(crate) fn with_widths(self, widths: &[usize]) -> Table {
        Table { widths: widths.to_vec(), ..self }
    }

    /// The table as CSV. Without rows it has only its header.
    ///
    /// # Panics
    /// Does not panic: every row has a cell for each column.
    pub fn csv(&self) -> String {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let header = csv.write_record(self.columns.iter().map(|column| &column.name));
        let written = header.and_then(|()| self.rows.iter().try_for_each(|row| csv.serialize(row)));
        written.expect("every row has a cell for each column");
        String::from_utf8(csv.into_inner().expect("memory writes succeed")).expect("the cells are UTF-8")
    }

    /// The table as a Markdown table.
    pub fn markdown(&self) -> String {
        // A bar would end the cell.
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
        let cells = |row: &Vec<Cell>| row.iter().map(|cell| words(cell).replace('|', "\\|")).collect();
        let head = line(self.columns.iter().map(|column| column.name.clone()).collect());
        let rows: String = self.rows.iter().map(|row| line(cells(row))).collect();
        format!("{head}|{}\n{rows}", "---|".repeat(self.columns.len()))
    }

    /// The table as aligned text, at most 80 columns wide if its cells have room: numbers to the right, other cells to the left, and
    /// labels that are longer than the first column on their own lines.
    pub fn text(&self) -> String {
        let heads = self.columns.iter().map(|column| column.name.clone()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(words).collect());
        let lines: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
        let wide = |text: &str| text.chars().count();
        let is_long = |column: usize, text: &str| column == 0 && wide(text) > LABEL_WIDTH;
        let columns = (0..self.columns.len()).map(|column| {
            let texts = lines.iter().map(|line| line[column].as_str()).filter(|text| !is_long(column, text));
            let width = texts.map(wide).chain(self.widths.get(column).copied()).max().unwrap_or(0);
            let is_number = |line: &Vec<String>| {
                line[column].starts_with(|letter: char| "+−-–<".contains(letter) || letter.is_ascii_digit())
            };
            (width, column > 0 && lines.len() > 1 && lines[1..].iter().all(is_number))
        });
        let columns: Vec<(usize, bool)> = columns.collect();
        let total = |gap: usize| columns.iter().map(|(width, _)| width + gap).sum::<usize>() - gap;
        let gap = if total(2) <= TEXT_WIDTH { "  " } else { " " };
        let mut text = String::new();
        for line in &lines {
            let (label, first) =
                if is_long(0, &line[0]) { (line[0].clone() + "\n", "") } else { (String::new(), &*line[0]) };
            let cells = std::iter::once(first).chain(line[1..].iter().map(String::as_str)).zip(&columns);
            let cells = cells.map(
                |(cell, &(width, is_number))| {
                    if is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
                },
            );
            let cells = cells.collect::<Vec<_>>().join(gap);
            writeln!(text, "{label}{}", cells.trim_end()).expect("a string accepts writes");
        }
        text
    }
}

/// Tables for people, with a title above and notes below.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// The lines above the tables in a text.
    pub title: String,
    /// Each table with the line above it, and the lines below it in a text.
    pub parts: Vec<(String, Table, String)>,
    /// The lines below the tables in a text.
    pub notes: String,
}

impl Tables {
    /// The tables as text, with an empty line after each.
    pub fn text(&self) -> String {
        let table = |(above, table, below): &(String, Table, String)| format!("{above}{}{below}\n", table.text());
        format!("{}{}{}", self.title, self.parts.iter().map(table).collect::<String>(), self.notes)
    }

    /// The title and the tables as Markdown, each with the line above it.
    pub fn markdown(&self) -> String {
        let part = |(above, table, _): &(String, Table, String)| {
            let gap = if above.is_empty() { "" } else { "\n" };
            format!("{above}{gap}{}", table.markdown())
        };
        self.title.clone() + &self.parts.iter().map(part).collect::<Vec<_>>().join("\n")
    }
}

/// A cell as text.
fn words(cell: &Cell) -> String {
    match cell {
        Cell::Empty => NONE.to_owned(),
        Cell::Text(text) => text.clone(),
        Cell::Boolean(truth) => truth.to_string(),
        Cell::Whole(number) => number.to_string(),
        Cell::Float32(number) => number.to_string(),
        Cell::Float(number) => number.to_string(),
    }
}

/// A number with `digits` decimals, a typographic minus sign, and no minus sign before 0.
pub fn number(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// Like [`number`], with a plus sign before positive numbers.
pub fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

/// Like [`number`], with [`NONE`] for a missing number.
pub fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| number(value, digits))
}

/// A mean with its interval, if there is one.
pub fn plus_minus(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    format!("{}{}", number(mean, digits), spread(mean, ends, digits))
}

/// Like [`plus_minus`], with `± –` for a missing interval.
pub(crate) fn in_full(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    let none = if ends.is_none() { " ± –" } else { "" };
    plus_minus(mean, ends, digits) + none
}

/// The text of an interval, to follow the mean: the half-width if the interval is symmetric, otherwise the ends. A small
/// half-width is not rounded to 0, because `± 0.00` looks like certainty.
pub fn spread(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    ends.map_or_else(String::new, |(low, high)| {
        let (half, unit) = ((mean - low).max(high - mean), 10_f64.powi(-(digits as i32)));
        if half <= 0.0 {
            " exact".to_owned()
        } else if half < unit / 2.0 {
            format!(" ± < {unit:.digits$}")
        } else if is_even(mean - low, high - mean, digits) {
            format!(" ± {}", number(half, digits))
        } else {
            format!(" ({} to {})", number(low, digits), number(high, digits))
        }
    })
}

/// A share with its interval, at most 13 columns wide. The ends of an asymmetric interval have two decimals.
pub(crate) fn in_short(share: &Estimate) -> String {
    let Some((low, high)) = share.ends() else { return in_full(share.mean, None, 3) };
    let end =
        |end: f64| if end < 0.995 { format!("{end:.2}").trim_start_matches('0').to_owned() } else { "1".to_owned() };
    match spread(share.mean, Some((low, high)), 3) {
        ends if ends.ends_with(')') => format!("{:.3} {}–{}", share.mean, end(low), end(high)),
        half => format!("{:.3}{}", share.mean, half.replace("< 0.", "<.")),
    }
}

/// The ends of the interval of a difference.
pub(crate) fn ends(ends: Option<(f64, f64)>, digits: usize) -> String {
    ends.map_or_else(|| NONE.to_owned(), |(low, high)| format!("{} to {}", signed(low, digits), signed(high, digits)))
}

/// A p-value without its letter: `0.012`, or `< 0.001`.
pub fn p_figure(p: Option<f64>) -> String {
    match p {
        None => NONE.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) if p > 0.999 => "1".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests;
