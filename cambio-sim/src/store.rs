//! Rows and disk.
//!
//! Rows are appended in canonical order. The ledger has a line for each batch, written after its rows are on
//! disk and synced; it says how many rows and bytes each file has of them, and their BLAKE3. What is beyond the ledger's
//! last line counts for nothing: a resumed run cuts it off. So whatever happens, nothing is lost but unfinished batches, and
//! nothing else is ever taken for a row.

#[cfg(feature = "parquet")]
mod export;
mod folder;
mod ledger;
mod manifest;
mod programs;
mod stored;

#[cfg(feature = "parquet")]
pub use export::write_parquet;
pub use folder::RunFolder;
pub(crate) use ledger::{BatchEntry, packed, row_files};
pub use stored::StoredRun;
