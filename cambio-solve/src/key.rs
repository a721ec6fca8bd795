//! Keys of information sets: digests of what one seat has perceived and decided, in order.

use cambio_core::{Action, Card, Event, Seat, Sighting};

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

    pub(crate) fn slot(self) -> usize {
        (self.0 >> 64) as usize
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

/// Numbers keys in insertion order, by open addressing with linear probing, so that no result depends on hash order.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyIndex {
    keys: Vec<HistoryKey>,
    /// The number of the key in each slot plus one; 0 for an empty slot.
    slots: Vec<u32>,
}

impl KeyIndex {
    pub(crate) fn keys(&self) -> &[HistoryKey] {
        &self.keys
    }

    pub(crate) fn find(&self, key: HistoryKey) -> Option<usize> {
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
    pub(crate) fn insert(&mut self, key: HistoryKey) -> (usize, bool) {
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

    /// The memory in bytes, with the number of slots after the next growth.
    pub(crate) fn bytes(&self) -> u64 {
        (self.keys.capacity() * size_of::<HistoryKey>() + self.slots.len() * 2 * size_of::<u32>()) as u64
    }
}
