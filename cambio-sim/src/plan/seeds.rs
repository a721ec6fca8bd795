//! Parsing of seeds, and unpredictable secrets.

use std::fmt;
use std::str::FromStr;

use cambio_core::rng::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

/// Parses a seed: a whole number below 2⁶⁴, the 64 hexadecimal digits of a key, or any other text, whose BLAKE3 hash is
/// the key.
///
/// Numbers and short texts are not secret: an agent can try many of them until one deals the cards that it has seen.
/// Use a [`Secret`] to prevent such a search.
///
/// # Errors
/// If the text is empty.
///
/// # Examples
/// ```
/// use cambio_core::rng::Seed;
/// use cambio_sim::read_seed;
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

/// Random bytes from the operating system.
fn entropy<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides entropy");
    bytes
}

/// An unpredictable seed that is easy to type: 128 bits of the operating system's entropy as 26 letters and digits.
///
/// # Panics
/// If the operating system provides no entropy.
pub fn fresh_seed() -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let number = u128::from_le_bytes(entropy());
    (0..26).map(|index| char::from(DIGITS[(number >> (5 * index) & 31) as usize])).collect()
}

/// A seed in an experiment file.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum SeedForm {
    /// A number.
    Number(u64),
    /// A text of any length.
    Text(String),
}

/// Reads the seed of an experiment file.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Seed>, D::Error> {
    use serde::de::Error as _;
    const ALLOWED: &str = "a seed must be a whole number from 0 to 18446744073709551615, or a text";
    match SeedForm::deserialize(source).map_err(|_| D::Error::custom(ALLOWED))? {
        SeedForm::Number(number) => Ok(Some(Seed::Number(number))),
        SeedForm::Text(text) => read_seed(&text).map(Some).map_err(|_| D::Error::custom(ALLOWED)),
    }
}

/// Writes the seed of an experiment file as text, because TOML has no integers above 2^63.
#[expect(clippy::ref_option, reason = "required by serde")]
pub(super) fn serialize<S: Serializer>(seed: &Option<Seed>, into: S) -> Result<S::Ok, S::Error> {
    seed.map(|seed| seed.to_string()).serialize(into)
}

/// The source of all randomness of a competition: 256 bits of the operating system's entropy.
///
/// Its [commitment](Secret::commitment) is public from the start. The secret itself is kept in the run folder, and
/// published in the manifest when the run is complete. Then everyone can check it against the commitment and repeat the
/// run.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Draws a fresh secret.
    ///
    /// # Panics
    /// If the operating system provides no entropy.
    pub fn draw() -> Secret {
        Secret(entropy())
    }

    /// The BLAKE3 hash of the secret. The hash does not reveal the secret, but proves later that it was not changed.
    pub fn commitment(&self) -> Seed {
        Seed::Key(*blake3::hash(&self.0).as_bytes())
    }

    /// The seed of the cards.
    pub(super) fn cards(&self) -> Seed {
        Seed::Key(blake3::derive_key("cambio 2026-11 cards of a secret", &self.0))
    }

    /// The seed of the agents' streams.
    pub(super) fn agents(&self) -> Seed {
        Seed::Key(blake3::derive_key("cambio 2026-11 agents of a secret", &self.0))
    }
}

/// Hides the bytes, so that no message leaks them.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Seed::Key(self.0).fmt(f)
    }
}

impl FromStr for Secret {
    type Err = cambio_core::rng::SeedError;

    fn from_str(text: &str) -> Result<Secret, Self::Err> {
        match text.parse()? {
            Seed::Key(bytes) => Ok(Secret(bytes)),
            Seed::Number(_) => Err(cambio_core::rng::SeedError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_seeds_and_pinned() {
        assert_eq!(read_seed("007"), Ok(Seed::Number(7)));
        assert_ne!(read_seed("a"), read_seed("b"));
        assert_ne!(read_seed(&"a".repeat(64)), read_seed(&"a".repeat(65)));
        let long = read_seed(&"long ".repeat(10_000)).unwrap().to_string();
        assert_eq!(long.len(), 64);
        assert!(read_seed("").is_err());
        // Computed with the Python package blake3.
        assert_eq!(
            read_seed("first spring cup").unwrap().to_string(),
            "229305744451390771080b0eb33a1a8b534afd341a8678f78d94030a21be628c"
        );
    }

    #[test]
    fn no_secret_is_drawn_twice_and_none_is_told() {
        let (one, other) = (Secret::draw(), Secret::draw());
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), "Secret(…)");
        assert_eq!(one.to_string().parse::<Secret>().unwrap(), one);
        let seeds = [one.commitment(), one.cards(), one.agents(), other.cards(), Seed::Key(one.0)];
        for (index, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..index].contains(seed));
        }
    }
}
