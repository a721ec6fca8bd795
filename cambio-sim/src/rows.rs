//! The tidy rows of a run: what each CSV file holds, its header being the fields' names.
//!
//! A row is declared once, and written and read by that declaration: RFC 4180, line feeds, an empty cell for what is
//! unknown, numbers in the shortest form that reads back as the same number.

use std::io::Write as _;

use cambio_core::{Fingerprint, MAX_SEATS, Score, Seat, SeatSet};

/// A value of a cell.
pub trait Field<'a>: Sized {
    /// Writes it at the end of a line.
    fn put(&self, out: &mut Vec<u8>);

    /// Writes it with a comma behind it.
    #[inline]
    fn put_cell(&self, out: &mut Vec<u8>) {
        self.put(out);
        out.push(b',');
    }

    /// Reads it; `None` if the text is not one.
    fn read(text: &'a str) -> Option<Self>;
}

impl<'a> Field<'a> for &'a str {
    fn put(&self, out: &mut Vec<u8>) {
        if self.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            out.push(b'"');
            out.extend(self.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        } else {
            out.extend(self.as_bytes());
        }
    }

    fn read(text: &'a str) -> Option<&'a str> {
        Some(text)
    }
}

/// Writes a whole number, without the machinery of formatting.
#[inline]
fn put_whole(number: u64, out: &mut Vec<u8>) {
    // Most are small.
    match number {
        0..10 => out.push(b'0' + number as u8),
        10..100 => out.extend([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]),
        _ => put_large(number, out),
    }
}

fn put_large(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(&digits[from..]);
}

fn put_signed(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    put_whole(number.unsigned_abs(), out);
}

macro_rules! whole {
    ($($type:ty: $wide:ty, $put:ident;)+) => {
        $(impl Field<'_> for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $put(*self as $wide, out);
            }

            #[inline]
            fn put_cell(&self, out: &mut Vec<u8>) {
                // Most are small, and there are many.
                let wide = *self as $wide;
                if (0..10).contains(&wide) {
                    out.extend_from_slice(&[b'0' + wide as u8, b',']);
                } else {
                    $put(wide, out);
                    out.push(b',');
                }
            }

            fn read(text: &str) -> Option<$type> {
                text.parse().ok()
            }
        })+
    };
}

whole! {
    usize: u64, put_whole;
    u32: u64, put_whole;
    u64: u64, put_whole;
    i64: i64, put_signed;
}

impl Field<'_> for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        // Payoffs are these more often than not.
        for (number, text) in [(0.0_f64, b"0.0"), (1.0, b"1.0"), (0.5, b"0.5")] {
            if self.to_bits() == number.to_bits() {
                out.extend_from_slice(text);
                return;
            }
        }
        let thousandths = self * 1000.0;
        if thousandths.fract() != 0.0 || thousandths.abs() > 1e12 || (*self == 0.0 && self.is_sign_negative()) {
            write!(out, "{self:?}").expect("a vector takes everything");
            return;
        }
        let thousandths = thousandths as i64;
        if (thousandths as f64 / 1000.0).to_bits() != self.to_bits() {
            write!(out, "{self:?}").expect("a vector takes everything");
            return;
        }
        if thousandths < 0 {
            out.push(b'-');
        }
        put_whole(thousandths.unsigned_abs() / 1000, out);
        let fraction = thousandths.unsigned_abs() % 1000;
        out.extend([b'.', b'0' + (fraction / 100) as u8]);
        if !fraction.is_multiple_of(100) {
            out.push(b'0' + (fraction / 10 % 10) as u8);
        }
        if !fraction.is_multiple_of(10) {
            out.push(b'0' + (fraction % 10) as u8);
        }
    }

    fn read(text: &str) -> Option<f64> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl Field<'_> for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }

    #[inline]
    fn put_cell(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true," } else { b"false," });
    }

    fn read(text: &str) -> Option<bool> {
        text.parse().ok()
    }
}

impl Field<'_> for Seat {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.letter() as u8);
    }

    #[inline]
    fn put_cell(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.letter() as u8, b',']);
    }

    fn read(text: &str) -> Option<Seat> {
        let mut letters = text.chars();
        Seat::from_letter(letters.next()?).filter(|_| letters.next().is_none())
    }
}

