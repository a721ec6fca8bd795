//! The ledger: the list of the batches that are synced to disk.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use cambio_exec::open_regular;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::plan::{FaultPolicy, Plan};
use crate::rows::{FILES, header};

/// The maximum number of bytes in a line of the ledger.
pub(crate) const LONGEST_LINE: u64 = 1 << 16;

/// The maximum number of bytes of a batch in one file, compressed or not. A batch has at most a few thousand matches, so
/// this is more than 200 KB for each match.
const MOST_BYTES: u64 = 1 << 30;

/// A file to which each batch appends rows: its name without `.zst`, its header, and its header in older runs.
pub(crate) struct RowFile {
    pub(crate) name: &'static str,
    pub(crate) header: Vec<u8>,
    former: Vec<u8>,
}

impl RowFile {
    /// The header of this file in a run folder, as on disk: the former header if the file begins with it, otherwise the
    /// current one.
    pub(crate) fn header_in(&self, folder: &Path, plan: &Plan) -> Vec<u8> {
        let former = packed(plan, self.former.clone());
        let mut begin = vec![0; former.len()];
        let file = open_regular(&folder.join(file_name(plan, self.name)));
        let is_former = file.and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == former;
        if is_former { former } else { packed(plan, self.header.clone()) }
    }
}

/// The row files of a plan, in the order of the ledger.
pub(crate) fn row_files(plan: &Plan) -> Vec<RowFile> {
    let mut files = Vec::from(FILES.map(|file| RowFile {
        name: file.name,
        header: header(&file.columns(plan.measures_luck())),
        former: header(&file.former_columns(plan.measures_luck())),
    }));
    let without_header = |name| RowFile { name, header: Vec::new(), former: Vec::new() };
    if plan.records {
        files.push(without_header("records.jsonl"));
    }
    if plan.faults != FaultPolicy::Stop {
        files.push(without_header("faults.jsonl"));
    }
    files
}

/// The name of a row file on disk.
pub(crate) fn file_name(plan: &Plan, name: &str) -> String {
    if plan.compress { format!("{name}.zst") } else { name.to_owned() }
}

/// Converts rows to the bytes on disk, which are compressed if the plan requires it.
pub(crate) fn packed(plan: &Plan, rows: Vec<u8>) -> Vec<u8> {
    if !plan.compress || rows.is_empty() {
        return rows;
    }
    #[cfg(feature = "zstd")]
    return zstd::bulk::compress(&rows, 3).expect("rows in memory can be compressed");
    #[cfg(not(feature = "zstd"))]
    unreachable!("without the feature, plans are not compressed")
}

/// Converts the bytes on disk to rows.
fn unpacked<'b>(plan: &Plan, bytes: Cow<'b, [u8]>) -> std::io::Result<Cow<'b, [u8]>> {
    if !plan.compress || bytes.is_empty() {
        return Ok(bytes);
    }
    #[cfg(feature = "zstd")]
    return Ok(cambio_exec::read_all(zstd::Decoder::with_buffer(&*bytes)?, MOST_BYTES)?.into());
    #[cfg(not(feature = "zstd"))]
    Err(std::io::Error::other("the rows are compressed, but this program was built without the feature `zstd`"))
}

/// Converts the bytes on disk of all files of a batch to rows.
pub(crate) fn unpacked_all(plan: &Plan, files: Vec<Vec<u8>>) -> std::io::Result<Vec<Vec<u8>>> {
    files.into_iter().map(|bytes| Ok(unpacked(plan, bytes.into())?.into_owned())).collect()
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
    /// Converts bytes on disk to rows, and checks the hash of the bytes and the number of rows. The error is a clause about the
    /// bytes of `file`.
    pub(crate) fn rows<'b>(&self, plan: &Plan, file: &str, bytes: Cow<'b, [u8]>) -> Result<Cow<'b, [u8]>, String> {
        if blake3::hash(&bytes).to_hex().as_str() != self.hash {
            return Err("do not have the hash that the ledger lists".to_owned());
        }
        let rows = unpacked(plan, bytes).map_err(|error| format!("cannot be decompressed: {error}"))?;
        let found = count_rows(file, &rows);
        let expected = self.rows;
        if found == expected { Ok(rows) } else { Err(format!("have {found} rows, but the ledger lists {expected}")) }
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
