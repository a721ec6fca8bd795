//! Seats, slots and spots, and sets of them.

use std::fmt;
use std::str::FromStr;

use crate::text::{ParseError, excerpt};

/// The most seats at a table.
pub const MAX_SEATS: usize = 8;
/// The most slots of a layout, under any rules.
pub const MAX_SLOTS: usize = 16;
/// The number of spots: all slots of all seats, used or not.
pub const SPOTS: usize = MAX_SEATS * MAX_SLOTS;

/// A place at the table, `a` to `h` in playing order.
///
/// ```
/// use cambio_core::Seat;
///
/// let c = Seat::from_letter('c').unwrap();
/// assert_eq!((c.index(), c.letter()), (2, 'c'));
/// // At a table of three, seat a plays after seat c.
/// assert_eq!(c.next(3), Seat::A);
/// assert_eq!(c.ahead(2, 3), Seat::B);
/// assert_eq!(Seat::B.distance_from(c, 3), 2);
/// assert!(c.round(3).eq([Seat::C, Seat::A, Seat::B]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "each variant is the letter of its seat")]
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

    /// The seat with this number (0 is `a`), if it exists.
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

    /// The seat with this letter, if it exists.
    pub fn from_letter(letter: char) -> Option<Seat> {
        Seat::ALL.into_iter().find(|seat| seat.letter() == letter)
    }

    /// The seat that plays next, at a table of `seats` seats.
    #[must_use]
    pub const fn next(self, seats: usize) -> Seat {
        let next = self as usize + 1;
        Seat::wrapped(if next >= seats { 0 } else { next as u8 })
    }

    /// The seat `steps` places further in playing order, at a table of `seats` seats.
    ///
    /// # Panics
    /// If `seats` is 0.
    #[must_use]
    pub const fn ahead(self, steps: usize, seats: usize) -> Seat {
        assert!(seats > 0, "a table has seats");
        let mut place = self as usize + steps;
        while place >= seats {
            place -= seats;
        }
        Seat::wrapped(place as u8)
    }

    /// The number of places from `from` to this seat in playing order, at a table of `seats` seats.
    pub const fn distance_from(self, from: Seat, seats: usize) -> usize {
        let (own, from) = (self as usize, from as usize);
        if own >= from { own - from } else { own + seats - from }
    }

    /// All seats of a table of `seats` seats in playing order, beginning with this one.
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
///
/// ```
/// use cambio_core::{Seat, SeatSet};
///
/// let mut seats = SeatSet::first(3);
/// seats.remove(Seat::B);
/// assert!(seats.iter_from(Seat::A).eq([Seat::A, Seat::C]));
/// assert!(!seats.contains(Seat::B));
/// assert_eq!(seats.union(SeatSet::only(Seat::H)).len(), 3);
/// assert!(seats.without(SeatSet::first(8)).is_empty());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SeatSet(u8);

impl SeatSet {
    /// The set of the first `seats` seats.
    pub const fn first(seats: usize) -> SeatSet {
        SeatSet(((1u16 << seats) - 1) as u8)
    }

    /// Whether the seat is in the set.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> (seat as u8) & 1 == 1
    }

    /// The seats of the set in playing order, beginning with `from`.
    #[inline]
    pub fn iter_from(self, from: Seat) -> impl Iterator<Item = Seat> {
        set_bits(self.turned(from).0.into()).map(move |bit| Seat::wrapped(from as u8 + bit as u8))
    }

    /// The seats of the set, for code that does not depend on the order.
    #[inline]
    pub(crate) fn each(self) -> impl Iterator<Item = Seat> {
        self.iter_from(Seat::A)
    }

    /// The first seat of the set in playing order, beginning with `from`.
    pub(crate) const fn first_from(self, from: Seat) -> Option<Seat> {
        if self.0 == 0 { None } else { Some(Seat::wrapped(from as u8 + self.turned(from).0.trailing_zeros() as u8)) }
    }

    /// The set relative to `from`: bit 0 is `from` itself, bit 1 the next place. Places without a seat have no bits, so
    /// the bits are in playing order at any number of seats.
    pub(crate) const fn turned(self, from: Seat) -> SeatSet {
        SeatSet(self.0.rotate_right(from as u32))
    }
}

