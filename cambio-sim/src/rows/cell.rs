//! The values of cells: how each kind is written and read.

use cambio_core::{Fingerprint, MAX_SEATS, Score, Seat, SeatSet};

use super::cell_writer::{CellWriter, put_formatted, put_quoted};

/// The kind of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Text that repeats often: names, and the letters of seats.
    Word,
    /// Text that hardly ever repeats: fingerprints.
    Print,
    /// A whole number from 0, of 32 bits.
    U32,
    /// A whole number from 0, of 64 bits.
    U64,
    /// A whole number, of 64 bits.
    I64,
    /// A finite number.
    F64,
    /// `true` or `false`.
    Bool,
    /// Whole numbers of 32 bits, seat a's first, with spaces between them.
    I32BySeat,
    /// Finite numbers, seat a's first, with spaces between them.
    F64BySeat,
}

/// A value that a cell can hold.
pub trait Field<'a>: Sized {
    /// The kind of the value.
    const KIND: Kind;
    /// Whether the cell may be empty.
    const MAY_BE_EMPTY: bool = false;

    /// The most bytes that it takes, its comma included. Texts of any length count only their comma.
    const ROOM: usize;

    /// Writes the value, followed by a comma.
    fn put(&self, writer: &mut CellWriter<'_>);

    /// Reads a value; `None` if the text is none.
    fn read(text: &'a str) -> Option<Self>;
}

impl<'a> Field<'a> for &'a str {
    const KIND: Kind = Kind::Word;
    const ROOM: usize = 1;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        // Without an early exit, all bytes can be compared at once.
        let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if self.bytes().fold(false, |found, byte| found | is_special(byte)) {
            writer.lend(|writer| put_quoted(self, writer));
        } else {
            writer.text(self.as_bytes());
        }
        writer.put([b',']);
    }

    fn read(text: &'a str) -> Option<&'a str> {
        Some(text)
    }
}

macro_rules! whole {
    ($($type:ty, $kind:ident, $wide:expr;)+) => {
        $(impl Field<'_> for $type {
            const KIND: Kind = Kind::$kind;
            const ROOM: usize = 21;

            #[inline]
            fn put(&self, writer: &mut CellWriter<'_>) {
                writer.cell($wide(*self));
            }

            fn read(text: &str) -> Option<$type> {
                text.parse().ok()
            }
        })+
    };
}

whole! {
    u32, U32, u64::from;
    u64, U64, u64::from;
    usize, U64, |number| number as u64;
}

impl Field<'_> for i64 {
    const KIND: Kind = Kind::I64;
    const ROOM: usize = 21;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.signed(*self, b',');
    }

    fn read(text: &str) -> Option<i64> {
        text.parse().ok()
    }
}

impl Field<'_> for f64 {
    const KIND: Kind = Kind::F64;
    const ROOM: usize = 26;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.decimal(*self);
    }

    fn read(text: &str) -> Option<f64> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl Field<'_> for bool {
    const KIND: Kind = Kind::Bool;
    const ROOM: usize = 6;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        if *self {
            writer.put(*b"true,");
        } else {
            writer.put(*b"false,");
        }
    }

    fn read(text: &str) -> Option<bool> {
        text.parse().ok()
    }
}

impl Field<'_> for Seat {
    const KIND: Kind = Kind::Word;
    const ROOM: usize = 2;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.put([self.letter() as u8, b',']);
    }

    fn read(text: &str) -> Option<Seat> {
        let mut letters = text.chars();
        Seat::from_letter(letters.next()?).filter(|_| letters.next().is_none())
    }
}

impl Field<'_> for SeatSet {
    const KIND: Kind = Kind::Word;
    const MAY_BE_EMPTY: bool = true;
    const ROOM: usize = MAX_SEATS + 1;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        self.iter_from(Seat::A).for_each(|seat| writer.put([seat.letter() as u8]));
        writer.put([b',']);
    }

    fn read(text: &str) -> Option<SeatSet> {
        text.chars().map(Seat::from_letter).collect()
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    const KIND: Kind = T::KIND;
    const MAY_BE_EMPTY: bool = true;
    const ROOM: usize = T::ROOM;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        match self {
            Some(value) => value.put(writer),
            None => writer.put([b',']),
        }
    }

    fn read(text: &'a str) -> Option<Option<T>> {
        if text.is_empty() { Some(None) } else { T::read(text).map(Some) }
    }
}

/// A fingerprint, as its sixteen hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Print([u8; 16]);

impl From<Fingerprint> for Print {
    fn from(print: Fingerprint) -> Print {
        let halves = [print.value() >> 32, print.value() & 0xffff_ffff].map(|half| digits(half as u32));
        Print(std::array::from_fn(|place| halves[place / 8][place % 8]))
    }
}

/// The eight hexadecimal digits of a number, computed together in one word.
fn digits(number: u32) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Spread the half bytes: one to each byte.
    let mut bytes = u64::from(number);
    bytes = (bytes | bytes << 16) & 0x0000_ffff_0000_ffff;
    bytes = (bytes | bytes << 8) & 0x00ff_00ff_00ff_00ff;
    bytes = (bytes | bytes << 4) & (0xf * EACH);
    // Adding six to a half byte carries into the upper half exactly if it is ten or more.
    let letters = (bytes + 6 * EACH) >> 4 & EACH;
    let letter = u64::from(b'a' - b'0' - 10);
    (bytes + u64::from(b'0') * EACH + letters * letter).to_be_bytes()
}

impl Field<'_> for Print {
    const KIND: Kind = Kind::Print;
    const ROOM: usize = 17;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.put(self.0);
        writer.put([b',']);
    }

    fn read(text: &str) -> Option<Print> {
        text.as_bytes().try_into().ok().map(Print)
    }
}

