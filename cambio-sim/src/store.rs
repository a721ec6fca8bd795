//! Run folders on disk.
//!
//! Rows are appended in canonical order. The ledger has one line for each batch: the number of rows and bytes in each file and
//! their BLAKE3. The line is written after the rows are on disk and synced. Anything beyond the ledger's last line counts for
//! nothing, and a resumed run cuts it off. An interruption therefore loses only unfinished batches, and a damaged row is never
//! taken for a good one.

mod folder;
mod ledger;
mod manifest;
#[cfg(feature = "parquet")]
mod parquet;
mod stored;

#[cfg(feature = "parquet")]
pub use self::parquet::write_parquet;
pub use folder::RunFolder;
pub(crate) use ledger::{BatchEntry, packed, row_files, unpacked_all};
pub(crate) use manifest::{Build, Programs, refuse_other};
pub(crate) use stored::ReadBatch;
pub use stored::StoredRun;
