//! The report page of a network trained by self-play.

use std::path::Path;

use cambio_exec::read_text;
use cambio_learn::{CurveRow, JudgedRow, Recipe};
use cambio_sim::RunError;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::figure::{BestComparison, CurveSample, Drawing, Figure, curve};
use crate::numbers::{NONE, grouped, listed, number, plus_minus};
use crate::page::{Block, Page, ReportTable, Section, TableRow, code, how, prose};

/// The maximum number of points of the loss curve. A longer curve is thinned to every second, third … point.
const MOST_POINTS: usize = 60;

/// The wins in percent, with their interval.
fn wins(row: &JudgedRow) -> String {
    plus_minus(100.0 * row.win_share, interval(row), 1)
}

fn interval(row: &JudgedRow) -> Option<(f64, f64)> {
    row.low.zip(row.high).map(|(low, high)| (100.0 * low, 100.0 * high))
}

/// The results that a learner has written so far.
#[derive(Clone, Copy)]
struct Learning<'a> {
    recipe: &'a Recipe,
    curve: &'a [CurveRow],
    judged: &'a [JudgedRow],
    bound: &'a [JudgedRow],
}

/// The rows of a file; empty if it does not exist.
fn rows<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, RunError> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(file).map_err(RunError::unreadable(file))?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
    rows.map_err(|error| RunError::damaged(file, error.to_string()))
}

/// Makes the page of a network from the recipe and the tables in its folder, during or after training.
///
/// # Errors
/// If the folder has no recipe, or a file cannot be read.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("cambio-learned-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let judged = "matches,level,against,seats,win_share,low,high,deals\n500000,1,sharp,2,0.56,0.55,0.57,2000\n";
/// std::fs::write(folder.join("recipe.toml"), "rules = 'classic'\nseats = [2]\nmatches = 1000000\n")?;
/// std::fs::write(folder.join("judged.csv"), judged)?;
/// assert!(cambio_report::of_learning(&folder)?.html().contains("56.0 ± 1.0 %"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_learning(folder: &Path) -> Result<Page, RunError> {
    let file = folder.join("recipe.toml");
    let text = read_text(&file).map_err(RunError::unreadable(&file))?;
    let recipe = &Recipe::from_toml(&text).map_err(|error| RunError::damaged(&file, error.to_string()))?;
    let [judged, bound] = ["judged.csv", "bound.csv"].map(|name| rows(&folder.join(name)));
    let (judged, bound) = (&judged?[..], &bound?[..]);
    let learning = Learning { recipe, curve: &rows(&folder.join("curve.csv"))?, judged, bound };
    let mut rivals: Vec<(usize, &str)> = judged.iter().map(|row| (row.seats, row.against.as_str())).collect();
    rivals.sort_unstable();
    rivals.dedup();
    let curves = rivals.iter().enumerate().map(|(index, &rival)| learning.wins(index, rival));
    let loss = (learning.curve.len() > 1).then(|| learning.loss());
    let levels = (!rivals.is_empty()).then(|| Block::Table(learning.levels(&rivals)));
    let figures = curves.chain(loss).map(Block::Figure).chain(levels).collect();
    let blocks = vec![Block::text(prose("learning_reading", json!({}))), Block::Figures(figures)];
    Ok(Page {
        title: learning.title(),
        header: learning.verdicts().into_iter().map(|verdict| Block::verdict("", verdict)).collect(),
        has_contents: false,
        sections: vec![Section::new("curve", "How it learned", blocks), how(prose("how_learning", json!({})), text)],
    })
}

fn thousands(matches: u64) -> String {
    if matches < 10_000 { number(matches as f64 / 1e3, 1) } else { grouped(matches / 1000) }
}

/// A point of a learning curve.
struct LearningPoint {
    matches: u64,
    mean: f64,
    interval: Option<(f64, f64)>,
    /// The mean with its interval, as text.
    text: String,
}

/// A curve over training matches, and its description in words.
fn learning_curve(
    points: impl Iterator<Item = LearningPoint>,
    standing: BestComparison,
    what: &'static str,
) -> (Drawing, String) {
    let (mut samples, mut words) = (Vec::new(), Vec::new());
    for LearningPoint { matches, mean, interval, text } in points {
        let (label, at) = (thousands(matches), Some(matches as f64 / 1e3));
        samples.push(CurveSample { label, at, mean, interval, band: None, standing });
        words.push(format!("{} matches: {text}", grouped(matches)));
    }
    (curve(&samples, "thousand matches", what), listed(words.into_iter()))
}

