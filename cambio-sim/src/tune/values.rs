//! Ranges of values for tuning.

use std::str::FromStr;

use cambio_core::text::excerpt;

/// The values for one question mark, ascending: `0..15`, `0..1:0.1` with a step, the list `10,30,100`, or `1..1000 log` for the values
/// 1, 3, 10, 30, … between the ends. Both ends are included.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Values(pub(crate) Vec<f64>);

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
        if text.contains(',') {
            let list = text.split(',').map(number).collect::<Option<Vec<_>>>().ok_or_else(|| refuse(FORM))?;
            let ascends = list.windows(2).all(|pair| pair[0] < pair[1]);
            let refused = || refuse("must list different values in ascending order");
            return ascends.then_some(Values(list)).ok_or_else(refused);
        }
        let log = text.trim_end().strip_suffix("log");
        let (ends, step) = log.map_or_else(|| text.split_once(':').unwrap_or((text, "1")), |ends| (ends, "1"));
        let numbers = ends.split_once("..").and_then(|(from, to)| Some((number(from)?, number(to)?, number(step)?)));
        let (from, to, step) = numbers.ok_or_else(|| refuse(FORM))?;
        let steps = (to - from) / step;
        if from > to {
            Err(refuse("must not start above its end"))
        } else if log.is_some() {
            let refused = || refuse("must start above 0 to have logarithmic steps");
            (from > 0.0).then(|| Values(logarithmic(from, to))).ok_or_else(refused)
        } else if step <= 0.0 {
            Err(refuse("must have a step above 0"))
        } else if steps > MOST_STEPS {
            Err(refuse("must have at most a million values"))
        } else if (steps - steps.round()).abs() > 1e-6 {
            let what = format!("must span a multiple of its step {step}, found `{shown}`");
            Err(format!("{what}; choose another step with {ends}:STEP"))
        } else {
            // Without the rounding errors of repeated addition.
            let nth = |number: u32| ((from + f64::from(number) * step) * 1e9).round() / 1e9;
            Ok(Values((0..=(steps + 1e-9).floor() as u32).map(nth).collect()))
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

impl Values {
    /// The value nearest to a relative position, from 0 (the start of the range) to 1 (the end).
    pub(crate) fn at(&self, point: f64) -> f64 {
        self.0[(point.clamp(0.0, 1.0) * (self.0.len() - 1) as f64).round() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn ranges_have_steps_or_logarithmic_values() {
        let values: Values = "0..1:0.1".parse().unwrap();
        assert_eq!((values.0.len(), values.0[3], values.at(0.5)), (11, 0.3, 0.5));
        let budgets: Values = "20..1000 log".parse().unwrap();
        assert_eq!(budgets.0, [20.0, 30.0, 100.0, 300.0, 1000.0]);
        assert_eq!("3..1".parse::<Values>().unwrap_err(), "must not start above its end, found `3..1`");
    }
}
