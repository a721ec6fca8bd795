//! `cambio tune`.

use std::fmt::Write as _;

use cambio_agents::Roster;
use cambio_sim::tune::{
    AgainstField, AgainstItself, ResponsePoint, TuneOptions, TuningOutcome, TuningResult, Validation,
};
use cambio_sim::{Experiment, StudyDriver, read_seed};
use cambio_stats::is_even;

use crate::exit::CliResult;
use crate::say::say;
use crate::setting::{ThreadArgs, in_any_folder};
use crate::solve::Format;
use crate::study::{Shown, StudyArgs, play};
use crate::tables::ALL_AGREE;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    options: TuneOptions,
    #[command(flatten)]
    study: StudyArgs,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let Args { options, study: StudyArgs { threads: ThreadArgs { threads, quiet }, out } } = args;
    if cfg!(not(feature = "report")) && out.is_some() {
        return Err("--out needs a program with the feature `report`".into());
    }
    let study = |driver: &mut StudyDriver<'_>| options.run(roster, driver);
    play((*threads, *quiet), out.as_deref(), Format::Text, study, |tuned| {
        let mut files = Vec::new();
        if out.is_some() {
            #[cfg(feature = "report")]
            files.extend(cambio_report::tuning_files(tuned)?);
            if let TuningOutcome::AgainstField(found) = &tuned.result.found {
                files.push(("test.toml", test_of(options, &tuned.result.field, found, roster)?.into_bytes()));
            }
        }
        let told = match &tuned.result.found {
            TuningOutcome::AgainstField(found) => {
                let best = tuned.points.iter().position(|point| point.agent == found.best).unwrap_or(0);
                format!("{}\n{}", table(&tuned.points, best), winner(found))
            }
            TuningOutcome::AgainstItself(found) => replies_told(found, &tuned.points),
        };
        let adjusted = if tuned.result.adjusted { "all means are without the luck of the cards\n" } else { "" };
        warn(&tuned.result, &tuned.points);
        Ok(Shown { text: (told + adjusted).into_bytes(), json: serde_json::Value::Null, files })
    })
}

/// An experiment that compares the winner with the incumbent on fresh deals, against the field of the tuning.
fn test_of(
    options: &TuneOptions,
    field: &[String],
    found: &AgainstField,
    roster: &Roster,
) -> Result<String, Box<dyn std::error::Error>> {
    let incumbent = match &found.validation {
        Some(Validation::Played(played)) => Some(&played.incumbent),
        _ => None,
    };
    let focal: Vec<String> = std::iter::once(&found.best).chain(incumbent).cloned().collect();
    let experiment = Experiment {
        name: format!("Test of {}", found.best),
        rules: vec![in_any_folder(options.setting.table.rules())?],
        seed: Some(read_seed(&format!("test of {}", found.best))?),
        deals: 10_000,
        payoff: options.payoff,
        ..options.experiment(roster, &focal, field)?
    };
    Ok(format!(
        "# A test of the best agent of a tuning on fresh deals. Before it starts, choose the number of deals: `cambio plan` says\n\
         # how many a difference needs.\n{}",
        experiment.in_current_folder()?.to_toml()
    ))
}

/// Prints the reasons for doubt about a tuning.
fn warn(result: &TuningResult, points: &[ResponsePoint]) {
    for warning in result.warnings(points) {
        say!("warning: {warning}");
    }
}

/// The best agent with its mean, and its comparison with the incumbent on fresh deals.
fn winner(found: &AgainstField) -> String {
    let validated = match &found.validation {
        None => String::new(),
        Some(Validation::Same { incumbent, .. }) => format!("it is the incumbent {incumbent}: nothing to validate\n"),
        Some(Validation::Played(played)) => {
            let ends = played.low.zip(played.high);
            let interval =
                ends.map_or_else(|| format!("; {ALL_AGREE}"), |(low, high)| format!(" ({low:+.4} to {high:+.4})"));
            format!(
                "on {} fresh deals: {} {:.4}\n  incumbent {} {:.4}, difference {:+.4}{interval}\n",
                played.deals, found.best, played.winner, played.incumbent, played.incumbent_mean, played.difference,
            )
        }
    };
    format!("best: {} with {:.4}, {} deal blocks\n{validated}", found.best, found.estimate, found.blocks)
}

