//! The macros that declare parameters.

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
            fn declared(&self) -> Vec<$crate::Param> {
                let mut list = Vec::new();
                $($crate::params!(@declare $form list [$($doc)+] (self.$field) $field $spec ($type) ($($bounds)?));)*
                list
            }

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
            return $crate::set_field(&mut $value, $bounds, $text);
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
