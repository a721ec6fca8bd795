//! Prints the tables of a run for people or for programs.

use std::io::{self, ErrorKind, IsTerminal as _, Write};

use cambio_sim::table::Table;
use cambio_sim::{Derived, Plan, Timing};

use crate::say::{Stdout, stdout};

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
    let mut out = stdout();
    let printed = match format {
        Format::Table => print_with_bold(&derived.text(plan, timing), &mut out),
        Format::Csv => out.write_all(Table::of(&derived.summary).csv().as_bytes()),
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(derived)?),
        Format::Md => out.write_all(derived.markdown(plan).as_bytes()),
    };
    unless_closed(printed, "table")
}

/// The result of printing `what`. A closed output is not an error.
pub(super) fn unless_closed(printed: io::Result<()>, what: &str) -> Result<(), Box<dyn std::error::Error>> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot print the {what}: {error}").into()),
        _ => Ok(()),
    }
}

/// Prints the text of a run. In a terminal, the best agents are bold: their lines begin with a star, and the figures of a long
/// label are on the next line.
fn print_with_bold(text: &str, out: &mut Stdout) -> io::Result<()> {
    let is_terminal = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    let mut is_best = false;
    for line in text.lines() {
        let is_star = line.starts_with("* ") && !line.starts_with("* best agent");
        is_best = is_terminal && (is_star || is_best && line.starts_with("    "));
        // The only control characters that are not escaped.
        out.get_mut().write_all(if is_best { b"\x1b[1m" } else { b"" })?;
        out.write_all(line.as_bytes())?;
        out.get_mut().write_all(if is_best { b"\x1b[0m" } else { b"" })?;
        writeln!(out)?;
    }
    Ok(())
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
