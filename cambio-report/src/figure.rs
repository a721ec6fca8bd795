//! Figures: their geometry in SVG user units, and their SVG. A letter is about seven units wide.
//!
//! A figure has a title, a description and a role for screen readers, and uses the colours and fonts of the page.

use std::fmt::{Arguments, Write as _};

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
        let text = HtmlEscape(text);
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    fn path(&mut self, class: &str, steps: Arguments<'_>) {
        self.add(format_args!("<path class=\"{class}\" d=\"{steps}\"/>"));
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

/// A linear scale from values to the units of the axis.
#[derive(Clone, Copy, Debug)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// A scale that covers all values, with a margin at the ends, and at least `span` on each side of the middle.
    fn around(values: impl Iterator<Item = f64>, span: f64) -> Scale {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = if high > low { (high - low) * 0.04 } else { low.abs().max(1.0) * 0.1 };
        let (low, high) = (low - room, high + room);
        let (middle, half) = (f64::midpoint(low, high), ((high - low) / 2.0).max(span));
        Scale { low: middle - half, high: middle + half }
    }

    fn at(self, value: f64) -> f64 {
        tenth(LEFT + (value - self.low) / (self.high - self.low) * (RIGHT - LEFT))
    }

    fn span(self, (low, high): (f64, f64)) -> (f64, f64) {
        (self.at(low), self.at(high))
    }

    /// About five ticks at round numbers, with their labels.
    fn ticks(self) -> Vec<(f64, String)> {
        let raw = (self.high - self.low) / 5.0;
        let power = 10_f64.powi(libm::log10(raw).floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= raw * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let digits = (-libm::log10(step).floor()).max(0.0) as usize;
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        let tick = |value: f64| (self.at(value), number(value, digits));
        (first..=last).map(|multiple| tick(multiple as f64 * step)).collect()
    }
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

/// A forest plot: one or more estimates with intervals, one per row, on an axis in this unit. `digits` is the number of decimals of the
/// values; the axis is not shorter than two units of the last decimal.
pub(crate) fn forest(points: &[IntervalPoint], reference: Option<f64>, (unit, digits): (&str, usize)) -> Drawing {
    let ends = |row: &IntervalPoint| [row.interval, row.wide].into_iter().flatten().flat_map(<[f64; 2]>::from);
    let values = points.iter().flat_map(|row| std::iter::once(row.mean).chain(ends(row)));
    let scale = Scale::around(values.chain(reference), 10_f64.powi(-(digits as i32)));
    let foot = points.len() as f64 * FOREST_ROW + 6.0;
    let mut drawing = Drawing { height: foot + 34.0, ..Drawing::default() };
    for (at, label) in scale.ticks() {
        drawing.path("grid", format_args!("M{at} 0V{foot}"));
        drawing.text("tick", (at, foot + 13.0), &label);
    }
    drawing.text("unit", (WIDTH / 2.0, foot + 28.0), unit);
    if let Some(at) = reference.map(|value| scale.at(value)) {
        drawing.path("reference", format_args!("M{at} 0V{foot}"));
    }
    for (place, row) in points.iter().enumerate() {
        let y = place as f64 * FOREST_ROW + 25.0;
        drawing.text("name", (0.0, y - 11.0), &fitting(&row.label, &row.figure));
        if !row.figure.is_empty() {
            drawing.text("figure", (WIDTH, y - 11.0), &row.figure);
        }
        let up = y - 4.0;
        if let Some((from, to)) = row.wide.map(|ends| scale.span(ends)) {
            drawing.path("whisker", format_args!("M{from} {y}H{to}M{from} {up}v8M{to} {up}v8"));
        }
        if let Some((from, to)) = row.interval.map(|ends| scale.span(ends)) {
            drawing.path("bar", format_args!("M{from} {y}H{to}"));
        }
        let at = scale.at(row.mean);
        if row.is_best {
            drawing.path("best", format_args!("M{at} {}l5 5l-5 5l-5 -5z", y - 5.0));
        } else {
            drawing.add(format_args!("<circle class=\"ring\" cx=\"{at}\" cy=\"{y}\" r=\"3\"/>"));
        }
    }
    drawing
}

#[cfg(test)]
mod tests;
