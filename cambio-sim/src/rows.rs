//! The tidy rows of a run: what each CSV file holds, its header being the fields' names.
//!
//! A row is declared once, and written and read by that declaration: RFC 4180, line feeds, an empty cell for what is
//! unknown, numbers in the shortest form that reads back as the same number.

use std::io::Write as _;

use cambio_core::{Fingerprint, MAX_SEATS, Score, Seat, SeatSet};

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
    room: &'s mut [u8],
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
    fn left(self) -> usize {
        self.room.len()
    }

    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let (place, left) = std::mem::take(&mut self.room).split_first_chunk_mut::<N>().expect(ENOUGH);
        *place = bytes;
        self.room = left;
    }

    #[inline]
    fn text(&mut self, bytes: &[u8]) {
        let (place, left) = std::mem::take(&mut self.room).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        self.room = left;
    }

    /// Lets something write that is rare enough to have a function of its own, which gives the room that it left.
    #[inline]
    fn lend(&mut self, write: impl FnOnce(Pen<'_>) -> usize) {
        let left = write(Pen { room: &mut *self.room });
        let room = std::mem::take(&mut self.room);
        let written = room.len() - left;
        self.room = &mut room[written..];
    }

    /// The cell of a whole number. Most are small; how many digits they have is not to be guessed.
    #[expect(clippy::inline_always, reason = "a pen lies in registers only where all that takes it is inlined")]
    #[inline(always)]
    fn cell(&mut self, number: u64) {
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
    fn signed(&mut self, number: i64, behind: u8) {
        if number < 0 {
            self.put([b'-']);
        }
        self.whole(number.unsigned_abs(), behind);
    }

    /// Values with spaces between them.
    #[inline]
    fn list<T: Copy>(&mut self, values: &[T], put: impl Fn(&mut Pen<'_>, T, u8)) {
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
    pen.left()
}

#[inline(never)]
fn put_quoted(text: &str, mut pen: Pen<'_>) -> usize {
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
fn put_formatted(text: std::fmt::Arguments<'_>, mut pen: Pen<'_>) -> usize {
    pen.room.write_fmt(text).expect(ENOUGH);
    pen.left()
}

/// A value of a cell.
pub trait Field<'a>: Sized {
    /// How many bytes it takes at most, with the comma behind it.
    fn room(&self) -> usize;

    /// Writes it with a comma behind it.
    fn put(&self, pen: &mut Pen<'_>);

    /// Reads it; `None` if the text is not one.
    fn read(text: &'a str) -> Option<Self>;
}

impl<'a> Field<'a> for &'a str {
    #[inline]
    fn room(&self) -> usize {
        2 * self.len() + 3
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if self.bytes().any(is_special) {
            pen.lend(|pen| put_quoted(self, pen));
        } else {
            pen.text(self.as_bytes());
        }
        pen.put([b',']);
    }

    fn read(text: &'a str) -> Option<&'a str> {
        Some(text)
    }
}

macro_rules! whole {
    ($($type:ty, $wide:expr;)+) => {
        $(impl Field<'_> for $type {
            #[inline]
            fn room(&self) -> usize {
                21
            }

            #[inline]
            fn put(&self, pen: &mut Pen<'_>) {
                pen.cell($wide(*self));
            }

            fn read(text: &str) -> Option<$type> {
                text.parse().ok()
            }
        })+
    };
}

whole! {
    u32, u64::from;
    u64, u64::from;
    usize, |number| number as u64;
}

impl Field<'_> for i64 {
    #[inline]
    fn room(&self) -> usize {
        21
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        if *self < 0 {
            pen.put([b'-']);
        }
        pen.cell(self.unsigned_abs());
    }

    fn read(text: &str) -> Option<i64> {
        text.parse().ok()
    }
}

impl Field<'_> for f64 {
    #[inline]
    fn room(&self) -> usize {
        26
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        // Payoffs are these more often than not.
        for (number, text) in [(0.0_f64, *b"0.0,"), (1.0, *b"1.0,"), (0.5, *b"0.5,")] {
            if self.to_bits() == number.to_bits() {
                return pen.put(text);
            }
        }
        pen.lend(|pen| put_decimal(*self, pen));
    }

    fn read(text: &str) -> Option<f64> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl Field<'_> for bool {
    #[inline]
    fn room(&self) -> usize {
        6
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        if *self {
            pen.put(*b"true,");
        } else {
            pen.put(*b"false,");
        }
    }

    fn read(text: &str) -> Option<bool> {
        text.parse().ok()
    }
}

impl Field<'_> for Seat {
    #[inline]
    fn room(&self) -> usize {
        2
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        pen.put([self.letter() as u8, b',']);
    }

    fn read(text: &str) -> Option<Seat> {
        let mut letters = text.chars();
        Seat::from_letter(letters.next()?).filter(|_| letters.next().is_none())
    }
}

impl Field<'_> for SeatSet {
    #[inline]
    fn room(&self) -> usize {
        MAX_SEATS + 1
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        self.iter().for_each(|seat| pen.put([seat.letter() as u8]));
        pen.put([b',']);
    }

    fn read(text: &str) -> Option<SeatSet> {
        text.chars().map(Seat::from_letter).collect()
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    #[inline]
    fn room(&self) -> usize {
        self.as_ref().map_or(1, Field::room)
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        match self {
            Some(value) => value.put(pen),
            None => pen.put([b',']),
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
        let value = print.value();
        Print(std::array::from_fn(|place| b"0123456789abcdef"[(value >> (60 - 4 * place)) as usize & 15]))
    }
}

impl Field<'_> for Print {
    #[inline]
    fn room(&self) -> usize {
        17
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        pen.put(self.0);
        pen.put([b',']);
    }

    fn read(text: &str) -> Option<Print> {
        text.as_bytes().try_into().ok().map(Print)
    }
}

/// Seats in an order, as their letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeatOrder {
    letters: [u8; MAX_SEATS],
    len: usize,
}

