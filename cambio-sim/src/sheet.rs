//! Sheets: the paper that rows are written on, and the pen that writes their cells.

use std::io::Write as _;

use crate::cell::Field;
use crate::rows::Row;

/// The rows of a file as they are written. There is always room ahead for a whole row, so that a cell need not ask for it.
#[derive(Debug, Default)]
pub struct Sheet {
    paper: Vec<u8>,
    written: usize,
    rows: u64,
}

/// By how many bytes a sheet grows at least.
const AHEAD: usize = 1 << 12;

impl Sheet {
    /// An empty sheet, which writes over what is on the paper.
    pub fn over(paper: Vec<u8>) -> Sheet {
        Sheet { paper, written: 0, rows: 0 }
    }

    /// Writes a row, the cells that it begins with being written already.
    pub fn put<'a>(&mut self, key: &[u8], row: &impl Row<'a>) {
        let room = key.len() + row.room();
        if self.paper.len() - self.written < room {
            self.paper.resize(self.written + room.max(AHEAD), 0);
        }
        let mut pen = Pen { room: &mut self.paper[self.written..] };
        pen.text(key);
        row.put_rest(&mut pen);
        let left = pen.left();
        self.written = self.paper.len() - left;
        self.paper[self.written - 1] = b'\n';
        self.rows += 1;
    }

    /// What was written, and how many rows that is.
    pub fn into_bytes(mut self) -> (Vec<u8>, u64) {
        self.paper.truncate(self.written);
        (self.paper, self.rows)
    }
}

/// What writes the cells of a row, each with a comma behind it.
///
/// Whatever takes a pen is small enough to be compiled into the row's own code, where the pen lies in registers.
#[derive(Debug)]
pub struct Pen<'s> {
    /// What is left of the room.
    pub(crate) room: &'s mut [u8],
}

/// The cells of the numbers below 100, each with its comma, and how many bytes that is.
const SMALL: [[u8; 4]; 100] = {
    let mut cells = [[0; 4]; 100];
    let mut number = 0;
    while number < 100 {
        let (tens, ones) = (b'0' + number as u8 / 10, b'0' + number as u8 % 10);
        cells[number] = if number < 10 { [ones, b',', 0, 2] } else { [tens, ones, b',', 3] };
        number += 1;
    }
    cells
};

/// What a row's room is for: [`Field::room`].
const ENOUGH: &str = "a row's room is as long as its cells can be";

impl Pen<'_> {
    pub(crate) fn left(self) -> usize {
        self.room.len()
    }

    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let (place, left) = std::mem::take(&mut self.room).split_first_chunk_mut::<N>().expect(ENOUGH);
        *place = bytes;
        self.room = left;
    }

    #[inline]
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        let (place, left) = std::mem::take(&mut self.room).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        self.room = left;
    }

    /// Lets something write that is rare enough to have a function of its own, which gives the room that it left.
    #[inline]
    pub(crate) fn lend(&mut self, write: impl FnOnce(Pen<'_>) -> usize) {
        let left = write(Pen { room: &mut *self.room });
        let room = std::mem::take(&mut self.room);
        let written = room.len() - left;
        self.room = &mut room[written..];
    }

    /// The cell of a whole number. Most are small; how many digits they have is not to be guessed.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn cell(&mut self, number: u64) {
        if number >= SMALL.len() as u64 {
            return self.lend(|pen| put_large(number, b',', pen));
        }
        let [first, second, third, len] = SMALL[number as usize];
        *self.room.first_chunk_mut::<3>().expect(ENOUGH) = [first, second, third];
        let room = std::mem::take(&mut self.room);
        self.room = &mut room[usize::from(len)..];
    }

    /// A whole number, and what stands behind it.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    fn whole(&mut self, number: u64, behind: u8) {
        match number {
            0..10 => self.put([b'0' + number as u8, behind]),
            10..100 => self.put([b'0' + number as u8 / 10, b'0' + number as u8 % 10, behind]),
            _ => self.lend(|pen| put_large(number, behind, pen)),
        }
    }

    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn signed(&mut self, number: i64, behind: u8) {
        if number < 0 {
            self.put([b'-']);
        }
        self.whole(number.unsigned_abs(), behind);
    }

    /// Values with spaces between them.
    #[inline]
    pub(crate) fn list<T: Copy>(&mut self, values: &[T], put: impl Fn(&mut Pen<'_>, T, u8)) {
        match values.split_last() {
            Some((&last, values)) => {
                for &value in values {
                    put(self, value, b' ');
                }
                put(self, last, b',');
            }
            None => self.put([b',']),
        }
    }
}

