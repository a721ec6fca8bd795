//! The report page of a network trained by self-play.

use std::path::Path;

use cambio_exec::read_text;
use cambio_sim::RunError;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::curves::CurvePage;
use crate::numbers::{NONE, count, grouped, listed, number, plus_minus};
use crate::parts::{ReportTable, TableRow, code};
use crate::plot::{BestComparison, Curve, CurveSample, Figure};
use crate::template::page;

/// The maximum number of points of the loss curve. A longer curve is thinned to every second, third … point.
const MOST_POINTS: usize = 60;

/// The fields of `recipe.toml` that the page shows.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Recipe {
    rules: String,
    seats: Vec<usize>,
    matches: u64,
    evaluation: Evaluation,
    bound: Option<toml::Table>,
    imitate: Option<Imitation>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Evaluation {
    against: Vec<String>,
}

#[derive(Deserialize)]
struct Imitation {
    agent: String,
}

#[derive(Deserialize)]
struct CurveRow {
    matches: u64,
    rounds: u64,
    loss: f64,
}

/// A row of `judged.csv` or `bound.csv`, or of `agreed.csv`.
#[derive(Deserialize)]
struct JudgedRow {
    matches: u64,
    #[serde(alias = "agent")]
    against: String,
    /// The mean win share, or the agreement with the imitated agent. Older folders call both `share`.
    #[serde(alias = "win_share", alias = "agreement")]
    share: f64,
    low: Option<f64>,
    high: Option<f64>,
    deals: u64,
    level: u64,
    #[serde(default)]
    seats: usize,
    #[serde(default, alias = "agreement_by_chance")]
    by_chance: f64,
    #[serde(default)]
    decisions: u64,
}

impl JudgedRow {
    fn share(&self) -> String {
        plus_minus(100.0 * self.share, self.interval(), 1)
    }

    fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high).map(|(low, high)| (100.0 * low, 100.0 * high))
    }
}

/// The results that a learner has written so far.
#[derive(Clone, Copy)]
struct Learning<'a> {
    recipe: &'a Recipe,
    curve: &'a [CurveRow],
    judged: &'a [JudgedRow],
    agreed: &'a [JudgedRow],
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
/// assert!(cambio_report::of_learning(&folder)?.contains("56.0 ± 1.0 %"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_learning(folder: &Path) -> Result<String, RunError> {
    let file = folder.join("recipe.toml");
    let text = read_text(&file).map_err(RunError::unreadable(&file))?;
    let recipe = &toml::from_str(&text).map_err(|error| RunError::damaged(&file, error.to_string()))?;
    let [judged, agreed, bound] = ["judged.csv", "agreed.csv", "bound.csv"].map(|name| rows(&folder.join(name)));
    let (judged, agreed, bound) = (&judged?[..], &agreed?[..], &bound?[..]);
    let learning = Learning { recipe, curve: &rows(&folder.join("curve.csv"))?, judged, agreed, bound };
    let mut rivals: Vec<(usize, &str)> = judged.iter().map(|row| (row.seats, row.against.as_str())).collect();
    rivals.sort_unstable();
    rivals.dedup();
    let mut curves: Vec<Figure<Curve>> =
        rivals.iter().enumerate().map(|(index, &rival)| learning.wins(index, rival)).collect();
    curves.extend((!agreed.is_empty()).then(|| learning.agreement()));
    curves.extend((learning.curve.len() > 1).then(|| learning.loss()));
    let seats: Vec<String> = recipe.seats.iter().map(ToString::to_string).collect();
    let shown = CurvePage {
        title: learning.title(),
        verdicts: learning.verdicts(&seats.join(", ")),
        heading: "How it learned",
        reading: "Bars are 95 % intervals, clustered by deal. The network is evaluated in all seats, on held-out deals, with averaged \
                  weights.",
        curves,
        points: (!rivals.is_empty()).then(|| learning.levels(&rivals)),
        points_name: "Levels",
        replies: None,
        how: format!(
            "The recipe below reproduces the network byte for byte, for any number of threads: {}. {} and {} contain all numbers, and {} \
             the network at each evaluation.",
            code("cambio learn recipe.toml --out DIR"),
            code("curve.csv"),
            code("judged.csv"),
            code("levels")
        ),
        command: text,
    };
    Ok(page("curves.html", shown))
}

fn thousands(matches: u64) -> String {
    if matches < 10_000 { number(matches as f64 / 1e3, 1) } else { grouped(matches / 1000) }
}

/// A curve over training matches, and a description. A point has the number of matches, the mean, the interval of the
/// mean, and the mean in words.
fn curve(
    points: impl Iterator<Item = (u64, f64, Option<(f64, f64)>, String)>,
    standing: BestComparison,
    what: &'static str,
) -> (Curve, String) {
    let (mut samples, mut words) = (Vec::new(), Vec::new());
    for (matches, mean, interval, text) in points {
        let (label, at) = (thousands(matches), Some(matches as f64 / 1e3));
        samples.push(CurveSample { label, at, mean, interval, band: None, share: None, standing });
        words.push(format!("{} matches: {text}", grouped(matches)));
    }
    (Curve::new(&samples, "thousand matches", what), listed(words.into_iter()))
}