/// Seats in an order, written as their letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeatOrder {
    /// The letters, the first in the lowest byte.
    letters: u64,
    len: usize,
}

impl FromIterator<Seat> for SeatOrder {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> SeatOrder {
        let mut order = SeatOrder::default();
        for seat in seats {
            assert!(order.len < MAX_SEATS, "each seat once");
            order.letters |= u64::from(seat.letter() as u8) << (8 * order.len);
            order.len += 1;
        }
        order
    }
}

impl SeatOrder {
    /// The first seat; `None` if there is none.
    pub(crate) fn first(&self) -> Option<Seat> {
        Seat::from_letter(char::from(self.letters as u8))
    }
}

impl Field<'_> for SeatOrder {
    const KIND: Kind = Kind::Word;
    const MAY_BE_EMPTY: bool = true;
    const ROOM: usize = MAX_SEATS + 1;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.stamp(self.letters.to_le_bytes(), self.len);
        writer.put([b',']);
    }

    fn read(text: &str) -> Option<SeatOrder> {
        (text.len() <= MAX_SEATS).then(|| text.chars().map(Seat::from_letter).collect()).flatten()
    }
}

/// A value for each seat, seat a first, written with spaces between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BySeat<T> {
    values: [T; MAX_SEATS],
    len: usize,
}

impl<T: Copy + Default> BySeat<T> {
    /// The values of the seats, seat a first.
    ///
    /// # Panics
    /// If there are more than eight.
    pub(crate) fn new(values: &[T]) -> BySeat<T> {
        assert!(values.len() <= MAX_SEATS, "at most one for each seat");
        let value = |seat| values.get(seat).copied().unwrap_or_default();
        BySeat { values: std::array::from_fn(value), len: values.len() }
    }

    /// The values, seat a's first.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.values[..self.len]
    }
}

impl Field<'_> for BySeat<i32> {
    const KIND: Kind = Kind::I32BySeat;
    const ROOM: usize = 12 * MAX_SEATS;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.list(self.as_slice(), |writer, value, behind| writer.signed(value.into(), behind));
    }

    fn read(text: &str) -> Option<BySeat<i32>> {
        let mut list = BySeat::new(&[]);
        for value in text.split(' ') {
            *list.values.get_mut(list.len)? = value.parse().ok()?;
            list.len += 1;
        }
        Some(list)
    }
}

/// Scores, whole or as decimals of sixteen places.
impl Field<'_> for BySeat<Score> {
    const KIND: Kind = Kind::F64BySeat;
    const ROOM: usize = 30 * MAX_SEATS;

    #[inline]
    fn put(&self, writer: &mut CellWriter<'_>) {
        writer.list(self.as_slice(), |writer, value, behind| {
            if value.units() % Score::UNITS == 0 {
                writer.signed((value.units() / Score::UNITS).into(), behind);
            } else {
                writer.lend(|writer| put_formatted(format_args!("{value}{}", char::from(behind)), writer));
            }
        });
    }

    fn read(_: &str) -> Option<BySeat<Score>> {
        // No derived table needs them.
        Some(BySeat::new(&[]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::cell_writer::CellBuffer;

    /// The text of a value.
    fn put<'a>(value: &impl Field<'a>) -> String {
        let (mut out, mut buffer) = (Vec::new(), CellBuffer::default());
        let mut writer = CellWriter { out: &mut out, buffer: &mut buffer, at: 0 };
        value.put(&mut writer);
        writer.end();
        String::from_utf8(out).unwrap().strip_suffix(',').unwrap().to_owned()
    }

    #[test]
    fn numbers_are_written_in_the_shortest_form_that_reads_back() {
        for number in
            [0.0, -0.0, 1.0, 0.5, -2.25, 1.0 / 3.0, 0.1, 0.123, 1e-7, 123_456.789, 1e15, -0.001, 0.07, 7.0 / 6.0]
        {
            assert_eq!(put(&number), format!("{number:?}"));
            assert_eq!(f64::read(&put(&number)).map(f64::to_bits), Some(number.to_bits()));
        }
        for quarters in -1000..1000 {
            let number = f64::from(quarters) / 4.0;
            assert_eq!(put(&number), format!("{number:?}"));
        }
        for number in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::EPSILON, -1.0 / 3.0, 1e16, 2e9] {
            assert_eq!(put(&number), format!("{number:?}"));
        }
        for number in [0x0123_4567, 0x89ab_cdef, 0, u32::MAX, 0x9a9a_a9a9] {
            assert_eq!(String::from_utf8(digits(number).to_vec()).unwrap(), format!("{number:08x}"));
        }
        assert_eq!((put(&u64::MAX), put(&i64::MIN)), (u64::MAX.to_string(), i64::MIN.to_string()));
        assert_eq!((put(&Some(3_u32)), put(&None::<u32>)), ("3".to_owned(), String::new()));
        assert_eq!(put(&Print::from(Fingerprint::default())), Fingerprint::default().to_string());
        assert_eq!(f64::read("NaN"), None);
    }

    #[test]
    fn whole_numbers_are_written_as_their_digits() {
        for number in (0..2000).chain([65_535, 65_536, u64::from(u32::MAX), 10_u64.pow(19)]) {
            assert_eq!(put(&number), number.to_string());
        }
        for number in (-1500..1500).chain([i32::MIN, i32::MAX]) {
            assert_eq!(put(&i64::from(number)), number.to_string());
            assert_eq!(put(&BySeat::new(&[number, 0, -number.saturating_abs()])), {
                let numbers = [number, 0, -number.saturating_abs()];
                numbers.map(|number| number.to_string()).join(" ")
            });
        }
        assert_eq!(put(&BySeat::<i32>::new(&[])), "");
    }
}
