//! The geometry of plots, in SVG user units. A letter is about seven units wide.

use cambio_stats::histogram::Histogram;
use serde::Serialize;

use crate::numbers::{grouped, number, short};

/// The width of a drawing, chosen so that letters stay readable when the drawing is scaled to narrow and wide screens.
pub(super) const WIDTH: f64 = 380.0;
/// The left and the right end of the axis.
const LEFT: f64 = 12.0;
pub(super) const RIGHT: f64 = WIDTH - 12.0;
/// The left end of the axis in a drawing with labels of heights, and the upper end of the heights.
pub(super) const HEIGHTS: (f64, f64) = (46.0, 22.0);

/// Truncates a label to the space beside its number. A letter of the label is about 6.5 units wide, a digit 6 units.
fn fitting(label: &str, figure: &str) -> String {
    short(label, ((WIDTH - 6.0 * figure.chars().count() as f64) / 6.5) as usize - 2)
}

/// A drawing with its texts.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure<D> {
    pub(super) id: String,
    pub(super) title: String,
    /// A description in words, for readers who do not see the drawing.
    pub(super) description: String,
    /// Explains how to read the figure.
    pub(super) caption: String,
    pub(super) drawing: D,
}

/// Rounds to a tenth of a unit, to keep the page small.
fn tenth(at: f64) -> f64 {
    (at * 10.0).round() / 10.0 + 0.0
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// A linear scale from values to units of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that covers all values, with a margin at the ends.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = values
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let room = if high > low { (high - low) * 0.04 } else { low.abs().max(1.0) * 0.1 };
        Scale { low: low - room, high: high + room, from, to }
    }

    /// Widens the scale to at least `span` on each side of the middle.
    pub(super) fn at_least(self, span: f64) -> Scale {
        let (middle, half) = (f64::midpoint(self.low, self.high), (self.high - self.low) / 2.0);
        let half = half.max(span);
        Scale { low: middle - half, high: middle + half, ..self }
    }

    pub(super) fn at(self, value: f64) -> f64 {
        tenth(self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from))
    }

    pub(super) fn span(self, (low, high): (f64, f64)) -> (f64, f64) {
        (self.at(low), self.at(high))
    }

    /// Ticks at round numbers, about `wanted` of them.
    pub(super) fn ticks(self, wanted: f64) -> Vec<Tick> {
        let raw = (self.high - self.low) / wanted;
        let power = 10_f64.powi(libm::log10(raw).floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= raw * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let digits = (-libm::log10(step).floor()).max(0.0) as usize;
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        let tick = |multiple: i64| {
            let value = multiple as f64 * step;
            Tick { at: self.at(value), label: number(value, digits) }
        };
        (first..=last).map(tick).collect()
    }
}

/// A mean and the ends of its intervals, which an axis must cover.
pub(super) fn covered(mean: f64, intervals: [Option<(f64, f64)>; 2]) -> impl Iterator<Item = f64> {
    std::iter::once(mean).chain(intervals.into_iter().flatten().flat_map(<[f64; 2]>::from))
}

/// A row of a forest plot: an estimate with its interval.
#[derive(Clone, Debug, Default)]
pub(super) struct IntervalPoint {
    pub(super) label: String,
    pub(super) figure: String,
    pub(super) mean: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// The simultaneous interval.
    pub(super) wide: Option<(f64, f64)>,
    /// Whether the estimate is marked as the best.
    pub(super) is_best: bool,
}

/// A plot with rows on a common axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RowPlot<R> {
    foot: f64,
    rows: Vec<R>,
    ticks: Vec<Tick>,
    reference: Option<f64>,
    unit: String,
}

impl<R> RowPlot<R> {
    fn on(scale: Scale, foot: f64, rows: Vec<R>, reference: Option<f64>, unit: &str) -> RowPlot<R> {
        let reference = reference.map(|value| scale.at(value));
        RowPlot { foot, rows, ticks: scale.ticks(5.0), reference, unit: unit.to_owned() }
    }
}

/// A forest plot: estimates with intervals, one per row.
pub(super) type Forest = RowPlot<ForestRow>;

#[derive(Clone, Debug, Serialize)]
pub(super) struct ForestRow {
    label: String,
    figure: String,
    text_y: f64,
    y: f64,
    x: f64,
    bar: Option<(f64, f64)>,
    whisker: Option<(f64, f64)>,
    is_best: bool,
}

const FOREST_ROW: f64 = 34.0;

