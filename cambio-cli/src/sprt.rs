//! `cambio sprt`.

use std::io::Write;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_sim::sprt::{SprtOptions, SprtResult, StoredDuel, StoredSprtResult};
use cambio_sim::{StoredRun, StudyDriver};
use cambio_stats::Support;
use cambio_stats::sprt::{FIRST_LOOK, Verdict};
use cambio_stats::stopping::MedianEstimate;

use crate::exit::{CliResult, Exit};
use crate::say::{count, stdout};
use crate::seeds::warn_if_tuned_on;
use crate::setting::ThreadArgs;
use crate::solve::Format;
use crate::study::{Shown, StudyArgs, named, play};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    options: SprtOptions,
    /// Read the deals of this run in order instead of playing; --rules and --seats select one of the run's tables
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rounds", "seed", "threads", "luck", "out"])]
    run: Option<PathBuf>,
    #[command(flatten)]
    study: StudyArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    if let Some(folder) = &args.run {
        return stored(args, folder, roster);
    }
    let StudyArgs { threads: ThreadArgs { threads, quiet }, out } = &args.study;
    let study = |driver: &mut StudyDriver<'_>| args.options.run(roster, driver);
    play((*threads, *quiet), out.as_deref(), args.format, study, |answer| {
        let mut text = Vec::new();
        print(answer, None, &mut text)?;
        Ok(Shown { text, json: answer.to_json(), files: Vec::new() })
    })
}

/// Reads the deals of a run until the test ends.
fn stored(args: &Args, folder: &Path, roster: &Roster) -> CliResult {
    let options = &args.options;
    options.check().map_err(named)?;
    let run = StoredRun::open(folder)?;
    let (rules, seats) = (options.setting.table.rules.as_deref(), options.setting.table.seats);
    let duel = StoredDuel::find(&run, roster, [&options.agent, &options.other], rules, seats)?;
    let StoredSprtResult { answer, last_deal, of_deals, void_deals } = options.read(&duel)?;
    warn_if_tuned_on(run.plan.seed, &duel.labels(), Some(folder));
    let stored = Stored { run_id: run.plan.run_id(), last_deal, of_deals, void_deals };
    let mut out = stdout();
    match args.format {
        Format::Json => writeln!(out, "{}", stored.json(&answer))?,
        Format::Text => print(&answer, Some(&stored), &mut out)?,
    }
    Ok(Exit::Done)
}

struct Stored {
    run_id: String,
    last_deal: Option<u64>,
    of_deals: u64,
    void_deals: u64,
}

fn print(answer: &SprtResult, stored: Option<&Stored>, out: &mut impl Write) -> std::io::Result<()> {
    let SprtOptions { agent, other, elo0, elo1, alpha, beta, normalized, .. } = &answer.options;
    let word = if *normalized { "normalized Elo" } else { "Elo" };
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
    /// The result as an object, with the run that was read.
    fn json(&self, answer: &SprtResult) -> serde_json::Value {
        let mut json = answer.to_json();
        json["run_id"] = self.run_id.as_str().into();
        json["run_deals"] = self.of_deals.into();
        json["void_deals"] = self.void_deals.into();
        json["last_deal"] = self.last_deal.into();
        json
    }

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
