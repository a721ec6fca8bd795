//! `cambio tune`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_exec::{Executor, write_whole};
use cambio_sim::tune::{
    AgainstField, AgainstItself, MOST_DEALS, Opponents, PlaySetting, RACE_STEP, ResponsePoint, Task, TuneError,
    TuneMethod, TuneStep, TuningOutcome, TuningResult, Validation, Values,
};
use cambio_sim::{Experiment, Payoff, read_seed};
use cambio_stats::is_even;
use cambio_stats::race::RaceSettings;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::say::{say, stdout};
use crate::seeds::{seed_of, warn_if_tuned_on};
use crate::setting::{SettingArgs, from_here, in_any_folder, one_of, positive, probability};
use crate::tables::ALL_AGREE;

const MOST_GENERATIONS: i64 = 100_000;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent, with a question mark in place of each value to tune: `greedy(call_at=?)`
    #[arg(long, value_name = "SPEC")]
    agent: String,
    /// The values to try for a question mark: 0..15, 0..1:0.1 with a step, the list 10,30,100, or '1..1000 log' for 1, 3,
    /// 10, 30 and so on. Ranges include both ends. Give one range for each question mark, in order
    #[arg(long, value_name = "FROM..TO[:STEP]", required = true, allow_hyphen_values = true)]
    range: Vec<String>,
    /// The opponents of the candidates: one spec for all other seats, one spec for each other seat, or `self` for the
    /// candidates themselves [default: the bare agent, such as `greedy`, with the default value of every parameter]
    #[arg(long, value_name = "SPEC")]
    field: Vec<String>,
    /// Play each deal against every --field in turn: each of them fills all other seats, and a score is the mean over them
    #[arg(long, requires = "field")]
    mixture: bool,
    #[command(flatten)]
    setting: SettingArgs,
    /// The payoff to optimize
    #[arg(long, default_value = "rank_points", value_parser = one_of(PAYOFFS))]
    payoff: Payoff,
    /// The search method
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// The number of deals for each value (sweep) or for each generation (cma); with halving, the number of deal blocks
    /// for all values together
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(2..=MOST_DEALS))]
    deals: u64,
    /// With cma: the number of generations
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=MOST_GENERATIONS))]
    generations: u32,
    /// With race: differences below DELTA do not matter
    #[arg(long, value_name = "DELTA", default_value_t = 0.01, value_parser = positive)]
    indifference: f64,
    /// With race: the probability of a wrong choice
    #[arg(long, default_value_t = 0.05, value_parser = probability)]
    alpha: f64,
    /// With race: the number of deals in the first stage
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=MOST_DEALS))]
    first: u64,
    /// The number of fresh deals on which the winner and the incumbent play against the same field; 0 for no validation
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=MOST_DEALS))]
    validate: u64,
    /// The agent to compare the winner with [default: the bare agent, with the default value of every parameter]
    #[arg(long, value_name = "SPEC")]
    incumbent: Option<String>,
    /// Write curve.csv, scores.csv, tuning.json and report.html into this folder; it must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum MethodArg {
    /// All values play the same deals, which gives the whole response curve
    #[default]
    Sweep,
    /// Racing (Kim and Nelson 2001): values drop out as soon as they are too far behind
    Race,
    /// Sequential halving: repeatedly drops the worse half of the values
    Halving,
    /// CMA-ES, for several parameters at once
    Cma,
}

/// The payoffs by their names in experiment files.
const PAYOFFS: &[(Payoff, &str, &str)] = &[
    (
        Payoff::RankPoints,
        "rank_points",
        "(seats − midrank) / (seats − 1): 1 for the best, 0 for the worst, ½ on average; the mean pairwise score",
    ),
    (Payoff::Win, "win", "The win share: 1 / k for each of k winners"),
    (Payoff::Points, "points", "The agent's points over the rounds of the match; fewer are better"),
    (Payoff::Margin, "margin", "The mean points of all seats minus the agent's; more is better, 0 is average"),
];

