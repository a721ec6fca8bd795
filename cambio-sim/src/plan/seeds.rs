//! Seeds in experiment files, and unpredictable seeds.

use cambio_core::rng::Seed;
pub use cambio_core::rng::read_seed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

/// An unpredictable seed that is easy to type: 128 bits of the operating system's entropy as 26 letters and digits.
///
/// # Panics
/// If the operating system provides no entropy.
pub fn fresh_seed() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system provides entropy");
    Seed::typed(u128::from_le_bytes(bytes))
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

#[cfg(test)]
mod tests;
