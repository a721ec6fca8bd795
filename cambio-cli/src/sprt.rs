//! `cambio sprt`.

use std::io::Write as _;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_sim::sprt::{Question, Scale};
use cambio_sim::{Executor, write_whole};
use cambio_stats::Support;
use cambio_stats::sprt::Verdict;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::progress::Progress;
use crate::setting::SettingArgs;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent that is tested
    agent: String,
    /// The opponent
    other: String,
    #[command(flatten)]
    setting: SettingArgs,
    /// The first hypothesis: the agent is better than the opponent by ELO points
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    elo0: f64,
    /// The second hypothesis: it is better by ELO points. It must be above the first
    #[arg(long, value_name = "ELO", default_value_t = 10.0, allow_negative_numbers = true)]
    elo1: f64,
    /// Use normalized Elo: the score divided by the standard deviation of a game
    #[arg(long)]
    normalized: bool,
    /// The probability of accepting the second hypothesis if the first holds
    #[arg(long, default_value_t = 0.05, value_parser = crate::setting::probability)]
    alpha: f64,
    /// The probability of accepting the first hypothesis if the second holds
    #[arg(long, default_value_t = 0.05, value_parser = crate::setting::probability)]
    beta: f64,
    /// Stop undecided after N deals
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    deals: u64,
    /// Write the JSON object of --format json into this file, too; it must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the answer is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// The largest Elo difference: beyond it one side always wins.
const MOST_ELO: f64 = 5000.0;

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    for (name, elo) in [("elo0", args.elo0), ("elo1", args.elo1)] {
        if !elo.is_finite() || elo.abs() > MOST_ELO {
            return Err(format!("--{name} is {elo}; allowed is a number from -{MOST_ELO} to {MOST_ELO}").into());
        }
    }
    if args.elo1 <= args.elo0 {
        return Err(format!("--elo1 is {}; allowed is more than --elo0, {}", args.elo1, args.elo0).into());
    }
    if args.alpha + args.beta >= 1.0 {
        let (alpha, beta) = (args.alpha, args.beta);
        return Err(format!("--alpha is {alpha} and --beta {beta}; allowed is less than 1 together").into());
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.exists()) {
        return Err(
            format!("{} exists; the answer is written only to a file that does not exist", out.display()).into()
        );
    }
    let scale = if args.normalized { Scale::Normalized } else { Scale::Logistic };
    let (elo_0, elo_1, alpha, beta) = (args.elo0, args.elo1, args.alpha, args.beta);
    let question = Question { elo_0, elo_1, scale, alpha, beta, most_deals: args.deals };
    let executor = Executor::new(args.setting.threads)?.with_cancel(crate::run::stop_on_signal(Exit::Failed)?);
    let progress = Progress::spinner(args.setting.quiet);
    let tell = |deals: u64, ratio: f64| progress.status(|| format!("{deals} deals, log likelihood ratio {ratio:+.2}"));
    let setting = args.setting.setting();
    let answer = question.ask(&setting, roster, &executor, [&args.agent, &args.other], tell)?;
    progress.finish();
    let word = if args.normalized { "normalized Elo" } else { "Elo" };
    let score = answer.scores.interval(2.0, Support::Share);
    let mut out = std::io::stdout().lock();
    if args.format == Format::Json || args.out.is_some() {
        let verdict = match answer.verdict {
            Verdict::First => "first",
            Verdict::Second => "second",
            Verdict::Undecided => "undecided",
        };
        let told = json!({
            "version": env!("CARGO_PKG_VERSION"), "estimate": answer.estimate.map(|found| found.median),
            "estimate_low": answer.estimate.map(|found| found.low), "estimate_high": answer.estimate.map(|found| found.high),
            "agent": args.agent, "other": args.other, "rules": setting.rules, "seats": setting.seats,
            "seed": setting.seed.to_string(), "elo_0": elo_0, "elo_1": elo_1, "normalized": args.normalized,
            "alpha": alpha, "beta": beta, "verdict": verdict, "log_likelihood_ratio": answer.ratio,
            "bounds": [answer.bounds.0, answer.bounds.1], "deals": answer.deals, "matches": answer.matches,
            "counts": answer.counts, "score": score.map(|score| score.mean),
            "score_low": score.and_then(|score| score.low()), "score_high": score.and_then(|score| score.high()),
        });
        if let Some(file) = &args.out {
            write_whole(file, format!("{told:#}\n").as_bytes())?;
        }
        if args.format == Format::Json {
            writeln!(out, "{told}")?;
            return Ok(Exit::Done);
        }
    }
    let (agent, other) = (&args.agent, &args.other);
    match answer.verdict {
        Verdict::Second => writeln!(out, "{agent} over {other}: {elo_1} {word} accepted, {elo_0} rejected")?,
        Verdict::First => writeln!(out, "{agent} over {other}: {elo_0} {word} accepted, {elo_1} rejected")?,
        Verdict::Undecided => writeln!(out, "undecided between {elo_0} and {elo_1} {word}")?,
    }
    let (low, high) = answer.bounds;
    writeln!(out, "  log likelihood ratio {:+.3}, bounds {low:+.3} and {high:+.3}", answer.ratio)?;
    writeln!(out, "  {} deals, {} matches; error probabilities {alpha} and {beta}", answer.deals, answer.matches)?;
    if let Some(found) = answer.estimate {
        writeln!(out, "  score {:.4} ({:.4} to {:.4}), corrected for stopping", found.median, found.low, found.high)?;
    }
    if let Some(score) = score {
        writeln!(out, "  the mean itself is {:.4}, which stopping early makes too extreme", score.mean)?;
    }
    Ok(Exit::Done)
}
