//! Figures: their geometry in SVG user units, and their SVG. A letter is about seven units wide.
//!
//! A figure has a title, a description and a role for screen readers, and uses the colours and fonts of the page.

use std::fmt::{Arguments, Display, Write as _};

use minijinja::HtmlEscape;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::numbers::{number, short};

/// The width of a drawing, chosen so that letters stay readable when the drawing is scaled to narrow and wide screens.
const WIDTH: f64 = 380.0;
/// The left and the right end of the axis.
const LEFT: f64 = 12.0;
const RIGHT: f64 = WIDTH - 12.0;

/// A drawing with its texts.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) id: String,
    pub(crate) title: String,
    /// A description in words, for readers who do not see the drawing.
    pub(crate) description: String,
    /// Explains how to read the figure.
    pub(crate) caption: String,
    pub(crate) drawing: Drawing,
}

impl Figure {
    /// The SVG inside a page, which has its style.
    fn svg(&self) -> String {
        let Figure { id, drawing: Drawing { height, shapes }, .. } = self;
        let (title, description) = (HtmlEscape(&self.title), HtmlEscape(&self.description));
        format!(
            "<svg role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"0 0 {WIDTH} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"{id}-title\">{title}</title>\n\
             <desc id=\"{id}-desc\">{description}</desc>\n{shapes}</svg>"
        )
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "id": self.id, "svg": self.svg(), "caption": self.caption }).serialize(serializer)
    }
}

/// The shapes of a figure. Their classes are in `plot.css`.
#[derive(Clone, Default, Debug)]
pub(crate) struct Drawing {
    height: f64,
    shapes: String,
}

impl Drawing {
    fn add(&mut self, element: Arguments<'_>) {
        writeln!(self.shapes, "{element}").expect("a string has no errors");
    }

    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let (x, y, text) = (tenth(x), tenth(y), HtmlEscape(text));
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    fn path(&mut self, class: &str, steps: impl Display) {
        self.add(format_args!("<path class=\"{class}\" d=\"{steps}\"/>"));
    }

    fn across(&mut self, class: &str, (from, to): (f64, f64), y: f64) {
        self.path(class, format_args!("M{from} {y}H{to}"));
    }

    fn upright(&mut self, class: &str, x: f64, (from, to): (f64, f64)) {
        self.path(class, format_args!("M{x} {from}V{to}"));
    }

    fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.add(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// A filled diamond with this distance from its centre to its corners.
    fn diamond(&mut self, (x, y): (f64, f64), size: f64) {
        self.path("best", format_args!("M{x} {}l{size} {size}l-{size} {size}l-{size} -{size}z", tenth(y - size)));
    }

    /// The mark of an estimate: a diamond if it is among the best, otherwise a ring.
    fn mark(&mut self, at: (f64, f64), is_best: bool) {
        if is_best { self.diamond(at, 5.0) } else { self.circle("ring", at, 3.0) }
    }

    /// The label of a row, and its number at the right.
    fn row(&mut self, y: f64, label: &str, figure: &str) {
        self.text("name", (0.0, y), &fitting(label, figure));
        if !figure.is_empty() {
            self.text("figure", (WIDTH, y), figure);
        }
    }

    /// A horizontal axis at the height `foot` with its unit, under the rows of the drawing.
    fn under_rows(foot: f64, ticks: &[Tick], reference: Option<f64>, unit: &str) -> Drawing {
        let mut drawing = Drawing { height: foot + 34.0, ..Drawing::default() };
        for Tick { at, label } in ticks {
            drawing.upright("grid", *at, (0.0, foot));
            drawing.text("tick", (*at, foot + 13.0), label);
        }
        drawing.text("unit", (WIDTH / 2.0, foot + 28.0), unit);
        if let Some(at) = reference {
            drawing.upright("reference", at, (0.0, foot));
        }
        drawing
    }
}

/// Truncates a label to the space beside its number. A letter of the label is about 6.5 units wide, a digit 6 units.
fn fitting(label: &str, figure: &str) -> String {
    short(label, ((WIDTH - 6.0 * figure.chars().count() as f64) / 6.5) as usize - 2)
}

/// Rounds to a tenth of a unit, to keep the page small.
fn tenth(at: f64) -> f64 {
    (at * 10.0).round() / 10.0 + 0.0
}

#[derive(Clone, Debug)]
struct Tick {
    at: f64,
    label: String,
}

/// A linear scale from values to units of the drawing.
#[derive(Clone, Copy, Debug)]
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that covers all values, with a margin at the ends.
    fn around(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = values
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let room = if high > low { (high - low) * 0.04 } else { low.abs().max(1.0) * 0.1 };
        Scale { low: low - room, high: high + room, from, to }
    }

    /// Widens the scale to at least `span` on each side of the middle.
    fn at_least(self, span: f64) -> Scale {
        let (middle, half) = (f64::midpoint(self.low, self.high), (self.high - self.low) / 2.0);
        let half = half.max(span);
        Scale { low: middle - half, high: middle + half, ..self }
    }

    fn at(self, value: f64) -> f64 {
        tenth(self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from))
    }

    fn span(self, (low, high): (f64, f64)) -> (f64, f64) {
        (self.at(low), self.at(high))
    }

    /// Ticks at round numbers, about `wanted` of them.
    fn ticks(self, wanted: f64) -> Vec<Tick> {
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
fn covered(mean: f64, intervals: [Option<(f64, f64)>; 2]) -> impl Iterator<Item = f64> {
    std::iter::once(mean).chain(intervals.into_iter().flatten().flat_map(<[f64; 2]>::from))
}

/// A row of a forest plot: an estimate with its interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalPoint {
    pub(crate) label: String,
    pub(crate) figure: String,
    pub(crate) mean: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// The simultaneous interval.
    pub(crate) wide: Option<(f64, f64)>,
    /// Whether the estimate is marked as the best.
    pub(crate) is_best: bool,
}

const FOREST_ROW: f64 = 34.0;

/// A forest plot: estimates with intervals, one per row, on an axis in this unit, and ticks with `digits` decimals.
pub(crate) fn forest(points: &[IntervalPoint], reference: Option<f64>, (unit, digits): (&str, usize)) -> Drawing {
    let values = points.iter().flat_map(|row| covered(row.mean, [row.interval, row.wide]));
    let scale = Scale::around(values.chain(reference), LEFT, RIGHT).at_least(10_f64.powi(-(digits as i32)));
    let foot = points.len() as f64 * FOREST_ROW + 6.0;
    let mut drawing = Drawing::under_rows(foot, &scale.ticks(5.0), reference.map(|value| scale.at(value)), unit);
    for (place, row) in points.iter().enumerate() {
        let top = place as f64 * FOREST_ROW;
        let y = top + 25.0;
        drawing.row(top + 14.0, &row.label, &row.figure);
        if let Some((from, to)) = row.wide.map(|ends| scale.span(ends)) {
            let (up, end) = (y - 4.0, "v8");
            drawing.path("whisker", format_args!("M{from} {y}H{to}M{from} {up}{end}M{to} {up}{end}"));
        }
        if let Some(ends) = row.interval {
            drawing.across("bar", scale.span(ends), y);
        }
        drawing.mark((scale.at(row.mean), y), row.is_best);
    }
    drawing
}

#[cfg(test)]
mod tests;
