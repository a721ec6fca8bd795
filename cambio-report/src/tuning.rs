//! The report page of tuning: response curves.

use cambio_sim::tune::{
    AgainstField, AgainstItself, FieldScores, ResponsePoint, Tuned, TuningOutcome, TuningResult, Validation,
};
use serde_json::json;

use crate::figure::{BestComparison, CurveSample, Figure, axis, axis_name, curve};
use crate::numbers::{NONE, grouped, listed, number, plus_minus, signed, spread};
use crate::page::{Block, Page, ReportTable, Section, TableCell, TableRow, how, prose};

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
    let result = tuning.result;
    let mut fields: Vec<&str> = tuning.points.iter().map(|point| point.field.as_str()).collect();
    fields.dedup();
    let curves = fields.iter().take(MOST_CURVES).enumerate().map(|(index, field)| tuning.curve(index, field));
    let mut figures: Vec<Block> = curves.map(Block::Figure).collect();
    let mut blocks = vec![Block::text(tuning.reading())];
    let verdicts = match &result.found {
        TuningOutcome::AgainstField(found) => {
            figures.push(Block::Table(tuning.table()));
            tuning.verdicts(found)
        }
        TuningOutcome::AgainstItself(found) => {
            blocks.push(Block::Table(tuning.replies(&fields)));
            vec![tuning.equilibria(found)]
        }
    };
    blocks.push(Block::Figures(figures));
    let warnings = result.warnings(tuning.points).into_iter().map(|warning| format!("Warning: {warning}."));
    let program = format!("cambio {}", result.version);
    Page {
        title: format!("The best of {}", result.agent),
        header: verdicts.into_iter().chain(warnings).map(|verdict| Block::verdict("", verdict)).collect(),
        has_contents: false,
        sections: vec![
            Section::new("curve", "Response", blocks),
            how(prose("how_tuning", json!({ "program": program })), result.command.as_str()),
        ],
    }
}

