//! The columns of rows: how each type of value, and a whole row, is written and read.

use std::fmt::Write as _;

use arrayvec::{ArrayString, ArrayVec};
use cambio_core::engine::EndReason;
use cambio_core::record::Fingerprint;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Score, Seat, SeatSet};
use cambio_exec::Column;
use csv::{ReaderBuilder, StringRecord};
use itertools::Itertools as _;

/// A value that is stored in one or more neighbouring fields of a row.
pub(crate) trait Columns<'a>: Sized {
    /// The meaning of a row.
    const MEANING: &'static str = "";

    /// The columns of the value. `declared` has the name, the unit and the meaning; it is used only if the value has a
    /// single field.
    fn columns(declared: Column) -> Vec<Column>;

    /// Appends the fields to the row being written.
    fn write(&self, row: &mut RowWriter);

    /// Reads the value from the next fields of a row; `None` if a field is missing or malformed.
    fn read(row: &mut Fields<'_, 'a>) -> Option<Self>;
}

/// Writes rows into memory.
///
/// Most fields are numbers and letters, which never need quotes. They are copied directly, which takes a third of the time of
/// `csv::Writer`. Texts are written by `csv_core`.
#[derive(Debug)]
pub struct RowWriter {
    bytes: Vec<u8>,
    texts: csv_core::Writer,
    rows: u64,
}

impl RowWriter {
    /// Creates an empty writer that reuses the memory of `bytes`.
    pub fn over(mut bytes: Vec<u8>) -> RowWriter {
        bytes.clear();
        RowWriter { bytes, texts: csv_core::Writer::new(), rows: 0 }
    }

    /// Appends a field that needs no quotes because it has no comma, quote or line break.
    #[inline]
    fn put(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.bytes.push(b',');
    }

    /// Appends any text as a field, quoted if necessary.
    fn put_text(&mut self, text: &str) {
        // Without an early exit, the compiler uses SIMD instructions.
        if !text.bytes().fold(false, |found, byte| found | matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
            return self.put(text.as_bytes());
        }
        let begin = self.bytes.len();
        // Upper bound: two quotes around the text, every quote doubled, and the comma.
        self.bytes.resize(begin + 2 * text.len() + 3, 0);
        let (_, _, length) = self.texts.field(text.as_bytes(), &mut self.bytes[begin..]);
        let (_, comma) = self.texts.delimiter(&mut self.bytes[begin + length..]);
        self.bytes.truncate(begin + length + comma);
    }

    pub(crate) fn write<'a>(&mut self, row: &impl Columns<'a>) {
        row.write(self);
        *self.bytes.last_mut().expect("a row has fields") = b'\n';
        self.rows += 1;
    }

    /// The written bytes and the number of rows.
    pub fn into_bytes(self) -> (Vec<u8>, u64) {
        (self.bytes, self.rows)
    }
}

/// The fields of a row that is being read.
pub(crate) struct Fields<'r, 'a> {
    record: &'r StringRecord,
    /// The number of fields read so far.
    read: usize,
    /// The texts that may occur in the row. Text values borrow from this list.
    texts: &'r [&'a str],
}

impl<'r> Fields<'r, '_> {
    fn next(&mut self) -> Option<&'r str> {
        self.read += 1;
        self.record.get(self.read - 1)
    }
}

