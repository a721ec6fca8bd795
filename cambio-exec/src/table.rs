//! Tables of results: one declaration of a row gives its struct, and the name, type, unit and meaning of each column.

use std::cmp::Ordering;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Column {
    /// The name in the header. A name in angle brackets stands for several columns.
    pub name: String,
    /// The type: `text`, `boolean`, a number type such as `uint64`, or a list of numbers.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether a cell may be empty because the value is unknown or undefined.
    pub may_be_empty: bool,
    /// The unit of the values; `None` for texts and numbers without a unit.
    pub unit: Option<&'static str>,
    /// The meaning.
    pub meaning: String,
}

impl Column {
    /// A column with the texts of its declaration, which has no unit if `unit` is empty.
    ///
    /// ```
    /// use cambio_exec::Column;
    ///
    /// let column = Column::declared("turns", "Turns\n per round.", "turns");
    /// assert_eq!((&*column.meaning, column.unit), ("Turns per round.", Some("turns")));
    /// ```
    pub fn declared(name: &str, meaning: &str, unit: &'static str) -> Column {
        let unit = Some(unit).filter(|unit| !unit.is_empty());
        Column { name: name.to_owned(), unit, meaning: one_line(meaning), ..Column::default() }
    }
}

/// A value in one cell of a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the variants are the types of values")]
pub enum Cell {
    Empty,
    Text(String),
    Boolean(bool),
    Whole(u64),
    Float32(f32),
    Float(f64),
}

/// A row of a table. The macro [`table!`](crate::table!) implements it.
pub trait Row {
    /// The meaning of a row: the text of its doc comment.
    const MEANING: &'static str;

    /// The columns, in order.
    fn columns() -> &'static [Column];

    /// The cells, in the order of the columns.
    fn cells(&self) -> Vec<Cell>;
}

/// The type of a field of a row: a value in one cell, or an [`Estimate`] in several.
pub trait Field: Sized {
    /// The columns of the field. Only an estimate has `parts`, and names their columns after the `pattern`.
    fn columns(declared: Column, parts: &[Part], pattern: &str) -> Vec<Column>;

    /// Appends the cells of a value, or empty cells.
    fn cells(value: Option<&Self>, parts: &[Part], cells: &mut Vec<Cell>);
}

/// Makes types fields of one cell: the type in the data dictionary, and the cell of a value.
macro_rules! fields {
    ($($type:ty: $kind:literal, |$value:ident| $cell:expr;)+) => {
        $(impl Field for $type {
            fn columns(declared: Column, _: &[Part], _: &str) -> Vec<Column> {
                vec![Column { kind: $kind, ..declared }]
            }

            fn cells(value: Option<&$type>, _: &[Part], cells: &mut Vec<Cell>) {
                cells.push(value.map_or(Cell::Empty, |$value| $cell));
            }
        })+
    };
}

fields! {
    String: "text", |text| Cell::Text(text.clone());
    &'static str: "text", |text| Cell::Text((*text).to_owned());
    char: "text", |letter| Cell::Text(letter.to_string());
    bool: "boolean", |truth| Cell::Boolean(*truth);
    u64: "uint64", |number| Cell::Whole(*number);
    usize: "uint64", |number| Cell::Whole(*number as u64);
    f32: "float32", |number| Cell::Float32(*number);
    f64: "float64", |number| Cell::Float(*number);
}

impl<T: Field> Field for Option<T> {
    fn columns(declared: Column, parts: &[Part], pattern: &str) -> Vec<Column> {
        let columns = T::columns(declared, parts, pattern).into_iter();
        columns.map(|column| Column { may_be_empty: true, ..column }).collect()
    }

    fn cells(value: Option<&Self>, parts: &[Part], cells: &mut Vec<Cell>) {
        T::cells(value.and_then(Option::as_ref), parts, cells);
    }
}

/// An estimated number with its uncertainty. A table declares which parts have columns.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// The estimate. If it is infinite, its cell is empty.
    pub mean: f64,
    /// The standard error.
    pub error: Option<f64>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The ends of the simultaneous interval over all comparisons of the table.
    pub simultaneous: Option<(f64, f64)>,
    /// The ends of the interval that is valid after every number of deals, so that a run may be inspected while it is played.
    pub anytime: Option<(f64, f64)>,
    /// The method of the intervals and p-values.
    pub method: &'static str,
    /// The p-value of this estimate alone.
    pub p: Option<f64>,
    /// The p-value corrected for all comparisons.
    pub p_simultaneous: Option<f64>,
}