fn shares<'a>(rows: impl Iterator<Item = &'a JudgedRow>, what: &'static str) -> (Curve, String) {
    let point = |row: &JudgedRow| (row.matches, 100.0 * row.share, row.interval(), format!("{} %", row.share()));
    curve(rows.map(point), BestComparison::Level, what)
}

impl<'a> Learning<'a> {
    fn title(&self) -> String {
        let Recipe { rules, evaluation, bound, imitate, .. } = self.recipe;
        match (imitate, bound) {
            (Some(imitation), _) => format!("A clone of {} on {rules}", imitation.agent),
            (None, Some(_)) => format!("A responder to {} on {rules}", evaluation.against.join(", ")),
            (None, None) => format!("A network for {rules}"),
        }
    }

    fn verdicts(&self, seats: &str) -> Vec<String> {
        let done = self.curve.last().map_or(0, |row| row.matches).max(self.judged.last().map_or(0, |row| row.matches));
        let rounds = self.curve.last().map_or(0, |row| row.rounds);
        let of = if rounds > 0 { format!(", {} in all", count(rounds, "round")) } else { String::new() };
        let left = self.recipe.matches.saturating_sub(done);
        let rest = if left > 0 { format!("; {} remain.", grouped(left)) } else { ".".to_owned() };
        let first = format!("It has learned from {} at {seats} seats{of}{rest}", count(done, "match"));
        let last = self.judged.iter().filter(|row| Some(row.level) == self.judged.last().map(|last| last.level));
        let wins = last.map(|row| {
            let (against, deals) = (code(&row.against), count(row.deals, "deal"));
            format!("It wins {} % against {against} at {} seats, over {deals}.", row.share(), row.seats)
        });
        let agreed = self.agreed.last().map(|row| {
            format!(
                "It agrees in {} % with the decisions of {} with a choice, over {} in {} that were held out; a random choice would agree \
                 in {} %.",
                row.share(),
                code(&row.against),
                count(row.decisions, "decision"),
                count(row.deals, "deal"),
                number(100.0 * row.by_chance, 1)
            )
        });
        let bound = self.bound.iter().map(|row| {
            format!(
                "A lower bound on how far {} can be exploited at {} seats: the best level, {}, wins {} % on {} that were used neither for \
                 training nor for selection; equal players win {} %.",
                code(&row.against),
                row.seats,
                row.level,
                row.share(),
                count(row.deals, "other deal"),
                number(100.0 / row.seats as f64, 1)
            )
        });
        std::iter::once(first).chain(bound).chain(agreed).chain(wins).collect()
    }

    fn of_rival(&self, (seats, against): (usize, &'a str)) -> impl Iterator<Item = &'a JudgedRow> + use<'a> {
        self.judged.iter().filter(move |row| row.seats == seats && row.against == against)
    }

    fn wins(&self, index: usize, rival: (usize, &'a str)) -> Figure<Curve> {
        let (drawing, description) = shares(self.of_rival(rival), "wins in %");
        let (seats, against) = rival;
        Figure {
            id: format!("wins-{}", index + 1),
            title: format!("Wins against {against} at {seats} seats, by matches"),
            description,
            caption: format!(
                "Against {} in all other seats, {seats} seats; equal players win {} %.",
                code(against),
                number(100.0 / seats as f64, 1)
            ),
            drawing,
        }
    }

    fn agreement(&self) -> Figure<Curve> {
        let (drawing, description) = shares(self.agreed.iter(), "decisions in %");
        Figure {
            id: "agreement".to_owned(),
            title: "Agreement with the agent's decisions, by matches".to_owned(),
            description,
            caption: "The share of decisions with a choice, in held-out deals, in which the network takes the recorded decision or \
                      one with identical features."
                .into(),
            drawing,
        }
    }

    fn loss(&self) -> Figure<Curve> {
        let step = self.curve.len().div_ceil(MOST_POINTS);
        let point = |row: &CurveRow| (row.matches, row.loss, None, number(row.loss, 4));
        let points = self.curve.iter().step_by(step).map(point);
        let (drawing, description) = curve(points, BestComparison::Behind, "loss in nats");
        Figure {
            id: "loss".to_owned(),
            title: "Loss by matches".to_owned(),
            description,
            caption: "The mean cross-entropy between the network's predictions and the outcomes since the previous checkpoint, in nats."
                .into(),
            drawing,
        }
    }

    fn levels(&self, rivals: &[(usize, &'a str)]) -> ReportTable {
        let mut levels: Vec<(u64, u64)> = self.judged.iter().map(|row| (row.level, row.matches)).collect();
        levels.dedup();
        let row = |&(level, matches): &(u64, u64)| {
            let cell = |&rival: &(usize, &'a str)| {
                let found = self.of_rival(rival).find(|row| row.level == level);
                found.map_or_else(|| NONE.to_owned(), JudgedRow::share)
            };
            let cells = std::iter::once(grouped(matches)).chain(rivals.iter().map(cell));
            TableRow::new(format!("levels/{level}.net"), cells)
        };
        let heads = rivals.iter().map(|(seats, against)| format!("{}, {seats} seats", code(against)));
        ReportTable {
            caption: "The network at each evaluation: training matches, and wins in percent.".into(),
            corner: "network",
            columns: std::iter::once("matches".into()).chain(heads).collect(),
            rows: levels.iter().map(row).collect(),
        }
    }
}
