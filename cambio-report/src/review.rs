//! The page of a review: the costliest decisions of a run's agents.

use serde_json::json;

use crate::page::{Block, Page, ReportTable, Section, TableCell, TableRow, prose};

/// The costliest decisions of one agent and kind.
#[derive(Clone, PartialEq, Debug)]
pub struct ReviewTable {
    /// The agent and the kind.
    pub title: String,
    /// The number of decisions and their mean cost.
    pub facts: String,
    /// The decision, its cost, the best decision, the place, and the link to the place in a replay.
    pub rows: Vec<[String; 5]>,
}

/// Makes the page of a review of the run with this title.
///
/// ```
/// use cambio_report::{ReviewTable, of_review};
///
/// let row = ["pass", "12.0 ± 3.0", "a1", "match 5, round 1, decision 9", "match-5.html#round=1&decision=9"];
/// let rows = vec![row.map(String::from)];
/// let table = ReviewTable { title: "greedy, a snap window".into(), facts: "40 decisions.".into(), rows };
/// let page = of_review("A run", "10 matches.".into(), vec![table]).html();
/// assert!(page.contains("<a href=\"match-5.html#round=1&amp;decision=9\">match 5"));
/// ```
pub fn of_review(title: &str, facts: String, tables: Vec<ReviewTable>) -> Page {
    let about = prose("review", json!({ "is_empty": tables.is_empty() }));
    let section = |(number, table): (usize, ReviewTable)| {
        let row = |[decision, cost, better, place, link]: [String; 5]| {
            TableRow::new(decision, [cost.into(), better.into(), TableCell { link, ..place.into() }])
        };
        let ReviewTable { title, facts, rows } = table;
        let rows = rows.into_iter().map(row).collect();
        let table = ReportTable::new(&title, facts, "decision", ["cost", "better", "place"], rows).with_class("words");
        Section::new(format!("kind-{}", number + 1), title, vec![Block::Table(table)])
    };
    Page {
        title: format!("Costly decisions of {title}"),
        header: vec![Block::verdict("", facts), Block::text(about)],
        has_contents: false,
        sections: tables.into_iter().enumerate().map(section).collect(),
    }
}