impl FromIterator<Seat> for SeatOrder {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> SeatOrder {
        let mut order = SeatOrder::default();
        for seat in seats {
            order.letters[order.len] = seat.letter() as u8;
            order.len += 1;
        }
        order
    }
}

impl SeatOrder {
    /// The first of them; `None` of none.
    pub fn first(&self) -> Option<Seat> {
        self.letters[..self.len].first().and_then(|letter| Seat::from_letter(char::from(*letter)))
    }
}

impl Field<'_> for SeatOrder {
    #[inline]
    fn room(&self) -> usize {
        MAX_SEATS + 1
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        self.letters[..self.len].iter().for_each(|&letter| pen.put([letter]));
        pen.put([b',']);
    }

    fn read(text: &str) -> Option<SeatOrder> {
        (text.len() <= MAX_SEATS).then(|| text.chars().map(Seat::from_letter).collect()).flatten()
    }
}

/// A value for each seat, seat a first, separated by spaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BySeat<T> {
    values: [T; MAX_SEATS],
    len: usize,
}

impl<T: Copy + Default> BySeat<T> {
    /// Takes the values, at most one for each seat.
    pub fn new(values: &[T]) -> BySeat<T> {
        let mut list = BySeat { values: [T::default(); MAX_SEATS], len: values.len() };
        list.values[..values.len()].copy_from_slice(values);
        list
    }

    /// The values, seat a's first.
    pub fn as_slice(&self) -> &[T] {
        &self.values[..self.len]
    }
}

impl Field<'_> for BySeat<i32> {
    #[inline]
    fn room(&self) -> usize {
        12 * MAX_SEATS
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        pen.list(self.as_slice(), |pen, value, behind| pen.signed(value.into(), behind));
    }

    fn read(text: &str) -> Option<BySeat<i32>> {
        let list = text.split(' ').map(|value| value.parse().ok()).collect::<Option<Vec<i32>>>()?;
        (list.len() <= MAX_SEATS).then(|| BySeat::new(&list))
    }
}

/// Scores, whole or as decimals of sixteen places.
impl Field<'_> for BySeat<Score> {
    #[inline]
    fn room(&self) -> usize {
        30 * MAX_SEATS
    }

    #[inline]
    fn put(&self, pen: &mut Pen<'_>) {
        pen.list(self.as_slice(), |pen, value, behind| {
            if value.units() % Score::UNITS == 0 {
                pen.signed((value.units() / Score::UNITS).into(), behind);
            } else {
                pen.lend(|pen| put_formatted(format_args!("{value}{}", char::from(behind)), pen));
            }
        });
    }

    fn read(_: &str) -> Option<BySeat<Score>> {
        // Nothing is derived from them.
        Some(BySeat::new(&[]))
    }
}

