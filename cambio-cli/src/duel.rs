//! `cambio match`: a tournament without a file.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;

use crate::exit::CliResult;
use crate::run::run_passing;
use crate::setting::SettingArgs;
use crate::tables::Format;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agents. At a table with fewer seats every choice of them meets; with more, they sit there several times
    #[arg(required = true, num_args = 2.., value_name = "AGENT")]
    agents: Vec<String>,
    #[command(flatten)]
    setting: SettingArgs,
    /// The number of deals. Each is played in all seatings
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    deals: u64,
    /// Keep the rows, tables and report in this folder, which must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let passing = tempfile::Builder::new().prefix("cambio-").tempdir()?;
    let spec = passing.path().join("match.toml");
    std::fs::write(&spec, experiment(args)?)?;
    let (folder, &SettingArgs { threads, quiet, .. }) = (passing.path().join("run"), &args.setting);
    run_passing(&spec, args.out.as_deref(), &folder, threads, quiet, args.format, roster)
}

/// The experiment as a file would describe it.
fn experiment(args: &Args) -> std::io::Result<String> {
    let SettingArgs { seed, rounds, .. } = &args.setting;
    let rules = args.setting.rules();
    // A rule file is named from here, and an experiment names it from where it lies.
    let rules = if Path::new(rules).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        std::path::absolute(rules)?.display().to_string()
    } else {
        rules.to_owned()
    };
    // JSON's texts are TOML's, too.
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let agents: Vec<String> = args.agents.iter().map(|agent| text(agent)).collect();
    let unit = if *rounds { "unit = \"rounds\"\n" } else { "" };
    Ok(format!(
        "name = {}\nseed = {}\ndeals = {}\nrules = [{}]\nseats = [{}]\nagents = [{}]\n{unit}",
        text(&args.agents.join(" against ")),
        text(&seed.to_string()),
        args.deals,
        text(&rules),
        args.setting.seats(),
        agents.join(", "),
    ))
}
