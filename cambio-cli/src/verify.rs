//! `cambio verify`.

use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_sim::ReplayScope;

use crate::exit::CliResult;
use crate::run_check::verify_run;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of a run or a benchmark
    folder: PathBuf,
    /// Replay N batches, spread evenly over the run
    #[arg(long, value_name = "N", default_value_t = 4)]
    sample: u64,
    /// Replay every batch
    #[arg(long, conflicts_with = "sample")]
    all: bool,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let replay = if args.all { ReplayScope::All } else { ReplayScope::Sample(args.sample) };
    #[cfg(feature = "learn")]
    if cambio_report::Bench::is_in(&args.folder) {
        return crate::bench::verify(&args.folder, replay, roster);
    }
    let is_in = |file: &str| args.folder.join(file).exists();
    let shown = args.folder.display();
    match () {
        () if is_in("spec.lock.json") || is_in("manifest.json") => {}
        () if is_in("recipe.toml") => {
            return Err(format!(
                "{shown} is a training, which has no rows to check; `cambio learn {shown}/recipe.toml --out OTHER` repeats it"
            )
            .into());
        }
        () if is_in("study.json") => {
            return Err(format!(
                "{shown} is a study, which has no rows to check; its command, with another --out, repeats it"
            )
            .into());
        }
        () => {}
    }
    verify_run(&args.folder, replay, roster)
}
