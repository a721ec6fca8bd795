//! `cambio learn`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Rules;
use cambio_learn::{Crew, LearnError, LearnFolder, Progress as Learned, Recipe, RecipeError, stored_recipe};
use cambio_report::{Learning, of_learning};
use cambio_sim::{RunError, read_rules, read_text, write_whole};

use crate::exit::{CliResult, Exit};
use crate::progress::Progress;
use crate::run::{stop_on_signal, threads};
use crate::say::say;

/// The page of a folder.
const REPORT: &str = "report.html";

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["recipe", "exploit", "resume"]).required(true).multiple(true)))]
pub(super) struct Args {
    /// The recipe: what is learned, against whom, and for how long
    #[arg(value_name = "RECIPE")]
    recipe: Option<PathBuf>,
    /// The folder for the network and its curve, which must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on in the folder where it stopped
    #[arg(long)]
    resume: bool,
    /// Learn to beat this agent and nobody else, instead of by a recipe. What the network wins is a lower bound on how far
    /// the agent can be exploited
    #[arg(long, value_name = "SPEC", conflicts_with = "recipe")]
    exploit: Option<String>,
    /// With --exploit: a preset, or a rule file
    #[arg(long, default_value = "classic", requires = "exploit")]
    rules: String,
    /// With --exploit: the number of seats
    #[arg(long, value_name = "N", default_value_t = 2, requires = "exploit",
        value_parser = clap::value_parser!(u8).range(2..=8))]
    seats: u8,
    /// Play this many matches instead of those of the recipe
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(1..))]
    matches: Option<u64>,
    /// Another seed than that of the recipe
    #[arg(long, value_name = "SEED", conflicts_with = "resume")]
    seed: Option<u64>,
    /// The number of threads; 0 means one for each core. The network does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let cancel = stop_on_signal(Exit::Interrupted)?;
    let mut folder = if args.resume {
        let recipe = recipe(args)?;
        let own = stored_recipe(&args.out)?;
        LearnFolder::resume(&args.out, recipe.as_ref(), &rules(args, &own)?, roster)?
    } else {
        let recipe = recipe(args)?.ok_or("neither a recipe nor --exploit is given; one is needed")?;
        let rules = rules(args, &recipe)?;
        LearnFolder::create(&args.out, recipe, &rules, roster)?
    };
    let crew = Crew::new(args.threads, &cancel)?;
    let recipe = folder.learner().recipe().clone();
    let progress = Progress::matches(recipe.matches, args.quiet);
    let begun = folder.learner().matches();
    loop {
        match folder.step(&crew) {
            Ok(Some(step)) => {
                tell(&progress, &step, begun);
                if !step.judgements.is_empty() {
                    write_report(&folder)?;
                }
            }
            Ok(None) => break,
            Err(LearnError::Interrupted) => {
                progress.finish();
                say!("interrupted; `cambio learn --out {} --resume` goes on", args.out.display());
                return Ok(Exit::Interrupted);
            }
            Err(error) => {
                progress.finish();
                return Err(error.into());
            }
        }
    }
    progress.finish();
    write_report(&folder)?;
    let mut out = std::io::stdout().lock();
    for file in ["network.net", REPORT] {
        writeln!(out, "{}", args.out.join(file).display())?;
    }
    for row in folder.last_judged() {
        writeln!(out, "{}", line(&row.against, row.seats, row.share, row.low, row.high, row.deals))?;
    }
    Ok(Exit::Done)
}

/// Writes the page of what has been learned so far.
fn write_report(folder: &LearnFolder) -> Result<(), RunError> {
    let learning = Learning { recipe: folder.learner().recipe(), curve: folder.curve(), judged: folder.judged() };
    write_whole(&folder.path().join(REPORT), of_learning(learning).as_bytes())
}

/// The recipe that the arguments give, if they give one.
fn recipe(args: &Args) -> Result<Option<Recipe>, Box<dyn std::error::Error>> {
    let mut recipe = match (&args.recipe, &args.exploit) {
        (Some(path), _) => {
            let text = read_text(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            Recipe::from_toml(&text).map_err(|error: RecipeError| format!("{}: {error}", path.display()))?
        }
        (None, Some(agent)) => Recipe::exploiting(agent, &args.rules, args.seats.into()),
        (None, None) => return Ok(None),
    };
    recipe.matches = args.matches.unwrap_or(recipe.matches);
    recipe.seed = args.seed.unwrap_or(recipe.seed);
    Ok(Some(recipe))
}

/// The rules of a recipe. A rule file is looked for beside the recipe.
fn rules(args: &Args, recipe: &Recipe) -> Result<Rules, Box<dyn std::error::Error>> {
    let folder = args.recipe.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(read_rules(&recipe.rules, folder)?)
}

fn tell(progress: &Progress, step: &Learned, begun: u64) {
    progress.position(step.matches, step.of);
    progress.status(|| {
        let won = step.won.map_or_else(String::new, |won| format!(", won {:.0} %", 100.0 * won));
        let seconds = progress.elapsed().as_secs_f64().max(1e-3);
        let rate = (step.matches - begun) as f64 / seconds;
        let count = if progress.has_bar() {
            String::new()
        } else {
            format!("{} of {} matches, {rate:.0} a second, ", step.matches, step.of)
        };
        format!("{count}loss {:.4}{won}, {:.1} turns a round", step.loss, step.turns)
    });
    for judgement in &step.judgements {
        let share = &judgement.share;
        let line = line(&judgement.against, judgement.seats, share.mean, share.low(), share.high(), share.clusters);
        progress.note(&format!("after {} matches: {line}", step.matches));
    }
}

fn line(against: &str, seats: usize, share: f64, low: Option<f64>, high: Option<f64>, deals: u64) -> String {
    let percent = |share: f64| 100.0 * share;
    match (low, high) {
        (Some(low), Some(high)) => format!(
            "{:.1} % of the wins against {against} at {seats} seats ({:.1} to {:.1}, {deals} deals)",
            percent(share),
            percent(low),
            percent(high)
        ),
        _ => format!("{:.1} % of the wins against {against} at {seats} seats ({deals} deals)", percent(share)),
    }
}
