//! `cambio schema`, `cambio completions` and `cambio man`: files for shells and editors.

use std::io::Write as _;
use std::path::PathBuf;

use cambio_sim::Experiment;

use crate::exit::{CliResult, Exit};

#[derive(Debug, clap::Args)]
pub(super) struct CompletionArgs {
    /// The shell for which the completions are printed
    shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The folder for the pages; it is created if it does not exist
    folder: PathBuf,
}

pub(super) fn schema() -> CliResult {
    writeln!(std::io::stdout().lock(), "{:#}", Experiment::schema())?;
    Ok(Exit::Done)
}

pub(super) fn completions(args: &CompletionArgs, mut command: clap::Command) -> CliResult {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "cambio", &mut text);
    std::io::stdout().lock().write_all(&text)?;
    Ok(Exit::Done)
}

pub(super) fn man(args: &ManArgs, command: clap::Command) -> CliResult {
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| format!("cannot create {}: {error}", args.folder.display()))?;
    clap_mangen::generate_to(command, &args.folder)
        .map_err(|error| format!("cannot write to {}: {error}", args.folder.display()))?;
    Ok(Exit::Done)
}
