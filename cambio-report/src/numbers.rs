//! The texts of numbers that only pages show. The formats of all tables are in `cambio_sim::table`.

use cambio_core::text::noun;
use cambio_sim::BehaviourRow;
use cambio_sim::rows::{Measure, MeasureForm};

pub(crate) use cambio_sim::table::{NONE, maybe, number, p_figure, plus_minus, signed, spread};

/// A measure of the behaviour of an agent with its interval.
pub(crate) fn measured(measure: &Measure, row: &BehaviourRow) -> String {
    let Some(own) = (measure.value)(row) else { return NONE.to_owned() };
    match measure.form {
        MeasureForm::Count => grouped(own.mean as u64),
        MeasureForm::Mean if own.mean == 0.0 => "none".to_owned(),
        MeasureForm::Mean => plus_minus(own.mean, own.ends(), 2),
        MeasureForm::Share => {
            let own = own.scaled(100.0);
            format!("{} %", plus_minus(own.mean, own.ends(), 1))
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
