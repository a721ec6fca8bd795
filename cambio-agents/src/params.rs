//! Parameters of agents: typed, and each declared once.
//!
//! [`params!`](crate::params) declares a struct of parameters; [`words!`](crate::words) declares an enum whose values
//! are words. The macros generate the struct, its defaults, the list for help and errors, and the spec parser.

mod declare;

use std::any::Any;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

/// The parameters of an agent: a struct that [`params!`](crate::params) declares.
///
/// The macro implements this trait. A declaration may override [`Params::is_reproducible`] after the struct.
pub trait Params: Any + fmt::Debug + Send + Sync {
    /// The parameters in the order of their declaration, with the values of `self` as their defaults.
    fn declared(&self) -> Vec<Param>;

    /// Sets the parameter with this name to the value in `text`.
    ///
    /// # Errors
    /// If no parameter has this name, or the value is out of its range. In that case nothing changes.
    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError>;

    /// Whether the same seed gives the same play. By default this is true if it is true for every group of parameters
    /// in the declaration.
    fn is_reproducible(&self) -> bool;

    /// A copy of the parameters.
    fn boxed(&self) -> Box<dyn Params>;
}

/// The parameters of an agent without parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoParams;

impl Params for NoParams {
    fn declared(&self) -> Vec<Param> {
        Vec::new()
    }

    fn set(&mut self, _: &str, _: &str) -> Result<(), ParamError> {
        Err(ParamError::Unknown)
    }

    fn is_reproducible(&self) -> bool {
        true
    }

    fn boxed(&self) -> Box<dyn Params> {
        Box::new(NoParams)
    }
}

/// The error of [`Params::set`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParamError {
    /// No parameter has this name.
    Unknown,
    /// The value is not in this range.
    Range(Range),
}

/// The declaration of one parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Param {
    /// The name in specs.
    pub name: &'static str,
    /// The description for help.
    pub meaning: &'static str,
    /// The value if a spec does not give one; `None` if the parameter is off by default.
    pub default: Option<ParamValue>,
    /// The valid values.
    pub range: Range,
}

/// The value of a parameter of any type. `Display` writes the value as in specs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParamValue {
    /// A whole number.
    Whole(i64),
    /// A real number.
    Real(f64),
    /// A word.
    Word(&'static str),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Whole(number) => number.fmt(f),
            ParamValue::Real(number) => number.fmt(f),
            ParamValue::Word(word) => f.write_str(word),
        }
    }
}

/// The values that a parameter may have. The bounds are included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// Whole numbers.
    Whole(i64, i64),
    /// Real numbers.
    Real(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Whole(i64::MIN, i64::MAX) => f.write_str("a whole number"),
            Range::Whole(from, to) => write!(f, "a whole number from {from} to {to}"),
            Range::Real(f64::MIN, f64::MAX) => f.write_str("a number"),
            Range::Real(from, to) => write!(f, "a number from {from} to {to}"),
            Range::Words(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// A text in quotes that an agent takes before its parameters: `external("python3 bot.py")`.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The name in help and errors.
    pub name: &'static str,
    /// The description for help.
    pub meaning: &'static str,
    /// An example for errors.
    pub example: &'static str,
    /// Whether every spec of the agent must give the text. If not, a missing text is the empty text.
    pub is_needed: bool,
    /// Checks a text, whose relative paths start in a folder. The error is a clause such as "it is empty".
    pub check: fn(&str, &Path) -> Result<(), String>,
    /// The files that a text names, as written, such as the script of a bot. Relative paths start in a folder.
    pub files: fn(&str, &Path) -> Vec<String>,
}

/// The type of a parameter: `f64`, a whole number, a word, or an `Option` of one of these if the parameter may be off.
///
/// ```
/// use cambio_agents::Field;
///
/// let range = <f64 as Field>::range(0.0..=1.0);
/// assert_eq!(f64::read("0.9", range), Some(0.9));
/// assert_eq!(f64::read("1.5", range), None);
/// ```
pub trait Field: Copy {
    /// The type of the bounds in a declaration.
    type Bounds;

    /// The range with these bounds.
    fn range(bounds: Self::Bounds) -> Range;

    /// Parses a value; `None` if the text is not a value in the range.
    fn read(text: &str, range: Range) -> Option<Self>;

    /// The value; `None` if the parameter is off.
    fn value(self) -> Option<ParamValue>;
}

impl Field for f64 {
    type Bounds = RangeInclusive<f64>;

    fn range(bounds: RangeInclusive<f64>) -> Range {
        Range::Real(*bounds.start(), *bounds.end())
    }

    fn read(text: &str, range: Range) -> Option<f64> {
        let Range::Real(from, to) = range else { return None };
        text.parse().ok().filter(|number| (from..=to).contains(number))
    }

    fn value(self) -> Option<ParamValue> {
        Some(ParamValue::Real(self))
    }
}

macro_rules! whole_numbers {
    ($($type:ident)+) => {$(
        impl Field for $type {
            type Bounds = RangeInclusive<$type>;

            fn range(bounds: RangeInclusive<$type>) -> Range {
                Range::Whole((*bounds.start()).into(), (*bounds.end()).into())
            }

            fn read(text: &str, range: Range) -> Option<$type> {
                let Range::Whole(from, to) = range else { return None };
                let number: i64 = text.parse().ok().filter(|number| (from..=to).contains(number))?;
                number.try_into().ok()
            }

            fn value(self) -> Option<ParamValue> {
                Some(ParamValue::Whole(self.into()))
            }
        }
    )+};
}

whole_numbers!(i8 u8 i16 u16 i32 u32);

impl<T: Field> Field for Option<T> {
    type Bounds = T::Bounds;

    fn range(bounds: T::Bounds) -> Range {
        T::range(bounds)
    }

    fn read(text: &str, range: Range) -> Option<Option<T>> {
        T::read(text, range).map(Some)
    }

    fn value(self) -> Option<ParamValue> {
        self.and_then(T::value)
    }
}

/// A parameter type with a word for each value: an enum that [`words!`](crate::words) declares.
pub trait WordEnum: Copy + 'static {
    /// The values, in the order of their declaration.
    const ALL: &'static [Self];
    /// The words of the values, in the same order.
    const WORDS: &'static [&'static str];

    /// The word for the value in specs.
    fn word(self) -> &'static str;

    /// The value with this word.
    fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

impl<W: WordEnum> Field for W {
    type Bounds = ();

    fn range((): ()) -> Range {
        Range::Words(W::WORDS)
    }

    fn read(text: &str, _: Range) -> Option<W> {
        W::named(text)
    }

    fn value(self) -> Option<ParamValue> {
        Some(ParamValue::Word(self.word()))
    }
}

/// Sets one parameter. [`params!`](crate::params) calls this function for each parameter that is not a group.
#[doc(hidden)]
pub fn set_field<F: Field>(field: &mut F, bounds: F::Bounds, text: &str) -> Result<(), ParamError> {
    let range = F::range(bounds);
    *field = F::read(text, range).ok_or(ParamError::Range(range))?;
    Ok(())
}
