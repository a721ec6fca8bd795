//! Numbers for people.

/// Stands for a missing number.
pub(crate) const NONE: &str = "–";

/// A number with `digits` decimals, a true minus sign, and no minus before 0.
pub(crate) fn number(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// The same, with a plus sign before positive numbers.
pub(crate) fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if value > 0.0 && !is_zero { format!("+{text}") } else { text }
}

pub(crate) fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| number(value, digits))
}

/// A mean with its interval; without the interval where there is none.
pub(crate) fn plus_minus(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    format!("{}{}", number(mean, digits), spread(mean, ends, digits))
}

/// An interval behind its mean: how far the farther end is if both are about as far, otherwise the ends.
pub(crate) fn spread(mean: f64, ends: Option<(f64, f64)>, digits: usize) -> String {
    ends.map_or_else(String::new, |(low, high)| {
        if is_even(mean - low, high - mean, digits) {
            format!(" ± {}", number((mean - low).max(high - mean), digits))
        } else {
            format!(" ({} to {})", number(low, digits), number(high, digits))
        }
    })
}

/// Whether an interval reaches as far below its mean as above it, as far as so many decimals say: the last may differ by one
/// where three or more of it are shown.
pub fn is_even(below: f64, above: f64, digits: usize) -> bool {
    let unit = 10_f64.powi(-(digits as i32));
    let shown = |half: f64| (half / unit).round();
    let (least, most) = (shown(below.min(above)), shown(below.max(above)));
    most - least < 0.5 || (least >= 3.0 && most - least < 1.5)
}

/// A whole number with its digits in groups of three.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let from = |place: usize| if (digits.len() - place).is_multiple_of(3) && place > 0 { "," } else { "" };
    digits.char_indices().flat_map(|(place, digit)| [from(place).to_owned(), digit.to_string()]).collect()
}

/// A number of things: `1 deal`, `2 deals`.
pub(crate) fn count(value: u64, one: &str) -> String {
    let ending = match (value, one.strip_suffix("ch")) {
        (1, _) => "",
        (_, Some(_)) => "es",
        _ => "s",
    };
    format!("{} {one}{ending}", grouped(value))
}

pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => "< 1 %".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => "> 99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// Cuts a text to `most` letters, the last an ellipsis. For plots, in which lines do not break.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([grouped(7), grouped(999), grouped(1000), grouped(48_000_000)], ["7", "999", "1,000", "48,000,000"]);
        assert_eq!([number(-0.0004, 3), number(-0.25, 2), number(1.0, 3)], ["0.000", "−0.25", "1.000"]);
        assert_eq!([signed(0.25, 1), signed(-2.0, 0), signed(0.0004, 3)], ["+0.2", "−2", "0.000"]);
        assert_eq!(plus_minus(0.5, Some((0.375, 0.625)), 2), "0.50 ± 0.12");
        assert_eq!(plus_minus(1.0, Some((0.907, 1.0)), 3), "1.000 (0.907 to 1.000)");
        assert_eq!(plus_minus(0.124, Some((0.1143, 0.1346)), 3), "0.124 ± 0.011");
        assert_eq!(plus_minus(0.057, Some((0.0529, 0.0617)), 3), "0.057 ± 0.005");
        assert_eq!(plus_minus(0.999, Some((0.997, 1.0)), 3), "0.999 (0.997 to 1.000)");
        assert_eq!(plus_minus(0.5, None, 2), "0.50");
        assert_eq!(
            [count(1, "match"), count(2, "match"), count(1200, "deal")],
            ["1 match", "2 matches", "1,200 deals"]
        );
        assert_eq!([percent(0.0), percent(0.004), percent(0.31)], ["0 %", "< 1 %", "31 %"]);
        assert_eq!(short("greedy(call_at=9)", 9), "greedy(c…");
    }
}