impl<'a> Tuning<'a> {
    fn unit(&self) -> &'static str {
        self.result.payoff.unit()
    }

    /// One decimal more than in a tournament, because neighbouring values differ little.
    fn digits(&self) -> usize {
        self.result.payoff.digits() + 1
    }

    fn table_of_play(&self) -> String {
        let TuningResult { rules, seats, adjusted, .. } = self.result;
        prose("tuning_table_of_play", json!({ "rules": rules, "seats": seats, "adjusted": adjusted }))
    }

    fn of_field(&self, field: &'a str) -> impl Iterator<Item = &'a ResponsePoint> + use<'a> {
        self.points.iter().filter(move |point| point.field == field)
    }

    /// Whether the point is the best against its field; in self-play mode, the best response to its field.
    fn is_best(&self, point: &ResponsePoint) -> bool {
        if let TuningOutcome::AgainstField(found) = &self.result.found {
            return point.agent == found.best;
        }
        let sign = self.result.payoff.sign();
        // `max_by` returns the last of equal points, so in reversed order the first.
        let best = self.points.iter().filter(|other| other.field == point.field).rev();
        let best = best.max_by(|one, other| (sign * one.payoff).total_cmp(&(sign * other.payoff)));
        best.is_some_and(|best| std::ptr::eq(best, point))
    }

    /// A mean with its interval, or with a note that the mean is fixed by construction.
    fn told(&self, point: &ResponsePoint) -> String {
        if point.is_mirror {
            return format!("{} by construction", number(point.payoff, self.digits()));
        }
        plus_minus(point.payoff, point.low.zip(point.high), self.digits())
    }

    fn standing(&self, point: &ResponsePoint) -> BestComparison {
        match point.among_best {
            _ if self.is_best(point) => BestComparison::Best,
            Some(true) => BestComparison::Level,
            _ => BestComparison::Behind,
        }
    }

    fn curve(&self, index: usize, field: &'a str) -> Figure {
        let points: Vec<&ResponsePoint> = self.of_field(field).collect();
        // Combinations of several values are drawn at equal distances.
        let values: Option<Vec<f64>> = points.iter().map(|point| point.value.parse().ok()).collect();
        let (at, unit) = values.map_or((None, "value".to_owned()), |values| {
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
            format!("{}: {}{level}", point.value, self.told(point))
        };
        Figure {
            id: format!("curve-{}", index + 1),
            title: format!("Mean {} by value, against {field}", self.unit()),
            description: listed(points.iter().map(described)),
            caption: prose("tuning_curve", json!({ "field": field, "table": self.table_of_play() })),
            drawing: curve(&samples, &unit, self.unit()),
        }
    }

    /// Whether the values were not played on the same deals.
    fn is_uneven(&self) -> bool {
        self.points.iter().any(|point| point.deals != self.points[0].deals)
    }

    /// How to read the curves.
    fn reading(&self) -> String {
        let is_simultaneous = self.points.iter().all(|point| point.low_simultaneous.is_some());
        prose("tuning_reading", json!({ "is_simultaneous": is_simultaneous }))
    }

    fn verdicts(&self, found: &AgainstField) -> Vec<String> {
        let Some(best) = self.points.iter().find(|point| self.is_best(point)) else { return Vec::new() };
        let level: Vec<&str> = self
            .points
            .iter()
            .filter(|point| self.standing(point) == BestComparison::Level)
            .map(|point| point.value.as_str())
            .collect();
        let first = json!({
            "best": best.agent,
            "mean": self.told(best),
            "unit": self.unit(),
            "values": self.points.len(),
            "table": self.table_of_play(),
            "mixture": self.result.mixture,
            "field": self.result.field,
            "is_compared": best.among_best.is_some(),
            "level": level,
            "method": if self.is_uneven() { "paired differences" } else { "Hsu" },
        });
        vec![prose("tuning_verdict", first), self.validation(found.validation.as_ref())]
    }

    fn validation(&self, validation: Option<&Validation>) -> String {
        let played = match validation {
            None => return prose("validation_missing", json!({})),
            Some(Validation::Same { incumbent, .. }) => {
                return prose("validation_same", json!({ "incumbent": incumbent }));
            }
            Some(Validation::Played(played)) => played,
        };
        let digits = self.digits();
        let interval = played.low.zip(played.high);
        let values = json!({
            "deals": played.deals,
            "winner": number(played.winner, digits),
            "unit": self.unit(),
            "incumbent": played.incumbent,
            "incumbent_mean": number(played.incumbent_mean, digits),
            "difference": signed(played.difference, digits),
            "interval": interval.map(|(low, high)| format!("{} to {}", number(low, digits), number(high, digits))),
            "is_significant": interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
        });
        prose("validation", values)
    }

    fn table(&self) -> ReportTable {
        let digits = self.digits();
        let deals = self.points.first().map_or(0, |point| point.deals);
        let is_uneven = self.is_uneven();
        let row = |point: &ResponsePoint| {
            let half = |ends: Option<(f64, f64)>| match ends {
                None => NONE.to_owned(),
                Some(_) if point.is_mirror => "by construction".to_owned(),
                ends => spread(point.payoff, ends, digits).trim_start().to_owned(),
            };
            let word = match self.standing(point) {
                BestComparison::Best => "best",
                BestComparison::Level => "level",
                BestComparison::Behind if point.among_best.is_some() => "behind",
                BestComparison::Behind => NONE,
            };
            let cells = [
                number(point.payoff, digits),
                half(point.low.zip(point.high)),
                half(point.low_simultaneous.zip(point.high_simultaneous)),
                word.to_owned(),
            ];
            let deals = is_uneven.then(|| grouped(point.deals));
            TableRow::new(point.value.as_str(), cells.into_iter().chain(deals))
        };
        let mut columns = vec!["mean", "single", "simultaneous", "standing"];
        columns.extend(is_uneven.then_some("deals"));
        let has_mirror = self.points.iter().any(|point| point.is_mirror);
        let caption = prose(
            "tuning_points",
            json!({ "unit": self.unit(), "is_uneven": is_uneven, "deals": deals, "has_mirror": has_mirror }),
        );
        ReportTable::new("Response", caption, "value", columns, self.points.iter().map(row).collect())
    }

    fn equilibria(&self, found: &AgainstItself) -> String {
        let values = json!({
            "values": found.values.len(),
            "agent": self.result.agent,
            "table": self.table_of_play(),
            "found": found.symmetric_equilibria,
        });
        prose("equilibria", values)
    }

    /// The payoff of each value (row) at a table where each value (column) plays in all other seats.
    fn replies(&self, fields: &[&'a str]) -> ReportTable {
        let mut values: Vec<&str> = self.points.iter().map(|point| point.value.as_str()).collect();
        values.truncate(values.len() / fields.len().max(1));
        let row = |(index, value): (usize, &&str)| {
            let cell = |field: &&'a str| {
                let Some(point) = self.of_field(field).nth(index) else { return NONE.into() };
                let mark = match self.standing(point) {
                    BestComparison::Best => "▲ ",
                    BestComparison::Level => "= ",
                    BestComparison::Behind => "",
                };
                let text = format!("{mark}{}", number(point.payoff, self.digits()));
                let shade = if mark.is_empty() { 0.0 } else { 0.25 };
                TableCell { tone: if mark.is_empty() { "" } else { "up" }, shade, ..text.into() }
            };
            TableRow::new(*value, fields.iter().map(cell))
        };
        let caption = prose("replies", json!({ "unit": self.unit() }));
        let rows = values.iter().enumerate().map(row).collect();
        ReportTable::new("Replies", caption, "value", values.iter().copied(), rows).with_class("matrix")
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