/// The command that repeats this tuning, with every option that differs from its default and changes the result.
fn command(args: &Args) -> String {
    let mut words = vec!["cambio".to_owned(), "tune".to_owned(), "--agent".to_owned(), args.agent.clone()];
    let mut option = |name: &str, value: String, default: &str| {
        if value != default {
            words.extend([format!("--{name}"), value]);
        }
    };
    args.range.iter().for_each(|range| option("range", range.clone(), ""));
    args.field.iter().for_each(|field| option("field", field.clone(), ""));
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let (payoff, luck) = (json!(args.payoff), json!(args.setting.luck));
    let setting = &args.setting;
    option("rules", setting.rules().to_owned(), "");
    option("seats", setting.seats().to_string(), "");
    option("payoff", payoff.as_str().unwrap_or_default().to_owned(), "rank_points");
    option("luck", luck.as_str().unwrap_or_default().to_owned(), "auto");
    option("method", name(&args.method), "sweep");
    option("deals", args.deals.to_string(), "");
    if args.method == MethodArg::Cma {
        option("generations", args.generations.to_string(), "");
    }
    if args.method == MethodArg::Race {
        option("indifference", args.indifference.to_string(), "");
        option("alpha", args.alpha.to_string(), "");
        option("first", args.first.to_string(), "");
    }
    option("validate", args.validate.to_string(), "1000");
    option("incumbent", args.incumbent.clone().unwrap_or_default(), "");
    let seed = setting.seed("tune");
    option("seed", if seed == seed_of("tune") { "tune".to_owned() } else { seed.to_string() }, "");
    for (is, name) in [(setting.rounds, "--rounds"), (args.mixture, "--mixture")] {
        words.extend(is.then(|| name.to_owned()));
    }
    // Quotes words for a shell. A command line contains no zero byte, so quoting cannot fail.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

impl Args {
    fn task(&self) -> Result<Task, Box<dyn std::error::Error>> {
        let values = |text: &String| text.parse::<Values>().map_err(|error| format!("--range {}", error.said()));
        let opponents = match self.field.as_slice() {
            [] => Opponents::Defaults,
            [field] if field == "self" && !self.mixture => Opponents::Themselves,
            field if field.iter().any(|field| field == "self") => return Err(ONLY_ITSELF.into()),
            field => Opponents::Field(field.to_vec()),
        };
        let (deals, generations) = (self.deals, self.generations);
        let method = match self.method {
            MethodArg::Sweep => TuneMethod::Sweep { deals },
            MethodArg::Race => {
                let (indifference, alpha, first) = (self.indifference, self.alpha, self.first);
                TuneMethod::Race(RaceSettings { indifference, alpha, first, step: RACE_STEP })
            }
            MethodArg::Halving => TuneMethod::Halving { blocks: deals },
            MethodArg::Cma => TuneMethod::Cma { deals, generations },
        };
        Ok(Task {
            agent: self.agent.clone(),
            ranges: self.range.iter().map(values).collect::<Result<_, _>>()?,
            opponents,
            setting: PlaySetting { payoff: self.payoff, mixture: self.mixture, ..self.setting.setting("tune") },
            method,
            validate: self.validate,
            incumbent: self.incumbent.clone(),
            command: command(self),
        })
    }
}

const ONLY_ITSELF: &str = "--field self requires --method sweep, no other --field and no --mixture";

/// The error, with the names of options instead of the names of fields.
fn in_options(error: TuneError) -> Box<dyn std::error::Error> {
    match error {
        TuneError::Measure(error) => error.into(),
        TuneError::NoDefault(agent) => {
            format!("`{agent}` has no default value in place of `?`; give --field, and --incumbent or --validate 0")
                .into()
        }
        TuneError::Deals(error) => format!("--{error}").into(),
        TuneError::ItselfNeedsSweep(_) => ONLY_ITSELF.into(),
        TuneError::ItselfNeedsShares => "--field self requires --payoff rank_points, win or margin".into(),
        error => error.into(),
    }
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    if let Some(out) = args.out.as_ref().filter(|out| out.exists()) {
        return Err(format!("{} already exists; choose another --out", out.display()).into());
    }
    if cfg!(not(feature = "report")) && args.out.is_some() {
        return Err("--out needs a program with the feature `report`".into());
    }
    let task = args.task()?;
    let executor = Executor::new(args.setting.threads)?.with_cancel(crate::run::stop_on_signal(Exit::Failed)?);
    let progress = ProgressDisplay::spinner(args.setting.quiet);
    let head = |begun: &TuneStep| {
        let PlaySetting { rules, seats, .. } = &task.setting;
        // A closed output is reported when the result is printed.
        let _ = writeln!(stdout(), "{} on {rules}, {seats} seats, {begun}", task.agent);
    };
    let tuned = task.run(roster, &executor, |step| match step {
        TuneStep::Begin(_, ref incumbent) => {
            head(&step);
            let incumbent = incumbent.iter().filter_map(|spec| roster.parse(spec).ok());
            warn_if_tuned_on(task.setting.seed, &incumbent.map(|agent| agent.to_string()).collect::<Vec<_>>(), None);
        }
        step => progress.status(|| step.to_string()),
    });
    let tuned = tuned.map_err(in_options)?;
    progress.finish();
    if let Some(out) = &args.out {
        #[cfg(feature = "report")]
        cambio_report::write_tuning(out, &tuned)?;
        if let TuningOutcome::AgainstField(found) = &tuned.result.found {
            write_whole(&out.join("test.toml"), test_of(&task, found, roster)?.as_bytes())?;
        }
        if !args.setting.quiet {
            say!("the report is in {}", out.join("report.html").display());
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
    let told = told + adjusted;
    stdout().write_all(told.as_bytes())?;
    warn(&tuned.result, &tuned.points);
    Ok(Exit::Done)
}

/// An experiment that compares the winner with the incumbent on fresh deals, against the field of the tuning.
fn test_of(task: &Task, found: &AgainstField, roster: &Roster) -> Result<String, Box<dyn std::error::Error>> {
    let incumbent = match &found.validation {
        Some(Validation::Played(played)) => Some(&played.incumbent),
        _ => None,
    };
    let focal: Vec<String> = std::iter::once(&found.best).chain(incumbent).cloned().collect();
    let setting = PlaySetting {
        rules: in_any_folder(&task.setting.rules)?,
        seed: read_seed(&format!("test of {}", found.best))?,
        ..task.setting.clone()
    };
    let experiment = Experiment {
        name: format!("Test of {}", found.best),
        deals: 10_000,
        payoff: setting.payoff,
        ..setting.experiment(roster, &focal, &found.field)?
    };
    Ok(format!(
        "# A test of the best agent of a tuning on fresh deals. Before it starts, choose the number of deals: `cambio plan` says\n\
         # how many a difference needs.\n{}",
        from_here(experiment)?.to_toml()
    ))
}

/// Prints the reasons for doubt about a tuning.
pub(super) fn warn(result: &TuningResult, points: &[ResponsePoint]) {
    for warning in result.warnings(points) {
        say!("warning: {warning}");
    }
}

/// The best agent with its mean, and its comparison with the incumbent on fresh deals.
pub(super) fn winner(found: &AgainstField) -> String {
    let validated = match &found.validation {
        None => String::new(),
        Some(Validation::Same { incumbent }) => format!("it is the incumbent {incumbent}: nothing to validate\n"),
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

pub(super) fn table(points: &[ResponsePoint], best: usize) -> String {
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
        let share = point.best_share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        (mark, point.value.clone(), point.deals.to_string(), mean, band, share)
    };
    let rows: Vec<_> = points.iter().enumerate().map(row).collect();
    let wide = rows.iter().map(|(.., mean, _, _)| mean.chars().count()).fold(16, usize::max);
    let mut text = format!("  {:>12} {:>7} {:>wide$} {:>16} {:>6}\n", "value", "deals", "mean", "95 % band", "best");
    for (mark, value, deals, mean, band, share) in rows {
        writeln!(text, "{mark} {value:>12} {deals:>7} {mean:>wide$} {band:>16} {share:>6}")
            .expect("a string accepts writes");
    }
    text += if points.iter().any(|point| point.best_share.is_some()) {
        "* best; = not distinguishable from the best; 95 % band: half the width or the ends of\n\
         a simultaneous band for all values; best: share of bootstrap resamples in which the\n\
         value is best\n"
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