/// A row of a CSV file.
pub trait Row<'a>: Sized {
    /// The fields' names.
    const HEADER: &'static [&'static str];

    /// How many bytes the cells of [`Row::put_rest`] take at most.
    fn room(&self) -> usize;

    /// Writes the cells behind those that say which match the row is of.
    fn put_rest(&self, pen: &mut Pen<'_>);

    /// Reads a row from its cells.
    ///
    /// # Errors
    /// The name of the field that is missing or is not what it should be.
    fn read(cells: &'a csv::StringRecord) -> Result<Self, &'static str>;
}

/// The header of a row type, with its line feed.
pub fn header<'a, R: Row<'a>>() -> Vec<u8> {
    (R::HEADER.join(",") + "\n").into_bytes()
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

/// Declares a row: every one begins with the cells that say which match it is of.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident<$life:lifetime> { $($(#[$field_doc:meta])+ $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name<$life> {
            /// The rule system.
            pub rules: &$life str,
            /// The number of seats.
            pub seats: usize,
            /// The agents of the lineup, seat a of rotation 0 first.
            pub lineup: &$life str,
            /// The deal.
            pub deal: u64,
            /// The rotation: which of the lineup's seatings.
            pub rotation: usize,
            $($(#[$field_doc])+ pub $field: $type,)+
        }

        impl<$life> Row<$life> for $name<$life> {
            const HEADER: &'static [&'static str] =
                &["rules", "seats", "lineup", "deal", "rotation", $(stringify!($field)),+];

            #[inline]
            fn room(&self) -> usize {
                0 $(+ Field::room(&self.$field))+
            }

            #[inline]
            fn put_rest(&self, pen: &mut Pen<'_>) {
                $(Field::put(&self.$field, pen);)+
            }

            fn read(cells: &$life csv::StringRecord) -> Result<Self, &'static str> {
                let mut cells = cells.iter();
                let mut next = || cells.next();
                let row = $name {
                    rules: next().and_then(Field::read).ok_or("rules")?,
                    seats: next().and_then(Field::read).ok_or("seats")?,
                    lineup: next().and_then(Field::read).ok_or("lineup")?,
                    deal: next().and_then(Field::read).ok_or("deal")?,
                    rotation: next().and_then(Field::read).ok_or("rotation")?,
                    $($field: next().and_then(Field::read).ok_or(stringify!($field))?,)+
                };
                if next().is_some() { Err("the end of the row") } else { Ok(row) }
            }
        }
    };
}

row! {
    /// A row of `matches.csv`: one match.
    MatchRow<'a> {
        /// How many rounds were played.
        rounds: usize,
        /// How many turns began.
        turns: u32,
        /// How many decisions were made.
        decisions: u32,
        /// The seats of rank 1.
        winners: SeatSet,
        /// The fingerprint of play, 16 hexadecimal digits.
        fingerprint: Print,
        /// Whether an agent that sees hidden cards took part.
        analysis: bool,
        /// Whether all its agents decide the same on every machine.
        reproducible: bool,
    }
}

row! {
    /// A row of `rounds.csv`: one round.
    RoundRow<'a> {
        /// The round, counted from 1.
        round: usize,
        /// The seat with the first turn.
        starter: Seat,
        /// Why the round ended: `call`, `empty_hand`, `turn_limit` or `stock_out`.
        ended: &'a str,
        /// The callers in the order of their calls; empty without one.
        callers: SeatOrder,
        /// The seats that won the round: the callers who succeeded, else those with the fewest points who did not call.
        winners: SeatSet,
        /// How many turns began.
        turns: usize,
        /// How many decisions were made.
        decisions: u32,
        /// How often the pile became a new stock.
        reshuffles: usize,
        /// The points of the layouts, seat a first, separated by spaces.
        points: BySeat<i32>,
        /// What the round added to the totals, seat a first, separated by spaces.
        scores: BySeat<Score>,
        /// The turn in which the first call was made, counted from 1; empty without one.
        call_turn: Option<u32>,
    }
}

