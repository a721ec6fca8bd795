//! The ledger: which rows are safely on disk.

use serde_json::{Value, json};

use crate::plan::{FaultPolicy, Plan};
use crate::rows::{MatchRow, PlayerRow, RoundRow, header};

/// A file of rows: its name without `.zst`, and the header that it begins with.
pub(crate) struct RowFile {
    pub(crate) name: &'static str,
    pub(crate) header: Vec<u8>,
}

/// The files of rows that a plan's folder has, in the order of the ledger.
pub(crate) fn row_files(plan: &Plan) -> Vec<RowFile> {
    let mut files = vec![
        RowFile { name: "matches.csv", header: header::<MatchRow<'_>>() },
        RowFile { name: "rounds.csv", header: header::<RoundRow<'_>>() },
        RowFile { name: "players.csv", header: header::<PlayerRow<'_>>() },
    ];
    if plan.records {
        files.push(RowFile { name: "records.jsonl", header: Vec::new() });
    }
    if plan.faults != FaultPolicy::Stop {
        files.push(RowFile { name: "faults.jsonl", header: Vec::new() });
    }
    files
}

/// The name of a file of rows on disk.
pub(crate) fn file_name(plan: &Plan, name: &str) -> String {
    if plan.compress { format!("{name}.zst") } else { name.to_owned() }
}

/// What goes to disk for some rows.
pub(crate) fn packed(plan: &Plan, rows: Vec<u8>) -> Vec<u8> {
    if !plan.compress || rows.is_empty() {
        return rows;
    }
    #[cfg(feature = "zstd")]
    return zstd::bulk::compress(&rows, 3).expect("rows in memory can be compressed");
    #[cfg(not(feature = "zstd"))]
    unreachable!("a plan is not compressed without the feature")
}

/// The rows of what is on disk.
pub(crate) fn unpacked(plan: &Plan, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if !plan.compress || bytes.is_empty() {
        return Ok(bytes);
    }
    #[cfg(feature = "zstd")]
    return zstd::stream::decode_all(&bytes[..]);
    #[cfg(not(feature = "zstd"))]
    Err(std::io::Error::other("it is compressed, and this program was built without the feature `zstd`"))
}

/// What the ledger says of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) hash: String,
}

/// The ledger's entry for a batch: one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BatchEntry {
    pub(crate) batch: u64,
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

    pub(super) fn to_text(&self, plan: &Plan) -> String {
        let blocks = plan.batch(self.batch);
        let mut files = serde_json::Map::new();
        for (file, segment) in row_files(plan).iter().zip(&self.segments) {
            let told = json!({ "rows": segment.rows, "bytes": segment.bytes, "blake3": segment.hash });
            files.insert(file.name.to_owned(), told);
        }
        format!("{}\n", json!({ "shard": self.batch, "blocks": [blocks.start, blocks.end], "files": files }))
    }

    pub(super) fn read(text: &str, plan: &Plan) -> Option<BatchEntry> {
        let value: Value = serde_json::from_str(text).ok()?;
        let segment = |file: &RowFile| {
            let told = &value["files"][file.name];
            Some(Segment {
                rows: told["rows"].as_u64()?,
                bytes: told["bytes"].as_u64()?,
                hash: told["blake3"].as_str()?.to_owned(),
            })
        };
        let segments = row_files(plan).iter().map(segment).collect::<Option<_>>()?;
        let entry = BatchEntry { batch: value["shard"].as_u64()?, segments };
        (entry.batch < plan.batch_count() && entry.to_text(plan).trim_end() == text).then_some(entry)
    }
}
