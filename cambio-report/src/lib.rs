//! `report.html`: a run, or a response curve, on one page that a browser shows without a network and a printer prints.
//!
//! A page is a function of rows, experiment and lock, as the tables are: no date, no machine, no path is on it. What it says
//! is put into words and coordinates here; the templates in `templates/` only lay it out, and the engine escapes every text.
//!
//! The plots are SVG templates too, not drawings of a library. `plotters`, which draws the figures of our documentation,
//! writes SVG without title, description or role, with a font, a colour and a size in pixels at every element, so that
//! neither a reader's colour scheme nor a printer can have its own, and it guesses how wide text is. Forests, strips of
//! bars and one curve are little geometry (`plot`).

mod desk;
mod plot;
mod run;
mod tuning;
mod verdict;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

pub use run::of_run;
pub use tuning::{Tuning, of_tuning};

/// `report.html` of a run, for those who play, check or merge it.
pub const PAGE: cambio_sim::Page = cambio_sim::Page { file: "report.html", make: of_run };

const TEMPLATES: [(&str, &str); 5] = [
    ("frame.html", include_str!("../templates/frame.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("run.html", include_str!("../templates/run.html")),
    ("style.css", include_str!("../templates/style.css")),
    ("tuning.html", include_str!("../templates/tuning.html")),
];

/// A page of a template.
fn page(template: &str, view: impl Serialize) -> String {
    let render = || -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        environment.get_template(template)?.render(Serde(view))
    };
    render().expect("our templates are well formed and ask for what there is")
}

/// Text in which names of agents and other code are marked.
#[derive(Clone, Default, Debug, Serialize)]
#[serde(transparent)]
struct Prose(Vec<Piece>);

#[derive(Clone, Debug, Serialize)]
struct Piece {
    /// Between them a line may break.
    parts: Vec<String>,
    is_code: bool,
}

impl Prose {
    /// Adds plain text; a figure keeps its sign and its unit beside it.
    fn say(mut self, text: impl AsRef<str>) -> Prose {
        let text = text.as_ref().replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}");
        self.0.push(Piece { parts: vec![text], is_code: false });
        self
    }

    /// Adds a name or a word of a program; a line may break after its parameters.
    fn code(mut self, text: impl AsRef<str>) -> Prose {
        let parts = text.as_ref().split_inclusive([',', ' ']).map(str::to_owned).collect();
        self.0.push(Piece { parts, is_code: true });
        self
    }

    /// `a`, `b` and `c`.
    fn list(self, codes: &[&str]) -> Prose {
        codes.iter().enumerate().fold(self, |prose, (place, code)| {
            let joint = match place {
                0 => "",
                _ if place + 1 == codes.len() => " and ",
                _ => ", ",
            };
            prose.say(joint).code(*code)
        })
    }

    fn then(mut self, other: Prose) -> Prose {
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
struct Table {
    caption: Prose,
    corner: &'static str,
    columns: Vec<Prose>,
    rows: Vec<TableRow>,
}

#[derive(Clone, Debug, Serialize)]
struct TableRow {
    head: Prose,
    cells: Vec<TableCell>,
}

/// A cell of a table: a figure, perhaps with a shade that says again what the figure says.
#[derive(Clone, Default, Debug, Serialize)]
struct TableCell {
    text: Prose,
    /// `up`, `down`, `long`, or nothing.
    tone: &'static str,
    /// How strong the shade is, 0 to 1.
    shade: f64,
}

impl<T: Into<Prose>> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell { text: text.into(), ..TableCell::default() }
    }
}

impl Table {
    /// The same with rows as columns.
    fn transposed(self, corner: &'static str) -> Table {
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

/// What stands for a number that there is not.
const NONE: &str = "–";

/// A number with so many decimals, a true minus sign, and no minus before 0.
fn number(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// The same with a plus sign before what is above 0.
fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| number(value, digits))
}

/// A mean with half its interval; without the interval where there is none.
fn plus_minus(mean: f64, high: Option<f64>, digits: usize) -> String {
    let half = high.map_or_else(String::new, |high| format!(" ± {}", number(high - mean, digits)));
    format!("{}{half}", number(mean, digits))
}

/// A whole number with its thousands apart.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let from = |place: usize| if (digits.len() - place).is_multiple_of(3) && place > 0 { "," } else { "" };
    digits.char_indices().flat_map(|(place, digit)| [from(place).to_owned(), digit.to_string()]).collect()
}

/// So many of something: `1 deal`, `2 deals`.
fn count(value: u64, one: &str) -> String {
    let ending = match (value, one.strip_suffix("ch")) {
        (1, _) => "",
        (_, Some(_)) => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", grouped(value))
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "< 1 %".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => "> 99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// At most so many letters, the last an ellipsis where there are more: for plots, whose text does not break.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([grouped(7), grouped(999), grouped(1000), grouped(48_000_000)], ["7", "999", "1,000", "48,000,000"]);
        assert_eq!([number(-0.0004, 3), number(-0.25, 2), number(1.0, 3)], ["0.000", "−0.25", "1.000"]);
        assert_eq!([signed(0.25, 1), signed(-2.0, 0), signed(0.0004, 3)], ["+0.2", "−2", "0.000"]);
        assert_eq!(plus_minus(0.5, Some(0.625), 2), "0.50 ± 0.12");
        assert_eq!(plus_minus(0.5, None, 2), "0.50");
        assert_eq!(
            [count(1, "match"), count(2, "match"), count(1200, "deal")],
            ["1 match", "2 matches", "1,200 deals"]
        );
        assert_eq!([percent(0.0), percent(0.004), percent(0.31)], ["0 %", "< 1 %", "31 %"]);
        assert_eq!(short("greedy(call_at=9)", 9), "greedy(c…");
    }
}
