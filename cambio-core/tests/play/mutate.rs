//! Random changes of bytes, for tests of readers without a fuzzer.

use cambio_core::rng::{Bounded as _, Stream};

/// Numbers at the limits of types.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65536",
    "4294967296",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "1e999",
    "nan",
    "-0.0",
];

/// Texts with a meaning in TOML, JSON, CSV or the terminal.
const TOKENS: [&str; 16] =
    ["\"", "'", "[", "]", "{", "}", "=", ",", "\n", "\t", "\0", "\u{202e}", "\u{1b}[31m", "null", "(", ")"];

fn at(stream: &mut Stream, bytes: &[u8]) -> usize {
    stream.below(bytes.len().max(1) as u32) as usize
}

/// The digits at a random place or the next ones after it.
fn digits(stream: &mut Stream, bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let place = at(stream, bytes);
    let start = place + bytes[place..].iter().position(u8::is_ascii_digit)?;
    let length = bytes[start..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len() - start);
    Some(start..start + length)
}

/// Changes the bytes in one to four places. Some changes copy a part of `other`.
pub(crate) fn mutate(bytes: &[u8], other: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=stream.below(4) {
        if bytes.is_empty() {
            bytes.push(stream.below(256) as u8);
        }
        let place = at(stream, &bytes);
        let end = (place + 1 + stream.below(40) as usize).min(bytes.len());
        match stream.below(9) {
            0 => bytes[place] ^= 1 << stream.below(8),
            1 => bytes[place] = stream.below(256) as u8,
            2 => drop(bytes.drain(place..end)),
            3 => {
                let piece = bytes[place..end].to_vec();
                let to = at(stream, &bytes);
                bytes.splice(to..to, piece);
            }
            4 => {
                let token = TOKENS[stream.below(TOKENS.len() as u32) as usize];
                bytes.splice(place..place, token.bytes());
            }
            5 | 6 => {
                if let Some(digits) = digits(stream, &bytes) {
                    let number = NUMBERS[stream.below(NUMBERS.len() as u32) as usize];
                    bytes.splice(digits, number.bytes());
                }
            }
            7 if !other.is_empty() => {
                let from = at(stream, other);
                let to = (from + 1 + stream.below(80) as usize).min(other.len());
                bytes.splice(place..end, other[from..to].iter().copied());
            }
            _ if stream.chance(1, 4) => bytes.truncate(place),
            _ => bytes[place..end].fill(0),
        }
    }
    bytes
}
