//! Seeds: the source of all chance in an experiment.

use std::fmt;
use std::str::FromStr;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;

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

/// The error for a text that is not a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a whole number below 2^64 or 64 hexadecimal digits")]
pub struct SeedError;

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
            Seed::Key(key) => key.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Seed, SeedError> {
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let byte = |index: usize| u8::from_str_radix(&text[2 * index..][..2], 16).map_err(|_| SeedError);
            let mut key = [0; 32];
            for (index, slot) in key.iter_mut().enumerate() {
                *slot = byte(index)?;
            }
            return Ok(Seed::Key(key));
        }
        text.parse().map(Seed::Number).map_err(|_| SeedError)
    }
}

#[cfg(test)]
mod tests;
