//! What `cambio tune` may be asked for.

use cambio_core::shown;

/// The most values of a sweep, a race or halving.
pub(crate) const MOST_VALUES: usize = 10_000;
/// The most deals of a stage. The score of each value on each deal is kept until the end.
pub(crate) const MOST_DEALS: u64 = 10_000_000;
/// The most scores of a stage: they take 0.8 GB.
const MOST_SCORES: u64 = 100_000_000;
/// The most generations.
pub(crate) const MOST_GENERATIONS: i64 = 100_000;

/// Checks how many scores a stage keeps that plays so many deals with each value against each field.
pub(crate) fn check_scores(flag: &str, deals: u64, values: u64, fields: u64) -> Result<(), String> {
    let most = MOST_SCORES / values.saturating_mul(fields).max(1);
    if deals > most {
        return Err(format!("{flag} is {deals} for {values} combinations; allowed are at most {most} for so many"));
    }
    Ok(())
}

/// The values that one question mark may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    from: f64,
    to: f64,
    step: f64,
}

impl Values {
    pub(crate) fn read(text: &str) -> Result<Values, String> {
        const MOST_STEPS: f64 = 1e6;
        let refuse =
            || format!("--range is `{}`; allowed is FROM..TO or FROM..TO:STEP, such as 0..15 or 0..1:0.1", shown(text));
        let (ends, step) = text.split_once(':').unwrap_or((text, "1"));
        let (from, to) = ends.split_once("..").ok_or_else(refuse)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let values = (|| Some(Values { from: number(from)?, to: number(to)?, step: number(step)? }))();
        let values = values.ok_or_else(refuse)?;
        let steps = (values.to - values.from) / values.step;
        let wrong = |what: &str| Err(format!("--range is `{}`, and {what}", shown(text)));
        if values.from > values.to {
            wrong("begins above its end; allowed is a range that goes up")
        } else if values.step <= 0.0 {
            wrong("its step is not above 0; allowed is a positive one")
        } else if steps > MOST_STEPS {
            wrong("has more than a million values; allowed are fewer")
        } else if (steps - steps.round()).abs() > 1e-6 {
            let step = values.step;
            wrong(&format!("steps of {step} do not come to its end; allowed is a step that does, such as {ends}:STEP"))
        } else {
            Ok(values)
        }
    }

    pub(crate) fn count(self) -> usize {
        ((self.to - self.from) / self.step + 1e-9).floor() as usize + 1
    }

    /// The value with this number, without the rounding errors of repeated addition.
    pub(crate) fn nth(self, number: usize) -> f64 {
        let value = self.from + number as f64 * self.step;
        (value * 1e9).round() / 1e9
    }

    /// The value nearest to a point between 0 and 1.
    pub(crate) fn at(self, point: f64) -> f64 {
        self.nth(((point.clamp(0.0, 1.0) * (self.count() - 1) as f64).round()) as usize)
    }
}
