//! Conversion of a run's CSV files to Parquet.
//!
//! The columns and their types are declared by the rows. Words are dictionary-encoded, numbers by seat are lists, and an
//! empty field is null. Rows are read batch by batch, gathered by column, and written when they fill a row group. The
//! memory in use is therefore one batch and one row group of each file, regardless of the length of the run. Only the ledger
//! and the footers, a few kilobytes per row group, grow with the run.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cambio_exec::build_aside;
use csv::StringRecord;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::stored::StoredRun;
use crate::disk::RunError;
use crate::rows::{Column, ColumnKind, CsvFile, FILES, RowReader};

/// The number of rows in a row group: large enough for parallel readers, small enough for memory.
const GROUP: usize = 1 << 16;

/// Writes `matches.parquet`, `rounds.parquet` and `players.parquet` into a new folder. They contain the rows that the ledger
/// covers, checked against its hashes.
///
/// The metadata of each file contain the run id under the key `cambio.run_id`. The folder is named `NAME.new` until all three
/// files are on disk.
///
/// # Errors
/// If either path already exists, the rows cannot be read or do not match the ledger, or the files cannot be written.
pub fn write_parquet(stored: &StoredRun, out: &Path) -> Result<(), RunError> {
    build_aside(out, |new| {
        let run = stored.plan.run_id();
        let create =
            |file: CsvFile| ParquetTable::create(file.name, file.columns(stored.plan.measures_luck()), &run, new);
        let mut tables = FILES.into_iter().map(create).collect::<Result<Vec<_>, _>>()?;
        for batch in stored.read_batches()? {
            let (entry, files) = batch?;
            for (table, rows) in tables.iter_mut().zip(&files) {
                let source = stored.path.join(table.source);
                let bad = |what: String| RunError::damaged(&source, format!("batch {}: {what}", entry.batch));
                let mut reader = RowReader::new(rows).map_err(bad)?;
                while let Some(row) = reader.next() {
                    table.gather(row).map_err(|column| bad(format!("a row has an invalid or missing `{column}`")))?;
                    if table.rows == GROUP {
                        table.write_group()?;
                    }
                    reader.advance().map_err(bad)?;
                }
            }
        }
        tables.into_iter().try_for_each(ParquetTable::finish)
    })
}

struct ParquetTable {
    /// The name of the CSV file with the same rows.
    source: &'static str,
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    columns: Vec<ColumnChunk>,
    rows: usize,
}

impl ParquetTable {
    /// Creates the Parquet file for a CSV file in a folder.
    fn create(source: &'static str, columns: Vec<Column>, run: &str, folder: &Path) -> Result<ParquetTable, RunError> {
        let name = source.trim_end_matches(".csv");
        let path = folder.join(format!("{name}.parquet"));
        let fields: String = columns.iter().map(schema).collect();
        let schema = parse_message_type(&format!("message {name} {{ {fields} }}")).expect("the schema is valid");
        let compression =
            if cfg!(feature = "zstd") { Compression::ZSTD(ZstdLevel::default()) } else { Compression::SNAPPY };
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(GROUP))
            .set_key_value_metadata(Some(vec![KeyValue::new("cambio.run_id".to_owned(), run.to_owned())]));
        for column in columns.iter().filter(|column| column.kind == ColumnKind::Print) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), false);
        }
        let file = File::create_new(&path).map_err(RunError::unwritable(&path))?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()));
        let writer = writer.map_err(|error| not_written(&path, error))?;
        Ok(ParquetTable { source, writer, path, columns: columns.into_iter().map(ColumnChunk::new).collect(), rows: 0 })
    }

    /// Adds a row. The error is the name of the column whose field is missing or malformed.
    fn gather(&mut self, row: &StringRecord) -> Result<(), &'static str> {
        let mut fields = row.iter();
        for gathered in &mut self.columns {
            fields.next().and_then(|field| gathered.take(field)).ok_or(gathered.column.name)?;
        }
        self.rows += 1;
        if fields.next().is_some() { Err("end of the row") } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), RunError> {
        self.rows = 0;
        let columns = &mut self.columns;
        let write = || {
            let mut group = self.writer.next_row_group()?;
            for gathered in columns {
                let writer = group.next_column()?.expect("the schema has these columns");
                gathered.write(writer)?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| not_written(&self.path, error))
    }

    fn finish(mut self) -> Result<(), RunError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let file = self.writer.into_inner().map_err(|error| not_written(&self.path, error))?;
        file.sync_all().map_err(RunError::unwritable(&self.path))
    }
}

fn not_written(path: &Path, error: ParquetError) -> RunError {
    RunError::unwritable(path)(error.into())
}

