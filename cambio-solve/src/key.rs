//! Keys of information sets: what one seat has perceived and decided, in order.

use cambio_core::{Action, Sighting};

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
        self.absorb(sighting.code());
    }

    /// The seat decides. What it declares in secret is in no sighting, but the seat remembers it.
    #[inline]
    pub(crate) fn decide(&mut self, action: Action) {
        self.absorb(action.code() | 1 << 63);
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

    /// Reads the text form of a key.
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
