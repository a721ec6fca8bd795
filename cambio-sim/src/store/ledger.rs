//! The ledger: the list of the batches that are synced to disk.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::plan::{FaultPolicy, Plan};
use crate::rows::{CsvFile, FILES, header};

/// The maximum number of bytes in a line of the ledger.
pub(crate) const LONGEST_LINE: u64 = 1 << 16;

/// The maximum number of bytes of a batch in one file. A batch has at most a few thousand matches, so
/// this is more than 200 KB for each match.
const MOST_BYTES: u64 = 1 << 30;

/// A file to which each batch appends rows: its name and its header.
pub(crate) struct RowFile {
    pub(crate) name: &'static str,
    pub(crate) header: Vec<u8>,
}

/// The row files of a plan, in the order of the ledger.
pub(crate) fn row_files(plan: &Plan) -> Vec<RowFile> {
    let with_header = |file: CsvFile| RowFile { name: file.name, header: header(&file.columns(plan.measures_luck())) };
    let mut files = Vec::from(FILES.map(with_header));
    let without_header = |name| RowFile { name, header: Vec::new() };
    if plan.records {
        files.push(without_header("records.jsonl"));
    }
    if plan.faults != FaultPolicy::Stop {
        files.push(without_header("faults.jsonl"));
    }
    files
}

/// The rows of one batch in one file, as described by the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub(crate) struct Segment {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    #[serde(rename = "blake3")]
    pub(crate) hash: String,
}

impl Segment {
    /// Checks the hash and the number of these rows of `file`. The error is a clause about them.
    pub(crate) fn check(&self, file: &str, rows: &[u8]) -> Result<(), String> {
        if blake3::hash(rows).to_hex().as_str() != self.hash {
            return Err("do not have the hash that the ledger lists".to_owned());
        }
        let (found, expected) = (count_rows(file, rows), self.rows);
        if found == expected { Ok(()) } else { Err(format!("have {found} rows, but the ledger lists {expected}")) }
    }
}

/// The number of rows. A quoted text of a CSV file may contain line breaks; a line of JSON contains none.
fn count_rows(file: &str, rows: &[u8]) -> u64 {
    let is_csv = FILES.iter().any(|csv| csv.name == file);
    let (mut is_quoted, mut count) = (false, 0);
    for &byte in rows {
        is_quoted ^= is_csv && byte == b'"';
        count += u64::from(byte == b'\n' && !is_quoted);
    }
    count
}

/// The entry of a batch: one line of the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub(crate) struct BatchEntry {
    pub(crate) batch: u64,
    /// The segments, in the order of [`row_files`].
    pub(crate) segments: Vec<Segment>,
}

impl BatchEntry {
    pub(crate) fn new(batch: u64, files: &[(Vec<u8>, u64)]) -> BatchEntry {
        let segment = |(bytes, rows): &(Vec<u8>, u64)| Segment {
            rows: *rows,
            bytes: bytes.len() as u64,
            hash: blake3::hash(bytes).to_hex().to_string(),
        };
        BatchEntry { batch, segments: files.iter().map(segment).collect() }
    }

    pub(crate) fn to_text(&self, plan: &Plan) -> String {
        let blocks = plan.batch(self.batch);
        let files = row_files(plan).into_iter().zip(&self.segments);
        let files: Map<String, Value> = files.map(|(file, segment)| (file.name.to_owned(), json!(segment))).collect();
        json!({ "shard": self.batch, "blocks": [blocks.start, blocks.end], "files": files }).to_string() + "\n"
    }

    /// Parses a line, which must have exactly the bytes that this program writes.
    pub(crate) fn read(text: &str, plan: &Plan) -> Option<BatchEntry> {
        let line: Value = serde_json::from_str(text).ok()?;
        let batch = line["shard"].as_u64()?;
        let segment = |file: RowFile| Segment::deserialize(&line["files"][file.name]).ok();
        let entry = BatchEntry { batch, segments: row_files(plan).into_iter().map(segment).collect::<Option<_>>()? };
        let fits = batch < plan.batch_count()
            && entry.segments[0].rows <= plan.matches_of(batch..batch + 1)
            && entry.segments.iter().all(|segment| segment.bytes <= MOST_BYTES);
        (fits && entry.to_text(plan).trim_end() == text).then_some(entry)
    }
}

#[cfg(test)]
mod tests;
