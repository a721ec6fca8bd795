//! `cambio sprt`.

use std::io::Write;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_sim::StoredRun;
use cambio_sim::sprt::{EloScale, SprtQuestion, SprtResult, StoredDuel, StoredSprtResult};
use cambio_stats::Support;
use cambio_stats::sprt::{FIRST_LOOK, Verdict};
use cambio_stats::stopping::MedianEstimate;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;
use crate::progress::ProgressDisplay;
use crate::say::{count, stdout};
use crate::seeds::warn_if_tuned_on;
use crate::setting::SettingArgs;
use crate::solve::Format;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent to test
    agent: String,
    /// The opponent
    other: String,
    /// Read the deals of this run in order instead of playing; --rules and --seats select one of the run's tables
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rounds", "seed", "threads", "luck"])]
    run: Option<PathBuf>,
    #[command(flatten)]
    setting: SettingArgs,
    /// The hypothesis H0: the agent is better than the opponent by ELO Elo points
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    elo0: f64,
    /// The hypothesis H1: the agent is better than the opponent by ELO Elo points; ELO must be above --elo0
    #[arg(long, value_name = "ELO", default_value_t = 10.0, allow_negative_numbers = true)]
    elo1: f64,
    /// Use normalized Elo, which measures the score in standard deviations of a game
    #[arg(long)]
    normalized: bool,
    /// The probability of accepting H1 if H0 is true
    #[arg(long, default_value_t = 0.05, value_parser = crate::setting::probability)]
    alpha: f64,
    /// The probability of accepting H0 if H1 is true
    #[arg(long, default_value_t = 0.05, value_parser = crate::setting::probability)]
    beta: f64,
    /// Stop without a decision after N deals
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    deals: u64,
    /// Also write the JSON object of --format json to this file; it must not exist. - is standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The largest difference in Elo that is accepted. Beyond it, the stronger side practically always wins.
const MOST_ELO: f64 = 5000.0;

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    for (name, elo) in [("elo0", args.elo0), ("elo1", args.elo1)] {
        if !elo.is_finite() || elo.abs() > MOST_ELO {
            return Err(format!("--{name} must be a number from -{MOST_ELO} to {MOST_ELO}, found {elo}").into());
        }
    }
    if args.elo1 <= args.elo0 {
        return Err(format!("--elo1 must be above --elo0 ({}), found {}", args.elo0, args.elo1).into());
    }
    if args.alpha + args.beta >= 1.0 {
        let (alpha, beta) = (args.alpha, args.beta);
        return Err(format!("--alpha and --beta must add up to less than 1, found {alpha} and {beta}").into());
    }
    let file = args.out.as_deref().map(OutputFile::reserve).transpose()?;
    let scale = if args.normalized { EloScale::Normalized } else { EloScale::Logistic };
    let (elo_0, elo_1, alpha, beta) = (args.elo0, args.elo1, args.alpha, args.beta);
    let question = SprtQuestion { elo_0, elo_1, scale, alpha, beta, most_deals: args.deals };
    let (report, stored) = match &args.run {
        Some(folder) => stored(args, folder, &question, roster)?,
        None => (played(args, &question, roster)?, None),
    };
    let json = || json(args, &report, stored.as_ref());
    if let Some(file) = file {
        file.write(|file| writeln!(file, "{:#}", json()))?;
    }
    let mut out = stdout();
    if args.format == Format::Json {
        writeln!(out, "{}", json())?;
    } else {
        print(args, &report.answer, stored.as_ref(), &mut out)?;
    }
    Ok(Exit::Done)
}

/// The result of a test, with the rules, seats and seed of the test.
struct SprtReport {
    rules: String,
    seats: usize,
    seed: String,
    answer: SprtResult,
}