impl Field<'_> for SeatSet {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.iter().map(|seat| seat.letter() as u8));
    }

    fn read(text: &str) -> Option<SeatSet> {
        text.chars().map(Seat::from_letter).collect()
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        if let Some(value) = self {
            value.put(out);
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
        let mut digits = [b'0'; 16];
        write!(&mut digits[..], "{print}").expect("a fingerprint has sixteen digits");
        Print(digits)
    }
}

impl Field<'_> for Print {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.0);
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
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(&self.letters[..self.len]);
    }

    fn read(text: &str) -> Option<SeatOrder> {
        (text.len() <= MAX_SEATS).then(|| text.chars().map(Seat::from_letter).collect()).flatten()
    }
}

/// A value for each seat, seat a first, separated by spaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BySeat<T> {
    values: [Option<T>; MAX_SEATS],
}

impl<T: Copy> BySeat<T> {
    /// Takes the values, at most one for each seat.
    pub fn new(values: &[T]) -> BySeat<T> {
        let mut list = BySeat { values: [None; MAX_SEATS] };
        for (place, value) in list.values.iter_mut().zip(values) {
            *place = Some(*value);
        }
        list
    }

    /// The values, seat a's first.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.values.iter().map_while(|value| *value)
    }
}

impl Field<'_> for BySeat<i32> {
    fn put(&self, out: &mut Vec<u8>) {
        for (place, value) in self.iter().enumerate() {
            if place > 0 {
                out.push(b' ');
            }
            put_signed(i64::from(value), out);
        }
    }

    fn read(text: &str) -> Option<BySeat<i32>> {
        text.split(' ').map(|value| value.parse().ok()).collect::<Option<Vec<i32>>>().map(|list| BySeat::new(&list))
    }
}

/// Scores, whole or as decimals of sixteen places.
impl Field<'_> for BySeat<Score> {
    fn put(&self, out: &mut Vec<u8>) {
        for (place, value) in self.iter().enumerate() {
            if place > 0 {
                out.push(b' ');
            }
            if value.units() % Score::UNITS == 0 {
                put_signed(i64::from(value.units() / Score::UNITS), out);
            } else {
                write!(out, "{value}").expect("a vector takes everything");
            }
        }
    }

    fn read(_: &str) -> Option<BySeat<Score>> {
        // Nothing is derived from them.
        Some(BySeat { values: [None; MAX_SEATS] })
    }
}

/// A row of a CSV file.
pub trait Row<'a>: Sized {
    /// The fields' names.
    const HEADER: &'static [&'static str];

    /// Writes the cells that say which match the row is of, each with a comma behind it.
    fn put_key(&self, out: &mut Vec<u8>);

    /// Writes the other cells and a line feed.
    fn put_rest(&self, out: &mut Vec<u8>);

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

            fn put_key(&self, out: &mut Vec<u8>) {
                self.rules.put(out);
                out.push(b',');
                self.seats.put(out);
                out.push(b',');
                self.lineup.put(out);
                out.push(b',');
                self.deal.put(out);
                out.push(b',');
                self.rotation.put(out);
                out.push(b',');
            }

            fn put_rest(&self, out: &mut Vec<u8>) {
                $(Field::put_cell(&self.$field, out);)+
                if let Some(last) = out.last_mut() {
                    *last = b'\n';
                }
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
        let mut out = Vec::new();
        value.put(&mut out);
        String::from_utf8(out).unwrap()
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
        let mut text = header::<RoundRow<'_>>();
        row.put_key(&mut text);
        row.put_rest(&mut text);
        let line = "\"ru\"\"les\",2,\"a(b=1,c=2) | d\",7,0,1,b,call,ba,a,4,20,0,3 -1,0.5 5,\n";
        assert_eq!(std::str::from_utf8(&text).unwrap().lines().nth(1).unwrap(), line.trim_end());
        let cells = csv::Reader::from_reader(&text[..]).records().next().unwrap().unwrap();
        let read = RoundRow::read(&cells).unwrap();
        assert_eq!(RoundRow { scores: row.scores, ..read }, row);
        let short = csv::StringRecord::from(vec!["rules", "x"]);
        assert_eq!(RoundRow::read(&short), Err("seats"));
    }
}
