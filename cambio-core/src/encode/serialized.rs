//! Observations as bytes: serialization and deserialization.

use crate::Rules;
use crate::encode::code::Part as _;
use crate::engine::event::EndReason;
use crate::engine::observation::{OwnedObservation, Private};
use crate::engine::table::{CardSource, CarryOver, Opening, Phase, Table};
use crate::rules::card::{Card, Power};
use crate::rules::seat::{Seat, SeatSet, Spot, SpotSet};

/// The error for bytes that are not a serialized observation under these rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("these bytes are not a serialized observation under these rules; pass the bytes of `to_bytes` unchanged")]
pub struct DeserializeError;

impl OwnedObservation {
    /// Serializes the observation, without its rules. The bytes contain only information that the seat may have. Their
    /// format may change between versions.
    ///
    /// ```
    /// use cambio_core::{Playing, Rules, engine::OwnedObservation, rng::Key};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
    /// let kept = OwnedObservation::from(&playing.turn().unwrap().view);
    /// let bytes = kept.to_bytes();
    /// assert_eq!(OwnedObservation::from_bytes(&rules, &bytes), Ok(kept));
    /// assert!(OwnedObservation::from_bytes(&rules, &bytes[1..]).is_err());
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        self.table.put(&mut bytes);
        self.private.put(&mut bytes);
        let sum = checksum(&bytes);
        sum.put(&mut bytes);
        bytes
    }

    /// Reads the bytes of [`OwnedObservation::to_bytes`].
    ///
    /// # Errors
    /// If the bytes were altered or belong to other rules, or no table can have this content.
    pub fn from_bytes(rules: &Rules, bytes: &[u8]) -> Result<OwnedObservation, DeserializeError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(DeserializeError)?;
        let mut from = Bytes { bytes: body, rules };
        let is_whole = u64::from_le_bytes(*sum) == checksum(body);
        let read = is_whole.then(|| Some((Table::get(&mut from)?, Private::get(&mut from)?))).flatten();
        let (table, private) = read.filter(|_| from.bytes.is_empty()).ok_or(DeserializeError)?;
        let found = OwnedObservation { table, private };
        let is_possible = rules.covers(found.table.seats()).is_ok() && found.check().is_ok();
        is_possible.then_some(found).ok_or(DeserializeError)
    }
}

/// The FNV-1a hash, which detects accidental changes but not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The bytes that are not read yet, and the rules of the observation.
struct Bytes<'b> {
    bytes: &'b [u8],
    rules: &'b Rules,
}

trait ByteFormat: Sized {
    fn put(&self, to: &mut Vec<u8>);
    fn get(from: &mut Bytes<'_>) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl ByteFormat for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn get(from: &mut Bytes<'_>) -> Option<$number> {
                let (bytes, rest) = from.bytes.split_first_chunk()?;
                from.bytes = rest;
                Some(<$number>::from_le_bytes(*bytes))
            }
        }
    )+};
}

numbers!(u8, u16, u64, u128, i32);

/// Serializes each of these types as a number.
macro_rules! as_numbers {
    ($($item:ty: $number:ty, $to:expr, $from:expr;)+) => {$(
        impl ByteFormat for $item {
            fn put(&self, to: &mut Vec<u8>) {
                let number: fn($item) -> $number = $to;
                number(*self).put(to);
            }

            fn get(from: &mut Bytes<'_>) -> Option<$item> {
                let number = <$number>::get(from)?;
                let item: fn($number, &Rules) -> Option<$item> = $from;
                item(number, from.rules)
            }
        }
    )+};
}

as_numbers! {
    bool: u8, u8::from, |number, _| (number < 2).then_some(number == 1);
    Seat: u8, |seat| seat.index() as u8, |number, _| Seat::new(number.into());
    SeatSet: u8, SeatSet::bits, |bits, _| SeatSet::of_part(bits.into());
    SpotSet: u128, SpotSet::bits, |bits, _| Some(SpotSet::from_bits(bits));
    Spot: u8, |spot| spot.index() as u8, |number, _| Spot::new(Seat::new(usize::from(number >> 4))?, usize::from(number & 15) + 1);
    Card: u8, |card| card.kind() as u8, |kind, rules| Card::new(kind.into()).filter(|card| card.kind() < rules.kinds().len());
    Power: [u8; 4], Power::raw, |raw, rules| rules.kinds().iter().map(|kind| kind.power).chain([Power::NONE]).find(|power| power.raw() == raw);
    Opening: u8, |opening| opening as u8, |number, _| Opening::ALL.get(usize::from(number)).copied();
    EndReason: u8, EndReason::code, |code, _| EndReason::of_part(code.into());
}

impl<T: ByteFormat> ByteFormat for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        if let Some(item) = self {
            item.put(to);
        }
    }

    fn get(from: &mut Bytes<'_>) -> Option<Option<T>> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl<T: ByteFormat + Copy, const N: usize> ByteFormat for [T; N] {
    fn put(&self, to: &mut Vec<u8>) {
        for item in self {
            item.put(to);
        }
    }

    fn get(from: &mut Bytes<'_>) -> Option<[T; N]> {
        let mut items = [None; N];
        for item in &mut items {
            *item = Some(T::get(from)?);
        }
        items.iter().all(Option::is_some).then(|| items.map(|item| item.expect("each was read")))
    }
}

impl ByteFormat for Phase {
    fn put(&self, to: &mut Vec<u8>) {
        self.code().put(to);
        if let Phase::Held(source) = self {
            let card = if let CardSource::Pile(card) = source { Some(*card) } else { None };
            card.put(to);
        }
    }

    fn get(from: &mut Bytes<'_>) -> Option<Phase> {
        let code = u8::get(from)?;
        if Phase::Held(CardSource::Stock).code() == code {
            return Some(Phase::Held(Option::<Card>::get(from)?.map_or(CardSource::Stock, CardSource::Pile)));
        }
        Phase::WITHOUT_CARD.into_iter().find(|phase| phase.code() == code)
    }
}

/// Serializes structs field by field. The code does not compile if a field is missing.
macro_rules! structs {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        impl ByteFormat for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let $name { $($field),+ } = self;
                $($field.put(to);)+
            }

            fn get(from: &mut Bytes<'_>) -> Option<$name> {
                Some($name { $($field: ByteFormat::get(from)?),+ })
            }
        }
    )+};
}

impl ByteFormat for Rules {
    fn put(&self, _: &mut Vec<u8>) {}

    fn get(from: &mut Bytes<'_>) -> Option<Rules> {
        Some(*from.rules)
    }
}

structs! {
    CarryOver { extra_card, extra_peek }
    Private { seat, faces, held }
    Table {
        rules, seats, occupied, pointed, named, seen, pile, pile_points, pile_len, stock_len, reshuffles, turns, starter, turn,
        asked, phase, opening, top, top_spent, opener, power, step, cheated, declined_look, carried_out, won, frozen, gap,
        callers, first_caller, safe, carry, ended,
    }
}
