//! Keys of information sets: what one seat has perceived and decided, in order.

use cambio_core::{Action, Card, Ending, Event, Seat, SeatSet, Sighting, Spot, Verdict};

/// The history of one seat: a digest of 128 bits of all its sightings and of its own decisions, in order.
///
/// Two histories with one key are one information set. That two different ones share a key by accident has a
/// probability below 1e-24 in a game of ten million information sets; perfect recall is asserted besides when a game
/// is compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(u128);

/// An odd constant: the fractional part of the golden ratio in 128 bits.
const MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

impl Key {
    pub(crate) const START: Key = Key(0x0063_616d_6269_6f2f_736f_6c76_652f_3100);

    #[inline]
    pub(crate) fn absorb(&mut self, token: u64) {
        let mixed = (self.0 ^ u128::from(token)).wrapping_mul(MULTIPLIER);
        self.0 = mixed ^ (mixed >> 67);
    }

    /// The seat perceives something.
    #[inline]
    pub(crate) fn perceive(&mut self, sighting: Sighting) {
        self.absorb(sighting_token(sighting));
    }

    /// The seat decides. What it declares in secret is in no sighting, but the seat remembers it.
    #[inline]
    pub(crate) fn decide(&mut self, action: Action) {
        self.absorb(action_token(action) | 1 << 63);
    }

    /// A digest of text, such as a rule table.
    pub(crate) fn of_text(text: &str) -> Key {
        let mut key = Key::START;
        text.bytes().for_each(|byte| key.absorb(u64::from(byte)));
        key
    }

    pub(crate) fn slot(self) -> usize {
        (self.0 >> 64) as usize
    }

    /// Reads the form in which a key is written.
    pub(crate) fn parse(text: &str) -> Option<Key> {
        (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok().map(Key)).flatten()
    }
}

