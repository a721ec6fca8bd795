//! Independent random streams, so that one match never affects another.
//!
//! The key of a stream is (seed, deal, round, purpose, seat); the agents' streams have a separate seed. More matches,
//! agents or threads do not change any other stream. The bounded integers and the shuffle are implemented here and
//! pinned by value tests, so that a new version of `rand` cannot change results.

use rand::rand_core::block::Generator as _;
use rand::rand_core::utils::{fill_bytes_via_next_word, next_u64_via_u32};
use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::{ChaCha8Core, ChaCha20Rng};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::Seat;
use crate::text::ParseError;

/// The purpose of a random stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Purpose {
    /// The shuffled deck of a round. It does not depend on the agents.
    Deck = 1,
    /// The reshuffles of a round.
    Reshuffle = 2,
    /// The race orders of a round.
    Race = 3,
    /// The random choices of the agent in one seat.
    Agent = 4,
    /// The dealer of round 1, if the rules draw it.
    Dealer = 5,
}

/// The random key of one deal: all its random streams are derived from the key.
///
/// The seed determines the cards and the races. The agents' streams have a separate seed, so an agent that finds the
/// seed of its stream learns nothing about the cards.
///
/// ```
/// use cambio_core::rng::{Bounded as _, Key, Purpose};
/// use cambio_core::Seat;
///
/// let key = Key::new(42, 7);
/// let mut first = key.stream(Purpose::Deck, 0);
/// let mut again = key.stream(Purpose::Deck, 0);
/// assert_eq!(first.below(1000), again.below(1000));
/// // The agents' streams do not depend on the seed of the cards.
/// assert_eq!(key.agent(Seat::A), Key::new(43, 7).agent(Seat::A));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The seed for decks, reshuffles, races and the first dealer.
    pub seed: Seed,
    /// The seed for the agents' streams.
    pub agents: Seed,
    /// The number of the deal.
    pub deal: u64,
}

impl Key {
    /// The random key of a deal, with [`Seed::AGENTS`] for the agents' streams.
    pub fn new(seed: impl Into<Seed>, deal: u64) -> Key {
        Key { seed: seed.into(), agents: Seed::AGENTS, deal }
    }

    /// The same deal with another seed for the agents' streams.
    #[must_use]
    pub fn with_agents(self, seed: impl Into<Seed>) -> Key {
        Key { agents: seed.into(), ..self }
    }

    /// The stream for one purpose in one round, counted from 0.
    pub fn stream(self, purpose: Purpose, round: u32) -> Stream {
        Stream::from_seed(self.seed.stream_key(self.deal, round, purpose as u8, 0))
    }

    /// The stream of the agent in `seat`, for a whole match.
    ///
    /// The stream depends on the seat and not on the agent, so two copies of a policy play the same in that seat.
    ///
    /// ```
    /// use cambio_core::Seat;
    /// use cambio_core::rng::{Bounded as _, Key};
    ///
    /// let key = Key::new(42, 0);
    /// let [mut a, mut again, mut b] = [Seat::A, Seat::A, Seat::B].map(|seat| key.agent(seat));
    /// let numbers = (a.below(1 << 31), again.below(1 << 31), b.below(1 << 31));
    /// assert!(numbers.0 == numbers.1 && numbers.0 != numbers.2);
    /// ```
    pub fn agent(self, seat: Seat) -> Stream {
        Stream::from_seed(self.agents.stream_key(self.deal, 0, Purpose::Agent as u8, seat as u8))
    }
}

/// The number of words that `ChaCha8` generates at a time.
const BATCH: usize = 64;

/// A stream of random bits: the output of `rand_chacha`'s `ChaCha8` generator for a [`Key`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    source: ChaCha8Core,
    words: [u32; BATCH],
    /// The number of `words` that were already drawn.
    drawn: usize,
    /// The number of times that `words` was filled.
    batches: u32,
}

impl Stream {
    fn from_seed(seed: [u8; 32]) -> Stream {
        Stream { source: ChaCha8Core::from_seed(seed), words: [0; BATCH], drawn: BATCH, batches: 0 }
    }

    /// Generates the next words and returns the first one.
    #[cold]
    fn refill(&mut self) -> u32 {
        self.source.generate(&mut self.words);
        self.drawn = 0;
        self.batches = self.batches.saturating_add(1);
        self.words[0]
    }