row! {
    /// A row of `players.csv`: one agent in one match.
    PlayerRow<'a> {
        /// The agent's seat.
        seat: Seat,
        /// The agent.
        agent: &'a str,
        /// Its total; empty in a match that was forfeited.
        total: Option<f64>,
        /// Its rank by total; equal totals share a rank.
        rank: usize,
        /// (seats − midrank) / (seats − 1): 1 for the best alone, 0 for the worst alone, ties share.
        rank_points: f64,
        /// Its share of the match's win: 1 / k with k seats of rank 1.
        win: f64,
        /// How many rounds were played.
        rounds: u32,
        /// The points of its layouts, summed over the rounds.
        points: i64,
        /// How often it won a round, shared or not, by the measure of rounds.csv.
        rounds_won: u32,
        /// How often it called.
        calls: u32,
        /// How often its call succeeded.
        calls_succeeded: u32,
        /// The points of its layouts when it had called, summed over those rounds; empty without a call.
        points_at_calls: Option<i64>,
        /// Own cards snapped that matched first.
        snaps_right_own: u32,
        /// Cards of other seats snapped that matched first.
        snaps_right_foreign: u32,
        /// Cards snapped that did not match.
        snaps_wrong: u32,
        /// Cards snapped that matched after a winner.
        snaps_late: u32,
        /// Cards touched as a bluff.
        touches: u32,
        /// Penalty cards drawn.
        penalties: u32,
        /// Cards given after a foreign snap.
        gifts: u32,
        /// Cards looked at by a power, its reveals included.
        looks: u32,
        /// Swaps made by a power.
        swaps: u32,
        /// Turns begun.
        turns: u32,
        /// The table's mean points less its own, over the rounds.
        margin: f64,
        /// The turns of its calls, each its own turn counted from 1 within the round, summed; empty without a call.
        call_turns: Option<u32>,
        /// The cards of its layouts at the ends of the rounds.
        cards: u32,
        /// Those of them that it had legitimately seen.
        cards_known: u32,
        /// The cards that it was dealt.
        dealt: u32,
        /// Their points.
        dealt_points: i64,
        /// The cards that it drew from the stock in its turns.
        drawn: u32,
        /// Their points.
        drawn_points: i64,
        /// Whether an agent that sees hidden cards took part in the match.
        analysis: bool,
        /// Whether it was at fault and lost the match by that.
        forfeit: bool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put<'a>(value: &impl Field<'a>) -> String {
        let mut room = vec![0; value.room()];
        let mut pen = Pen { room: &mut room };
        value.put(&mut pen);
        let left = pen.left();
        room.truncate(room.len() - left);
        String::from_utf8(room).unwrap().strip_suffix(',').unwrap().to_owned()
    }

    #[test]
    fn numbers_are_written_in_the_shortest_form_that_reads_back() {
        for number in
            [0.0, -0.0, 1.0, 0.5, -2.25, 1.0 / 3.0, 0.1, 0.123, 1e-7, 123_456.789, 1e15, -0.001, 0.07, 7.0 / 6.0]
        {
            assert_eq!(put(&number), format!("{number:?}"));
            assert_eq!(f64::read(&put(&number)).map(f64::to_bits), Some(number.to_bits()));
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

    #[test]
    fn a_row_reads_back_as_it_was_written() {
        let row = RoundRow {
            rules: "ru\"les",
            seats: 2,
            lineup: "a(b=1,c=2) | d",
            deal: 7,
            rotation: 0,
            round: 1,
            starter: Seat::B,
            ended: "call",
            callers: [Seat::B, Seat::A].into_iter().collect(),
            winners: SeatSet::only(Seat::A),
            turns: 4,
            decisions: 20,
            reshuffles: 0,
            points: BySeat::new(&[3, -1]),
            scores: BySeat::new(&[Score::share(2), Score::points(5)]),
            call_turn: None,
        };
        let mut key = RowKey::default();
        key.set_table(row.rules, row.seats, row.lineup);
        let mut sheet = Sheet::default();
        sheet.put(key.of_match(row.deal, row.rotation), &row);
        let text = [header::<RoundRow<'_>>(), sheet.into_bytes().0].concat();
        let line = "\"ru\"\"les\",2,\"a(b=1,c=2) | d\",7,0,1,b,call,ba,a,4,20,0,3 -1,0.5 5,\n";
        assert_eq!(std::str::from_utf8(&text).unwrap().lines().nth(1).unwrap(), line.trim_end());
        let cells = csv::Reader::from_reader(&text[..]).records().next().unwrap().unwrap();
        let read = RoundRow::read(&cells).unwrap();
        assert_eq!(RoundRow { scores: row.scores, ..read }, row);
        let short = csv::StringRecord::from(vec!["rules", "x"]);
        assert_eq!(RoundRow::read(&short), Err("seats"));
    }
}
