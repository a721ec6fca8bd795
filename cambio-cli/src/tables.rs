//! Prints the tables of a run for people or for programs.

use std::io::{self, ErrorKind, Write as _};

use cambio_sim::table::Table;
use cambio_sim::{Derived, Plan, Timing};

use crate::say::stdout;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(super) enum Format {
    /// Aligned text for people
    #[default]
    Table,
    /// CSV; of a run, summary.csv
    Csv,
    /// JSON; of a run, an object with the rows of all derived files
    Json,
    /// Markdown
    Md,
}

/// Why a mean has no interval although there are several deals.
pub(super) const ALL_AGREE: &str = "all deals agree, so no error can be estimated";

pub(super) fn print(
    plan: &Plan,
    derived: &Derived,
    timing: &Timing,
    format: Format,
) -> Result<(), Box<dyn std::error::Error>> {
    if format == Format::Json {
        let text = serde_json::to_string_pretty(derived)? + "\n";
        return unless_closed(stdout().write_all(text.as_bytes()), "table");
    }
    print_rows(&derived.summary, format, || derived.tables(plan, timing))
}

/// The result of printing `what`. A closed output is not an error.
pub(super) fn unless_closed(printed: io::Result<()>, what: &str) -> Result<(), Box<dyn std::error::Error>> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot print the {what}: {error}").into()),
        _ => Ok(()),
    }
}

/// Prints tables of `rows`.
pub(super) fn print_rows<R: cambio_sim::Row + serde::Serialize>(
    rows: &[R],
    format: Format,
    shown: impl Fn() -> cambio_sim::table::Tables,
) -> Result<(), Box<dyn std::error::Error>> {
    let text = match format {
        Format::Table => shown().text(),
        Format::Md => shown().markdown(),
        Format::Csv => Table::of(rows).csv(),
        Format::Json => serde_json::to_string_pretty(rows)? + "\n",
    };
    unless_closed(stdout().write_all(text.as_bytes()), "table")
}
