//! Building blocks of pages: prose and tables.
//!
//! Prose is text in which code, such as the names of agents, is marked ([`code`]). The filter `prose` of the templates makes
//! HTML of it.

use minijinja::HtmlEscape;
use serde::Serialize;

/// The marks around code. No text contains these characters.
const MARKS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Marks code in prose.
pub(crate) fn code(text: impl AsRef<str>) -> String {
    format!("{}{}{}", MARKS[0], text.as_ref().replace(MARKS, ""), MARKS[1])
}

/// A list of code, with this text before the last item: `a`, `b` and `c`.
pub(crate) fn list(codes: &[&str], last: &str) -> String {
    let codes: Vec<String> = codes.iter().map(code).collect();
    match &codes[..] {
        [first @ .., end] if !first.is_empty() => format!("{}{last}{end}", first.join(", ")),
        _ => codes.concat(),
    }
}

/// Prose as HTML, with no-break spaces around `±` and before `%`. A line may break after each parameter in code.
pub(crate) fn html(prose: &str) -> String {
    let escaped = |text: &str| HtmlEscape(text).to_string();
    let piece = |(number, text): (usize, &str)| {
        if number % 2 == 0 {
            return escaped(&text.replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}"));
        }
        let parts: Vec<String> = text.split_inclusive([',', ' ']).map(escaped).collect();
        format!("<code>{}</code>", parts.join("<wbr/>"))
    };
    prose.split(MARKS).enumerate().map(piece).collect()
}

/// A table. The first cell of each row is a header.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportTable {
    pub(crate) caption: String,
    pub(crate) corner: &'static str,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<TableRow>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct TableRow {
    pub(crate) head: String,
    pub(crate) cells: Vec<TableCell>,
}

impl TableRow {
    pub(crate) fn new<C: Into<TableCell>>(head: impl Into<String>, cells: impl IntoIterator<Item = C>) -> TableRow {
        TableRow { head: head.into(), cells: cells.into_iter().map(Into::into).collect() }
    }
}

/// A cell of a table: a number or text, optionally with a shade that visualizes the number.
#[derive(Clone, Default, Debug, Serialize)]
pub(crate) struct TableCell {
    pub(crate) text: String,
    /// The CSS class: `up`, `down`, `long` or empty.
    pub(crate) tone: &'static str,
    /// The strength of the shade, from 0 to 1.
    pub(crate) shade: f64,
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell { text: text.into(), ..TableCell::default() }
    }
}

impl ReportTable {
    /// The table with rows and columns exchanged.
    pub(crate) fn transposed(self, corner: &'static str) -> ReportTable {
        let mut heads = Vec::with_capacity(self.rows.len());
        let mut rows: Vec<TableRow> =
            self.columns.into_iter().map(|head| TableRow { head, cells: Vec::new() }).collect();
        for row in self.rows {
            heads.push(row.head);
            for (own, cell) in rows.iter_mut().zip(row.cells) {
                own.cells.push(cell);
            }
        }
        ReportTable { caption: self.caption, corner, columns: heads, rows }
    }
}
