//! Building blocks of pages: prose and tables.

use serde::Serialize;

/// Text in which code, such as the names of agents, is marked.
#[derive(Clone, Default, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Prose(Vec<Piece>);

#[derive(Clone, Debug, Serialize)]
struct Piece {
    /// The parts; a line may break between two of them.
    parts: Vec<String>,
    is_code: bool,
}

impl Prose {
    /// Adds plain text, with no-break spaces around `±` and before `%`.
    pub(crate) fn say(mut self, text: impl AsRef<str>) -> Prose {
        let text = text.as_ref().replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}");
        self.0.push(Piece { parts: vec![text], is_code: false });
        self
    }

    /// Adds code. A line may break after each parameter.
    pub(crate) fn code(mut self, text: impl AsRef<str>) -> Prose {
        let parts = text.as_ref().split_inclusive([',', ' ']).map(str::to_owned).collect();
        self.0.push(Piece { parts, is_code: true });
        self
    }

    /// Adds a list of code: `a`, `b` and `c`.
    pub(crate) fn list(self, codes: &[&str]) -> Prose {
        self.list_with(codes, " and ")
    }

    /// Adds a list of code, with this text before the last item.
    pub(crate) fn list_with(self, codes: &[&str], last: &str) -> Prose {
        codes.iter().enumerate().fold(self, |prose, (index, code)| {
            let joint = match index {
                0 => "",
                _ if index + 1 == codes.len() => last,
                _ => ", ",
            };
            prose.say(joint).code(*code)
        })
    }

    pub(crate) fn then(mut self, other: Prose) -> Prose {
        self.0.extend(other.0);
        self
    }
}

impl From<&str> for Prose {
    fn from(text: &str) -> Prose {
        Prose::default().say(text)
    }
}

impl From<String> for Prose {
    fn from(text: String) -> Prose {
        Prose::default().say(text)
    }
}

/// A table. The first cell of each row is a header.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportTable {
    pub(crate) caption: Prose,
    pub(crate) corner: &'static str,
    pub(crate) columns: Vec<Prose>,
    pub(crate) rows: Vec<TableRow>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct TableRow {
    pub(crate) head: Prose,
    pub(crate) cells: Vec<TableCell>,
}

impl TableRow {
    pub(crate) fn new<C: Into<TableCell>>(head: impl Into<Prose>, cells: impl IntoIterator<Item = C>) -> TableRow {
        TableRow { head: head.into(), cells: cells.into_iter().map(Into::into).collect() }
    }
}

/// A cell of a table: a number or text, optionally with a shade that visualizes the number.
#[derive(Clone, Default, Debug, Serialize)]
pub(crate) struct TableCell {
    pub(crate) text: Prose,
    /// The CSS class: `up`, `down`, `long` or empty.
    pub(crate) tone: &'static str,
    /// The strength of the shade, from 0 to 1.
    pub(crate) shade: f64,
}

impl<T: Into<Prose>> From<T> for TableCell {
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
