//! Parameters of agents: typed, and each declared once.
//!
//! [`params!`](crate::params) declares a struct of parameters; [`words!`](crate::words) declares an enum whose values
//! are words. The macros generate the struct, its defaults, the list for help and errors, and the spec parser.

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

crate::params! {
    /// The parameters of an agent without parameters.
    pub struct NoParams {}
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

    /// Sets the value to the one in `text`, if it is in the range with these bounds.
    ///
    /// # Errors
    /// If it is not.
    fn set(&mut self, bounds: Self::Bounds, text: &str) -> Result<(), ParamError> {
        let range = Self::range(bounds);
        *self = Self::read(text, range).ok_or(ParamError::Range(range))?;
        Ok(())
    }
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

/// Declares the parameters of an agent: a struct with public fields that implements [`Params`](crate::Params).
///
/// Each field is declared once, with its meaning, type, default and range. The macro generates the struct, `Default`,
/// the list of parameters for help and errors, and the spec parser. The example shows every form of a field:
///
/// ```
/// use cambio_agents::{Params, params, words};
///
/// words! {
///     /// What the bot does in a snap window.
///     pub enum Snaps {
///         /// Never snaps.
///         Never = "never",
///         /// Snaps the cards that it knows to match.
///         Known = "known",
///     }
/// }
///
/// params! {
///     /// The parameters about the other players.
///     pub struct OthersParams {
///         /// The points that it expects each other player to have.
///         others: f64 = 12.5 in 0.0..=100.0,
///     }
/// }
///
/// params! {
///     /// The parameters of my bot.
///     pub struct MineParams {
///         /// Calls when its sum is at most this: a number, with its default and range.
///         call_at: f64 = 4.0 in 0.0..=20.0,
///         /// The thinking time in milliseconds: a parameter that is off by default.
///         time_ms: Option<u32> in 1..=1000,
///         /// Which cards it snaps: a word, with its default.
///         snaps: Snaps = Snaps::Known,
///         /// Which cards it gives: a word, off by default.
///         gives: Option<Snaps>,
///         /// The name in specs may differ from the name of the field.
///         last as "final": i32 = -1 in -5..=5,
///         /// A group: its parameters are inserted here.
///         ..group: OthersParams,
///     }
///
///     /// Optional. Without this method, the agent is reproducible if its groups are.
///     fn is_reproducible(&self) -> bool {
///         self.time_ms.is_none()
///     }
/// }
///
/// let mut params = MineParams { call_at: 7.0, ..MineParams::default() };
/// params.set("others", "20").unwrap();
/// params.set("snaps", "never").unwrap();
/// assert_eq!((params.group.others, params.snaps), (20.0, Snaps::Never));
/// let names: Vec<&str> = params.declared().iter().map(|param| param.name).collect();
/// assert_eq!(names, ["call_at", "time_ms", "snaps", "gives", "final", "others"]);
/// ```
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* } $($methods:tt)*) => {
        $crate::params!(@fields [$(#[$meta])* $vis $name] [$($methods)*] [] $($fields)*);
    };

    // One arm for each form of a field. It appends {form [meaning] field (name) (type) (default) (bounds)} to `done`.
    (@fields $head:tt $methods:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ ..$field:ident: $type:ty, $($rest:tt)*) => {
        $crate::params!(@fields $head $methods
            [$($done)* {group [$($doc)+] $field () ($type) (<$type>::default()) ()}] $($rest)*);
    };
    (@fields $head:tt $methods:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $spec:literal)?: $type:ident = $default:literal in $bounds:expr,
        $($rest:tt)*) => {
        $crate::params!(@fields $head $methods
            [$($done)* {value [$($doc)+] $field ($($spec)?) ($type) ($default) ($bounds)}] $($rest)*);
    };
    (@fields $head:tt $methods:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $spec:literal)?: $type:ident = $default:expr,
        $($rest:tt)*) => {
        $crate::params!(@fields $head $methods
            [$($done)* {value [$($doc)+] $field ($($spec)?) ($type) ($default) (())}] $($rest)*);
    };
    (@fields $head:tt $methods:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $spec:literal)?: Option<$type:ident> in $bounds:expr,
        $($rest:tt)*) => {
        $crate::params!(@fields $head $methods
            [$($done)* {value [$($doc)+] $field ($($spec)?) (Option<$type>) (None) ($bounds)}] $($rest)*);
    };
    (@fields $head:tt $methods:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $spec:literal)?: Option<$type:ident>,
        $($rest:tt)*) => {
        $crate::params!(@fields $head $methods
            [$($done)* {value [$($doc)+] $field ($($spec)?) (Option<$type>) (None) (())}] $($rest)*);
    };
    (@fields [$(#[$meta:meta])* $vis:vis $name:ident] $methods:tt
        [$({$form:tt [$($doc:literal)+] $field:ident $spec:tt ($type:ty) ($default:expr) ($($bounds:expr)?)})*]) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::Params for $name {
            #[allow(unused_mut, reason = "there may be no parameters")]
            fn declared(&self) -> Vec<$crate::Param> {
                let mut list = Vec::new();
                $($crate::params!(@declare $form list [$($doc)+] (self.$field) $field $spec ($type) ($($bounds)?));)*
                list
            }

            #[allow(unused_variables, reason = "there may be no parameters")]
            fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::ParamError> {
                $($crate::params!(@set $form name text (self.$field) $field $spec ($($bounds)?));)*
                Err($crate::ParamError::Unknown)
            }

            fn boxed(&self) -> Box<dyn $crate::Params> {
                Box::new(*self)
            }

            $crate::params!(@methods [$($form $field)*] $methods);
        }
    };
    (@fields $head:tt $methods:tt $done:tt $($rest:tt)+) => {
        compile_error!(concat!(
            "not a valid parameter: `", stringify!($($rest)+), "`; a parameter has a doc comment and is one of ",
            "`name: f64 = 1.0 in 0.0..=2.0,`, `name: Option<u32> in 0..=2,`, `name: Word = Word::This,`, ",
            "`name: Option<Word>,` and `..group: Group,`, followed by a comma",
        ));
    };

    (@declare group $list:ident $doc:tt ($group:expr) $field:ident $spec:tt $type:tt ()) => {
        $list.extend($crate::Params::declared(&$group));
    };
    (@declare value $list:ident [$($doc:literal)+] ($value:expr) $field:ident $spec:tt ($type:ty) ($bounds:expr)) => {
        $list.push($crate::Param {
            name: $crate::params!(@name $field $spec),
            meaning: const { concat!($($doc),+).trim_ascii() },
            default: $crate::Field::value($value),
            range: <$type as $crate::Field>::range($bounds),
        });
    };

    (@set group $name:ident $text:ident ($group:expr) $field:ident $spec:tt ()) => {
        match $crate::Params::set(&mut $group, $name, $text) {
            Err($crate::ParamError::Unknown) => {}
            done => return done,
        }
    };
    (@set value $name:ident $text:ident ($value:expr) $field:ident $spec:tt ($bounds:expr)) => {
        if $name == $crate::params!(@name $field $spec) {
            return $crate::Field::set(&mut $value, $bounds, $text);
        }
    };

    (@name $field:ident ()) => { stringify!($field) };
    (@name $field:ident ($spec:literal)) => { $spec };

    (@methods [$($form:tt $field:ident)*] []) => {
        fn is_reproducible(&self) -> bool {
            true $(&& $crate::params!(@reproducible $form (self.$field)))*
        }
    };
    (@methods $fields:tt [$($methods:tt)+]) => { $($methods)+ };

    (@reproducible group ($group:expr)) => { $crate::Params::is_reproducible(&$group) };
    (@reproducible value ($value:expr)) => { true };
}

/// Declares a parameter type with a word for each value: an enum that implements [`WordEnum`](crate::WordEnum).
///
/// ```
/// use cambio_agents::{WordEnum as _, words};
///
/// words! {
///     /// What the bot does with a low card.
///     #[derive(Default)]
///     pub enum Low {
///         /// Keeps the card.
///         #[default]
///         Keep = "keep",
///         /// Drops the card.
///         Drop = "drop",
///     }
/// }
///
/// assert_eq!(Low::WORDS, ["keep", "drop"]);
/// assert_eq!(Low::default().word(), "keep");
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $crate::WordEnum for $name {
            const ALL: &'static [$name] = &[$($name::$variant),+];
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}
