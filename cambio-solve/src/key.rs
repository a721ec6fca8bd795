//! Keys of information sets: digests of what one seat has perceived and decided, in order.

use std::hash::{BuildHasherDefault, Hasher};

use cambio_core::{Action, Card, Event, Seat, Sighting};
use indexmap::IndexSet;

/// The key of an information set: a 128-bit digest of all sightings and decisions of one seat, in order.
///
/// Histories with the same key are in the same information set. In a game of ten million information sets, the
/// probability of an accidental collision is below 1e-24; compilation also checks perfect recall.
///
/// ```
/// use cambio_core::{Rules, Seat, play::RoundLog, rng::Key};
/// use cambio_solve::HistoryKey;
///
/// let mut log = RoundLog::default();
/// let rules = Rules::preset("mini-m0").unwrap();
/// let playing = cambio_core::Playing::observed(cambio_core::Deal::new(&rules, Key::new(1, 0)), 2, &mut log).unwrap();
/// let mut key = HistoryKey::START;
/// log.sightings(Seat::A).for_each(|sighting| key.perceive(sighting));
/// let before = key;
/// key.decide(playing.turn().unwrap().view.choices().nth(0).unwrap());
/// assert!(key != before && key.bits() == u128::from_str_radix(&key.to_string(), 16).unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HistoryKey(u128);

/// An odd constant: the fractional part of the golden ratio in 128 bits.
const MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

impl HistoryKey {
    /// The key of a seat that has perceived and decided nothing.
    pub const START: HistoryKey = HistoryKey(0x0063_616d_6269_6f2f_736f_6c76_652f_3100);

    #[inline]
    pub(crate) fn absorb(&mut self, token: u64) {
        let mixed = (self.0 ^ u128::from(token)).wrapping_mul(MULTIPLIER);
        self.0 = mixed ^ (mixed >> 67);
    }

    /// Adds a sighting.
    #[inline]
    pub fn perceive(&mut self, sighting: Sighting) {
        self.absorb(sighting.code());
    }

    /// Adds one of the seat's own decisions, before the sightings that follow from it. A decision with a single choice is not
    /// added. Sightings alone are not enough, because they omit secret declarations.
    #[inline]
    pub fn decide(&mut self, action: Action) {
        self.absorb(action.code() | 1 << 63);
    }

    /// A digest of text, such as a rule system as JSON.
    pub(crate) fn of_text(text: &str) -> HistoryKey {
        let mut key = HistoryKey::START;
        text.bytes().for_each(|byte| key.absorb(u64::from(byte)));
        key
    }

    /// The digest as a number.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Reads the text form of a key.
    pub fn parse(text: &str) -> Option<HistoryKey> {
        (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok().map(HistoryKey)).flatten()
    }
}

/// Adds an event to the key of each seat, as the seat perceives it.
#[inline]
pub(crate) fn perceive_all(keys: &mut [HistoryKey], event: &Event<Card>) {
    for (key, seat) in keys.iter_mut().zip(Seat::ALL) {
        key.perceive(event.seen_from(seat));
    }
}

impl std::fmt::Display for HistoryKey {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Numbers keys in insertion order, so that no result depends on hash order.
pub(crate) type KeyIndex = IndexSet<HistoryKey, BuildHasherDefault<KeyHasher>>;

/// A key is a digest, so half of its bits are its hash.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write_u128(&mut self, bits: u128) {
        self.0 = (bits >> 64) as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is one number")
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The memory of an index in bytes: its keys with their hashes, and a table that is half full.
pub(crate) fn index_bytes(index: &KeyIndex) -> u64 {
    (index.capacity() * (size_of::<(usize, HistoryKey)>() + 2 * (size_of::<usize>() + 1))) as u64
}
