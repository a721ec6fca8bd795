//! Tables of results: one declaration of a row gives its struct, and the name, type, unit and meaning of each column.

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The name in the header.
    pub name: &'static str,
    /// The type: `text`, `boolean`, or a number type such as `uint64`.
    pub kind: &'static str,
    /// Whether a cell may be empty because the value is unknown or undefined.
    pub may_be_empty: bool,
    /// The unit of the values; empty for texts and numbers without a unit.
    pub unit: &'static str,
    /// The meaning: the text of the doc comment.
    pub meaning: &'static str,
}

/// A row of a table. The macro [`table!`](crate::table!) implements it.
pub trait Row {
    /// The meaning of a row: the text of its doc comment.
    const MEANING: &'static str;

    /// The columns, in order.
    const COLUMNS: &'static [Column];
}

/// A value in one cell of a table.
pub trait Cell {
    /// The type in the data dictionary.
    const KIND: &'static str;
    /// Whether the cell may be empty.
    const MAY_BE_EMPTY: bool = false;
}

macro_rules! cells {
    ($($type:ty: $kind:literal,)+) => {
        $(impl Cell for $type {
            const KIND: &'static str = $kind;
        })+
    };
}

cells! {
    String: "text",
    &'static str: "text",
    char: "text",
    bool: "boolean",
    u64: "uint64",
    usize: "uint64",
    f32: "float32",
    f64: "float64",
}

impl<T: Cell> Cell for Option<T> {
    const KIND: &'static str = T::KIND;
    const MAY_BE_EMPTY: bool = true;
}

/// Declares a row of a table: its meaning, name and fields, and for each field the meaning, the name, the type and, if the
/// values have one, the unit. The row derives `Serialize`, which must be in scope, and the traits of its `derive` line.
///
/// ```
/// use cambio_exec::{Row, table};
/// use serde::Serialize;
///
/// table! {
///     /// A row of `lengths.csv`.
///     pub LengthRow {
///         /// The agent.
///         agent: String,
///         /// Turns per round.
///         turns: Option<f64> => "turns",
///     }
/// }
///
/// let turns = &LengthRow::COLUMNS[1];
/// assert_eq!((turns.name, turns.kind, turns.unit, turns.may_be_empty), ("turns", "float64", "turns", true));
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $row:literal])+ $(#[derive($($derived:ident),+)])? $visible:vis $name:ident {
            $($(#[doc = $meaning:literal])+ $(#[serde($($form:tt)+)])? $field:ident: $type:ty $(=> $unit:literal)?,)+
        }
    ) => {
        $(#[doc = $row])+
        #[derive(Clone, PartialEq, Debug, Default, Serialize, $($($derived),+)?)]
        $visible struct $name {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($form)+)])?
                $visible $field: $type,
            )+
        }

        impl $crate::Row for $name {
            const MEANING: &'static str = concat!($($row, "\n"),+);
            const COLUMNS: &'static [$crate::Column] = &[$($crate::Column {
                name: stringify!($field),
                kind: <$type as $crate::Cell>::KIND,
                may_be_empty: <$type as $crate::Cell>::MAY_BE_EMPTY,
                unit: concat!($($unit)?),
                meaning: concat!($($meaning, "\n"),+),
            },)+];
        }
    };
}
