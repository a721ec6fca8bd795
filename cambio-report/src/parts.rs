//! What pages are made of: prose and tables.

use serde::Serialize;

/// Text in which names of agents and other code are marked.
#[derive(Clone, Default, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Prose(Vec<Piece>);

#[derive(Clone, Debug, Serialize)]
struct Piece {
    /// Between them a line may break.
    parts: Vec<String>,
    is_code: bool,
}

impl Prose {
    /// Adds plain text; a figure keeps its sign and its unit beside it.
    pub(crate) fn say(mut self, text: impl AsRef<str>) -> Prose {
        let text = text.as_ref().replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}");
        self.0.push(Piece { parts: vec![text], is_code: false });
        self
    }

    /// Adds a name or a word of a program; a line may break after its parameters.
    pub(crate) fn code(mut self, text: impl AsRef<str>) -> Prose {
        let parts = text.as_ref().split_inclusive([',', ' ']).map(str::to_owned).collect();
        self.0.push(Piece { parts, is_code: true });
        self
    }

    /// `a`, `b` and `c`.
    pub(crate) fn list(self, codes: &[&str]) -> Prose {
        codes.iter().enumerate().fold(self, |prose, (place, code)| {
            let joint = match place {
                0 => "",
                _ if place + 1 == codes.len() => " and ",
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

/// A table; the first cell of each row is its head.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
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

/// A cell of a table: a figure, perhaps with a shade that says again what the figure says.
#[derive(Clone, Default, Debug, Serialize)]
pub(crate) struct TableCell {
    pub(crate) text: Prose,
    /// `up`, `down`, `long`, or nothing.
    pub(crate) tone: &'static str,
    /// How strong the shade is, 0 to 1.
    pub(crate) shade: f64,
}

impl<T: Into<Prose>> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell { text: text.into(), ..TableCell::default() }
    }
}

impl Table {
    /// The same with rows as columns.
    pub(crate) fn transposed(self, corner: &'static str) -> Table {
        let mut heads = Vec::with_capacity(self.rows.len());
        let mut rows: Vec<TableRow> =
            self.columns.into_iter().map(|head| TableRow { head, cells: Vec::new() }).collect();
        for row in self.rows {
            heads.push(row.head);
            for (own, cell) in rows.iter_mut().zip(row.cells) {
                own.cells.push(cell);
            }
        }
        Table { caption: self.caption, corner, columns: heads, rows }
    }
}
