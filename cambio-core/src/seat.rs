//! Where things lie: seats, slots, spots, and small sets of them.

use std::fmt;
use std::str::FromStr;

/// The most seats a table has.
pub const MAX_SEATS: usize = 8;
/// The most slots a seat's layout has, whatever the rules say.
pub const MAX_SLOTS: usize = 16;
/// The number of spots: every slot of every seat, used or not.
pub(crate) const SPOTS: usize = MAX_SEATS * MAX_SLOTS;

/// A place at the table, `a` to `h` in playing order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the seats are their letters")]
pub enum Seat {
    A,
    B,
    C,
    D,
    E,
    F,
    G,
    H,
}

impl Seat {
    /// All seats in playing order.
    pub const ALL: [Seat; MAX_SEATS] = [Seat::A, Seat::B, Seat::C, Seat::D, Seat::E, Seat::F, Seat::G, Seat::H];

    /// The seat with this number (0 is `a`), if there is one.
    pub const fn new(index: usize) -> Option<Seat> {
        if index < MAX_SEATS { Some(Seat::ALL[index]) } else { None }
    }

    pub(crate) const fn wrapped(index: u8) -> Seat {
        Seat::ALL[(index & 7) as usize]
    }

    /// The seat's number: 0 for `a`.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The seat's letter.
    pub const fn letter(self) -> char {
        (b'a' + self as u8) as char
    }

    /// The seat with this letter, if there is one.
    pub fn from_letter(letter: char) -> Option<Seat> {
        Seat::ALL.into_iter().find(|seat| seat.letter() == letter)
    }

    /// The seat that plays next at a table of `seats` seats.
    pub const fn next(self, seats: usize) -> Seat {
        let next = self as usize + 1;
        Seat::ALL[if next >= seats { 0 } else { next }]
    }

    /// The seat `steps` places on at a table of `seats` seats.
    ///
    /// # Panics
    /// If `seats` is 0.
    pub const fn ahead(self, steps: usize, seats: usize) -> Seat {
        Seat::ALL[(self as usize + steps) % seats]
    }

    /// How many places on from `from` this seat sits, at a table of `seats` seats.
    ///
    /// # Panics
    /// If `seats` is 0.
    pub const fn distance_from(self, from: Seat, seats: usize) -> usize {
        (self as usize + seats - from as usize) % seats
    }

    /// All `seats` seats in playing order, from this one on.
    pub fn round(self, seats: usize) -> impl Iterator<Item = Seat> {
        (0..seats).map(move |steps| self.ahead(steps, seats))
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, self.letter())
    }
}

/// A set of seats.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SeatSet(u8);

impl SeatSet {
    /// No seat.
    pub const EMPTY: SeatSet = SeatSet(0);

    /// The first `seats` seats.
    pub const fn first(seats: usize) -> SeatSet {
        SeatSet(((1u16 << seats) - 1) as u8)
    }

    /// Only this seat.
    pub const fn only(seat: Seat) -> SeatSet {
        SeatSet(1 << seat as u8)
    }