/// Plays deals until the test ends.
fn played(args: &Args, question: &SprtQuestion, roster: &Roster) -> Result<SprtReport, Box<dyn std::error::Error>> {
    let executor = Executor::new(args.setting.threads)?.with_cancel(crate::run::stop_on_signal(Exit::Failed)?);
    let progress = ProgressDisplay::spinner(args.setting.quiet);
    let tell = |deals: u64, ratio: f64| progress.status(|| format!("{deals} deals, log likelihood ratio {ratio:+.2}"));
    let setting = args.setting.setting("sprt");
    let agents = [&args.agent, &args.other]
        .map(|spec| roster.parse(spec).map_or_else(|_| spec.clone(), |agent| agent.to_string()));
    warn_if_tuned_on(setting.seed, &agents, None);
    let answer = question.ask(&setting, roster, &executor, [&args.agent, &args.other], tell)?;
    progress.finish();
    Ok(SprtReport { rules: setting.rules, seats: setting.seats, seed: setting.seed.to_string(), answer })
}

/// Reads the deals of a run until the test ends.
fn stored(
    args: &Args,
    folder: &Path,
    question: &SprtQuestion,
    roster: &Roster,
) -> Result<(SprtReport, Option<Stored>), Box<dyn std::error::Error>> {
    let run = StoredRun::open(folder)?;
    let (rules, seats) = (args.setting.rules.as_deref(), args.setting.seats);
    let duel = StoredDuel::find(&run, roster, [&args.agent, &args.other], rules, seats)?;
    let StoredSprtResult { answer, last_deal, of_deals, void_deals } = question.read(&duel)?;
    let cell = duel.cell();
    warn_if_tuned_on(run.plan.seed, &duel.labels(), Some(folder));
    let (rules, seed) = (cell.rules.name().to_owned(), run.plan.seed.to_string());
    let stored = Stored { run_id: run.plan.run_id(), last_deal, of_deals, void_deals };
    Ok((SprtReport { rules, seats: cell.seats, seed, answer }, Some(stored)))
}

struct Stored {
    run_id: String,
    last_deal: Option<u64>,
    of_deals: u64,
    void_deals: u64,
}

fn json(args: &Args, report: &SprtReport, stored: Option<&Stored>) -> serde_json::Value {
    let SprtReport { rules, seats, seed, answer } = report;
    let score = answer.scores.interval(2.0, Support::Share);
    let adjusted = answer.adjusted.as_ref().and_then(|_| answer.mean());
    let verdict = match answer.verdict {
        Verdict::First => "first",
        Verdict::Second => "second",
        Verdict::Undecided => "undecided",
    };
    let mut json = json!({
        "version": env!("CARGO_PKG_VERSION"), "estimate": answer.estimate.map(|found| found.median),
        "estimate_low": answer.estimate.map(|found| found.low), "estimate_high": answer.estimate.map(|found| found.high),
        "agent": args.agent, "other": args.other, "rules": rules, "seats": seats,
        "seed": seed, "elo_0": args.elo0, "elo_1": args.elo1, "normalized": args.normalized,
        "alpha": args.alpha, "beta": args.beta, "verdict": verdict, "log_likelihood_ratio": answer.ratio,
        "bounds": [answer.bounds.0, answer.bounds.1], "deals": answer.deals, "matches": answer.matches,
        "counts": answer.counts, "score": score.map(|score| score.mean),
        "score_adjusted": adjusted.map(|score| score.mean),
    });
    if let Some(stored) = stored {
        json["run_id"] = stored.run_id.as_str().into();
        json["run_deals"] = stored.of_deals.into();
        json["void_deals"] = stored.void_deals.into();
        json["last_deal"] = stored.last_deal.into();
    }
    json
}

