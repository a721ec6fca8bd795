//! Run folders on disk.
//!
//! Rows are appended in canonical order. The ledger has one line for each batch: the number of rows and bytes in each
//! file and their BLAKE3 hash. The line is written after the rows are synced to disk. Rows that the ledger does not cover
//! are ignored, and removed when the run is resumed. An interruption therefore loses only unfinished batches, and damaged
//! rows are always detected.

mod folder;
mod ledger;
mod manifest;
mod stored;

pub use folder::RunFolder;
pub(crate) use ledger::{BatchEntry, row_files};
pub(crate) use manifest::{Origin, Programs};
pub(crate) use stored::ReadBatch;
pub use stored::StoredRun;
