//! The texts of numbers that only pages show. The formats of all tables are in `cambio_sim::table`.

use cambio_core::text::noun;
use cambio_sim::BehaviourRow;
use cambio_sim::rows::{Measure, MeasureForm};
use cambio_stats::{Interval, Shape, Support};

pub(crate) use cambio_sim::table::{NONE, maybe, number, p_figure, plus_minus, signed, spread};

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
