//! The report page of tuning: response curves.

use cambio_sim::tune::{
    AgainstField, AgainstItself, FieldScores, ResponsePoint, Tuned, TuningOutcome, TuningResult, Validation,
};

use crate::curves::CurvePage;
use crate::numbers::{NONE, count, grouped, listed, number, percent, plus_minus, signed, spread};
use crate::parameter::{axis, axis_name};
use crate::parts::{ReportTable, TableCell, TableRow, code, list};
use crate::plot::{BestComparison, Curve, CurveSample, Figure};
use crate::template::page;

/// The results of tuning, as stored in `curve.csv` and `tuning.json`.
///
/// ```
/// use cambio_report::{Tuning, of_tuning};
/// use cambio_sim::Payoff;
/// use cambio_sim::tune::{AgainstField, MethodName, ResponsePoint, TuningOutcome, TuningResult};
///
/// let point = |value: &str, payoff| ResponsePoint {
///     field: "greedy".into(),
///     agent: format!("greedy(call_at={value})"),
///     value: value.into(),
///     deals: 100,
///     payoff,
///     ..ResponsePoint::default()
/// };
/// let points = [point("3", 0.48), point("6", 0.51)];
/// let result = TuningResult {
///     version: "0.1.0".into(),
///     agent: "greedy(call_at=?)".into(),
///     ranges: vec!["3..6:3".into()],
///     rules: "classic".into(),
///     seats: 2,
///     payoff: Payoff::RankPoints,
///     seed: 1.into(),
///     mixture: false,
///     adjusted: false,
///     undecided: false,
///     command: "cambio tune …".into(),
///     found: TuningOutcome::AgainstField(AgainstField {
///         field: vec!["greedy".into()],
///         method: MethodName::Sweep,
///         blocks: 200,
///         best: "greedy(call_at=6)".into(),
///         best_value: "6".into(),
///         estimate: 0.51,
///         validation: None,
///     }),
/// };
/// let tuning = Tuning { points: &points, result: &result };
/// assert!(tuning.is_best(&points[1]) && !tuning.is_best(&points[0]));
/// assert!(of_tuning(tuning).contains("The best of greedy(call_at=?)"));
/// ```
#[derive(Clone, Copy)]
pub struct Tuning<'a> {
    /// The rows of `curve.csv`.
    pub points: &'a [ResponsePoint],
    /// The content of `tuning.json`.
    pub result: &'a TuningResult,
}

/// The maximum number of curves, for self-play mode.
const MOST_CURVES: usize = 24;