    /// Generates the first words now, so that clones do not have to.
    pub(crate) fn begin(&mut self) {
        if self.batches == 0 {
            self.refill();
        }
    }

    /// Resets the stream to its start if it still has its first words. Returns whether the stream is at its start.
    pub(crate) fn rewind(&mut self) -> bool {
        if self.batches == 1 {
            self.drawn = 0;
        }
        self.batches <= 1
    }

    /// A new stream with the next bits of this one as key, for a part of an agent that must not affect the other parts.
    #[must_use]
    pub fn fork(&mut self) -> Stream {
        let mut seed = [0; 32];
        self.fill_bytes(&mut seed);
        Stream::from_seed(seed)
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let word = match self.words.get(self.drawn) {
            Some(&word) => word,
            None => self.refill(),
        };
        self.drawn += 1;
        Ok(word)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        fill_bytes_via_next_word(bytes, || self.try_next_u32())
    }
}

/// The generator `SplitMix64` (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"), for
/// searches and learning, which draw far more often than a match does.
///
/// ```
/// use cambio_core::rng::SplitMix;
///
/// let mut bits = SplitMix::new(1_234_567, 0_u32);
/// assert_eq!([bits.word(), bits.word()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Generator `number` of a seed. Generator 0 starts at the seed itself.
    pub fn new(seed: u64, number: impl Into<u64>) -> SplitMix {
        SplitMix(seed ^ number.into().wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next 64 bits.
    #[inline]
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

impl TryRng for SplitMix {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.word() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        fill_bytes_via_next_word(bytes, || self.try_next_u64())
    }
}

/// The finalizer of [`SplitMix`]: a bijection in which every input bit affects every output bit.
#[inline]
pub const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Bounded integers and shuffles for any random generator.
///
/// ```
/// use cambio_core::rng::{Bounded as _, Key, Purpose};
///
/// let mut stream = Key::new(42, 0).stream(Purpose::Deck, 0);
/// assert!(stream.below(6) < 6);
/// assert!(!stream.chance(0, 10) && stream.chance(10, 10));
/// let mut items = [1, 2, 3, 4, 5];
/// stream.shuffle(&mut items);
/// items.sort();
/// assert_eq!(items, [1, 2, 3, 4, 5]);
/// ```
pub trait Bounded: Rng {
    /// A uniform number below `bound` (Lemire 2019, "Fast random integer generation in an interval",
    /// algorithm 5).
    ///
    /// # Panics
    /// If `bound` is 0.
    #[inline]
    fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "the bound must be above 0");
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Returns true with probability `numerator / denominator`.
    fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        self.below(denominator) < numerator
    }

    /// Shuffles the items; every order is equally likely (Fisher–Yates, from the end).
    ///
    /// One 64-bit word gives six swaps (Brackett-Rozinsky and Lemire 2024, "Batched ranged random integer generation",
    /// algorithm 3). Above 512 items it gives only one swap, because the product of six bounds becomes too large.
    ///
    /// # Panics
    /// If there are 2³² items or more.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        assert!(u32::try_from(items.len()).is_ok(), "a shuffle must have fewer than 2³² items");
        let mut left = items.len();
        while left > 512 {
            swap_last::<1, T>(self, &mut items[..left]);
            left -= 1;
        }
        while left > 6 {
            swap_last::<6, T>(self, &mut items[..left]);
            left -= 6;
        }
        match left {
            6 => swap_last::<5, T>(self, &mut items[..6]),
            5 => swap_last::<4, T>(self, &mut items[..5]),
            4 => swap_last::<3, T>(self, &mut items[..4]),
            3 => swap_last::<2, T>(self, &mut items[..3]),
            2 => swap_last::<1, T>(self, &mut items[..2]),
            _ => {}
        }
    }
}

/// Carries out the next `N` steps of a Fisher–Yates shuffle, from one 64-bit word. There must be more than `N` items.
#[inline]
fn swap_last<const N: usize, T>(rng: &mut (impl Rng + ?Sized), items: &mut [T]) {
    let left = items.len() as u64;
    let product: u64 = (0..N as u64).map(|step| left - step).product();
    let mut places = [0; N];
    let mut draw = |word: u64| {
        let mut fraction = word;
        for (place, step) in places.iter_mut().zip(0..) {
            let scaled = u128::from(fraction) * u128::from(left - step);
            fraction = scaled as u64;
            *place = (scaled >> 64) as usize;
        }
        fraction
    };
    let mut rest = draw(rng.next_u64());
    if rest < product {
        let threshold = product.wrapping_neg() % product;
        while rest < threshold {
            rest = draw(rng.next_u64());
        }
    }
    for (step, place) in places.into_iter().enumerate() {
        items.swap(items.len() - 1 - step, place);
    }
}

