//! Reads and writes network files.
//!
//! A file contains a line that names the format, a line of JSON with the metadata, the weights, and a BLAKE3 hash.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cambio_core::{Rules, RulesSpec};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde_json::Value;

use super::evaluation::{Network, NetworkInputs};
use super::features::{ALL_GROUPS, GROUPS};
use super::network::{NetworkWeights, SECOND, SecondLayer, WIDTH};
use crate::params::Text;

/// The first line of a file. The number changes when the meaning of inputs or weights changes.
const FORMAT: &str = "cambio network 3\n";

/// The text argument of the agents `learned` and `lookahead`.
pub(crate) const NETWORK: Text = Text {
    name: "network",
    meaning: "A network file written by `cambio learn`.",
    example: "runs/learned/network.net",
    is_needed: false,
    check: |path, folder| read_network(folder.join(path)).map(drop),
    files: |path, _| vec![path.to_owned()],
};

/// The maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 26;

/// Reads the network in a file. Each file is read once per process.
///
/// # Errors
/// If the file cannot be read, is larger than 64 MiB, or is not a network. The error is a clause with the path.
pub fn read_network(path: impl AsRef<Path>) -> Result<Network, String> {
    static READ: Mutex<BTreeMap<PathBuf, Network>> = Mutex::new(BTreeMap::new());
    let (path, shown) = (path.as_ref(), path.as_ref().display());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(network) = read.get(path) {
        return Ok(network.clone());
    }
    let unreadable = |error| format!("`{shown}` cannot be read: {error}");
    let file = std::fs::metadata(path).map_err(unreadable)?;
    if !file.is_file() || file.len() > MAX_FILE_BYTES {
        let found = if file.is_dir() { ", found a folder" } else { "" };
        return Err(format!("`{shown}` must be a network file of at most {} MiB{found}", MAX_FILE_BYTES >> 20));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let (network, _) = Network::from_bytes(&bytes).map_err(|error| format!("`{shown}`: {error}"))?;
    read.insert(path.to_owned(), network.clone());
    Ok(network)
}

/// The metadata of a network in its file.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkMetadata {
    /// The rules that the network was made for.
    pub rules: Rules,
    /// How the network was made, as any JSON value.
    pub made: Value,
}

/// The error for a network that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum NetworkError {
    /// The bytes are not a network, or have another format version.
    #[error("this is not {expected}: it must begin with {first:?}, found {found:?}")]
    Format { expected: &'static str, first: &'static str, found: String },
    /// The bytes have changed since they were written.
    #[error("the network is damaged: {what}")]
    Damaged { what: &'static str },
    /// The network is for other cards.
    #[error("the network is for the cards of `{found}`, which differ from the cards of `{wanted}`")]
    Rules { found: String, wanted: String },
}

/// A file: the line `format`, a line of JSON with the facts, the body, and the BLAKE3 hash of these bytes.
pub(crate) fn seal(format: &str, facts: &Value, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{format}{facts}\n").into_bytes();
    bytes.extend_from_slice(body);
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

/// The facts and the body of a file that [`seal`] wrote.
pub(crate) fn open<'b>(
    format: &'static str,
    expected: &'static str,
    bytes: &'b [u8],
) -> Result<(Value, &'b [u8]), NetworkError> {
    let damaged = |what| NetworkError::Damaged { what };
    if !bytes.starts_with(format.as_bytes()) {
        let found = String::from_utf8_lossy(&bytes[..bytes.len().min(format.len() - 1)]).into_owned();
        return Err(NetworkError::Format { expected, first: format.trim_end(), found });
    }
    let Some(end) = bytes.len().checked_sub(blake3::OUT_LEN).filter(|&end| end > format.len()) else {
        return Err(damaged("it ends too early"));
    };
    if blake3::hash(&bytes[..end]).as_bytes() != &bytes[end..] {
        return Err(damaged("its hash does not match its bytes"));
    }
    let body = &bytes[format.len()..end];
    let line = body.iter().position(|&byte| byte == b'\n').ok_or(damaged("its facts have no line break"))?;
    let facts = serde_json::from_slice(&body[..line]).map_err(|_| damaged("its facts are not JSON"))?;
    Ok((facts, &body[line + 1..]))
}