/// Makes the page of tuning results.
pub fn of_tuning(tuning: Tuning<'_>) -> String {
    let result = tuning.result;
    let mut fields: Vec<&str> = tuning.points.iter().map(|point| point.field.as_str()).collect();
    fields.dedup();
    let curves = fields.iter().take(MOST_CURVES).enumerate().map(|(index, field)| tuning.curve(index, field));
    let (verdicts, replies) = match &result.found {
        TuningOutcome::AgainstField(found) => (tuning.verdicts(found), None),
        TuningOutcome::AgainstItself(found) => (vec![tuning.equilibria(found)], Some(tuning.replies(&fields))),
    };
    let warnings = result.warnings(tuning.points).into_iter().map(|warning| format!("Warning: {warning}."));
    let verdicts = verdicts.into_iter().chain(warnings).collect();
    let shown = CurvePage {
        title: format!("The best of {}", result.agent),
        verdicts,
        heading: "Response",
        reading: tuning.reading(),
        curves: curves.collect(),
        points: replies.is_none().then(|| tuning.table()),
        points_name: "Response",
        replies,
        how: format!(
            "With the same version, {}, the command below gives the same numbers for any number of threads. {} contains all numbers, {} \
             the result.",
            code(format!("cambio {}", result.version)),
            code("curve.csv"),
            code("tuning.json")
        ),
        command: result.command.clone(),
    };
    page("curves.html", shown)
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
        let adjusted = if self.result.adjusted { ", without the luck of the cards" } else { "" };
        format!("on {}, {} seats{adjusted}", self.result.rules, self.result.seats)
    }

    fn of_field(&self, field: &'a str) -> impl Iterator<Item = &'a ResponsePoint> + use<'a> {
        self.points.iter().filter(move |point| point.field == field)
    }

    /// Whether the point is the best against its field; in self-play mode, the best response to its field.
    pub fn is_best(&self, point: &ResponsePoint) -> bool {
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

    fn curve(&self, index: usize, field: &'a str) -> Figure<Curve> {
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
            share: point.best_share,
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
            caption: format!("Against {}, {}.", code(field), self.table_of_play()),
            drawing: Curve::new(&samples, &unit, self.unit()),
        }
    }

    fn reading(&self) -> &'static str {
        if self.points.iter().all(|point| point.low_simultaneous.is_some()) {
            "Bars are single 95 % intervals; the shaded band is simultaneous over all values. The filled diamond is the best, a \
             filled dot is not distinguishable from it (Hsu), a ring is behind. Below: how often each value is the best under \
             bootstrap resampling of deals, in percent."
        } else {
            "Bars are single 95 % intervals. The values were not played on the same deals, so there is no simultaneous band. The \
             filled diamond is the selected value."
        }
    }

    fn verdicts(&self, found: &AgainstField) -> Vec<String> {
        let Some(best) = self.points.iter().find(|point| self.is_best(point)) else { return Vec::new() };
        let level: Vec<&str> = self
            .points
            .iter()
            .filter(|point| self.standing(point) == BestComparison::Level)
            .map(|point| point.value.as_str())
            .collect();
        let field: Vec<&str> = found.field.iter().map(String::as_str).collect();
        let unit = self.unit();
        let how = if best.best_share.is_some() { "Hsu" } else { "paired differences" };
        let end = match (best.among_best, level.len()) {
            (None, _) => ".".to_owned(),
            (Some(_), 0) => format!(", and every other value is significantly worse ({how}, 95 %)."),
            (Some(_), _) => format!("; not distinguishable from it ({how}, 95 %): {}.", level.join(", ")),
        };
        let first = format!(
            "{} has the best mean, {} {unit}, of {} {} against {}{}{end}",
            code(&best.agent),
            self.told(best),
            count(self.points.len() as u64, "value"),
            self.table_of_play(),
            if self.result.mixture { "the mixture of " } else { "" },
            list(&field, " and ")
        );
        vec![first, self.validation(found.validation.as_ref())]
    }

    fn validation(&self, validation: Option<&Validation>) -> String {
        let played = match validation {
            None => {
                return "It was not validated on fresh deals: the mean of the best of many values is too optimistic on the deals that selected it."
                    .into();
            }
            Some(Validation::Same { incumbent }) => {
                return format!("It is the incumbent, {}, so there is nothing to validate.", code(incumbent));
            }
            Some(Validation::Played(played)) => played,
        };
        let digits = self.digits();
        let interval = played.low.zip(played.high);
        let word = match interval {
            Some((low, high)) if low > 0.0 || high < 0.0 => "a significant difference",
            _ => "not a significant difference",
        };
        let ends = interval.map_or_else(String::new, |(low, high)| {
            format!(" (95 % interval {} to {})", number(low, digits), number(high, digits))
        });
        format!(
            "On {} fresh deals it averages {} {}, the incumbent {} {}: {}{ends}, {word}.",
            grouped(played.deals),
            number(played.winner, digits),
            self.unit(),
            code(&played.incumbent),
            number(played.incumbent_mean, digits),
            signed(played.difference, digits)
        )
    }

    fn table(&self) -> ReportTable {
        let digits = self.digits();
        let deals = self.points.first().map_or(0, |point| point.deals);
        let is_uneven = self.points.iter().any(|point| point.deals != deals);
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
                point.best_share.map_or_else(|| NONE.to_owned(), percent),
                word.to_owned(),
            ];
            let deals = is_uneven.then(|| grouped(point.deals));
            TableRow::new(point.value.as_str(), cells.into_iter().chain(deals))
        };
        let mut columns = vec!["mean", "single", "simultaneous", "best", "standing"];
        columns.extend(is_uneven.then_some("deals"));
        let of = if is_uneven { String::new() } else { format!(" Each value was played on {}.", count(deals, "deal")) };
        let mirror = if self.points.iter().any(|point| point.is_mirror) {
            " By construction: a value that plays only copies of itself gets a fixed share."
        } else {
            ""
        };
        ReportTable {
            caption: format!(
                "The mean {} of each value, its single and simultaneous 95 % intervals, how often it is the best under \
                 bootstrap resampling of deals, and whether it is distinguishable from the best.{of}{mirror}",
                self.unit()
            ),
            corner: "value",
            columns: columns.into_iter().map(String::from).collect(),
            rows: self.points.iter().map(row).collect(),
        }
    }

    fn equilibria(&self, found: &AgainstItself) -> String {
        let values = count(found.values.len() as u64, "value");
        let (found, agent, table) = (&found.symmetric_equilibria, code(&self.result.agent), self.table_of_play());
        if found.is_empty() {
            return format!("None of {values} of {agent} is a best response to tables full of itself {table}.");
        }
        format!(
            "Of {values} of {agent}, {} is not distinguishable from the best response to tables full of itself {table}: {}, as far as the \
             data show.",
            found.join(", "),
            if found.len() == 1 { "a symmetric equilibrium" } else { "symmetric equilibria" }
        )
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
                TableCell { text, tone: if mark.is_empty() { "" } else { "up" }, shade }
            };
            TableRow::new(*value, fields.iter().map(cell))
        };
        ReportTable {
            caption: format!(
                "The mean {} of the row’s value at a table full of the column’s. ▲ is the best response to the column, = is not \
                 distinguishable from it (Hsu, 95 %).",
                self.unit()
            ),
            corner: "value",
            columns: values.iter().map(|value| String::from(*value)).collect(),
            rows: values.iter().enumerate().map(row).collect(),
        }
    }
}

/// The files of a tuning: `curve.csv`, `scores.csv` (not with CMA-ES), `tuning.json` and `report.html`.
///
/// The columns of `curve.csv` are the fields of [`ResponsePoint`], and a column of numbers for each tuned parameter.
///
/// # Errors
/// If a value cannot be written as CSV or JSON.
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
    files.push(("report.html", of_tuning(Tuning { points, result }).into_bytes()));
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
