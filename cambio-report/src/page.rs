//! A page as data: sections of headings, paragraphs, tables and figures. One template renders every page.
//!
//! The sentences are in `templates/prose.txt`, one template each ([`prose`]). Prose is text in which code, such as the names of
//! agents, is marked ([`code`]). The page template escapes every text and makes HTML of the marks.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, HtmlEscape, UndefinedBehavior, Value, context};
use serde::Serialize;

use crate::figure::Figure;
use crate::numbers::{count, grouped, number};

/// A page, which works offline and in print.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    pub(crate) title: String,
    /// The verdict and the notes under the title.
    pub(crate) header: Vec<Block>,
    /// Whether links to the sections follow the header.
    pub(crate) has_contents: bool,
    pub(crate) sections: Vec<Section>,
}

/// A part of a page under a heading of the second level.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Block {
    /// A heading of the third level.
    Heading(String),
    Paragraph(Paragraph),
    /// Preformatted text.
    Code(String),
    Table(ReportTable),
    Figure(Figure),
    /// Figures and tables side by side.
    Figures(Vec<Block>),
    /// Blocks under a heading that readers can open and close.
    Details {
        heading: String,
        is_open: bool,
        blocks: Vec<Block>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Paragraph {
    /// The CSS class: `verdict`, `note`, `facts` or empty.
    class: &'static str,
    /// Empty if nothing refers to the paragraph.
    id: String,
    text: String,
}

impl Section {
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { id: id.into(), title: title.into(), blocks }
    }
}

impl Block {
    pub(crate) fn text(text: impl Into<String>) -> Block {
        Block::Paragraph(Paragraph { class: "", id: String::new(), text: text.into() })
    }

    pub(crate) fn facts(text: String) -> Block {
        Block::Paragraph(Paragraph { class: "facts", id: String::new(), text })
    }

    pub(crate) fn note(text: String) -> Block {
        Block::Paragraph(Paragraph { class: "note", id: String::new(), text })
    }

    pub(crate) fn verdict(id: impl Into<String>, text: String) -> Block {
        Block::Paragraph(Paragraph { class: "verdict", id: id.into(), text })
    }

    pub(crate) fn heading(text: impl Into<String>) -> Block {
        Block::Heading(text.into())
    }

    /// These figures side by side; `None` if there are none.
    pub(crate) fn figures(figures: impl IntoIterator<Item = Figure>) -> Option<Block> {
        let figures: Vec<Block> = figures.into_iter().map(Block::Figure).collect();
        (!figures.is_empty()).then_some(Block::Figures(figures))
    }
}

impl Page {
    /// The HTML of the page.
    pub fn html(&self) -> String {
        let sections: String = self.sections.iter().map(|section| part("section", section)).collect();
        part("start", self) + &sections + "</main>\n</body>\n</html>"
    }
}

/// A table. The first cell of each row is a header.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportTable {
    /// The name for screen readers.
    pub(crate) name: String,
    /// The CSS class: `words`, `matrix`, `behaviour` or empty.
    pub(crate) class: &'static str,
    pub(crate) caption: String,
    pub(crate) corner: String,
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
    /// Where a link leads; empty without a link.
    pub(crate) link: String,
    /// The strength of the shade, from 0 to 1.
    pub(crate) shade: f64,
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell { text: text.into(), ..TableCell::default() }
    }
}

impl ReportTable {
    /// A table with these columns after the column of the headers.
    pub(crate) fn new<C: Into<String>>(
        name: impl Into<String>,
        caption: String,
        corner: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
        rows: Vec<TableRow>,
    ) -> ReportTable {
        let columns = columns.into_iter().map(Into::into).collect();
        ReportTable { name: name.into(), class: "", caption, corner: corner.into(), columns, rows }
    }

    /// Sets the CSS class.
    pub(crate) fn with_class(self, class: &'static str) -> ReportTable {
        ReportTable { class, ..self }
    }

    /// The table with rows and columns exchanged.
    pub(crate) fn transposed(self, corner: &str) -> ReportTable {
        let mut heads = Vec::with_capacity(self.rows.len());
        let mut rows: Vec<TableRow> =
            self.columns.into_iter().map(|head| TableRow { head, cells: Vec::new() }).collect();
        for row in self.rows {
            heads.push(row.head);
            for (own, cell) in rows.iter_mut().zip(row.cells) {
                own.cells.push(cell);
            }
        }
        ReportTable { corner: corner.to_owned(), columns: heads, rows, ..self }
    }
}

/// The marks around code. No text contains these characters.
const MARKS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Marks code in prose.
pub(crate) fn code(text: impl AsRef<str>) -> String {
    format!("{}{}{}", MARKS[0], text.as_ref().replace(MARKS, ""), MARKS[1])
}

/// A list of code, with this text before the last item: `a`, `b` and `c`.
#[expect(clippy::needless_pass_by_value, reason = "the template engine passes owned values")]
fn codes(items: Vec<String>, last: &str) -> String {
    let codes: Vec<String> = items.iter().map(code).collect();
    match &codes[..] {
        [first @ .., end] if !first.is_empty() => format!("{}{last}{end}", first.join(", ")),
        _ => codes.concat(),
    }
}

/// Prose as HTML, with no-break spaces around `±` and before `%`. A line may break after each parameter in code.
fn html(prose: &str) -> String {
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

const PAGE: &str = include_str!("../templates/page.html");
const PROSE: &str = include_str!("../templates/prose.txt");

/// The templates: the layout of pages, and each text of `prose.txt` by its name.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let build = || -> Result<Environment<'static>, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.add_filter("prose", |text: &str| Value::from_safe_string(html(text)));
        environment.add_filter("code", |text: &str| code(text));
        environment.add_filter("codes", codes);
        environment.add_filter("count", count);
        environment.add_filter("grouped", grouped);
        environment.add_filter("number", number);
        environment.add_template("page.html", PAGE)?;
        environment.add_template("style.css", include_str!("../templates/style.css"))?;
        environment.add_template("plot.css", include_str!("../templates/plot.css"))?;
        for text in PROSE.split("\n## ").skip(1) {
            let (name, text) = text.split_once('\n').unwrap_or((text, ""));
            environment.add_template_owned(name, text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))?;
        }
        Ok(environment)
    };
    build().expect("the templates are valid")
});

/// The text of `prose.txt` with this name and these values.
pub(crate) fn prose(name: &str, values: serde_json::Value) -> String {
    let text = TEMPLATES.get_template(name).and_then(|template| template.render(Serde(values)));
    text.expect("the text exists and uses only defined values")
}

/// A part of a page: `start` of the page, or a `section`.
fn part(name: &str, it: impl Serialize) -> String {
    let part = || TEMPLATES.get_template("page.html")?.render(context! { part => name, it => Value::from(Serde(it)) });
    part().expect("the template uses only defined values")
}