fn print(args: &Args, answer: &SprtResult, stored: Option<&Stored>, out: &mut impl Write) -> std::io::Result<()> {
    let Args { agent, other, elo0, elo1, alpha, beta, .. } = args;
    let word = if args.normalized { "normalized Elo" } else { "Elo" };
    match answer.verdict {
        Verdict::Second => {
            let claim = match *elo0 {
                0.0 => "is better than".to_owned(),
                elo if elo > 0.0 => format!("is more than {elo} {word} better than"),
                elo => format!("is not {} {word} worse than", -elo),
            };
            writeln!(out, "{agent} {claim} {other}: H1 ({elo1} {word}) accepted, H0 ({elo0} {word}) rejected")?;
        }
        Verdict::First => {
            let claim = match *elo1 {
                0.0 => "is worse than".to_owned(),
                elo if elo > 0.0 => format!("is not shown to be {elo} {word} better than"),
                elo => format!("is more than {} {word} worse than", -elo),
            };
            writeln!(out, "{agent} {claim} {other}: H0 ({elo0} {word}) accepted, H1 ({elo1} {word}) rejected")?;
        }
        Verdict::Undecided => {
            let few = if answer.deals < FIRST_LOOK {
                format!("; a decision needs at least {FIRST_LOOK} deals")
            } else {
                String::new()
            };
            writeln!(out, "undecided between {elo0} and {elo1} {word} after {}{few}", count(answer.deals, "deal"))?;
        }
    }
    let (low, high) = answer.bounds;
    writeln!(out, "  log likelihood ratio {:+.3}, bounds {low:+.3} and {high:+.3}", answer.ratio)?;
    let (deals, matches) = (count(answer.deals, "deal"), count(answer.matches, "match"));
    writeln!(out, "  {deals}, {matches}; error probabilities {alpha} and {beta}")?;
    // Before the second look, the test could not stop early; far from both hypotheses, the mean is the estimate.
    let is_mean =
        |found: &MedianEstimate| answer.mean().is_some_and(|score| score.mean.total_cmp(&found.median).is_eq());
    let is_corrected = answer.estimate.as_ref().is_some_and(|found| !is_mean(found));
    let is_biased = is_corrected && answer.verdict != Verdict::Undecided;
    if let Some(found) = answer.estimate {
        let corrected = match answer.verdict {
            _ if is_corrected => ", corrected for stopping",
            Verdict::Undecided => "",
            _ if answer.deals <= FIRST_LOOK => "",
            _ => ", not corrected for stopping, because here the correction is not valid: the score may be biased",
        };
        writeln!(out, "  score {:.4} ({:.4} to {:.4}){corrected}", found.median, found.low, found.high)?;
    }
    let mean = answer.scores.interval(2.0, Support::Share).map(|score| score.mean);
    match mean {
        Some(mean) if answer.counts.contains(&answer.deals) => {
            let why = if (mean - 0.5).abs() < 1e-9 {
                ": the agents decide alike, or the results of each deal cancel out"
            } else {
                ", so the spread between deals cannot be estimated"
            };
            writeln!(out, "  every deal has the score {mean:.4}{why}")?;
        }
        Some(mean) => {
            let adjusted = answer.mean().filter(|_| answer.adjusted.is_some());
            let adjusted =
                adjusted.map_or_else(String::new, |score| format!(", without the luck of the cards {:.4}", score.mean));
            let biased = if is_biased { " (biased, because the test stopped early)" } else { "" };
            writeln!(out, "  raw mean {mean:.4}{adjusted}{biased}")?;
        }
        None => {}
    }
    stored.map_or(Ok(()), |stored| stored.print(answer.verdict, out))
}

impl Stored {
    fn print(&self, verdict: Verdict, out: &mut impl Write) -> std::io::Result<()> {
        let (of, read) = (self.of_deals, self.last_deal.map_or(0, |deal| deal + 1));
        match self.last_deal {
            Some(_) if verdict != Verdict::Undecided => {
                writeln!(out, "  stopped after {read} of the run's {of} deals")?;
            }
            _ if read == of => writeln!(out, "  read all {of} deals of the run; a decision needs more")?,
            _ => writeln!(out, "  read the first {read} of the run's {of} deals (--deals)")?,
        }
        if self.void_deals > 0 {
            writeln!(out, "  {} of them left out because one of their blocks is void", self.void_deals)?;
        }
        Ok(())
    }
}
