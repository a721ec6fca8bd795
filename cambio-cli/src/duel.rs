//! `cambio match`: a tournament without an experiment file.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_sim::{Experiment, RunFolder, SettingOptions};

use crate::exit::CliResult;
use crate::run::{play, refuse_existing, tell_seating};
use crate::setting::{ThreadArgs, in_any_folder};
use crate::study::named;
use crate::tables::Format;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agents. With more agents than seats, every combination plays; with fewer, agents play in several seats
    #[arg(required = true, num_args = 2.., value_name = "AGENT")]
    agents: Vec<String>,
    #[command(flatten)]
    setting: SettingOptions,
    #[command(flatten)]
    threads: ThreadArgs,
    /// The number of deals; each is played in all seatings
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    deals: u64,
    /// Write the rows, tables and report to this folder, which must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The output format of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (ThreadArgs { threads, quiet }, table) = (&args.threads, &args.setting.table);
    table.check().map_err(named)?;
    if let Some(out) = &args.out {
        refuse_existing("--out", out)?;
    }
    let rules = in_any_folder(table.rules())?;
    let experiment = Experiment {
        name: args.agents.join(" against "),
        rules: vec![rules],
        deals: args.deals,
        ..args.setting.experiment("match", &args.agents)
    };
    // The stored experiment file does not contain `records`, as with `cambio run --records`.
    let toml = experiment.clone().in_current_folder()?.to_toml();
    let experiment = Experiment { records: args.out.is_some(), ..experiment };
    let plan = experiment.plan(roster, Path::new("."))?.with_toml(toml);
    if !*quiet {
        tell_seating(&experiment, &plan);
    }
    let folder = args.out.as_ref().map(|out| RunFolder::create(out, &plan)).transpose()?;
    play(&plan, folder, *threads, *quiet, args.format)
}