/// Declares a struct whose fields are neighbouring columns, in this order: the meaning, the name, the type and, if the column
/// has one, the unit. The data dictionary has the same texts.
macro_rules! columns {
    (
        $(#[doc = $row:literal])+ $(#[derive($($derived:ident),+)])? $name:ident $(<$life:lifetime>)? {
            $($(#[doc = $meaning:literal])+ $field:ident: $type:ty $(=> $unit:literal)?,)+
        }
    ) => {
        $(#[doc = $row])+
        #[derive(Clone, PartialEq, Debug, $($($derived),+)?)]
        pub struct $name $(<$life>)? {
            $($(#[doc = $meaning])+ pub $field: $type,)+
        }

        impl<'a> $crate::rows::columns::Columns<'a> for $name $(<$life>)? {
            const MEANING: &'static str = concat!($($row, "\n"),+);

            fn columns(_: cambio_exec::Column) -> Vec<cambio_exec::Column> {
                [$(<$type>::columns(cambio_exec::Column::declared(
                    stringify!($field),
                    concat!($($meaning, "\n"),+),
                    concat!($($unit)?),
                )),)+]
                .concat()
            }

            #[inline]
            fn write(&self, row: &mut $crate::rows::RowWriter) {
                $(self.$field.write(row);)+
            }

            fn read(row: &mut $crate::rows::columns::Fields<'_, 'a>) -> Option<Self> {
                Some($name { $($field: Columns::read(row)?,)+ })
            }
        }
    };
}

pub(crate) use columns;

/// Declares a row of a derived table with `cambio_exec::table!`. The row of a cell begins with the rules and the number of
/// seats.
macro_rules! cell_table {
    ($(#[doc = $row:literal])+ $name:ident { $($rest:tt)+ }) => {
        cambio_exec::table! {
            $(#[doc = $row])+
            pub $name {
                /// The rule system.
                rules: String,
                /// The number of seats.
                seats: usize => "seats",
                $($rest)+
            }
        }
    };
}

pub(crate) use cell_table;

/// Implements [`Columns`] for single-field types: the kind, an expression that appends a value to a row, and an expression that
/// parses a value.
macro_rules! field {
    ($($type:ty: $kind:literal, |$value:ident, $row:ident| $write:expr, |$text:ident| $read:expr;)+) => {
        $(impl Columns<'_> for $type {
            fn columns(declared: Column) -> Vec<Column> {
                let read: fn(&str) -> Option<$type> = |$text| $read;
                vec![Column { kind: $kind, may_be_empty: read("").is_some(), ..declared }]
            }

            #[inline]
            fn write(&self, $row: &mut RowWriter) {
                let $value = self;
                $write
            }

            fn read(row: &mut Fields<'_, '_>) -> Option<$type> {
                let $text = row.next()?;
                $read
            }
        })+
    };
}

field! {
    u32: "uint32", |number, row| push_whole(*number, row), |text| text.parse().ok();
    u64: "uint64", |number, row| push_whole(*number, row), |text| text.parse().ok();
    usize: "uint64", |number, row| push_whole(*number, row), |text| text.parse().ok();
    i64: "int64", |number, row| push_whole(*number, row), |text| text.parse().ok();
    f64: "float64", |number, row| push_float(*number, row), |text| text.parse().ok().filter(|number: &f64| number.is_finite());
    bool: "boolean", |truth, row| row.put(if *truth { b"true" } else { b"false" }), |text| text.parse().ok();
    EndReason: "text", |ending, row| row.put(ending.word().as_bytes()), |text| {
        let all = [EndReason::Call, EndReason::EmptyHand, EndReason::TurnLimit, EndReason::StockOut];
        all.into_iter().find(|ending| ending.word() == text)
    };
    Fingerprint: "text", |print, row| push_hexadecimal(print.value(), row), |text| {
        let print = u64::from_str_radix(text, 16).ok().map(Fingerprint::from_value);
        print.filter(|print| print.to_string() == text)
    };
    Seat: "text", |seat, row| push_letters([*seat].into_iter(), row), |text| text.parse().ok().and_then(Seat::from_letter);
    SeatSet: "text", |seats, row| push_letters(seats.iter_from(Seat::A), row),
        |text| text.chars().map(Seat::from_letter).collect();
    ArrayVec<Seat, MAX_SEATS>: "text", |seats, row| push_letters(seats.iter().copied(), row),
        |text| few(text.chars().map(Seat::from_letter));
    ArrayVec<i32, MAX_SEATS>: "list of int32", |points, row| {
            push_spaced(points, row, |points, text| push_integer(*points, text));
        },
        |text| few(text.split(' ').map(|number| number.parse().ok()));
    ArrayVec<Score, MAX_SEATS>: "list of float64", |scores, row| push_spaced(scores, row, push_score),
        |text| few(text.split(' ').map(score));
}

/// The luck of a seat in a match, rounded to a millionth of a win, so that sums are exact. `None` in runs that do not
/// measure it, whose rows do not have the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LuckShare(Option<i32>);

impl LuckShare {
    /// The number of units in a win.
    pub const UNITS: i32 = 1_000_000;

    /// The luck as a share of the win.
    pub(crate) fn new(share: f64) -> LuckShare {
        LuckShare(Some((share * f64::from(LuckShare::UNITS)).round_ties_even() as i32))
    }

    /// The luck in millionths of a win.
    pub fn units(self) -> Option<i32> {
        self.0
    }
}

impl<'a> Columns<'a> for LuckShare {
    fn columns(declared: Column) -> Vec<Column> {
        f64::columns(declared)
    }

    fn write(&self, row: &mut RowWriter) {
        if let Some(units) = self.0 {
            (f64::from(units) / f64::from(LuckShare::UNITS)).write(row);
        }
    }

    fn read(row: &mut Fields<'_, 'a>) -> Option<LuckShare> {
        if row.record.len() > row.read { f64::read(row).map(LuckShare::new) } else { Some(LuckShare::default()) }
    }
}

/// Writes a single digit directly, because most numbers in rows have one digit.
#[inline]
fn push_whole(number: impl itoa::Integer + Copy + TryInto<u8>, row: &mut RowWriter) {
    match number.try_into() {
        Ok(digit @ 0..10) => row.bytes.extend_from_slice(&[b'0' + digit, b',']),
        _ => push_long(number, row),
    }
}

#[inline(never)]
fn push_long(number: impl itoa::Integer, row: &mut RowWriter) {
    row.put(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes the same bytes as `{:?}` for 0 and for numbers from 1e-4 to 1e15; rows contain no other numbers. Most are
/// integers, which `itoa` formats three times as fast as `ryu`.
fn push_float(number: f64, row: &mut RowWriter) {
    let whole = number as i32;
    if f64::from(whole).to_bits() == number.to_bits() {
        let mut text =
            ArrayString::<16>::from(itoa::Buffer::new().format(whole)).expect("an i32 has at most 11 characters");
        text.push_str(".0");
        row.put(text.as_bytes());
    } else {
        row.put(ryu::Buffer::new().format_finite(number).as_bytes());
    }
}

fn push_letters(seats: impl Iterator<Item = Seat>, row: &mut RowWriter) {
    row.put(&seats.map(|seat| seat.letter() as u8).collect::<ArrayVec<u8, MAX_SEATS>>());
}

/// A buffer for the text of one field.
type FieldText = ArrayString<{ 32 * MAX_SEATS }>;

/// Appends one field with values separated by spaces. `push` appends a value to the text.
fn push_spaced<T>(values: &[T], row: &mut RowWriter, push: impl Fn(&T, &mut FieldText)) {
    let mut text = FieldText::new();
    for (index, value) in values.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { " " });
        push(value, &mut text);
    }
    row.put(text.as_bytes());
}

fn push_integer(number: i32, text: &mut FieldText) {
    text.push_str(itoa::Buffer::new().format(number));
}

fn push_score(score: &Score, text: &mut FieldText) {
    match score.units() {
        units if units % Score::UNITS == 0 => push_integer(units / Score::UNITS, text),
        _ => write!(text, "{score}").expect("a score has at most 24 characters"),
    }
}

/// Appends the same bytes as `{:016x}`.
fn push_hexadecimal(number: u64, row: &mut RowWriter) {
    let digits: [u8; 16] = std::array::from_fn(|index| (number >> (60 - 4 * index)) as u8 & 0xf);
    row.put(&digits.map(|digit| digit + if digit < 10 { b'0' } else { b'a' - 10 }));
}

/// Collects at most [`MAX_SEATS`] values; `None` if a value is missing or there are too many.
fn few<T>(values: impl Iterator<Item = Option<T>>) -> Option<ArrayVec<T, MAX_SEATS>> {
    let mut few = ArrayVec::new();
    for value in values {
        few.try_push(value?).ok()?;
    }
    Some(few)
}

/// Parses a score in its written form: an integer, or a decimal with sixteen places.
fn score(text: &str) -> Option<Score> {
    let units = (text.parse::<f64>().ok()? * f64::from(Score::UNITS)).round();
    Some(Score::from_units(units as i32)).filter(|score| score.to_string() == text)
}

impl<'a> Columns<'a> for &'a str {
    fn columns(declared: Column) -> Vec<Column> {
        vec![Column { kind: "text", ..declared }]
    }

    fn write(&self, row: &mut RowWriter) {
        row.put_text(self);
    }

    fn read(row: &mut Fields<'_, 'a>) -> Option<&'a str> {
        let text = row.next()?;
        row.texts.iter().copied().find(|known| *known == text)
    }
}

impl<'a, T: Columns<'a>> Columns<'a> for Option<T> {
    fn columns(declared: Column) -> Vec<Column> {
        T::columns(declared).into_iter().map(|column| Column { may_be_empty: true, ..column }).collect()
    }

    fn write(&self, row: &mut RowWriter) {
        match self {
            Some(value) => value.write(row),
            None => row.put(b""),
        }
    }

    fn read(row: &mut Fields<'_, 'a>) -> Option<Option<T>> {
        if row.record.get(row.read) == Some("") {
            row.read += 1;
            return Some(None);
        }
        T::read(row).map(Some)
    }
}

/// The header line of these columns, with a line feed.
pub(crate) fn header(columns: &[Column]) -> Vec<u8> {
    (columns.iter().map(|column| &column.name).join(",") + "\n").into_bytes()
}

/// Reads rows block by block.
pub(crate) struct RowReader<'b> {
    file: csv::Reader<&'b [u8]>,
    row: StringRecord,
    is_at_end: bool,
}

impl<'b> RowReader<'b> {
    /// Creates a reader and reads the first row. Fails if the row is not UTF-8.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<RowReader<'b>, String> {
        let file = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let mut reader = RowReader { file, row: StringRecord::new(), is_at_end: false };
        reader.advance()?;
        Ok(reader)
    }

    /// Reads the next row. Fails if the row is not UTF-8.
    pub(crate) fn advance(&mut self) -> Result<(), String> {
        self.is_at_end = !self.file.read_record(&mut self.row).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The next row; `None` at the end.
    pub(crate) fn next(&self) -> Option<&StringRecord> {
        (!self.is_at_end).then_some(&self.row)
    }

    /// Reads rows up to the first row that does not start with the fields `begin`. All texts of a row must be in `texts`.
    /// Fails if a row is malformed. The message contains the column.
    pub(crate) fn read<'a, R: Columns<'a>>(&mut self, begin: &[&str], texts: &[&'a str]) -> Result<Vec<R>, String> {
        let mut rows = Vec::new();
        while let Some(record) = self.next()
            && record.iter().take(begin.len()).eq(begin.iter().copied())
        {
            let mut fields = Fields { record, read: 0, texts };
            let name = match R::read(&mut fields) {
                Some(row) if fields.read == record.len() => {
                    rows.push(row);
                    self.advance()?;
                    continue;
                }
                Some(_) => "end of the row".to_owned(),
                None => R::columns(Column::default()).swap_remove(fields.read - 1).name,
            };
            return Err(format!("a row has an invalid or missing `{name}`"));
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