fn shares<'a>(rows: impl Iterator<Item = &'a JudgedRow>, what: &'static str) -> (Drawing, String) {
    let point = |row: &JudgedRow| LearningPoint {
        matches: row.matches,
        mean: 100.0 * row.win_share,
        interval: interval(row),
        text: format!("{} %", wins(row)),
    };
    learning_curve(rows.map(point), BestComparison::Level, what)
}

impl<'a> Learning<'a> {
    fn title(&self) -> String {
        let Recipe { rules, evaluation, bound, .. } = self.recipe;
        let values = json!({
            "rules": rules,
            "is_responder": bound.is_some(),
            "against": evaluation.against,
        });
        prose("learning_title", values)
    }

    fn verdicts(&self) -> Vec<String> {
        let done = self.curve.last().map_or(0, |row| row.matches).max(self.judged.last().map_or(0, |row| row.matches));
        let learned = json!({
            "matches": done,
            "seats": self.recipe.seats,
            "rounds": self.curve.last().map_or(0, |row| row.rounds),
            "left": self.recipe.matches.saturating_sub(done),
        });
        let row = |name: &'static str| {
            move |row: &JudgedRow| {
                let values = json!({
                    "against": row.against,
                    "seats": row.seats,
                    "level": row.level,
                    "share": wins(row),
                    "deals": row.deals,
                    "even": number(100.0 / row.seats as f64, 1),
                });
                prose(name, values)
            }
        };
        let last = self.judged.iter().filter(|row| Some(row.level) == self.judged.last().map(|last| last.level));
        let rest = self.bound.iter().map(row("bound"));
        std::iter::once(prose("learned", learned)).chain(rest).chain(last.map(row("wins"))).collect()
    }

    fn of_rival(&self, (seats, against): (usize, &'a str)) -> impl Iterator<Item = &'a JudgedRow> + use<'a> {
        self.judged.iter().filter(move |row| row.seats == seats && row.against == against)
    }

    fn wins(&self, index: usize, rival: (usize, &'a str)) -> Figure {
        let (drawing, description) = shares(self.of_rival(rival), "wins in %");
        let (seats, against) = rival;
        Figure {
            id: format!("wins-{}", index + 1),
            title: format!("Wins against {against} at {seats} seats, by matches"),
            description,
            caption: prose(
                "learning_wins",
                json!({ "against": against, "seats": seats, "even": number(100.0 / seats as f64, 1) }),
            ),
            drawing,
        }
    }

    fn loss(&self) -> Figure {
        let step = self.curve.len().div_ceil(MOST_POINTS);
        let point = |row: &CurveRow| LearningPoint {
            matches: row.matches,
            mean: row.loss,
            interval: None,
            text: number(row.loss, 4),
        };
        let points = self.curve.iter().step_by(step).map(point);
        let (drawing, description) = learning_curve(points, BestComparison::Behind, "loss in nats");
        Figure {
            id: "loss".to_owned(),
            title: "Loss by matches".to_owned(),
            description,
            caption: prose("learning_loss", json!({})),
            drawing,
        }
    }

    fn levels(&self, rivals: &[(usize, &'a str)]) -> ReportTable {
        let mut levels: Vec<(u64, u64)> = self.judged.iter().map(|row| (row.level, row.matches)).collect();
        levels.dedup();
        let row = |&(level, matches): &(u64, u64)| {
            let cell = |&rival: &(usize, &'a str)| {
                let found = self.of_rival(rival).find(|row| row.level == level);
                found.map_or_else(|| NONE.to_owned(), wins)
            };
            let cells = std::iter::once(grouped(matches)).chain(rivals.iter().map(cell));
            TableRow::new(format!("levels/{level}.net"), cells)
        };
        let heads = rivals.iter().map(|(seats, against)| format!("{}, {seats} seats", code(against)));
        let columns = std::iter::once("matches".into()).chain(heads);
        let rows = levels.iter().map(row).collect();
        ReportTable::new("Levels", prose("learning_levels", json!({})), "network", columns, rows)
    }
}