fn replies_told(found: &AgainstItself, points: &[ResponsePoint]) -> String {
    let AgainstItself { deals, values, nash, .. } = found;
    let mut text = format!("{deals} deals for each pair of values\n");
    text += "     field  best reply  gain  not distinguishable from the best reply\n";
    for (rival, curve) in points.chunks(values.len()).enumerate() {
        // If several means are equal, the first value is the best.
        let best =
            curve.iter().rev().max_by(|one, other| one.payoff.total_cmp(&other.payoff)).expect("there is a value");
        let level = curve.iter().filter(|point| point.among_best == Some(true));
        let set: Vec<&str> = level.map(|point| &*point.value).collect();
        let own = &curve[rival];
        let mark = if own.among_best == Some(true) { "*" } else { " " };
        let gain = best.payoff - own.payoff;
        writeln!(text, "{mark} {:>8}  {:>8}  {gain:+.4}  {}", own.value, best.value, set.join(" "))
            .expect("a string accepts writes");
    }
    text += "* not distinguishable from a best reply to itself: may be a symmetric equilibrium\n";
    if let Some(nash) = nash {
        let shares = nash.iter().zip(values).filter(|(share, _)| **share > 0.005);
        let shares: Vec<String> =
            shares.map(|(share, value)| format!("{value} with probability {:.0} %", share * 100.0)).collect();
        writeln!(text, "equilibrium of the measured means: {}", shares.join(", ")).expect("a string accepts writes");
    }
    text
}

fn table(points: &[ResponsePoint], best: usize) -> String {
    let row = |(index, point): (usize, &ResponsePoint)| {
        let mark = match point.among_best {
            _ if index == best => "*",
            Some(true) => "=",
            _ => " ",
        };
        let interval = |low: Option<f64>, high: Option<f64>| match low.zip(high) {
            None => "–".to_owned(),
            Some(_) if point.is_mirror => "exact".to_owned(),
            Some((low, high)) => {
                let (below, above) = (point.payoff - low, high - point.payoff);
                let is_even = is_even(below, above, 3);
                if is_even { format!("± {:.4}", below.max(above)) } else { format!("{low:.3} to {high:.3}") }
            }
        };
        let mean = format!("{:.4} {}", point.payoff, interval(point.low, point.high));
        let band = interval(point.low_simultaneous, point.high_simultaneous);
        (mark, point.value.clone(), point.deals.to_string(), mean, band)
    };
    let rows: Vec<_> = points.iter().enumerate().map(row).collect();
    let wide = rows.iter().map(|(.., mean, _)| mean.chars().count()).fold(16, usize::max);
    let mut text = format!("  {:>12} {:>7} {:>wide$} {:>16}\n", "value", "deals", "mean", "95 % band");
    for (mark, value, deals, mean, band) in rows {
        writeln!(text, "{mark} {value:>12} {deals:>7} {mean:>wide$} {band:>16}").expect("a string accepts writes");
    }
    text += if points.iter().any(|point| point.low_simultaneous.is_some()) {
        "* best; = not distinguishable from the best; 95 % band: half the width or the ends of\n\
         a simultaneous band for all values\n"
    } else if points.iter().any(|point| point.among_best.is_some()) {
        "* best; = not distinguishable from the best on their common deals\n"
    } else {
        "* best\n"
    };
    if points.iter().any(|point| point.error == Some(0.0) && point.low.is_none()) {
        writeln!(text, "–: {ALL_AGREE}").expect("a string accepts writes");
    }
    if points.iter().any(|point| point.is_mirror) {
        text += "exact: the value equals its opponents, so its mean is known by symmetry\n";
    }
    text
}
