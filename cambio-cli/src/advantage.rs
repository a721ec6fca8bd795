//! `cambio advantage`.

use std::io::Write;
use std::path::Path;

use cambio_agents::{BlueprintName, Roster, WordEnum as _};
use cambio_core::Rules;
use cambio_core::rng::Seed;
use cambio_exec::Executor;
use cambio_sim::{AdvantageExperiment, AdvantageResult, RoundError, read_rules};
use cambio_stats::Interval;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::run::{stop_on_signal, threads};
use crate::say::{count, say, stdout};
use crate::seeds::{seed_of, warn_if_tuned_on};
use crate::setting::player;
use crate::solve::Format;
use crate::tables::{ALL_AGREE, note_few};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent whose decisions are measured
    agent: String,
    /// The policy to compare with, which also plays in the other seats: `learned`, or a heuristic such as `sharp`
    #[arg(long, value_name = "POLICY", default_value = "learned")]
    over: String,
    /// The rules: a preset or a rule file. One round is played on each deal
    #[arg(long, default_value = "classic")]
    rules: String,
    /// The number of seats
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = crate::setting::seats)]
    seats: usize,
    /// The number of deals; each is played once with the agent in each seat
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=AdvantageExperiment::MOST_DEALS))]
    deals: u64,
    /// The number of playouts after each of the two decisions, wherever the agent and the policy differ
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    playouts: u32,
    /// The seed of the deals: a whole number or any text [default: the name of the command]
    #[arg(long, value_name = "SEED", value_parser = cambio_sim::read_seed)]
    seed: Option<Seed>,
    /// The number of threads; 0 means one for each core. The result does not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Args {
    fn seed(&self) -> Seed {
        self.seed.unwrap_or_else(|| seed_of("advantage"))
    }
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let rules = read_rules(&args.rules, Path::new("."))?;
    let agent = player(roster, "the agent", &args.agent)?;
    let over = policy(&args.over)?;
    let Args { seats, deals, playouts, .. } = *args;
    let seed = args.seed();
    warn_if_tuned_on(seed, &[agent.to_string()], None);
    let advantages = AdvantageExperiment { rules: &rules, seats, agent: &agent, over: &over, deals, playouts, seed };
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Failed)?);
    let progress = ProgressDisplay::spinner(args.quiet);
    let worth = advantages.play(&executor, |played| progress.status(|| format!("{played} of {deals} deals")));
    progress.finish();
    let worth = match worth {
        Ok(worth) => worth,
        Err(error @ RoundError::Round { .. }) => {
            say!("fault: {agent}: {error}");
            return Ok(Exit::Fault);
        }
        Err(error) => return Err(error.into()),
    };
    let mut out = stdout();
    match args.format {
        Format::Json => writeln!(out, "{}", json(args, &rules, &agent.to_string(), &worth))?,
        Format::Text => print(args, &rules, &agent.to_string(), &worth, &mut out)?,
    }
    Ok(Exit::Done)
}

fn policy(word: &str) -> Result<cambio_agents::Blueprint, String> {
    let allowed = || format!("--over must be one of {}, found `{word}`", BlueprintName::WORDS.join(", "));
    BlueprintName::named(word).map(BlueprintName::policy).ok_or_else(allowed)
}

fn json(args: &Args, rules: &Rules, agent: &str, worth: &AdvantageResult) -> serde_json::Value {
    let interval = |interval: &Interval| json!({ "mean": interval.mean, "half_width": interval.half_width() });
    let asked: Vec<serde_json::Value> = worth
        .asked
        .iter()
        .map(|asked| {
            json!({
                "decision": asked.what, "times_per_round": asked.times, "differs_per_round": asked.otherwise,
                "advantage": interval(&asked.advantage),
            })
        })
        .collect();
    json!({
        "rules": rules.name(), "seats": args.seats, "agent": agent, "over": args.over, "deals": args.deals,
        "playouts": args.playouts, "seed": args.seed().to_string(), "results": interval(&worth.results),
        "decisions": interval(&worth.decisions), "asked": asked,
    })
}

/// A mean with its interval, in percent of a win. If all deals agree, the interval is not symmetric.
fn percent(interval: &Interval) -> String {
    let text = match (interval.ends(), interval.half_width()) {
        (Some((low, high)), _) if interval.error == Some(0.0) => {
            format!("({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
        }
        (_, Some(half)) => format!("± {:.2}", 100.0 * half),
        _ => "± –".to_owned(),
    };
    format!("{:+7.2} {text}", 100.0 * interval.mean)
}

fn print(
    args: &Args,
    rules: &Rules,
    agent: &str,
    worth: &AdvantageResult,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let Args { over, seats, deals, .. } = args;
    writeln!(out, "{agent} against {over} on {}, {seats} seats, {}", rules.name(), count(*deals, "deal"))?;
    writeln!(out, "decision         per round     differs   gain in win share, %")?;
    for asked in &worth.asked {
        let share = 100.0 * asked.otherwise / asked.times;
        writeln!(out, "{:<17} {:8.2} {share:9.1} %   {}", asked.what, asked.times, percent(&asked.advantage))?;
    }
    writeln!(out, "all decisions                          {}", percent(&worth.decisions))?;
    writeln!(out, "results: win share minus 1 / seats     {}", percent(&worth.results))?;
    writeln!(out)?;
    writeln!(out, "per round: number of decisions; differs: share of them that differ from {over}'s;")?;
    writeln!(out, "gain: per round, from the decisions that differ, if {over} plays the rest of")?;
    writeln!(out, "the round in all seats; 95 % intervals, clustered by deal.")?;
    note_few(std::iter::once(*deals), out)?;
    if worth.asked.iter().any(|asked| asked.advantage.error == Some(0.0)) {
        writeln!(out, "–: {ALL_AGREE}.")?;
    }
    Ok(())
}
