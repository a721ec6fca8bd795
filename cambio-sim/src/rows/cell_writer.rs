//! The writer of the cells of a row.

use std::io::Write as _;

/// The most bytes that the cells of a row take together, texts not counted.
pub(super) const CELLS: usize = 1024;

/// A buffer for the cells of one row. Its length is fixed and its end has spare room, so the compiler can leave out the
/// checks of bounds.
#[derive(Debug)]
pub(super) struct CellBuffer(Box<[u8; LENGTH + 32]>);

/// The length of the buffer: half of it is for texts, half for the other cells.
const LENGTH: usize = 2 * CELLS;

impl Default for CellBuffer {
    fn default() -> CellBuffer {
        CellBuffer(Box::new([0; _]))
    }
}

/// Writes the cells of one row, each followed by a comma.
///
/// Its short methods are inlined into the code of the row, so that the writer stays in registers.
#[derive(Debug)]
pub struct CellWriter<'s> {
    /// The rows before this one, and the texts that were too long for the buffer.
    pub(super) out: &'s mut Vec<u8>,
    pub(super) buffer: &'s mut CellBuffer,
    /// How many bytes of the buffer are in use; at most [`LENGTH`].
    pub(super) at: usize,
}

/// The cells of the numbers below 100, each with its comma. The fourth byte is the length.
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

impl CellWriter<'_> {
    /// Appends the buffer to the output.
    pub(super) fn end(self) {
        // The slice checks, once a row, that the row had room.
        self.out.extend_from_slice(&self.buffer.0[..LENGTH][..self.at]);
    }

    /// Copies all `bytes` and keeps the first `len` of them: a copy of fixed length is faster.
    #[expect(
        clippy::inline_always,
        reason = "the writer stays in registers only if everything that takes it is inlined"
    )]
    #[inline(always)]
    pub(crate) fn stamp<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        const { assert!(N <= 32, "the buffer has 32 spare bytes") }
        debug_assert!(self.at + len <= LENGTH, "a row has room in the buffer");
        let at = self.at % LENGTH;
        self.buffer.0[at..at + N].copy_from_slice(&bytes);
        self.at += len;
    }

    #[expect(
        clippy::inline_always,
        reason = "the writer stays in registers only if everything that takes it is inlined"
    )]
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.stamp(bytes, N);
    }

    /// Writes text of any length.
    #[inline]
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        if self.at + bytes.len() > LENGTH - CELLS {
            return self.lend(|writer| put_long(bytes, writer));
        }
        self.buffer.0[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Calls a function for a rare case. It takes a copy of the writer and returns the new end of the buffer, so that this
    /// writer need not leave its registers.
    #[inline]
    pub(crate) fn lend(&mut self, write: impl FnOnce(CellWriter<'_>) -> usize) {
        self.at = write(CellWriter { out: &mut *self.out, buffer: &mut *self.buffer, at: self.at });
    }

    /// Writes the cell of a whole number. Most are below 100, so a table saves the branch on the number of digits, which the
    /// processor cannot predict.
    #[expect(
        clippy::inline_always,
        reason = "the writer stays in registers only if everything that takes it is inlined"
    )]
    #[inline(always)]
    pub(crate) fn cell(&mut self, number: u64) {
        if number >= SMALL.len() as u64 {
            return self.lend(|writer| put_large(number, writer));
        }
        let cell = SMALL[number as usize];
        self.stamp(cell, usize::from(cell[3]));
    }

    #[expect(
        clippy::inline_always,
        reason = "the writer stays in registers only if everything that takes it is inlined"
    )]
    #[inline(always)]
    pub(crate) fn signed(&mut self, number: i64, behind: u8) {
        if number < 0 {
            self.put([b'-']);
        }
        self.whole(number.unsigned_abs(), behind);
    }

    /// Writes a whole number and the byte behind it.
    #[expect(
        clippy::inline_always,
        reason = "the writer stays in registers only if everything that takes it is inlined"
    )]
    #[inline(always)]
    fn whole(&mut self, number: u64, behind: u8) {
        self.cell(number);
        if behind != b',' {
            self.buffer.0[(self.at - 1) % LENGTH] = behind;
        }
    }

    /// Writes the cell of a finite number, in the shortest form that reads back as the same number.
    #[inline]
    pub(crate) fn decimal(&mut self, number: f64) {
        // Most are whole or halves below 100.
        let halves = (number * 2.0) as i32;
        if halves.unsigned_abs() >= 2 * SMALL.len() as u32 || (f64::from(halves) / 2.0).to_bits() != number.to_bits() {
            return self.lend(|writer| put_decimal(number, writer));
        }
        if halves < 0 {
            self.put([b'-']);
        }
        self.whole(u64::from(halves.unsigned_abs() / 2), b'.');
        self.put([if halves % 2 == 0 { b'0' } else { b'5' }, b',']);
    }

    /// Writes values with spaces between them; `put` gets the byte that follows each.
    #[inline]
    pub(crate) fn list<T: Copy>(&mut self, values: &[T], put: impl Fn(&mut CellWriter<'_>, T, u8)) {
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
fn put_long(bytes: &[u8], writer: CellWriter<'_>) -> usize {
    let CellWriter { out, buffer, at } = writer;
    out.extend_from_slice(&buffer.0[..LENGTH][..at]);
    out.extend_from_slice(bytes);
    0
}

#[inline(never)]
fn put_large(mut number: u64, mut writer: CellWriter<'_>) -> usize {
    let len = number.ilog10() as usize + 1;
    let mut digits = [0; 20];
    for place in digits[..len].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
    writer.stamp(digits, len);
    writer.put([b',']);
    writer.at
}

#[inline(never)]
fn put_decimal(number: f64, mut writer: CellWriter<'_>) -> usize {
    // A number with at most three decimals and fifteen digits is its own shortest form.
    let thousandths = (number * 1000.0) as i64;
    let is_short = thousandths.unsigned_abs() < 1_000_000_000_000;
    if !is_short || (thousandths as f64 / 1000.0).to_bits() != number.to_bits() {
        return put_formatted(format_args!("{number:?},"), writer);
    }
    if thousandths < 0 {
        writer.put([b'-']);
    }
    writer.whole(thousandths.unsigned_abs() / 1000, b'.');
    let fraction = (thousandths.unsigned_abs() % 1000) as u16;
    let digit = |number: u16| b'0' + (number % 10) as u8;
    match (digit(fraction / 100), digit(fraction / 10), digit(fraction)) {
        (tenths, b'0', b'0') => writer.put([tenths, b',']),
        (tenths, hundredths, b'0') => writer.put([tenths, hundredths, b',']),
        (tenths, hundredths, last) => writer.put([tenths, hundredths, last, b',']),
    }
    writer.at
}

/// Writes a text in quotes, without a comma.
#[inline(never)]
pub(crate) fn put_quoted(text: &str, mut writer: CellWriter<'_>) -> usize {
    let quoted = format!("\"{}\"", text.replace('"', "\"\""));
    writer.text(quoted.as_bytes());
    writer.at
}

/// Writes what `format_args!` makes; it is at most 32 bytes long.
#[cold]
pub(crate) fn put_formatted(text: std::fmt::Arguments<'_>, mut writer: CellWriter<'_>) -> usize {
    let mut bytes = [0; 32];
    let mut rest = &mut bytes[..];
    rest.write_fmt(text).expect("a number's text is short");
    let left = rest.len();
    writer.stamp(bytes, bytes.len() - left);
    writer.at
}
