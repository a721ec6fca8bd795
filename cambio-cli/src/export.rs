//! `cambio export`.

use std::path::{Path, PathBuf};

use cambio_sim::StoredRun;

use crate::exit::{CliResult, Exit};
use crate::say::say;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder
    folder: PathBuf,
    /// The format of the files
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The folder for the exported files; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Format {
    /// matches.parquet, rounds.parquet and players.parquet; requires a program with the Cargo feature `parquet`
    #[default]
    Parquet,
}

pub(super) fn run(args: &Args) -> CliResult {
    let stored = StoredRun::open(&args.folder)?;
    match args.format {
        Format::Parquet => parquet(&stored, &args.out)?,
    }
    let extent = stored.extent();
    if !extent.is_whole() {
        say!("note: the run is not complete; {} of {} batches are exported", extent.batches, extent.of);
    }
    Ok(Exit::Done)
}

#[cfg(feature = "parquet")]
fn parquet(stored: &StoredRun, out: &Path) -> Result<(), cambio_sim::RunError> {
    cambio_sim::write_parquet(stored, out)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &StoredRun, _: &Path) -> Result<(), &'static str> {
    Err("this program was built without the feature `parquet`; \
         `cargo install --profile dist --path cambio-cli --features parquet` builds a program with it")
}
