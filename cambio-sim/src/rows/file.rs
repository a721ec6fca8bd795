//! Reads the rows of a CSV file, without its header.

use cambio_exec::Column;
use csv::{ReaderBuilder, StringRecord};
use itertools::Itertools;

use super::columns::{Columns, Fields};

/// The header line of these columns, with a line feed.
pub(crate) fn header(columns: &[Column]) -> Vec<u8> {
    (columns.iter().map(|column| &column.name).join(",") + "\n").into_bytes()
}

/// Reads rows block by block.
pub(crate) struct RowReader<'b> {
    file: csv::Reader<&'b [u8]>,
    row: StringRecord,
    is_at_end: bool,
}

impl<'b> RowReader<'b> {
    /// Creates a reader and reads the first row. Fails if the row is not UTF-8.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<RowReader<'b>, String> {
        let file = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let mut reader = RowReader { file, row: StringRecord::new(), is_at_end: false };
        reader.advance()?;
        Ok(reader)
    }

    /// Reads the next row. Fails if the row is not UTF-8.
    pub(crate) fn advance(&mut self) -> Result<(), String> {
        self.is_at_end = !self.file.read_record(&mut self.row).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The next row; `None` at the end.
    pub(crate) fn next(&self) -> Option<&StringRecord> {
        (!self.is_at_end).then_some(&self.row)
    }

    /// Reads rows up to the first row that does not start with the fields `begin`. All texts of a row must be in `texts`.
    /// Fails if a row is malformed. The message contains the column.
    pub(crate) fn read<'a, R: Columns<'a>>(&mut self, begin: &[&str], texts: &[&'a str]) -> Result<Vec<R>, String> {
        let mut rows = Vec::new();
        while let Some(record) = self.next()
            && record.iter().take(begin.len()).eq(begin.iter().copied())
        {
            let mut fields = Fields { record, read: 0, texts };
            let name = match R::read(&mut fields) {
                Some(row) if fields.read == record.len() => {
                    rows.push(row);
                    self.advance()?;
                    continue;
                }
                Some(_) => "end of the row".to_owned(),
                None => R::columns(Column::default()).swap_remove(fields.read - 1).name,
            };
            return Err(format!("a row has an invalid or missing `{name}`"));
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
