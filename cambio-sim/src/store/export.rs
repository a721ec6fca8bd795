//! Writes the rows of a run in another format.

use std::path::Path;

use cambio_exec::build_aside;

use super::stored::StoredRun;
use crate::disk::RunError;
use crate::rows::parquet::ParquetTable;
use crate::rows::{MatchRow, PlayerRow, RoundRow};

/// Writes `matches.parquet`, `rounds.parquet` and `players.parquet` into a new folder. They hold the rows that the ledger covers,
/// checked against it.
///
/// Each file holds the run id under the key `cambio.run_id`. The folder has the name `NAME.new` until all three files are on
/// disk.
///
/// # Errors
/// If there is something at either path, the rows cannot be read or are not what the ledger says, or the files cannot
/// be written.
pub fn write_parquet(stored: &StoredRun, out: &Path) -> Result<(), RunError> {
    build_aside(out, |new| write_files(stored, new))
}

fn write_files(stored: &StoredRun, folder: &Path) -> Result<(), RunError> {
    let run = stored.plan.run_id();
    let mut tables = [
        ParquetTable::create::<MatchRow<'_>>("matches", &run, folder)?,
        ParquetTable::create::<RoundRow<'_>>("rounds", &run, folder)?,
        ParquetTable::create::<PlayerRow<'_>>("players", &run, folder)?,
    ];
    stored.for_each_batch(|entry, files| {
        for (table, rows) in tables.iter_mut().zip(&files) {
            let source = stored.path.join(format!("{}.csv", table.name));
            let bad = |what: &str| RunError::damaged(&source, format!("batch {}: {what}", entry.batch));
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&rows[..]);
            let mut cells = csv::StringRecord::new();
            while reader.read_record(&mut cells).map_err(|error| bad(&error.to_string()))? {
                table.gather(&cells).map_err(|field| bad(&format!("a row without a good `{field}`")))?;
                if table.is_full() {
                    table.write_group()?;
                }
            }
        }
        Ok(())
    })?;
    tables.into_iter().try_for_each(ParquetTable::finish)
}
