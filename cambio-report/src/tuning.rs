//! The report page of tuning: response curves.

use cambio_sim::table::Tables;
use cambio_sim::tune::{FieldScores, ResponsePoint, Tuned, TuningResult};
use itertools::Itertools as _;
use serde_json::json;

use crate::figure::{BestComparison, CurveSample, Figure, axis, axis_name, curve};
use crate::numbers::listed;
use crate::page::{Block, Page, ReportTable, Section, code, how, prose};

/// The results of tuning, as stored in `curve.csv` and `tuning.json`.
#[derive(Clone, Copy)]
struct Tuning<'a> {
    /// The rows of `curve.csv`.
    points: &'a [ResponsePoint],
    /// The content of `tuning.json`.
    result: &'a TuningResult,
}

/// The maximum number of curves, for self-play mode.
const MOST_CURVES: usize = 24;

/// Makes the page of tuning results.
fn of_tuning(tuning: Tuning<'_>) -> Page {
    let Tuning { points, result } = tuning;
    let fields: Vec<&str> = points.iter().map(|point| point.field.as_str()).dedup().collect();
    let curves = fields.iter().take(MOST_CURVES).enumerate().map(|(index, field)| tuning.curve(index, field));
    let mut blocks: Vec<Block> = curves.map(Block::Figure).collect();
    let Tables { parts, notes, .. } = result.tables(points);
    blocks.extend(parts.iter().map(|(_, table, _)| Block::Table(ReportTable::shown("Response", notes.clone(), table))));
    let is_simultaneous = points.iter().all(|point| point.low_simultaneous.is_some());
    let reading = Block::text(prose("tuning_reading", json!({ "is_simultaneous": is_simultaneous })));
    let warnings = result.warnings(points).into_iter().map(|warning| format!("Warning: {warning}."));
    let verdicts = result.verdicts(points, |agent| code(agent)).into_iter().chain(warnings);
    let program = format!("cambio {}", result.version);
    Page {
        title: format!("The best of {}", result.agent),
        header: verdicts.map(|verdict| Block::verdict("", verdict)).collect(),
        has_contents: false,
        sections: vec![
            Section::new("curve", "Response", vec![reading, Block::Figures(blocks)]),
            how(prose("how_tuning", json!({ "program": program })), result.command.as_str()),
        ],
    }
}

impl Tuning<'_> {
    fn standing(&self, point: &ResponsePoint) -> BestComparison {
        match point.among_best {
            _ if self.result.is_best(self.points, point) => BestComparison::Best,
            Some(true) => BestComparison::Level,
            _ => BestComparison::Behind,
        }
    }

    fn curve(&self, index: usize, field: &str) -> Figure {
        let points: Vec<&ResponsePoint> = self.points.iter().filter(|point| point.field == field).collect();
        // Combinations of several values are drawn at equal distances.
        let values: Option<Vec<f64>> = points.iter().map(|point| point.value.parse().ok()).collect();
        let (at, axis) = values.map_or((None, "value".to_owned()), |values| {
            let (at, is_logarithmic) = axis(&values);
            (Some(at), axis_name(&self.result.parameters().concat(), is_logarithmic))
        });
        let sample = |(index, point): (usize, &&ResponsePoint)| CurveSample {
            label: point.value.clone(),
            at: at.as_ref().map(|at| at[index]),
            mean: point.payoff,
            interval: point.low.zip(point.high),
            band: point.low_simultaneous.zip(point.high_simultaneous),
            standing: self.standing(point),
        };
        let samples: Vec<CurveSample> = points.iter().enumerate().map(sample).collect();
        let described = |point: &&ResponsePoint| {
            let level = match self.standing(point) {
                BestComparison::Best => ", the best",
                BestComparison::Level => ", not distinguishable from the best",
                BestComparison::Behind => "",
            };
            format!("{}: {}{level}", point.value, self.result.mean_text(point))
        };
        let unit = self.result.payoff.unit();
        Figure {
            id: format!("curve-{}", index + 1),
            title: format!("Mean {unit} by value, against {field}"),
            description: listed(points.iter().map(described)),
            caption: format!("Against {}.", code(field)),
            drawing: curve(&samples, &axis, unit),
        }
    }
}