impl Forest {
    /// A forest plot with an axis in this unit, and ticks with `digits` decimals.
    pub(super) fn new(estimates: &[IntervalPoint], reference: Option<f64>, (unit, digits): (&str, usize)) -> Forest {
        let values = estimates.iter().flat_map(|row| covered(row.mean, [row.interval, row.wide]));
        let scale = Scale::around(values.chain(reference), LEFT, RIGHT).at_least(10_f64.powi(-(digits as i32)));
        let row = |(place, row): (usize, &IntervalPoint)| {
            let top = place as f64 * FOREST_ROW;
            ForestRow {
                label: fitting(&row.label, &row.figure),
                figure: row.figure.clone(),
                text_y: top + 14.0,
                y: top + 25.0,
                x: scale.at(row.mean),
                bar: row.interval.map(|ends| scale.span(ends)),
                whisker: row.wide.map(|ends| scale.span(ends)),
                is_best: row.is_best,
            }
        };
        let foot = estimates.len() as f64 * FOREST_ROW + 6.0;
        RowPlot::on(scale, foot, estimates.iter().enumerate().map(row).collect(), reference, unit)
    }
}

/// The result of an agent in one of several runs.
#[derive(Clone, Debug)]
pub(super) struct RunMark {
    /// The letter of the run.
    pub(super) letter: char,
    pub(super) mean: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// Whether the result is comparable with the first result in its row.
    pub(super) is_comparable: bool,
}

/// A plot with a row for each agent, and in each row a mark for each run.
pub(super) type RunMarks = RowPlot<RunMarksRow>;

#[derive(Clone, Debug, Serialize)]
pub(super) struct RunMarksRow {
    label: String,
    text_y: f64,
    marks: Vec<PlacedMark>,
}

#[derive(Clone, Debug, Serialize)]
struct PlacedMark {
    /// The letter of the run, with † if the result is not comparable with the first result in its row.
    letter: String,
    /// The letter is at the right of the interval; near the right end of the axis, it is at the left.
    letter_x: f64,
    is_left: bool,
    x: f64,
    y: f64,
    bar: Option<(f64, f64)>,
}

const MARK: f64 = 14.0;

impl RunMarks {
    /// A plot of these agents with an axis in this unit.
    pub(super) fn new(agents: &[(String, Vec<RunMark>)], reference: Option<f64>, unit: &str) -> RunMarks {
        let marks = agents.iter().flat_map(|(_, marks)| marks);
        let values = marks.flat_map(|mark| covered(mark.mean, [mark.interval, None]));
        let scale = Scale::around(values.chain(reference), LEFT, RIGHT);
        let mut top = 0.0;
        let row = |(label, marks): &(String, Vec<RunMark>)| {
            let start = top;
            top += 24.0 + marks.len() as f64 * MARK;
            let placed = |(place, mark): (usize, &RunMark)| {
                let (x, bar) = (scale.at(mark.mean), mark.interval.map(|ends| scale.span(ends)));
                let (from, to) = bar.map_or((x, x), |(from, to)| (from.min(x - 3.0), to.max(x + 3.0)));
                let is_left = to > RIGHT - 24.0;
                PlacedMark {
                    letter: if mark.is_comparable { mark.letter.to_string() } else { format!("{} †", mark.letter) },
                    letter_x: tenth(if is_left { from - 6.0 } else { to + 6.0 }),
                    is_left,
                    x,
                    y: start + 25.0 + place as f64 * MARK,
                    bar,
                }
            };
            RunMarksRow {
                label: fitting(label, ""),
                text_y: start + 14.0,
                marks: marks.iter().enumerate().map(placed).collect(),
            }
        };
        let rows: Vec<RunMarksRow> = agents.iter().map(row).collect();
        RowPlot::on(scale, top, rows, reference, unit)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Distribution<'a> {
    pub(super) label: String,
    pub(super) counts: &'a Histogram,
}

/// Histograms on a common axis, one per row (small multiples).
#[derive(Clone, Debug, Serialize)]
pub(super) struct Strips {
    foot: f64,
    rows: Vec<Strip>,
    ticks: Vec<Tick>,
    unit: String,
    /// The number of values per bar.
    pub(super) step: i64,
    /// The values at which the tails begin, if the first or last bar contains a tail.
    pub(super) ends: (Option<i64>, Option<i64>),
}

#[derive(Clone, Debug, Serialize)]
struct Strip {
    label: String,
    figure: String,
    text_y: f64,
    base: f64,
    path: String,
    middle: Option<(f64, f64)>,
    median: Option<f64>,
    box_y: f64,
}

const STRIP_ROW: f64 = 64.0;
const STRIP_BARS: f64 = 30.0;
/// The maximum number of bars, so that bars remain distinguishable.
const MOST_BARS: i64 = 60;

impl Strips {
    /// Explains how to read the histograms.
    pub(super) fn reading(&self) -> String {
        let step = if self.step > 1 { format!(" Each bar covers {} values.", self.step) } else { String::new() };
        let tails = match self.ends {
            (None, None) => "",
            (Some(_), None) => " The first bar includes all smaller values.",
            (None, Some(_)) => " The last bar includes all larger values.",
            (Some(_), Some(_)) => " The first and the last bar include all values beyond them.",
        };
        format!(
            "Each histogram is scaled to its tallest bar. Below it, the dot is the median and the line the middle half; beside the name \
             are the number of values, the median and the middle half.{step}{tails}"
        )
    }

