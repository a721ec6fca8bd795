//! Ranges of values for tuning.

use std::fmt;
use std::str::FromStr;

use cambio_core::text::excerpt;

/// The values for one question mark: `0..15`, `0..1:0.1` with a step, the list `10,30,100`, or `1..1000 log` for the values
/// 1, 3, 10, 30, … between the ends. Both ends are included.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Values {
    text: String,
    spacing: Spacing,
}

#[derive(Clone, PartialEq, Debug)]
enum Spacing {
    Even {
        from: f64,
        to: f64,
        step: f64,
    },
    /// Ascending values.
    List(Vec<f64>),
}

impl FromStr for Values {
    /// The error without its subject, the range.
    type Err = String;

    fn from_str(text: &str) -> Result<Values, String> {
        const MOST_STEPS: f64 = 1e6;
        const FORM: &str = "must be FROM..TO, FROM..TO:STEP, a list or FROM..TO log, such as 0..15, 0..1:0.1, 10,30,100 or \
                            1..1000 log";
        let shown = excerpt(text);
        let refuse = |expected: &str| format!("{expected}, found `{shown}`");
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let made = |spacing| Ok(Values { text: text.to_owned(), spacing });
        if text.contains(',') {
            let list = text.split(',').map(number).collect::<Option<Vec<_>>>().ok_or_else(|| refuse(FORM))?;
            let ascends = list.windows(2).all(|pair| pair[0] < pair[1]);
            return if ascends {
                made(Spacing::List(list))
            } else {
                Err(refuse("must list different values in ascending order"))
            };
        }
        let log = text.trim_end().strip_suffix("log");
        let (ends, step) = log.map_or_else(|| text.split_once(':').unwrap_or((text, "1")), |ends| (ends, "1"));
        let numbers = ends.split_once("..").and_then(|(from, to)| Some((number(from)?, number(to)?, number(step)?)));
        let (from, to, step) = numbers.ok_or_else(|| refuse(FORM))?;
        let steps = (to - from) / step;
        if from > to {
            Err(refuse("must not start above its end"))
        } else if log.is_some() {
            if from > 0.0 {
                made(Spacing::List(logarithmic(from, to)))
            } else {
                Err(refuse("must start above 0 to have logarithmic steps"))
            }
        } else if step <= 0.0 {
            Err(refuse("must have a step above 0"))
        } else if steps > MOST_STEPS {
            Err(refuse("must have at most a million values"))
        } else if (steps - steps.round()).abs() > 1e-6 {
            let what = format!("must span a multiple of its step {step}, found `{shown}`");
            Err(format!("{what}; choose another step with {ends}:STEP"))
        } else {
            made(Spacing::Even { from, to, step })
        }
    }
}

/// The ends, and the values 1, 3, 10, 30, … and 0.3, 0.1, … between them.
fn logarithmic(from: f64, to: f64) -> Vec<f64> {
    // Every finite number above 0 is between these powers of 10. Parsing gives the nearest number to a decimal fraction.
    let series = (-324..=308).flat_map(|power| [1, 3].map(|digit| format!("{digit}e{power}").parse::<f64>()));
    let between = series.flatten().filter(|value| from < *value && *value < to);
    let mut values: Vec<f64> = std::iter::once(from).chain(between).chain([to]).collect();
    values.dedup();
    values
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Values {
    /// The number of values, 1 or more.
    pub(crate) fn count(&self) -> usize {
        match &self.spacing {
            Spacing::Even { from, to, step } => ((to - from) / step + 1e-9).floor() as usize + 1,
            Spacing::List(values) => values.len(),
        }
    }

    /// The value with this index, from 0, without the rounding errors of repeated addition.
    ///
    /// # Panics
    /// If a list has no such value.
    pub(crate) fn nth(&self, number: usize) -> f64 {
        match &self.spacing {
            Spacing::Even { from, step, .. } => ((from + number as f64 * step) * 1e9).round() / 1e9,
            Spacing::List(values) => values[number],
        }
    }

    /// The value nearest to a relative position, from 0 (the start of the range) to 1 (the end).
    pub(crate) fn at(&self, point: f64) -> f64 {
        self.nth(((point.clamp(0.0, 1.0) * (self.count() - 1) as f64).round()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn ranges_have_steps_or_logarithmic_values() {
        let values: Values = "0..1:0.1".parse().unwrap();
        assert_eq!((values.count(), values.nth(3), values.at(0.5)), (11, 0.3, 0.5));
        let budgets: Values = "20..1000 log".parse().unwrap();
        let budgets: Vec<f64> = (0..budgets.count()).map(|number| budgets.nth(number)).collect();
        assert_eq!(budgets, [20.0, 30.0, 100.0, 300.0, 1000.0]);
        assert_eq!("3..1".parse::<Values>().unwrap_err(), "must not start above its end, found `3..1`");
    }
}