impl Estimate {
    /// The ends of the interval, if it has both.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The estimate with other ends of its interval.
    ///
    /// ```
    /// use cambio_exec::Estimate;
    ///
    /// let estimate = Estimate { mean: 0.5, ..Estimate::default() }.with_ends(Some((0.4, 0.6)));
    /// assert_eq!((estimate.low, estimate.ends()), (Some(0.4), Some((0.4, 0.6))));
    /// ```
    #[must_use]
    pub fn with_ends(self, ends: Option<(f64, f64)>) -> Estimate {
        let (low, high) = ends.unzip();
        Estimate { low, high, ..self }
    }

    /// Whether the estimate is significantly greater or less than 0 among all comparisons; `Equal` if it is not, or if the corrected
    /// p-value is missing because nothing varies.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use cambio_exec::Estimate;
    ///
    /// let estimate = Estimate { simultaneous: Some((0.1, 0.3)), p_simultaneous: Some(0.01), ..Estimate::default() };
    /// assert_eq!((estimate.side(), estimate.scaled(-1.0).side()), (Ordering::Greater, Ordering::Less));
    /// ```
    pub fn side(&self) -> Ordering {
        match (self.p_simultaneous, self.simultaneous) {
            (Some(_), Some((low, _))) if low > 0.0 => Ordering::Greater,
            (Some(_), Some((_, high))) if high < 0.0 => Ordering::Less,
            _ => Ordering::Equal,
        }
    }

    /// The estimate in another unit: all parts times `factor`, except the p-values. The ends change places if it is negative.
    ///
    /// ```
    /// use cambio_exec::Estimate;
    ///
    /// let difference = Estimate { mean: 1.0, error: Some(2.0), ..Estimate::default() }.with_ends(Some((-3.0, 5.0)));
    /// let turned = difference.scaled(-1.0);
    /// assert_eq!((turned.mean, turned.error, turned.ends()), (-1.0, Some(2.0), Some((-5.0, 3.0))));
    /// ```
    #[must_use]
    pub fn scaled(self, factor: f64) -> Estimate {
        let turn = |(low, high): (f64, f64)| {
            if factor < 0.0 { (high * factor, low * factor) } else { (low * factor, high * factor) }
        };
        Estimate {
            mean: self.mean * factor,
            error: self.error.map(|error| error * factor.abs()),
            simultaneous: self.simultaneous.map(turn),
            anytime: self.anytime.map(turn),
            ..self.with_ends(self.ends().map(turn))
        }
    }
}

/// A part of an [`Estimate`]: one or two columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the fields of an estimate")]
pub enum Part {
    Error,
    Ends,
    Simultaneous,
    Anytime,
    Method,
    P,
    SimultaneousP,
}

impl Part {
    /// The columns of this part of an estimate: the name, the meaning, and the value.
    fn columns(self, own: &Estimate) -> Vec<(&'static str, &'static str, Cell)> {
        let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(Cell::Empty, Cell::Float);
        let [simultaneous, anytime] = [own.simultaneous, own.anytime].map(Option::unzip);
        match self {
            Part::Error => vec![("error", "The standard error", number(own.error))],
            Part::Ends => vec![
                ("low", "Lower end of the interval", number(own.low)),
                ("high", "Upper end of the interval", number(own.high)),
            ],
            Part::Simultaneous => vec![
                ("low_simultaneous", "Lower end of the simultaneous interval", number(simultaneous.0)),
                ("high_simultaneous", "Upper end of the simultaneous interval", number(simultaneous.1)),
            ],
            Part::Anytime => vec![
                ("low_anytime", "Lower end of the anytime-valid interval", number(anytime.0)),
                ("high_anytime", "Upper end of the anytime-valid interval", number(anytime.1)),
            ],
            Part::Method => {
                vec![("method", "The method of the intervals and p-values", Cell::Text(own.method.to_owned()))]
            }
            Part::P => vec![("p", "The p-value", number(own.p))],
            Part::SimultaneousP => {
                vec![("p_simultaneous", "The p-value, corrected for all comparisons,", number(own.p_simultaneous))]
            }
        }
    }
}