    /// Whether the seat is in the set.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> (seat as u8) & 1 == 1
    }

    /// Adds a seat.
    pub const fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat as u8;
    }

    /// Takes a seat out.
    pub const fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat as u8);
    }

    /// This set without the seats of the other.
    #[must_use]
    pub const fn without(self, other: SeatSet) -> SeatSet {
        SeatSet(self.0 & !other.0)
    }

    /// The seats that are in either set.
    #[must_use]
    pub const fn union(self, other: SeatSet) -> SeatSet {
        SeatSet(self.0 | other.0)
    }

    /// How many seats are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no seat is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats of the set, `a` first.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        Seat::ALL.into_iter().filter(move |&seat| self.contains(seat))
    }

    /// The first seat of the set in playing order from `from` on (`from` included).
    pub(crate) const fn first_from(self, from: Seat) -> Option<Seat> {
        if self.0 == 0 {
            return None;
        }
        let rotated = self.0.rotate_right(from as u32);
        Some(Seat::wrapped(from as u8 + rotated.trailing_zeros() as u8))
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> SeatSet {
        let mut set = SeatSet::EMPTY;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A slot of a seat and its number: 1 2 are the top row, 3 4 the bottom row, 5 and up extra cards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot(u8);

impl Spot {
    /// The spot of `seat` with slot `number`, counted from 1; `None` beyond [`MAX_SLOTS`].
    pub const fn new(seat: Seat, number: usize) -> Option<Spot> {
        if number >= 1 && number <= MAX_SLOTS { Some(Spot((seat as u8) << 4 | (number - 1) as u8)) } else { None }
    }

    /// The seat in whose layout the spot lies.
    pub const fn seat(self) -> Seat {
        Seat::wrapped(self.0 >> 4)
    }

    /// The slot's number, counted from 1.
    pub const fn number(self) -> usize {
        (self.0 & 15) as usize + 1
    }

    /// A dense index below 128: seat × 16 + slot − 1.
    pub const fn index(self) -> usize {
        (self.0 & 127) as usize
    }

    pub(crate) const fn from_index(index: usize) -> Spot {
        Spot((index & 127) as u8)
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.seat(), self.number())
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no spot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no spot; a spot is a seat and a slot, from a1 to h16")]
pub struct ParseSpotError(String);

impl FromStr for Spot {
    type Err = ParseSpotError;

    fn from_str(text: &str) -> Result<Spot, ParseSpotError> {
        let parse = || {
            let seat = Seat::from_letter(text.chars().next()?)?;
            let number = text.get(1..)?;
            if number.starts_with(['0', '+']) {
                return None;
            }
            Spot::new(seat, number.parse().ok()?)
        };
        parse().ok_or_else(|| ParseSpotError(text.to_owned()))
    }
}

/// A set of spots: one bit for each slot of each seat.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SpotSet(u128);

impl SpotSet {
    /// No spot.
    pub const EMPTY: SpotSet = SpotSet(0);

    /// The first `slots` slots of `seat`.
    pub(crate) const fn row(seat: Seat, slots: usize) -> SpotSet {
        SpotSet(((1u128 << slots) - 1) << (seat as u32 * MAX_SLOTS as u32))
    }

    /// Every slot of `seat`.
    pub const fn of_seat(seat: Seat) -> SpotSet {
        SpotSet(0xffff << (seat as u32 * MAX_SLOTS as u32))
    }

    /// Every slot of every seat in `seats`.
    pub(crate) fn of_seats(seats: SeatSet) -> SpotSet {
        let mut set = SpotSet::EMPTY;
        let mut bits = seats.bits();
        while bits != 0 {
            set = set.union(SpotSet::of_seat(Seat::wrapped(bits.trailing_zeros() as u8)));
            bits &= bits - 1;
        }
        set
    }

    /// Whether the spot is in the set.
    pub const fn contains(self, spot: Spot) -> bool {
        self.0 >> spot.0 & 1 == 1
    }

    /// Adds a spot.
    pub const fn insert(&mut self, spot: Spot) {
        self.0 |= 1 << spot.0;
    }

    /// Takes a spot out.
    pub const fn remove(&mut self, spot: Spot) {
        self.0 &= !(1 << spot.0);
    }

    /// The spots that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 & other.0)
    }

    /// The spots that are in either set.
    #[must_use]
    pub const fn union(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 | other.0)
    }

    /// This set without the spots of the other.
    #[must_use]
    pub const fn without(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 & !other.0)
    }

    /// How many spots are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no spot is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The spot of the set with number `n`, counted from 0 in order of seat and slot.
    pub const fn nth(self, n: usize) -> Option<Spot> {
        let low = self.0 as u64;
        let in_low = low.count_ones() as usize;
        let (mut bits, base, mut left) = if n < in_low { (low, 0, n) } else { ((self.0 >> 64) as u64, 64, n - in_low) };
        while left > 0 && bits != 0 {
            bits &= bits - 1;
            left -= 1;
        }
        if bits == 0 {
            return None;
        }
        Some(Spot(base + bits.trailing_zeros() as u8))
    }

    /// The set's lowest spot.
    pub const fn lowest(self) -> Option<Spot> {
        if self.0 == 0 { None } else { Some(Spot(self.0.trailing_zeros() as u8)) }
    }

    /// The spots above `spot`, seat first, then slot.
    #[must_use]
    pub(crate) const fn above(self, spot: Spot) -> SpotSet {
        SpotSet(self.0 & !(u128::MAX >> (127 - spot.0 as u32)))
    }
}

impl IntoIterator for SpotSet {
    type Item = Spot;
    type IntoIter = SpotIter;

    /// The spots of the set by seat, then slot.
    fn into_iter(self) -> SpotIter {
        SpotIter(self.0)
    }
}

/// Iterates over a [`SpotSet`].
#[derive(Clone, Debug)]
pub struct SpotIter(u128);

impl Iterator for SpotIter {
    type Item = Spot;

    fn next(&mut self) -> Option<Spot> {
        let spot = SpotSet(self.0).lowest()?;
        self.0 &= self.0 - 1;
        Some(spot)
    }
}

impl fmt::Debug for SpotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}
