//! `cambio advise`.

use cambio_sim::AdviceOptions;

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::tables::{Format, print_rows};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The position, as one line: `cambio replay --position` prints one, and the book describes the text
    position: String,
    #[command(flatten)]
    options: AdviceOptions,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Args) -> CliResult {
    let cancel = stop_on_signal(Exit::Interrupted)?;
    let shown = args.options.advise(&args.position, &|| !cancel.is_cancelled())?;
    print_rows(&shown.rows(), args.format, || shown.tables())?;
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}
