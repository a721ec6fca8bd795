//! `cambio merge`.

use std::path::PathBuf;

use cambio_report::PAGES;
use cambio_sim::merge;

use crate::exit::{CliResult, Exit};
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folders of all shards, in any order
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// The folder for the merged run; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args) -> CliResult {
    let (stored, derived) = merge(&args.parts, &args.out, PAGES)?;
    tables::print(&stored.plan, &derived, args.format)?;
    Ok(Exit::Done)
}