    /// Histograms with bars of equal width, starting at `origin`. A tail of less than 0.5 % of every agent's counts
    /// goes into the outermost bar on its side.
    pub(super) fn new(distributions: &[Distribution<'_>], origin: i64, unit: &str) -> Strips {
        let ends = |share: f64| distributions.iter().filter_map(move |own| own.counts.quantile(share));
        let (least, most) = (ends(0.0).min().unwrap_or(origin), ends(1.0).max().unwrap_or(origin));
        let (low, high) = (ends(0.005).min().unwrap_or(origin), ends(0.995).max().unwrap_or(origin));
        let widths = (0..).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_i64.pow(power)));
        let of_bar = |value: i64, step: i64| (value - origin).div_euclid(step);
        let step = { widths }.find(|step| of_bar(high, *step) - of_bar(low, *step) < MOST_BARS).unwrap_or(i64::MAX);
        let (first, end) = (of_bar(low, step), of_bar(high, step));
        let bars = (end - first + 1) as usize;
        let wide = (RIGHT - LEFT) / bars as f64;
        let strip = |(place, own): (usize, &Distribution<'_>)| {
            let mut shares = vec![0.0; bars];
            let total = own.counts.total();
            for (value, count) in own.counts.iter() {
                shares[(of_bar(value, step).clamp(first, end) - first) as usize] += count as f64 / total as f64;
            }
            let peak = shares.iter().copied().fold(0.0, f64::max);
            let base = place as f64 * STRIP_ROW + 20.0 + STRIP_BARS;
            let drawn = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
            let path = drawn.map(|(place, share)| {
                let tall = tenth((share / peak * STRIP_BARS).max(0.6));
                let (x, gap) = (LEFT + place as f64 * wide, (wide * 0.12).min(1.5));
                format!("M{} {}v-{tall}h{}v{tall}z", tenth(x + gap), tenth(base), tenth(wide - 2.0 * gap))
            });
            // The position of a value: the centre of its part of a bar.
            let at = |value: i64| {
                let place = (value - origin - first * step) as f64 + 0.5;
                tenth(LEFT + (place / step as f64).clamp(0.0, bars as f64) * wide)
            };
            let [low, median, high] = [0.25, 0.5, 0.75].map(|share| own.counts.quantile(share));
            let figure = match (low, median, high) {
                (Some(low), Some(median), Some(high)) => {
                    let n = grouped(total);
                    format!("n {n} · {} ({} to {})", whole(median), whole(low), whole(high))
                }
                _ => "n 0".to_owned(),
            };
            Strip {
                label: fitting(&own.label, &figure),
                figure,
                text_y: base - STRIP_BARS - 7.0,
                base: tenth(base),
                path: path.collect(),
                middle: low.zip(high).map(|(low, high)| (at(low), at(high))),
                median: median.map(at),
                box_y: base + 5.0,
            }
        };
        let foot = distributions.len() as f64 * STRIP_ROW;
        Strips {
            foot,
            rows: distributions.iter().enumerate().map(strip).collect(),
            ticks: bar_ticks(origin + first * step, step, bars),
            unit: unit.to_owned(),
            step,
            ends: ((least < low).then_some(low), (most > high).then_some(high)),
        }
    }
}

/// Ticks at round numbers, under bars of `step` values.
fn bar_ticks(origin: i64, step: i64, bars: usize) -> Vec<Tick> {
    let span = (step * bars as i64) as f64;
    let scale = Scale { low: origin as f64, high: origin as f64 + span, from: LEFT, to: RIGHT };
    let every = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000];
    let every = every.into_iter().find(|every| span / (*every as f64) <= 9.0).unwrap_or(100_000);
    let first = origin.div_euclid(every) * every;
    (0..)
        .map(|number| first + number * every)
        .skip_while(|value| *value < origin)
        .take_while(|value| ((value - origin) as f64) < span)
        .map(|value| Tick { at: scale.at(value as f64 + 0.5), label: whole(value) })
        .collect()
}

