//! `cambio report`.

use std::path::PathBuf;

use super::tables::{self, Format};
use super::{CliResult, Exit};
use crate::{StoredRun, derive};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run's folder
    folder: PathBuf,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print only; write nothing
    #[arg(long)]
    dry: bool,
}

pub(super) fn run(args: &Args) -> CliResult {
    let stored = StoredRun::open(&args.folder)?;
    if stored.share.is_some() {
        return Err(
            format!("{} is one part of a run; put the parts together with `merge`", args.folder.display()).into()
        );
    }
    let derived = derive(&stored)?;
    if !args.dry {
        derived.write(&args.folder)?;
    }
    tables::print(&stored.plan, &derived, args.format);
    Ok(Exit::Done)
}