/// The files of a tuning: `curve.csv`, `scores.csv` (not with CMA-ES), `tuning.json` and `report.html`.
///
/// The columns of `curve.csv` are the fields of [`ResponsePoint`], and a column of numbers for each tuned parameter.
///
/// # Errors
/// If a value cannot be written as CSV or JSON.
///
/// ```
/// use cambio_report::tuning_files;
/// use cambio_sim::Payoff;
/// use cambio_sim::tune::{AgainstField, MethodName, ResponsePoint, Tuned, TuningOutcome, TuningResult};
///
/// let point = |value: &str, payoff| ResponsePoint {
///     field: "greedy".into(),
///     agent: format!("greedy(call_at={value})"),
///     value: value.into(),
///     deals: 100,
///     payoff,
///     ..ResponsePoint::default()
/// };
/// let points = vec![point("3", 0.48), point("6", 0.51)];
/// let result = TuningResult {
///     version: "0.1.0".into(),
///     agent: "greedy(call_at=?)".into(),
///     ranges: vec!["3..6:3".into()],
///     rules: "classic".into(),
///     seats: 2,
///     field: vec!["greedy".into()],
///     payoff: Payoff::RankPoints,
///     seed: "1".into(),
///     mixture: false,
///     adjusted: false,
///     undecided: false,
///     method: Some(MethodName::Sweep),
///     command: "cambio tune …".into(),
///     found: TuningOutcome::AgainstField(AgainstField {
///         blocks: 200,
///         best: "greedy(call_at=6)".into(),
///         best_value: "6".into(),
///         estimate: 0.51,
///         validation: None,
///     }),
/// };
/// let files = tuning_files(&Tuned { points, scores: Vec::new(), result })?;
/// let (name, page) = &files[2];
/// assert_eq!(*name, "report.html");
/// assert!(String::from_utf8_lossy(page).contains("The best of greedy(call_at=?)"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn tuning_files(tuned: &Tuned) -> std::io::Result<Vec<(&'static str, Vec<u8>)>> {
    let Tuned { points, scores, result } = tuned;
    let mut curve = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let columns = serde_json::to_value(ResponsePoint::default())?;
    let columns: Vec<&String> = columns.as_object().into_iter().flat_map(|columns| columns.keys()).collect();
    curve.serialize((columns, result.parameters()))?;
    points.iter().try_for_each(|point| curve.serialize((point, point.value.split(' ').collect::<Vec<_>>())))?;
    let whole = |csv: csv::Writer<Vec<u8>>| csv.into_inner().map_err(csv::IntoInnerError::into_error);
    let mut files = vec![("curve.csv", whole(curve)?)];
    if !scores.is_empty() {
        let mut csv = csv::Writer::from_writer(Vec::new());
        for (index, scores) in scores.iter().enumerate() {
            append(scores, index == 0, &mut csv)?;
        }
        files.push(("scores.csv", whole(csv)?));
    }
    let text = serde_json::to_string_pretty(result)? + "\n";
    files.push(("tuning.json", text.into_bytes()));
    files.push(("report.html", of_tuning(Tuning { points, result }).html().into_bytes()));
    Ok(files)
}

/// Appends a row for each deal, with a column for each candidate; the cell of an eliminated candidate is empty.
fn append(scores: &FieldScores, is_first: bool, csv: &mut csv::Writer<Vec<u8>>) -> csv::Result<()> {
    let FieldScores { field, agents, by_deal } = scores;
    if is_first {
        csv.write_record(["field", "deal"].into_iter().chain(agents.iter().map(String::as_str)))?;
    }
    let deals = by_deal.iter().map(Vec::len).max().unwrap_or(0);
    for deal in 0..deals {
        let scores = by_deal.iter().map(|scores| scores.get(deal).map_or_else(String::new, f64::to_string));
        csv.write_record([field.clone(), deal.to_string()].into_iter().chain(scores))?;
    }
    Ok(())
}