impl<R: Rng + ?Sized> Bounded for R {}

/// A seed, from which all streams are derived: a public number or a secret key.
///
/// A program that knows a seed can compute every card. A number can be guessed: the program tries numbers until one of
/// them deals the cards that the program has seen. A key of 256 bits cannot be guessed this way.
///
/// The text form of a number is decimal; the text form of a key is 64 hexadecimal digits.
///
/// ```
/// use cambio_core::rng::Seed;
///
/// assert_eq!(Seed::from(42).to_string(), "42");
/// assert_eq!("42".parse(), Ok(Seed::Number(42)));
/// let key = Seed::Key([0xab; 32]);
/// assert_eq!(key.to_string().parse(), Ok(key));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Seed {
    /// A public number.
    Number(u64),
    /// A key of 256 bits.
    Key([u8; 32]),
}

impl Seed {
    /// The default seed of the agents' streams.
    pub const AGENTS: Seed = Seed::Number(0);

    /// A seed as a text that is easy to type, from 128 random bits: 26 letters and digits. [`read_seed`] reads it.
    pub fn typed(bits: u128) -> String {
        const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        (0..26).map(|index| char::from(DIGITS[(bits >> (5 * index) & 31) as usize])).collect()
    }

    /// The key of the random stream for a deal, a round, a purpose and a seat.
    ///
    /// If the seed is a number, the stream key contains it. If the seed is a key, the stream key is a `ChaCha20` block
    /// with the deal as nonce and the other parts as counter, so a stream reveals neither the seed nor other streams.
    pub(crate) fn stream_key(self, deal: u64, round: u32, purpose: u8, seat: u8) -> [u8; 32] {
        let mut key = [0; 32];
        match self {
            Seed::Number(number) => {
                key[0..8].copy_from_slice(&number.to_le_bytes());
                key[8..16].copy_from_slice(&deal.to_le_bytes());
                key[16..20].copy_from_slice(&round.to_le_bytes());
                key[20] = purpose;
                key[21] = seat;
                key[24..32].copy_from_slice(b"cambio/1");
            }
            Seed::Key(seed) => {
                let block = u64::from(round) << 16 | u64::from(purpose) << 8 | u64::from(seat);
                let mut blocks = ChaCha20Rng::from_seed(seed);
                blocks.set_stream(deal);
                // A block of `ChaCha20` has sixteen words.
                blocks.set_word_pos(u128::from(block) * 16);
                blocks.fill_bytes(&mut key);
            }
        }
        key
    }
}

/// Parses a seed: a whole number below 2⁶⁴, the 64 hexadecimal digits of a key, or any other text, whose BLAKE3 hash is
/// the key.
///
/// Numbers and short texts are not secret: an agent can try many of them until one deals the cards that it has seen.
///
/// # Errors
/// If the text is empty.
///
/// # Examples
/// ```
/// use cambio_core::rng::{Seed, read_seed};
///
/// assert_eq!(read_seed("42")?, Seed::Number(42));
/// assert!(matches!(read_seed("first spring cup")?, Seed::Key(_)));
/// # Ok::<(), String>(())
/// ```
pub fn read_seed(text: &str) -> Result<Seed, String> {
    if text.is_empty() {
        return Err("expected a whole number below 2^64, or a text".to_owned());
    }
    Ok(text.parse().unwrap_or_else(|_| Seed::Key(blake3::derive_key("cambio 2026-11 seed from text", text.as_bytes()))))
}

impl From<u64> for Seed {
    fn from(number: u64) -> Seed {
        Seed::Number(number)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seed::Number(number) => write!(f, "{number}"),
            Seed::Key(key) => f.write_str(&blake3::Hash::from_bytes(*key).to_hex()),
        }
    }
}

impl FromStr for Seed {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Seed, ParseError> {
        match blake3::Hash::from_hex(text) {
            Ok(key) => Ok(Seed::Key(key.into())),
            Err(_) => text
                .parse()
                .map(Seed::Number)
                .map_err(|_| ParseError("expected a whole number below 2^64 or 64 hexadecimal digits".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