impl Field for Estimate {
    fn columns(declared: Column, parts: &[Part], pattern: &str) -> Vec<Column> {
        let column = |part: Part, (name, meaning, _): (&str, &str, Cell)| Column {
            name: pattern.replace('*', name),
            kind: if part == Part::Method { "text" } else { "float64" },
            may_be_empty: part != Part::Method,
            unit: match part {
                Part::Method => None,
                Part::P | Part::SimultaneousP => Some("probability"),
                _ => declared.unit,
            },
            meaning: format!("{meaning} of `{}`.", declared.name),
        };
        let of_part = |&part: &Part| part.columns(&Estimate::default()).into_iter().map(move |own| (part, own));
        let mut columns = vec![Column { kind: "float64", ..declared.clone() }];
        columns.extend(parts.iter().flat_map(of_part).map(|(part, own)| column(part, own)));
        columns
    }

    fn cells(value: Option<&Self>, parts: &[Part], cells: &mut Vec<Cell>) {
        let own = value.copied().unwrap_or_default();
        cells.push(value.filter(|own| own.mean.is_finite()).map_or(Cell::Empty, |own| Cell::Float(own.mean)));
        cells.extend(parts.iter().flat_map(|part| part.columns(&own)).map(|(.., cell)| cell));
    }
}

/// A text in one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Serializes a row as a struct with a field for each column.
#[doc(hidden)]
pub fn serialize_row<R: Row, S: Serializer>(row: &R, name: &'static str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct(name, R::columns().len())?;
    for (column, cell) in R::columns().iter().zip(row.cells()) {
        fields.serialize_field(&column.name, &cell)?;
    }
    fields.end()
}

/// Declares a row of a table: its meaning, name and fields, and for each field the meaning, the name, the type and, if the
/// values have one, the unit. A field may be an [`Estimate`](crate::Estimate) or an optional one. Then the list of its
/// [parts](crate::Part) gives the columns after the mean. Their names begin with the name of the field, or follow the pattern
/// after `as`, in which `*` stands for the part. The row has the traits of its `derive` line, and serializes to its cells.
///
/// ```
/// use cambio_exec::{Estimate, Row, table};
///
/// table! {
///     /// A row of `lengths.csv`.
///     pub LengthRow {
///         /// The agent.
///         agent: String,
///         /// Turns per round.
///         turns: Option<Estimate> => "turns" [Error, Ends],
///     }
/// }
///
/// let names: Vec<&str> = LengthRow::columns().iter().map(|column| &*column.name).collect();
/// assert_eq!(names, ["agent", "turns", "turns_error", "turns_low", "turns_high"]);
/// let low = &LengthRow::columns()[3];
/// assert_eq!((low.kind, low.unit, low.may_be_empty), ("float64", Some("turns"), true));
/// assert_eq!(low.meaning, "Lower end of the interval of `turns`.");
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $row:literal])+ $(#[derive($($derived:ident),+)])? $visible:vis $name:ident {
            $(
                $(#[doc = $meaning:literal])+ $(#[serde($($form:tt)+)])?
                $field:ident: $type:ty $(=> $unit:literal)? $([$($part:ident),+] $(as $pattern:literal)?)?,
            )+
        }
    ) => {
        $(#[doc = $row])+
        #[derive(Clone, PartialEq, Debug, Default, $($($derived),+)?)]
        $visible struct $name {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($form)+)])?
                $visible $field: $type,
            )+
        }

        impl $crate::Row for $name {
            const MEANING: &'static str = concat!($($row, "\n"),+);

            fn columns() -> &'static [$crate::Column] {
                static COLUMNS: ::std::sync::LazyLock<Vec<$crate::Column>> = ::std::sync::LazyLock::new(|| {
                    [$({
                        let declared = $crate::Column::declared(stringify!($field), concat!($($meaning, "\n"),+), concat!($($unit)?));
                        let patterns = [$($($pattern,)?)? concat!(stringify!($field), "_*")];
                        <$type as $crate::Field>::columns(declared, &[$($($crate::Part::$part),+)?], patterns[0])
                    }),+]
                    .concat()
                });
                &COLUMNS
            }

            fn cells(&self) -> Vec<$crate::Cell> {
                let mut cells = Vec::new();
                $(<$type as $crate::Field>::cells(Some(&self.$field), &[$($($crate::Part::$part),+)?], &mut cells);)+
                cells
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serialize_row(self, stringify!($name), serializer)
            }
        }
    };
}
