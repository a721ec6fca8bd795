//! `cambio match`: a tournament without an experiment file.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::text::duration;
use cambio_exec::Executor;
use cambio_sim::{Experiment, RunFolder, SettingOptions, equal_time};

use crate::exit::{CliResult, Exit};
use crate::run::{play, refuse_existing, stop_on_signal, tell_seating};
use crate::say::say;
use crate::setting::{ThreadArgs, in_any_folder, positive};
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
    /// Replace the question mark of each agent, as in 'rollout(n=?)', by the whole number with which a decision takes this
    /// many milliseconds on this machine, on average over a match
    #[arg(long, value_name = "MS", value_parser = positive)]
    equal_time: Option<f64>,
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
    let (mut agents, rules) = (args.agents.clone(), vec![rules]);
    if let Some(ms) = args.equal_time {
        let setting = Experiment { rules: rules.clone(), ..args.setting.experiment("match", &[""]) };
        let executor = Executor::new(1)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
        for agent in &mut agents {
            let (spec, seconds) = equal_time(agent, ms / 1000.0, &setting, roster, &executor).map_err(named)?;
            say!("{} per decision: {spec}", duration(seconds));
            *agent = spec;
        }
    } else if let Some(agent) = agents.iter().find(|agent| agent.contains("=?")) {
        return Err(format!("`{agent}` has a question mark; --equal-time finds its number").into());
    }
    let experiment = Experiment {
        name: agents.join(" against "),
        rules,
        deals: args.deals,
        ..args.setting.experiment("match", &agents)
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