fn whole(value: i64) -> String {
    number(value as f64, 0)
}

#[derive(Clone, Debug)]
pub(super) struct CurveSample {
    pub(super) label: String,
    /// The position on the axis; with `None` the points are equally spaced.
    pub(super) at: Option<f64>,
    pub(super) mean: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) band: Option<(f64, f64)>,
    /// The share of bootstrap resamples in which the point is the best.
    pub(super) share: Option<f64>,
    pub(super) standing: BestComparison,
}

/// The comparison of a point with the best point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BestComparison {
    Best,
    /// Not distinguishable from the best.
    Level,
    /// Worse than the best, or not comparable.
    Behind,
}

/// A curve: means with intervals and a simultaneous band, and below the curve how often each value is the best.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Curve {
    foot: f64,
    band: Option<String>,
    line: String,
    points: Vec<CurvePoint>,
    rows: Vec<Tick>,
    columns: Vec<Tick>,
    share_foot: f64,
    has_shares: bool,
    unit: String,
    payoff: String,
}

#[derive(Clone, Debug, Serialize)]
struct CurvePoint {
    x: f64,
    y: f64,
    bar: Option<(f64, f64)>,
    standing: BestComparison,
    share: Option<f64>,
    share_text: String,
}

const CURVE: f64 = 190.0;
const SHARES: f64 = 44.0;

impl Curve {
    pub(super) fn new(samples: &[CurveSample], unit: &str, payoff: &str) -> Curve {
        let ((left, top), foot) = (HEIGHTS, HEIGHTS.1 + CURVE);
        let has_shares = samples.iter().any(|sample| sample.share.is_some());
        let place = |number: usize| samples[number].at.unwrap_or(number as f64);
        let across = Scale::around((0..samples.len()).map(place), left + 8.0, RIGHT);
        let values = samples.iter().flat_map(|own| covered(own.mean, [own.interval, own.band]));
        let up = Scale::around(values, foot, top);
        let xs: Vec<f64> = (0..samples.len()).map(|number| across.at(place(number))).collect();
        let steps = |ends: Vec<(f64, f64)>| {
            let part =
                |(number, (x, y)): (usize, &(f64, f64))| format!("{}{x} {y}", if number == 0 { "M" } else { "L" });
            ends.iter().enumerate().map(part).collect::<String>()
        };
        let band: Option<Vec<(f64, f64)>> = samples.iter().map(|own| own.band).collect();
        let band = band.filter(|band| band.len() > 1).map(|band| {
            let over = xs.iter().zip(&band).map(|(x, (_, high))| (*x, up.at(*high)));
            let under = xs.iter().zip(&band).rev().map(|(x, (low, _))| (*x, up.at(*low)));
            steps(over.chain(under).collect()) + "z"
        });
        let shares = foot + 66.0;
        let share_foot = shares + SHARES;
        let most = samples.iter().filter_map(|own| own.share).fold(0.0, f64::max);
        let point = |(own, &x): (&CurveSample, &f64)| CurvePoint {
            x,
            y: up.at(own.mean),
            bar: own.interval.map(|ends| up.span(ends)),
            standing: own.standing,
            share: own.share.filter(|share| *share > 0.0).map(|share| tenth((share / most * SHARES).max(0.6))),
            share_text: own
                .share
                .filter(|share| *share >= 0.095)
                .map_or_else(String::new, |share| format!("{:.0}", share * 100.0)),
        };
        // Every value has a mark, but a label only where it does not touch the previous label.
        let mut end = f64::NEG_INFINITY;
        let has_room = |(own, x): &(&CurveSample, &f64)| {
            let half = own.label.chars().count() as f64 * 3.25;
            let has_room = **x - half > end + 6.0;
            end = if has_room { **x + half } else { end };
            has_room
        };
        let columns = samples.iter().zip(&xs).filter(has_room);
        Curve {
            foot,
            band,
            line: steps(xs.iter().zip(samples).map(|(x, own)| (*x, up.at(own.mean))).collect()),
            points: samples.iter().zip(&xs).map(point).collect(),
            rows: up.ticks(5.0),
            columns: columns.map(|(own, x)| Tick { at: *x, label: own.label.clone() }).collect(),
            share_foot,
            has_shares,
            unit: unit.to_owned(),
            payoff: payoff.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
