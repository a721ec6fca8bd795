//! Networks as files.
//!
//! A file has a line that names the format, a line of JSON with the facts, the weights, and the BLAKE3 hash of all before it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cambio_core::{Rules, RulesSpec};
use serde_json::Value;

use super::network::{Row, SECOND, Second, WIDTH, Weights};
use super::weighing::{Inputs, Network};
use crate::params::Text;

/// The first line of a file. The number changes when inputs or weights mean something else.
const FORMAT: &str = "cambio network 2\n";

/// The text of the agent `learned`.
pub(crate) const NETWORK: Text = Text {
    name: "network",
    meaning: "The file of a network that `cambio learn` has written.",
    example: "runs/learned/network.net",
    is_needed: false,
    check: |path| read_network(path).map(drop),
    files: |path| vec![path.to_owned()],
};

/// The most bytes of a file.
const MOST: u64 = 1 << 26;

/// Reads the network of a file, each file once in a process.
///
/// # Errors
/// If it cannot be read, is larger than 64 MiB, or is no network; the clause names the file.
pub fn read_network(path: &str) -> Result<Network, String> {
    static READ: Mutex<BTreeMap<String, Network>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(network) = read.get(path) {
        return Ok(network.clone());
    }
    let unreadable = |error| format!("`{path}` cannot be read: {error}");
    let file = std::fs::metadata(path).map_err(unreadable)?;
    if !file.is_file() || file.len() > MOST {
        return Err(format!("`{path}` is no network; allowed is a file of at most {MOST} bytes"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let (network, _) = Network::from_bytes(&bytes).map_err(|error| format!("`{path}`: {error}"))?;
    read.insert(path.to_owned(), network.clone());
    Ok(network)
}

/// What a file says of its network.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkFacts {
    /// The rules that it plays by.
    pub rules: Rules,
    /// What its maker says of how it was made: any JSON object.
    pub made: Value,
}

/// Why a network cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// It is no network at all, or one of another version.
    #[error("this is no network of format 2: it begins with {found:?}, not with {:?}", FORMAT.trim_end())]
    Format {
        /// How it begins.
        found: String,
    },
    /// Its bytes are not those that were written.
    #[error("the network is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// It is for other cards.
    #[error("the network is for the cards of `{found}`, and those of `{wanted}` are others")]
    Rules {
        /// The rules that it is for.
        found: String,
        /// The rules that were wanted.
        wanted: String,
    },
}

impl Network {
    /// The network as bytes. `made` says how it was made.
    pub fn to_bytes(&self, made: &Value) -> Vec<u8> {
        let rules = self.inputs().rules().spec().to_json();
        let facts = serde_json::json!({ "inputs": self.inputs().count(), "made": made, "rules": rules });
        let mut bytes = FORMAT.as_bytes().to_vec();
        bytes.extend_from_slice(facts.to_string().as_bytes());
        bytes.push(b'\n');
        self.weights.write(&mut bytes);
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }

    /// Reads a network, and what its file says of it.
    ///
    /// # Errors
    /// If the bytes are no network, or not those that were written.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Network, NetworkFacts), NetworkError> {
        let damaged = |what| NetworkError::Damaged { what };
        if !bytes.starts_with(FORMAT.as_bytes()) {
            let found = String::from_utf8_lossy(&bytes[..bytes.len().min(FORMAT.len() - 1)]).into_owned();
            return Err(NetworkError::Format { found });
        }
        let Some(end) = bytes.len().checked_sub(blake3::OUT_LEN).filter(|&end| end > FORMAT.len()) else {
            return Err(damaged("it ends too early"));
        };
        if blake3::hash(&bytes[..end]).as_bytes() != &bytes[end..] {
            return Err(damaged("its hash is another than that of its bytes"));
        }
        let body = &bytes[FORMAT.len()..end];
        let line = body.iter().position(|&byte| byte == b'\n').ok_or(damaged("its facts have no end"))?;
        let facts: Value = serde_json::from_slice(&body[..line]).map_err(|_| damaged("its facts are no JSON"))?;
        let rules = facts.get("rules").ok_or(damaged("it names no rules"))?;
        let rules = RulesSpec::from_json(rules).and_then(RulesSpec::validate);
        let rules = rules.map_err(|_| damaged("its rules are refused"))?;
        let inputs = Inputs::new(&rules);
        if facts.get("inputs").and_then(Value::as_u64) != Some(inputs.count() as u64) {
            return Err(damaged("it has other inputs than this program"));
        }
        let weights = Weights::read(&mut &body[line + 1..], inputs.count())
            .ok_or(damaged("it has another number of weights than inputs want"))?;
        let made = facts.get("made").cloned().unwrap_or(Value::Null);
        Ok((Network::of(inputs, weights), NetworkFacts { rules, made }))
    }

    /// This network, if it can play by these rules.
    ///
    /// # Errors
    /// If it is for other cards.
    pub fn fitting(self, rules: &Rules) -> Result<Network, NetworkError> {
        if self.inputs().fit(rules) {
            return Ok(self);
        }
        let own = self.inputs().rules();
        Err(NetworkError::Rules { found: own.name().to_owned(), wanted: rules.name().to_owned() })
    }
}

impl Weights {
    /// Writes rows as bytes, those without a weight as their number alone, and the rest as words of two and four bytes.
    fn write(&self, to: &mut Vec<u8>) {
        let mut empty = 0_u16;
        let flush = |empty: &mut u16, to: &mut Vec<u8>| {
            to.extend_from_slice(&empty.to_le_bytes());
            *empty = 0;
        };
        for row in &self.rows {
            if row.iter().all(|&weight| weight == 0) && empty < u16::MAX {
                empty += 1;
                continue;
            }
            flush(&mut empty, to);
            to.extend(row.iter().map(|weight| weight.cast_unsigned()));
        }
        flush(&mut empty, to);
        let mut short = |weights: &[i16]| weights.iter().for_each(|weight| to.extend_from_slice(&weight.to_le_bytes()));
        short(&self.bias);
        (0..SECOND).for_each(|unit| short(&self.second.row(unit)));
        short(&self.last);
        self.second_bias.iter().chain([&self.last_bias]).for_each(|weight| to.extend_from_slice(&weight.to_le_bytes()));
    }

    /// Reads so many rows and the rest; `None` if there are fewer or more bytes.
    fn read(from: &mut &[u8], inputs: usize) -> Option<Weights> {
        let mut rows: Vec<Row> = Vec::with_capacity(inputs);
        loop {
            let empty = usize::from(u16::from_le_bytes(take(from)?));
            if rows.len() + empty > inputs {
                return None;
            }
            rows.resize(rows.len() + empty, [0; WIDTH]);
            if rows.len() == inputs {
                break;
            }
            let bytes: [u8; WIDTH] = take(from)?;
            rows.push(bytes.map(u8::cast_signed));
        }
        let mut weights = Weights {
            rows,
            bias: shorts(from)?,
            second: Second::ZERO,
            second_bias: [0; SECOND],
            last: [0; SECOND],
            last_bias: 0,
        };
        for unit in 0..SECOND {
            weights.second.set_row(unit, &shorts(from)?);
        }
        weights.last = shorts(from)?;
        for bias in weights.second_bias.iter_mut().chain([&mut weights.last_bias]) {
            *bias = i32::from_le_bytes(take(from)?);
        }
        from.is_empty().then_some(weights)
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*head)
}

fn shorts<const N: usize>(from: &mut &[u8]) -> Option<[i16; N]> {
    let mut weights = [0; N];
    for weight in &mut weights {
        *weight = i16::from_le_bytes(take(from)?);
    }
    Some(weights)
}