#[inline(never)]
fn put_large(mut number: u64, behind: u8, mut pen: Pen<'_>) -> usize {
    let len = number.ilog10() as usize + 1;
    let mut digits = [0; 20];
    for place in digits[..len].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
    pen.text(&digits[..len]);
    pen.put([behind]);
    pen.left()
}

#[inline(never)]
pub(crate) fn put_decimal(number: f64, mut pen: Pen<'_>) -> usize {
    // A number of at most three decimals and fifteen digits is its own shortest form.
    let thousandths = (number * 1000.0) as i64;
    let is_short = thousandths.unsigned_abs() < 1_000_000_000_000;
    if !is_short || (thousandths as f64 / 1000.0).to_bits() != number.to_bits() {
        return put_formatted(format_args!("{number:?},"), pen);
    }
    if thousandths < 0 {
        pen.put([b'-']);
    }
    pen.whole(thousandths.unsigned_abs() / 1000, b'.');
    let fraction = (thousandths.unsigned_abs() % 1000) as u16;
    let digit = |number: u16| b'0' + (number % 10) as u8;
    match (digit(fraction / 100), digit(fraction / 10), digit(fraction)) {
        (tenths, b'0', b'0') => pen.put([tenths, b',']),
        (tenths, hundredths, b'0') => pen.put([tenths, hundredths, b',']),
        (tenths, hundredths, last) => pen.put([tenths, hundredths, last, b',']),
    }
    pen.left()
}

#[inline(never)]
pub(crate) fn put_quoted(text: &str, mut pen: Pen<'_>) -> usize {
    pen.put([b'"']);
    for byte in text.bytes() {
        pen.put([byte]);
        if byte == b'"' {
            pen.put([byte]);
        }
    }
    pen.put([b'"']);
    pen.left()
}

#[cold]
pub(crate) fn put_formatted(text: std::fmt::Arguments<'_>, mut pen: Pen<'_>) -> usize {
    pen.room.write_fmt(text).expect(ENOUGH);
    pen.left()
}

/// The cells that every row of a match begins with: what they are of its table, and then of itself.
#[derive(Debug, Default)]
pub struct RowKey {
    text: Vec<u8>,
    table: usize,
}

impl RowKey {
    /// Another table: its rule system, number of seats and lineup.
    pub fn set_table(&mut self, rules: &str, seats: usize, lineup: &str) {
        self.write(0, rules.room() + seats.room() + lineup.room(), |pen| {
            rules.put(pen);
            seats.put(pen);
            lineup.put(pen);
        });
        self.table = self.text.len();
    }

    /// A match of this table: its deal and rotation. Gives the cells.
    pub fn of_match(&mut self, deal: u64, rotation: usize) -> &[u8] {
        self.write(self.table, deal.room() + rotation.room(), |pen| {
            deal.put(pen);
            rotation.put(pen);
        });
        &self.text
    }

    fn write(&mut self, from: usize, room: usize, cells: impl FnOnce(&mut Pen<'_>)) {
        self.text.resize(from + room, 0);
        let mut pen = Pen { room: &mut self.text[from..] };
        cells(&mut pen);
        let left = pen.left();
        self.text.truncate(self.text.len() - left);
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::SeatSet;

    use super::*;
    use crate::cell::Print;
    use crate::rows::{MatchRow, header};

    #[test]
    fn a_sheet_takes_rows_of_any_length_on_paper_that_was_used() {
        let lineup = "a \"b\", c | ".repeat(2000);
        let mut key = RowKey::default();
        key.set_table("house", 8, &lineup);
        let row = |print: &str, deal| MatchRow {
            rules: "house",
            seats: 8,
            lineup: &lineup,
            deal,
            rotation: 7,
            rounds: 100,
            turns: u32::MAX,
            decisions: 0,
            winners: SeatSet::first(8),
            fingerprint: Print::read(print).unwrap(),
            analysis: true,
            reproducible: false,
        };
        let mut sheet = Sheet::over(vec![b'x'; 10_000]);
        for deal in 0..50 {
            sheet.put(key.of_match(deal, 7), &row("0123456789abcdef", deal));
        }
        let (bytes, rows) = sheet.into_bytes();
        assert_eq!(rows, 50);
        let text = [header::<MatchRow<'_>>(), bytes].concat();
        let cells: Vec<_> = csv::Reader::from_reader(&text[..]).into_records().map(Result::unwrap).collect();
        assert_eq!(cells.len(), 50);
        for (deal, cells) in (0..).zip(&cells) {
            assert_eq!(MatchRow::read(cells), Ok(row("0123456789abcdef", deal)));
        }
    }
}
