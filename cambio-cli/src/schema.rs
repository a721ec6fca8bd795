//! `cambio schema`.

use std::io::Write;

#[cfg(feature = "learn")]
use cambio_learn::{CurveRow, JudgedRow};
use cambio_sim::table::Table;
use cambio_sim::{Column, DocumentedTable, Experiment, documented_tables};

use crate::exit::{CliResult, Exit};
use crate::say::stdout;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print the columns of all CSV files instead: name, type, unit and meaning
    #[arg(long)]
    rows: bool,
    /// Print the JSON Schema of a record instead: a line of records.jsonl
    #[arg(long, conflicts_with = "rows")]
    records: bool,
    /// The format of the columns
    #[arg(long, value_enum, default_value_t, requires = "rows")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Format {
    /// Markdown
    #[default]
    Md,
    /// A list of objects, one for each column
    Json,
}

pub(super) fn run(args: &Args) -> CliResult {
    let mut out = stdout();
    if args.records {
        out.write_all(cambio_core::record::SCHEMA.as_bytes())?;
        return Ok(Exit::Done);
    }
    if !args.rows {
        writeln!(out, "{:#}", Experiment::schema())?;
        return Ok(Exit::Done);
    }
    #[cfg_attr(not(feature = "learn"), expect(unused_mut, reason = "the feature adds tables"))]
    let mut tables = documented_tables();
    #[cfg(feature = "learn")]
    tables.extend([
        DocumentedTable::of::<CurveRow>("learn", "curve.csv"),
        DocumentedTable::of::<JudgedRow>("learn", "judged.csv"),
        DocumentedTable::of::<JudgedRow>("learn", "bound.csv"),
    ]);
    match args.format {
        Format::Md => write_markdown(&tables, &mut out)?,
        Format::Json => {
            let columns: Vec<_> = tables.iter().flat_map(DocumentedTable::listed).collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&columns)?)?;
        }
    }
    Ok(Exit::Done)
}

fn write_markdown(tables: &[DocumentedTable], out: &mut impl Write) -> std::io::Result<()> {
    for DocumentedTable { command, file, row, columns } in tables {
        writeln!(out, "\n## `cambio {command}`: `{file}`\n\n{row}\n")?;
        let line = |Column { name, kind, unit, may_be_empty, meaning }: &Column| {
            let empty = if *may_be_empty { " or empty" } else { "" };
            [format!("`{name}`"), format!("{kind}{empty}"), unit.unwrap_or_default().to_owned(), meaning.clone()]
        };
        let table = Table::shown(["name", "type", "unit", "meaning"], columns.iter().map(line));
        write!(out, "{}", table.markdown())?;
    }
    Ok(())
}
