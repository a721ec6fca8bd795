//! Ranges of values for tuning.

use std::fmt;
use std::str::FromStr;

use cambio_core::text::excerpt;

/// The range of values for one question mark: `0..15`, or `0..1:0.1` with a step. Both ends are included.
///
/// ```
/// use cambio_sim::tune::Values;
///
/// let values: Values = "0..1:0.1".parse()?;
/// assert_eq!((values.count(), values.nth(3), values.at(0.5)), (11, 0.3, 0.5));
/// let error = "3..1".parse::<Values>().unwrap_err();
/// assert_eq!(error.to_string(), "the range must not start above its end, found `3..1`");
/// # Ok::<(), cambio_sim::tune::ValuesError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Values {
    text: String,
    from: f64,
    to: f64,
    step: f64,
}

/// A text that is not a range of values.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("the range {}", self.said())]
pub struct ValuesError {
    /// The text.
    pub text: String,
    /// The reason why the text is not a range.
    pub flaw: ValuesFlaw,
}

/// The reason why a text is not a range of values.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum ValuesFlaw {
    /// The text does not have the form FROM..TO or FROM..TO:STEP.
    Form,
    /// The range starts above its end.
    Down,
    /// The step is not positive.
    Step,
    /// The range has more than a million values.
    Many,
    /// The length of the range is not a multiple of the step.
    End {
        /// The step.
        step: f64,
    },
}

impl ValuesError {
    /// The message without its subject "the range", for programs that name the range differently.
    pub fn said(&self) -> String {
        let text = excerpt(&self.text);
        match self.flaw {
            ValuesFlaw::Form => {
                format!("must be FROM..TO or FROM..TO:STEP, such as 0..15 or 0..1:0.1, found `{text}`")
            }
            ValuesFlaw::Down => format!("must not start above its end, found `{text}`"),
            ValuesFlaw::Step => format!("must have a step above 0, found `{text}`"),
            ValuesFlaw::Many => format!("must have at most a million values, found `{text}`"),
            ValuesFlaw::End { step } => {
                let ends = self.text.split_once(':').map_or(self.text.as_str(), |(ends, _)| ends);
                format!("must span a multiple of its step {step}, found `{text}`; choose another step with {ends}:STEP")
            }
        }
    }
}

impl FromStr for Values {
    type Err = ValuesError;

    fn from_str(text: &str) -> Result<Values, ValuesError> {
        const MOST_STEPS: f64 = 1e6;
        let refuse = |flaw| ValuesError { text: text.to_owned(), flaw };
        let (ends, step) = text.split_once(':').unwrap_or((text, "1"));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let numbers = ends.split_once("..").and_then(|(from, to)| Some((number(from)?, number(to)?, number(step)?)));
        let (from, to, step) = numbers.ok_or_else(|| refuse(ValuesFlaw::Form))?;
        let steps = (to - from) / step;
        if from > to {
            Err(refuse(ValuesFlaw::Down))
        } else if step <= 0.0 {
            Err(refuse(ValuesFlaw::Step))
        } else if steps > MOST_STEPS {
            Err(refuse(ValuesFlaw::Many))
        } else if (steps - steps.round()).abs() > 1e-6 {
            Err(refuse(ValuesFlaw::End { step }))
        } else {
            Ok(Values { text: text.to_owned(), from, to, step })
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Values {
    /// The number of values, 1 or more.
    pub fn count(&self) -> usize {
        ((self.to - self.from) / self.step + 1e-9).floor() as usize + 1
    }

    /// The value with this index, from 0, without the rounding errors of repeated addition.
    pub fn nth(&self, number: usize) -> f64 {
        let value = self.from + number as f64 * self.step;
        (value * 1e9).round() / 1e9
    }

    /// The value nearest to a relative position, from 0 (the start of the range) to 1 (the end).
    pub fn at(&self, point: f64) -> f64 {
        self.nth(((point.clamp(0.0, 1.0) * (self.count() - 1) as f64).round()) as usize)
    }
}
