//! Seeds in experiment files, and unpredictable secrets.

use std::fmt;
use std::str::FromStr;

use cambio_core::rng::Seed;
pub use cambio_core::rng::read_seed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

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
    Seed::typed(u128::from_le_bytes(entropy()))
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
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Seed>, D::Error> {
    use serde::de::Error as _;
    const ALLOWED: &str = "a seed must be a whole number from 0 to 18446744073709551615, or a text";
    match Option::deserialize(source).map_err(|_| D::Error::custom(ALLOWED))? {
        None => Ok(None),
        Some(SeedForm::Number(number)) => Ok(Some(Seed::Number(number))),
        Some(SeedForm::Text(text)) => read_seed(&text).map(Some).map_err(|_| D::Error::custom(ALLOWED)),
    }
}

/// Writes the seed of an experiment file as text, because TOML has no integers above 2^63.
#[expect(clippy::ref_option, reason = "required by serde")]
pub(crate) fn serialize<S: Serializer>(seed: &Option<Seed>, into: S) -> Result<S::Ok, S::Error> {
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

    pub(super) fn cards(&self) -> Seed {
        Seed::Key(blake3::derive_key("cambio 2026-11 cards of a secret", &self.0))
    }

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
mod tests;