impl std::fmt::Display for Key {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn token(tag: u64, parts: [u64; 4]) -> u64 {
    parts.iter().fold(tag, |token, part| token << 12 | part)
}

fn seat(seat: Seat) -> u64 {
    seat.index() as u64
}

fn spot(spot: Spot) -> u64 {
    spot.index() as u64 + 1
}

fn card(card: Card) -> u64 {
    card.kind() as u64 + 1
}

fn face(face: Option<Card>) -> u64 {
    face.map_or(0, card)
}

fn seats(seats: SeatSet) -> u64 {
    seats.iter().map(|seat| 1 << seat.index()).sum()
}

/// A number for a sighting, different for different ones.
#[inline]
fn sighting_token(sighting: Sighting) -> u64 {
    match sighting {
        Event::Dealt { starter, extra } => token(1, [seat(starter), seats(extra), 0, 0]),
        Event::Peeked { seat: who, spot: at, face: seen } => token(2, [seat(who), spot(at), face(seen), 0]),
        Event::Flipped { card: seen } => token(3, [card(seen), 0, 0, 0]),
        Event::TurnBegan { seat: who } => token(4, [seat(who), 0, 0, 0]),
        Event::Drew { seat: who, face: seen } => token(5, [seat(who), face(seen), 0, 0]),
        Event::Took { seat: who, card: seen } => token(6, [seat(who), card(seen), 0, 0]),
        Event::Dropped { seat: who, card: seen } => token(7, [seat(who), card(seen), 0, 0]),
        Event::Kept { seat: who, spot: at, replaced } => token(8, [seat(who), spot(at), card(replaced), 0]),
        Event::Looked { seat: who, spot: at, face: seen } => token(9, [seat(who), spot(at), face(seen), 0]),
        Event::Swapped { seat: who, one, other } => token(10, [seat(who), spot(one), spot(other), 0]),
        Event::Shown { spot: at, card: seen } => token(11, [spot(at), card(seen), 0, 0]),
        Event::Skipped { seat: who } => token(12, [seat(who), 0, 0, 0]),
        Event::Touched { seat: who, spot: at } => token(13, [seat(who), spot(at), 0, 0]),
        Event::Snapped { seat: who, spot: at, card: seen, verdict } => {
            let verdict = match verdict {
                Verdict::Right => 1,
                Verdict::Wrong => 2,
                Verdict::Late => 3,
            };
            token(14, [seat(who), spot(at), card(seen), verdict])
        }
        Event::Aborted { seat: who } => token(15, [seat(who), 0, 0, 0]),
        Event::Penalised { seat: who, spot: at } => token(16, [seat(who), spot(at), 0, 0]),
        Event::PenaltyWaived { seat: who } => token(17, [seat(who), 0, 0, 0]),
        Event::Gave { seat: who, from, to } => token(18, [seat(who), spot(from), spot(to), 0]),
        Event::Called { seat: who } => token(19, [seat(who), 0, 0, 0]),
        Event::BecameSafe { seat: who } => token(20, [seat(who), 0, 0, 0]),
        Event::Reshuffled { cards } => token(21, [u64::from(cards), 0, 0, 0]),
        Event::Ended { reason } => {
            let reason = match reason {
                Ending::Call => 1,
                Ending::EmptyHand => 2,
                Ending::TurnLimit => 3,
                Ending::StockOut => 4,
            };
            token(22, [reason, 0, 0, 0])
        }
        Event::TurnedUp { spot: at, card: seen } => token(23, [spot(at), card(seen), 0, 0]),
    }
}

/// A number for a decision, different for different ones.
#[inline]
fn action_token(action: Action) -> u64 {
    match action.canonical() {
        Action::Draw => token(1, [0; 4]),
        Action::Take => token(2, [0; 4]),
        Action::Call => token(3, [0; 4]),
        Action::End => token(4, [0; 4]),
        Action::Drop => token(5, [0; 4]),
        Action::Skip => token(6, [0; 4]),
        Action::Pass => token(7, [0; 4]),
        Action::Peek(at) => token(8, [spot(at), 0, 0, 0]),
        Action::Keep(at) => token(9, [spot(at), 0, 0, 0]),
        Action::Look(at) => token(10, [spot(at), 0, 0, 0]),
        Action::Swap(one, other) => token(11, [spot(one), spot(other), 0, 0]),
        Action::Show(at) => token(12, [spot(at), 0, 0, 0]),
        Action::Snap(at) => token(13, [spot(at), 0, 0, 0]),
        Action::Touch(at) => token(14, [spot(at), 0, 0, 0]),
        Action::Give(at) => token(15, [spot(at), 0, 0, 0]),
        Action::Cheat(at) => token(16, [spot(at), 0, 0, 0]),
    }
}

/// Numbers for keys, in the order in which they come: open addressing with linear probing, so that nothing depends on
/// the order of a hash table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    keys: Vec<Key>,
    /// The number of the key that lies here plus one, 0 for none.
    slots: Vec<u32>,
}

impl Index {
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(crate) fn find(&self, key: Key) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = key.slot() & mask;
        loop {
            match self.slots[slot] {
                0 => return None,
                number if self.keys[number as usize - 1] == key => return Some(number as usize - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The number of a key, and whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key) -> (usize, bool) {
        if self.keys.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = key.slot() & mask;
        loop {
            match self.slots[slot] {
                0 => {
                    self.keys.push(key);
                    self.slots[slot] = self.keys.len() as u32;
                    return (self.keys.len() - 1, true);
                }
                number if self.keys[number as usize - 1] == key => return (number as usize - 1, false),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        self.slots = vec![0; len];
        for (number, key) in self.keys.iter().enumerate() {
            let mut slot = key.slot() & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = number as u32 + 1;
        }
    }

    /// How many bytes this takes, and would take when it next grows.
    pub(crate) fn bytes(&self) -> u64 {
        (self.keys.capacity() * size_of::<Key>() + self.slots.len() * 2 * size_of::<u32>()) as u64
    }
}