impl Network {
    /// Serializes the network. `made` describes how it was made.
    pub fn to_bytes(&self, made: &Value) -> Vec<u8> {
        let rules = self.inputs().rules().spec().to_json();
        let has = |number: usize| self.inputs().groups() >> number & 1 == 1;
        let groups: Vec<&str> = (0..GROUPS.len()).filter(|&number| has(number)).map(|number| GROUPS[number]).collect();
        let count = self.inputs().count();
        let policy = self.is_policy();
        let mut facts =
            serde_json::json!({ "groups": groups, "inputs": count, "made": made, "policy": policy, "rules": rules });
        if self.general.is_some() {
            facts["general"] = true.into();
        }
        seal(FORMAT, &facts, &self.general.as_ref().unwrap_or(&self.weights).packed())
    }

    /// Reads a network and its metadata.
    ///
    /// # Errors
    /// If the bytes are not a network, or have changed since they were written.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Network, NetworkMetadata), NetworkError> {
        let damaged = |what| NetworkError::Damaged { what };
        let (facts, body) = open(FORMAT, "a network of format 3", bytes)?;
        let rules = facts.get("rules").ok_or(damaged("its facts have no rules"))?;
        let rules = RulesSpec::from_json(rules).and_then(RulesSpec::validate);
        let rules = rules.map_err(|_| damaged("its rules are invalid"))?;
        let is_general = facts.get("general").and_then(Value::as_bool).unwrap_or(false);
        let bit = |name: &Value| GROUPS.iter().position(|group| name == group).map(|number| 1 << number);
        let names =
            facts.get("groups").and_then(Value::as_array).ok_or(damaged("its facts have no groups of inputs"))?;
        let groups = names.iter().map(bit).try_fold(0, |groups, bit| Some(groups | bit?));
        let groups = groups.ok_or(damaged("this program does not know one of its groups of inputs"))?;
        let inputs = NetworkInputs::with(&rules, if is_general { ALL_GROUPS } else { groups }, is_general);
        if facts.get("inputs").and_then(Value::as_u64) != Some(inputs.count() as u64) {
            return Err(damaged("its number of inputs differs from this program's"));
        }
        let weights = NetworkWeights::unpacked(body, inputs.count())
            .ok_or(damaged("its number of weights does not fit its inputs"))?;
        if !weights.are_confined() {
            return Err(damaged("one of its weights is so large that sums could overflow"));
        }
        let made = facts.get("made").cloned().unwrap_or(Value::Null);
        let network = Network::of(inputs, weights);
        let is_policy = facts.get("policy").and_then(Value::as_bool).unwrap_or(false);
        Ok((if is_policy { network.into_policy() } else { network }, NetworkMetadata { rules, made }))
    }

    /// Returns the network if it can play under these rules.
    ///
    /// # Errors
    /// If the network is for other cards.
    pub fn fitting(self, rules: &Rules) -> Result<Network, NetworkError> {
        self.under(rules).ok_or_else(|| {
            let own = self.inputs().rules();
            NetworkError::Rules { found: own.name().to_owned(), wanted: rules.name().to_owned() }
        })
    }
}

impl NetworkWeights {
    /// The rows as bytes, and the other weights as words of two or four bytes, compressed by Deflate (RFC 1951).
    fn packed(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.rows.iter().flatten().map(|weight| weight.cast_unsigned()).collect();
        let mut short = |weights: &[i16]| bytes.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
        short(&self.bias);
        (0..SECOND).for_each(|unit| short(&self.second.row(unit)));
        short(&self.last);
        bytes.extend(self.second_bias.iter().chain([&self.last_bias]).flat_map(|weight| weight.to_le_bytes()));
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes).and_then(|()| packed.finish()).expect("memory writes succeed")
    }

    /// Reads what [`NetworkWeights::packed`] wrote, with `inputs` rows; `None` if there are too few or too many bytes.
    fn unpacked(packed: &[u8], inputs: usize) -> Option<NetworkWeights> {
        // No network has more than half a MiB besides its rows.
        let most = (inputs * WIDTH + (1 << 19)) as u64;
        let mut bytes = Vec::new();
        DeflateDecoder::new(packed).take(most).read_to_end(&mut bytes).ok()?;
        let from = &mut &*bytes;
        let rows = (0..inputs).map(|_| Some(take::<WIDTH>(from)?.map(u8::cast_signed))).collect::<Option<_>>()?;
        let mut weights = NetworkWeights {
            rows,
            bias: shorts(from)?,
            second: SecondLayer::ZERO,
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
