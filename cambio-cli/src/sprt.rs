//! `cambio sprt`.

use std::io::Write as _;

use cambio_agents::Roster;
use cambio_sim::sprt::{SprtOptions, SprtResult};
use cambio_stats::Support;
use cambio_stats::sprt::{FIRST_LOOK, Verdict};
use cambio_stats::stopping::MedianEstimate;

use crate::exit::CliResult;
use crate::say::count;
use crate::study::PrintedStudy;

pub(super) type Args = PrintedStudy<SprtOptions>;

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    args.play(|driver| args.options.run(roster, driver), SprtResult::to_json, print)
}

fn print(answer: &SprtResult, out: &mut Vec<u8>) -> std::io::Result<()> {
    let SprtOptions { agent, other, elo0, elo1, alpha, beta, .. } = &answer.options;
    match answer.verdict {
        Verdict::Second => {
            let claim = match *elo0 {
                0.0 => "is better than".to_owned(),
                elo if elo > 0.0 => format!("is more than {elo} Elo better than"),
                elo => format!("is not {} Elo worse than", -elo),
            };
            writeln!(out, "{agent} {claim} {other}: H1 ({elo1} Elo) accepted, H0 ({elo0} Elo) rejected")?;
        }
        Verdict::First => {
            let claim = match *elo1 {
                0.0 => "is worse than".to_owned(),
                elo if elo > 0.0 => format!("is not shown to be {elo} Elo better than"),
                elo => format!("is more than {} Elo worse than", -elo),
            };
            writeln!(out, "{agent} {claim} {other}: H0 ({elo0} Elo) accepted, H1 ({elo1} Elo) rejected")?;
        }
        Verdict::Undecided => {
            let few = if answer.deals < FIRST_LOOK {
                format!("; a decision needs at least {FIRST_LOOK} deals")
            } else {
                String::new()
            };
            writeln!(out, "undecided between {elo0} and {elo1} Elo after {}{few}", count(answer.deals, "deal"))?;
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
            let raw = if answer.adjusted.is_some() { "raw score" } else { "score" };
            writeln!(out, "  every deal has the {raw} {mean:.4}{why}")?;
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
    Ok(())
}
