//! Formatting of numbers.

use cambio_core::text::noun;
use cambio_sim::BehaviourRow;
use cambio_sim::rows::{Measure, MeasureForm};
use cambio_stats::{Interval, Shape, Support, is_even};

/// The placeholder for a missing number.
pub(crate) const NONE: &str = "–";

/// A number with `digits` decimals, a typographic minus sign, and no minus sign before 0.
pub(crate) fn number(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// Like [`number`], with a plus sign before positive numbers.
pub(crate) fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

pub(crate) fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| number(value, digits))
}

/// A mean with its interval, if there is one.
pub(crate) fn plus_minus(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    format!("{}{}", number(mean, digits), spread(mean, ends, digits))
}

/// The text of an interval, to follow the mean: the half-width if the interval is symmetric, otherwise the ends. A small
/// half-width is not rounded to 0, because `± 0.00` looks like certainty.
pub(crate) fn spread(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    ends.map_or_else(String::new, |(low, high)| {
        let (half, unit) = ((mean - low).max(high - mean), 10_f64.powi(-(digits as i32)));
        if half <= 0.0 {
            " (no variance)".to_owned()
        } else if half < unit / 2.0 {
            format!(" ± < {unit:.digits$}")
        } else if is_even(mean - low, high - mean, digits) {
            format!(" ± {}", number(half, digits))
        } else {
            format!(" ({} to {})", number(low, digits), number(high, digits))
        }
    })
}

/// A measure of the behaviour of an agent with its interval; `errors` has the standard errors.
pub(crate) fn measured(measure: &Measure, row: &BehaviourRow, errors: &BehaviourRow) -> String {
    let Some(value) = (measure.value)(row) else { return NONE.to_owned() };
    let interval = |support| {
        // If nothing varies, only a share has an interval.
        let error = (measure.value)(errors).filter(|error| *error > 0.0 || support == Support::Share)?;
        let (rounds, calls) = (row.rounds as f64, row.calls_per_round?);
        let results = (rounds * calls.min(1.0) / errors.rounds as f64).max(1.0);
        let with_calls = errors.rounds.min((rounds * calls).round() as u64).max(2);
        let groups = if error > 0.0 { errors.rounds } else { with_calls };
        Interval::new(value, Some(error), groups, support).with_shape(Shape { results, ..Shape::NORMAL }).ends()
    };
    match measure.form {
        MeasureForm::Count => grouped(value as u64),
        MeasureForm::Mean if value == 0.0 => "none".to_owned(),
        MeasureForm::Mean => plus_minus(value, interval(Support::Line), 2),
        MeasureForm::Share => {
            let ends = interval(Support::Share).map(|(low, high)| (100.0 * low, 100.0 * high));
            format!("{} %", plus_minus(100.0 * value, ends, 1))
        }
    }
}

/// The text of a range of ranks.
pub(crate) fn range(ends: Option<(usize, usize)>) -> String {
    match ends {
        None => NONE.to_owned(),
        Some((low, high)) if low == high => low.to_string(),
        Some((low, high)) => format!("{low} to {high}"),
    }
}

/// A whole number with digit grouping: `48,000,000`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let from = |index: usize| if (digits.len() - index).is_multiple_of(3) && index > 0 { "," } else { "" };
    digits.char_indices().flat_map(|(index, digit)| [from(index).to_owned(), digit.to_string()]).collect()
}

/// A number with its noun: `1 deal`, `2 deals`.
pub(crate) fn count(value: u64, one: &str) -> String {
    format!("{} {}", grouped(value), noun(value, one))
}

pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "< 1 %".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => "> 99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// A sentence that lists these parts.
pub(crate) fn listed(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("; ") + "."
}

/// Truncates a text to `most` characters including the ellipsis.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