/// The positions of the bits that are set, lowest first.
#[inline]
pub(crate) fn set_bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

/// A slot of a seat. Slots 1 and 2 are the top row, 3 and 4 the bottom row; slots from 5 on are for extra cards.
///
/// ```
/// use cambio_core::{Seat, Spot};
///
/// let spot: Spot = "b3".parse().unwrap();
/// assert_eq!(Spot::new(Seat::B, 3), Some(spot));
/// assert_eq!((spot.seat(), spot.number(), spot.index()), (Seat::B, 3, 18));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot(u8);

impl Spot {
    /// The spot at slot `number` of `seat`, counted from 1; `None` beyond [`MAX_SLOTS`].
    pub const fn new(seat: Seat, number: usize) -> Option<Spot> {
        if number >= 1 && number <= MAX_SLOTS { Some(Spot((seat as u8) << 4 | (number - 1) as u8)) } else { None }
    }

    /// The seat whose layout contains the spot.
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

    /// Converts this spot, which is relative to `from`, to a spot of the table: the inverse of [`SpotSet::turned`].
    pub(crate) const fn turned_back(self, from: Seat) -> Spot {
        Spot((self.0 + ((from as u8) << 4)) & 127)
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

impl FromStr for Spot {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Spot, ParseError> {
        let parse = || {
            let seat = Seat::from_letter(text.chars().next()?)?;
            let number = text.get(1..)?;
            if number.starts_with(['0', '+']) {
                return None;
            }
            Spot::new(seat, number.parse().ok()?)
        };
        let expected = "a spot is a seat and a slot, from a1 to h16";
        parse().ok_or_else(|| ParseError(format!("`{}` is not a spot; {expected}", excerpt(text))))
    }
}

/// For each seat, a mask of its slots.
const SEATS: [u128; MAX_SEATS] = {
    let mut seats = [0; MAX_SEATS];
    let mut seat = 0;
    while seat < MAX_SEATS {
        seats[seat] = 0xffff << (seat * MAX_SLOTS);
        seat += 1;
    }
    seats
};

/// `ROWS[n]` is a mask of the first `n` slots of every seat.
const ROWS: [u128; MAX_SLOTS + 1] = {
    let mut rows = [0; MAX_SLOTS + 1];
    let mut slots = 0;
    while slots <= MAX_SLOTS {
        rows[slots] = 0x0001_0001_0001_0001_0001_0001_0001_0001 * ((1 << slots) - 1);
        slots += 1;
    }
    rows
};

/// A set of spots: one bit for each slot of each seat.
///
/// ```
/// use cambio_core::{Seat, Spot, SpotSet};
///
/// let [a1, a2, b1]: [Spot; 3] = ["a1", "a2", "b1"].map(|name| name.parse().unwrap());
/// let mut known = SpotSet::EMPTY;
/// known.insert(a1);
/// known.insert(b1);
/// // Two cards change places, and the knowledge moves with them.
/// known.swap(a1, a2);
/// assert!(known.iter_from(Seat::A).eq([a2, b1]));
/// assert!(known.contains(a2) && !known.contains(a1));
/// assert_eq!(known.intersection(SpotSet::of_seat(Seat::B)).len(), 1);
/// // Spots are in playing order, beginning with any seat.
/// assert_eq!([Seat::A, Seat::B].map(|seat| known.first_from(seat)), [Some(a2), Some(b1)]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SpotSet(u128);

impl SpotSet {
    /// The first `slots` slots of `seat`.
    pub(crate) const fn row(seat: Seat, slots: usize) -> SpotSet {
        SpotSet(SEATS[seat as usize] & ROWS[slots])
    }

    /// All slots of `seat`.
    pub const fn of_seat(seat: Seat) -> SpotSet {
        SpotSet(SEATS[seat as usize])
    }

    /// All slots of the seats in `seats`.
    pub(crate) fn of_seats(seats: SeatSet) -> SpotSet {
        seats.each().fold(SpotSet::EMPTY, |set, seat| set.union(SpotSet::of_seat(seat)))
    }

    /// Whether the spot is in the set.
    #[inline]
    pub const fn contains(self, spot: Spot) -> bool {
        let word = if spot.0 < 64 { self.0 as u64 } else { (self.0 >> 64) as u64 };
        word >> (spot.0 & 63) & 1 == 1
    }

    /// The spots that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 & other.0)
    }

    /// Exchanges two spots: each of them is then in the set if the other one was in the set before.
    #[inline]
    pub const fn swap(&mut self, one: Spot, other: Spot) {
        let differs = (self.0 >> one.0 ^ self.0 >> other.0) & 1;
        self.0 ^= differs << one.0 ^ differs << other.0;
    }

    /// The spot at index `n` of [`SpotSet::iter_from`].
    #[inline]
    pub const fn nth_from(self, from: Seat, n: usize) -> Option<Spot> {
        match self.turned(from).nth(n) {
            Some(spot) => Some(spot.turned_back(from)),
            None => None,
        }
    }

    /// The spot of set bit number `n`, counted from 0.
    #[inline]
    const fn nth(self, n: usize) -> Option<Spot> {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let ranks = byte_ranks(low);
        let in_low = (ranks >> 56) as usize;
        if n < in_low {
            return Some(Spot(select(low, ranks, n)));
        }
        let (n, ranks) = (n - in_low, byte_ranks(high));
        if n < (ranks >> 56) as usize { Some(Spot(64 + select(high, ranks, n))) } else { None }
    }

    /// The first spot of [`SpotSet::iter_from`].
    pub const fn first_from(self, from: Seat) -> Option<Spot> {
        if self.0 == 0 {
            return None;
        }
        Some(Spot(self.turned(from).0.trailing_zeros() as u8).turned_back(from))
    }

    /// The spots of the set, ordered by seat in playing order beginning with `from`, then by slot.
    ///
    /// ```
    /// use cambio_core::{Seat, Spot, SpotSet};
    ///
    /// let spots: SpotSet = ["a2", "b1", "c3"].iter().map(|text| text.parse::<Spot>().unwrap()).collect();
    /// let order: Vec<String> = spots.iter_from(Seat::B).map(|spot| spot.to_string()).collect();
    /// assert_eq!(order, ["b1", "c3", "a2"]);
    /// ```
    #[inline]
    pub fn iter_from(self, from: Seat) -> impl Iterator<Item = Spot> + Clone + use<> {
        // Works on 64-bit words, because an instruction finds the lowest set bit of a word. The low word has seats a to d.
        let turned = self.turned(from).0;
        let (mut low, mut high) = (turned as u64, (turned >> 64) as u64);
        std::iter::from_fn(move || {
            let spot = if low != 0 {
                let spot = Spot(low.trailing_zeros() as u8);
                low &= low - 1;
                spot
            } else if high != 0 {
                let spot = Spot(64 + high.trailing_zeros() as u8);
                high &= high - 1;
                spot
            } else {
                return None;
            };
            Some(spot.turned_back(from))
        })
    }

    /// The spots of `seat` in the set, ordered by slot.
    ///
    /// ```
    /// use cambio_core::{Seat, Spot, SpotSet};
    ///
    /// let spots: SpotSet = ["a2", "b1", "b4"].iter().map(|text| text.parse::<Spot>().unwrap()).collect();
    /// assert_eq!(spots.iter_of(Seat::B).map(Spot::number).collect::<Vec<_>>(), [1, 4]);
    /// ```
    #[inline]
    pub fn iter_of(self, seat: Seat) -> impl Iterator<Item = Spot> {
        let first = (seat as u8) << 4;
        set_bits(self.slots_of(seat)).map(move |bit| Spot(first | bit as u8 & 15))
    }

    /// The slots of `seat` that are in the set, as bits.
    #[inline]
    pub(crate) const fn slots_of(self, seat: Seat) -> u32 {
        let word = if (seat as u8) < 4 { self.0 as u64 } else { (self.0 >> 64) as u64 };
        (word >> ((seat as u32 & 3) << 4)) as u32 & 0xffff
    }

    /// The spots of the set, for code that does not depend on the order.
    #[inline]
    pub(crate) fn each(self) -> impl Iterator<Item = Spot> + Clone + use<> {
        self.iter_from(Seat::A)
    }

    /// The set relative to `from`: the spots of `from` become a1, a2 and so on. Seats that are not at the table have no
    /// bits, so the bits are in playing order at any number of seats.
    #[must_use]
    pub(crate) const fn turned(self, from: Seat) -> SpotSet {
        SpotSet(self.0.rotate_right((from as u32) << 4))
    }

    /// The spots with a greater index than `spot`.
    #[must_use]
    pub(crate) const fn above(self, spot: Spot) -> SpotSet {
        SpotSet(self.0 & !(u128::MAX >> (127 - spot.0 as u32)))
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// Prefix sums of the bit counts of a word's bytes: byte i of the result counts the bits of bytes 0 to i.
#[inline]
const fn byte_ranks(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    ((nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES)
}

/// The position of set bit number `n` (from 0), without a branch. The word must have more than `n` set bits, and
/// `ranks` must be its [`byte_ranks`] (Vigna 2008, "Broadword implementation of rank/select queries", algorithm 2).
#[inline]
const fn select(word: u64, ranks: u64, n: usize) -> u8 {
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let below = ((n as u64).wrapping_mul(ONES) | HIGHS).wrapping_sub(ranks) & HIGHS;
    let byte = ((below >> 7).wrapping_mul(ONES) >> 56) * 8;
    let rest = n as u64 - ((ranks << 8) >> byte & 0xff);
    byte as u8 + IN_BYTE[(word >> byte & 0xff) as usize][(rest & 7) as usize]
}

/// `IN_BYTE[byte][n]` is the position of set bit number `n` of the byte.
const IN_BYTE: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][rank] = bit;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The methods that all bit sets share.
macro_rules! bit_sets {
    ($($set:ident($bits:ty) of $member:ident, a $word:literal: |$own:ident| $bit:expr;)+) => {$(
        impl $set {
            /// The empty set.
            pub const EMPTY: $set = $set(0);

            #[doc = concat!("The set of only this ", $word, ".")]
            pub const fn only($own: $member) -> $set {
                $set(1 << $bit)
            }

            #[doc = concat!("Adds a ", $word, ".")]
            pub const fn insert(&mut self, $own: $member) {
                self.0 |= 1 << $bit;
            }

            #[doc = concat!("Removes a ", $word, ".")]
            pub const fn remove(&mut self, $own: $member) {
                self.0 &= !(1 << $bit);
            }

            #[doc = concat!("The ", $word, "s of this set that are not in the other one.")]
            #[must_use]
            pub const fn without(self, other: $set) -> $set {
                $set(self.0 & !other.0)
            }

            #[doc = concat!("The ", $word, "s that are in at least one of the sets.")]
            #[must_use]
            pub const fn union(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }

            #[doc = concat!("The number of ", $word, "s in the set.")]
            pub const fn len(self) -> usize {
                self.0.count_ones() as usize
            }

            /// Whether the set is empty.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            pub(crate) const fn bits(self) -> $bits {
                self.0
            }
        }

        impl FromIterator<$member> for $set {
            fn from_iter<I: IntoIterator<Item = $member>>(members: I) -> $set {
                let mut set = $set::EMPTY;
                members.into_iter().for_each(|member| set.insert(member));
                set
            }
        }

        impl fmt::Debug for $set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.each()).finish()
            }
        }
    )+};
}

bit_sets! {
    SeatSet(u8) of Seat, a "seat": |seat| seat as u8;
    SpotSet(u128) of Spot, a "spot": |spot| spot.0;
}

#[cfg(test)]
mod tests;
