//! The pen that writes the cells of a row.

use std::io::Write as _;

/// How long the cells of a row may be together, text left aside.
pub(super) const CELLS: usize = 1024;

/// A strip of paper for the cells of a row. What is put on it goes to places that the compiler knows to be there, so that
/// it checks none.
#[derive(Debug)]
pub(super) struct Strip(Box<[u8; LENGTH + 32]>);

/// Room for texts of half of that, and the cells.
const LENGTH: usize = 2 * CELLS;

impl Default for Strip {
    fn default() -> Strip {
        Strip(Box::new([0; _]))
    }
}

/// What writes the cells of a row, each with a comma behind it.
///
/// Whatever takes a pen is small enough to be compiled into the row's own code, where the pen lies in registers.
#[derive(Debug)]
pub struct Pen<'s> {
    /// What was written before.
    pub(super) paper: &'s mut Vec<u8>,
    pub(super) strip: &'s mut Strip,
    /// How far the strip is written; at most [`LENGTH`].
    pub(super) at: usize,
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

impl Pen<'_> {
    /// Brings what is on the strip to the paper.
    pub(super) fn end(self) {
        // Here, once a row, it is checked that the row had room.
        self.paper.extend_from_slice(&self.strip.0[..LENGTH][..self.at]);
    }

    /// Writes bytes here, and says that so many of them count.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn stamp<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        const { assert!(N <= 32, "there is so much room behind the strip") }
        debug_assert!(self.at + len <= LENGTH, "a row has room on the strip");
        let at = self.at % LENGTH;
        self.strip.0[at..at + N].copy_from_slice(&bytes);
        self.at += len;
    }

    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.stamp(bytes, N);
    }

    /// Text of any length.
    #[inline]
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        if self.at + bytes.len() > LENGTH - CELLS {
            return self.lend(|pen| put_long(bytes, pen));
        }
        self.strip.0[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Lets something write that is rare enough to have a function of its own, which says how far it came.
    #[inline]
    pub(crate) fn lend(&mut self, write: impl FnOnce(Pen<'_>) -> usize) {
        self.at = write(Pen { paper: &mut *self.paper, strip: &mut *self.strip, at: self.at });
    }

    /// The cell of a whole number. Most are small; how many digits they have is not to be guessed.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn cell(&mut self, number: u64) {
        if number >= SMALL.len() as u64 {
            return self.lend(|pen| put_large(number, pen));
        }
        let cell = SMALL[number as usize];
        self.stamp(cell, usize::from(cell[3]));
    }

    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    pub(crate) fn signed(&mut self, number: i64, behind: u8) {
        if number < 0 {
            self.put([b'-']);
        }
        self.whole(number.unsigned_abs(), behind);
    }

    /// A whole number, and what stands behind it.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    fn whole(&mut self, number: u64, behind: u8) {
        self.cell(number);
        if behind != b',' {
            self.strip.0[(self.at - 1) % LENGTH] = behind;
        }
    }

    /// The cell of a finite number, in the shortest form that reads back as the same.
    #[inline]
    pub(crate) fn decimal(&mut self, number: f64) {
        // Most are small, and whole or halves.
        let halves = (number * 2.0) as i32;
        if halves.unsigned_abs() >= 2 * SMALL.len() as u32 || (f64::from(halves) / 2.0).to_bits() != number.to_bits() {
            return self.lend(|pen| put_decimal(number, pen));
        }
        if halves < 0 {
            self.put([b'-']);
        }
        self.whole(u64::from(halves.unsigned_abs() / 2), b'.');
        self.put([if halves % 2 == 0 { b'0' } else { b'5' }, b',']);
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
fn put_long(bytes: &[u8], pen: Pen<'_>) -> usize {
    let Pen { paper, strip, at } = pen;
    paper.extend_from_slice(&strip.0[..LENGTH][..at]);
    paper.extend_from_slice(bytes);
    0
}

#[inline(never)]
fn put_large(mut number: u64, mut pen: Pen<'_>) -> usize {
    let len = number.ilog10() as usize + 1;
    let mut digits = [0; 20];
    for place in digits[..len].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
    pen.stamp(digits, len);
    pen.put([b',']);
    pen.at
}

#[inline(never)]
fn put_decimal(number: f64, mut pen: Pen<'_>) -> usize {
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
    pen.at
}

/// Text in quotes, without a comma.
#[inline(never)]
pub(crate) fn put_quoted(text: &str, mut pen: Pen<'_>) -> usize {
    let quoted = format!("\"{}\"", text.replace('"', "\"\""));
    pen.text(quoted.as_bytes());
    pen.at
}

/// What is formatted is at most 32 bytes long.
#[cold]
pub(crate) fn put_formatted(text: std::fmt::Arguments<'_>, mut pen: Pen<'_>) -> usize {
    let mut bytes = [0; 32];
    let mut rest = &mut bytes[..];
    rest.write_fmt(text).expect("a number's text is short");
    let left = rest.len();
    pen.stamp(bytes, bytes.len() - left);
    pen.at
}