fn schema(column: &Column) -> String {
    let Column { name, kind, may_be_empty, .. } = column;
    let list = |element: &str| {
        format!("required group {name} (LIST) {{ repeated group list {{ required {element} element; }} }} ")
    };
    let single = |physical: &str, logical: &str| {
        format!("{} {physical} {name} {logical}; ", if *may_be_empty { "optional" } else { "required" })
    };
    match kind {
        ColumnKind::Word | ColumnKind::Print => single("binary", "(STRING)"),
        ColumnKind::U32 => single("int32", "(INTEGER(32,false))"),
        ColumnKind::U64 => single("int64", "(INTEGER(64,false))"),
        ColumnKind::I64 => single("int64", "(INTEGER(64,true))"),
        ColumnKind::F64 => single("double", ""),
        ColumnKind::Bool => single("boolean", ""),
        ColumnKind::I32BySeat => list("int32"),
        ColumnKind::F64BySeat => list("double"),
    }
}

/// The cells of one column in the current row group.
struct ColumnChunk {
    column: Column,
    /// The values of the cells that are not empty.
    values: ColumnValues,
    /// Parquet's definition levels: 1 for a value, 0 for an empty cell.
    levels: Vec<i16>,
    /// Parquet's repetition levels: 1 if a value continues the list of the previous value.
    follows: Vec<i16>,
    /// The distinct words of this row group, so that equal words share their bytes.
    words: BTreeMap<Box<str>, ByteArray>,
}

/// Values in Parquet's physical types: unsigned integers are stored as signed integers with the same bits.
enum ColumnValues {
    Texts(Vec<ByteArray>),
    Words32(Vec<i32>),
    Words64(Vec<i64>),
    Doubles(Vec<f64>),
    Truths(Vec<bool>),
}

impl ColumnChunk {
    fn new(column: Column) -> ColumnChunk {
        let values = match column.kind {
            ColumnKind::Word | ColumnKind::Print => ColumnValues::Texts(Vec::new()),
            ColumnKind::U32 | ColumnKind::I32BySeat => ColumnValues::Words32(Vec::new()),
            ColumnKind::U64 | ColumnKind::I64 => ColumnValues::Words64(Vec::new()),
            ColumnKind::F64 | ColumnKind::F64BySeat => ColumnValues::Doubles(Vec::new()),
            ColumnKind::Bool => ColumnValues::Truths(Vec::new()),
        };
        ColumnChunk { column, values, levels: Vec::new(), follows: Vec::new(), words: BTreeMap::new() }
    }

    fn is_by_seat(&self) -> bool {
        matches!(self.column.kind, ColumnKind::I32BySeat | ColumnKind::F64BySeat)
    }

    /// Adds a cell; `None` if it is not valid for the column.
    fn take(&mut self, cell: &str) -> Option<()> {
        if cell.is_empty() {
            self.levels.push(0);
            return self.column.may_be_empty.then_some(());
        }
        if self.is_by_seat() {
            for (index, value) in cell.split(' ').enumerate() {
                self.follows.push(i16::from(index > 0));
                self.take_value(value)?;
            }
            return Some(());
        }
        self.take_value(cell)
    }

    fn take_value(&mut self, text: &str) -> Option<()> {
        self.levels.push(1);
        match &mut self.values {
            ColumnValues::Texts(texts) if self.column.kind == ColumnKind::Print => texts.push(ByteArray::from(text)),
            ColumnValues::Texts(texts) => {
                if !self.words.contains_key(text) {
                    self.words.insert(text.into(), ByteArray::from(text));
                }
                texts.push(self.words[text].clone());
            }
            ColumnValues::Words32(words) if self.column.kind == ColumnKind::U32 => {
                words.push(text.parse::<u32>().ok()?.cast_signed());
            }
            ColumnValues::Words32(words) => words.push(text.parse().ok()?),
            ColumnValues::Words64(words) if self.column.kind == ColumnKind::U64 => {
                words.push(text.parse::<u64>().ok()?.cast_signed());
            }
            ColumnValues::Words64(words) => words.push(text.parse().ok()?),
            ColumnValues::Doubles(numbers) => {
                numbers.push(text.parse().ok().filter(|number: &f64| number.is_finite())?);
            }
            ColumnValues::Truths(truths) => truths.push(text.parse().ok()?),
        }
        Some(())
    }

    /// Writes the gathered cells and clears them.
    fn write(&mut self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = (self.column.may_be_empty || self.is_by_seat()).then_some(&self.levels[..]);
        let follows = self.is_by_seat().then_some(&self.follows[..]);
        match &mut self.values {
            ColumnValues::Texts(texts) => put::<ByteArrayType>(&mut writer, texts, levels, follows)?,
            ColumnValues::Words32(words) => put::<Int32Type>(&mut writer, words, levels, follows)?,
            ColumnValues::Words64(words) => put::<Int64Type>(&mut writer, words, levels, follows)?,
            ColumnValues::Doubles(numbers) => put::<DoubleType>(&mut writer, numbers, levels, follows)?,
            ColumnValues::Truths(truths) => put::<BoolType>(&mut writer, truths, levels, follows)?,
        }
        self.levels.clear();
        self.follows.clear();
        self.words.clear();
        writer.close()
    }
}

fn put<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
    follows: Option<&[i16]>,
) -> Result<(), ParquetError> {
    writer.typed::<T>().write_batch(values, levels, follows)?;
    values.clear();
    Ok(())
}
