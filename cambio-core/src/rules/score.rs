//! Scores: whole points or exact shares of a win.

use std::fmt;

use serde_json::Value;

/// The score of a round or a total: a whole number of points, or shares of a win.
///
/// Scores are exact. They are stored in 840ths of a point, because 840 is divisible by every number of seats.
///
/// ```
/// use cambio_core::Score;
///
/// let total = Score::points(3) + Score::share(2);
/// assert_eq!(total.to_string(), "3.5");
/// assert_eq!(total.units(), 3 * Score::UNITS + Score::UNITS / 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(i32);

impl Score {
    /// One point in units: a unit is 1/840 of a point.
    pub const UNITS: i32 = 840;

    /// A score of whole points.
    pub const fn points(points: i32) -> Score {
        Score(points * Score::UNITS)
    }

    /// The share of each winner if `winners` winners divide one point.
    ///
    /// # Panics
    /// If `winners` is 0.
    pub const fn share(winners: usize) -> Score {
        Score(Score::UNITS / winners as i32)
    }

    /// A score in 840ths of a point.
    pub const fn from_units(units: i32) -> Score {
        Score(units)
    }

    /// The score in 840ths of a point.
    pub const fn units(self) -> i32 {
        self.0
    }

    /// Whether a JSON number or a decimal text equals this score. A whole score and a JSON integer are compared
    /// exactly, all other values within 1e-6.
    pub fn is(self, value: &Value) -> bool {
        if self.0 % Score::UNITS == 0 && (value.is_i64() || value.is_u64()) {
            return value.as_i64() == Some(i64::from(self.0 / Score::UNITS));
        }
        let given = value.as_f64().or_else(|| value.as_str()?.parse().ok());
        given.is_some_and(|given| (given - f64::from(self.0) / f64::from(Score::UNITS)).abs() <= 1e-6)
    }
}

impl std::ops::Add for Score {
    type Output = Score;

    fn add(self, other: Score) -> Score {
        Score(self.0 + other.0)
    }
}

impl fmt::Display for Score {
    /// A whole number, or a decimal with at most sixteen places.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % Score::UNITS == 0 {
            return write!(f, "{}", self.0 / Score::UNITS);
        }
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = u128::from(self.0.unsigned_abs());
        let scaled = units * 10_000_000_000_000_000 / u128::from(Score::UNITS.unsigned_abs());
        let (whole, fraction) = (scaled / 10_000_000_000_000_000, scaled % 10_000_000_000_000_000);
        let digits = format!("{fraction:016}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
