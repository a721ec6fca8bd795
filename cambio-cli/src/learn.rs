//! `cambio learn`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Rules;
use cambio_exec::{read_bytes, read_text, write_whole};
use cambio_learn::{
    JudgedRow, LearnError, LearnFolder, LearnProgress as Learned, LearnThreads, Recipe, StoredResponder,
    starting_network, stored_recipe,
};
use cambio_sim::read_rules;

use crate::exit::{CliResult, Exit};
use crate::export_network;
use crate::progress::ProgressDisplay;
use crate::run::{refuse_existing, stop_on_signal, threads};
use crate::say::{say, stdout};

const NETWORK: &str = "network.net";
const BOUND: &str = "bound.csv";
/// The maximum number of bytes of a network.
const MOST_NETWORK: u64 = 1 << 30;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["recipe", "exploit", "export", "resume"]).required(true).multiple(true)))]
pub(super) struct Args {
    /// The recipe file: what to learn, against which agents, and for how long
    #[arg(value_name = "RECIPE")]
    recipe: Option<PathBuf>,
    /// The folder for the network and its learning curve; without --resume it must not exist
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// Continue the interrupted training in the folder
    #[arg(long)]
    resume: bool,
    /// Learn to beat this one agent, without a recipe. Trains one network from the bundled one and one from scratch. The
    /// best intermediate network then plays fresh deals; its gain is a lower bound on the exploitability of the agent
    #[arg(long, value_name = "SPEC", conflicts_with = "recipe")]
    exploit: Option<String>,
    /// Train nothing; write the weights of a network as safetensors, for other libraries: a network file, or the name of a
    /// bundled network, such as classic or faessler-many. --out is the file
    #[arg(long, value_name = "NETWORK",
        conflicts_with_all = ["recipe", "exploit", "resume", "rules", "from", "matches", "seed"])]
    export: Option<String>,
    /// With --exploit: the rules, a preset or a rule file [default: classic]
    #[arg(long, requires = "exploit", conflicts_with_all = ["recipe", "resume"])]
    rules: Option<String>,
    /// With --exploit: the number of seats
    #[arg(long, value_name = "N", default_value_t = 2, requires = "exploit",
        value_parser = clap::value_parser!(u8).range(2..=8))]
    seats: u8,
    /// With --exploit: start from the network in this file, from the bundled network (`shipped`), or from scratch
    /// (`nothing`) [default: both]
    #[arg(long, value_name = "NET", requires = "exploit", conflicts_with_all = ["recipe", "resume"])]
    from: Option<String>,
    /// With --exploit: the number of fresh deals, each played in all seats [default: 1/40 of the training matches, but
    /// at least 1000 and at most 50000]
    #[arg(long, value_name = "N", requires = "exploit", conflicts_with = "resume",
        value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    deals: Option<u64>,
    /// The number of training matches [default: from the recipe; with --exploit, a fifth of the training matches of the
    /// --from network, otherwise 1000000]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u64).range(1..))]
    matches: Option<u64>,
    /// The seed, instead of the seed in the recipe
    #[arg(long, value_name = "SEED", conflicts_with = "resume")]
    seed: Option<u64>,
    /// The number of threads; 0 means one for each core. The network does not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    if let Some(network) = &args.export {
        return export_network::write(network, &args.out);
    }
    let cancel = stop_on_signal(Exit::Interrupted)?;
    let mut folders = if args.resume { resume(args, roster)? } else { create(args, roster)? };
    let threads = LearnThreads::new(args.threads, &cancel)?;
    for folder in &mut folders {
        if train(args, folder, &threads)? == Exit::Interrupted {
            return Ok(Exit::Interrupted);
        }
    }
    match &folders[..] {
        [folder] if folder.path() == args.out => say_result(args, folder),
        _ => say_best_responder(args),
    }
}

/// The folders of two responders, which differ in their first networks.
fn responders(out: &Path) -> [PathBuf; 2] {
    ["from-shipped", "from-nothing"].map(|name| out.join(name))
}

/// Creates the folder of a training, or without --from the folders of two responders.
fn create(args: &Args, roster: &Roster) -> Result<Vec<LearnFolder>, Box<dyn std::error::Error>> {
    refuse_existing("--out", &args.out)?;
    let first = recipe(args)?.ok_or("a recipe or --exploit is required")?;
    let is_first_of_two = args.exploit.is_some() && args.from.is_none() && first.from.is_some();
    let rules = rules(args, &first)?;
    let runs = if is_first_of_two {
        let second = Recipe { from: None, ..first.clone() };
        responders(&args.out).into_iter().zip([first, second]).collect()
    } else {
        vec![(args.out.clone(), first)]
    };
    Ok(LearnFolder::create_all(&args.out, runs, &rules, roster)?)
}

/// Resumes a training, or the incomplete trainings of two responders.
fn resume(args: &Args, roster: &Roster) -> Result<Vec<LearnFolder>, Box<dyn std::error::Error>> {
    let responders = responders(&args.out);
    let are_two = responders.iter().all(|path| path.exists());
    let (paths, recipe) = if are_two { (responders.to_vec(), None) } else { (vec![args.out.clone()], recipe(args)?) };
    let left = paths.iter().filter(|path| !are_two || StoredResponder::read(path).is_err());
    let resume = |path: &PathBuf| {
        let own = stored_recipe(path)?;
        Ok(LearnFolder::resume(path, recipe.as_ref(), &rules(args, &own)?, roster)?)
    };
    left.map(resume).collect()
}

/// Trains to the end of the recipe, or until the program is interrupted.
fn train(args: &Args, folder: &mut LearnFolder, threads: &LearnThreads) -> CliResult {
    let recipe = folder.learner().recipe().clone();
    let progress = ProgressDisplay::matches(recipe.matches, args.quiet);
    if recipe.bound.is_some() {
        progress.note(&format!("{}: from {}", folder.path().display(), recipe.from.as_deref().unwrap_or(NOTHING)));
    }
    let begun = folder.learner().matches();
    loop {
        match folder.step(threads) {
            Ok(Some(step)) => {
                tell(&progress, &step, begun);
                if let Some(bound) = recipe.bound.filter(|_| step.matches == step.of) {
                    progress.note(&format!("the best network plays {} fresh deals", bound.deals));
                }
            }
            Ok(None) => break,
            Err(LearnError::Interrupted) => {
                progress.finish();
                say!("interrupted; `cambio learn --out {} --resume` continues the training", args.out.display());
                return Ok(Exit::Interrupted);
            }
            Err(error) => {
                progress.finish();
                return Err(error.into());
            }
        }
    }
    progress.finish();
    Ok(Exit::Done)
}

fn say_result(args: &Args, folder: &LearnFolder) -> CliResult {
    let mut out = stdout();
    writeln!(out, "{}", args.out.join(NETWORK).display())?;
    let recipe = folder.learner().recipe();
    if recipe.bound.is_none() {
        for row in folder.last_judged() {
            writeln!(out, "{}", line(&row.against, row.seats, row.win_share, row.low, row.high, row.deals))?;
        }
    }
    for row in folder.bound() {
        write_bound(&mut out, recipe, row, folder.path())?;
    }
    Ok(Exit::Done)
}

/// Copies the network and the results of the best of several responders, and prints the results. The fresh deals do not choose it.
fn say_best_responder(args: &Args) -> CliResult {
    let mut best: Option<(PathBuf, StoredResponder)> = None;
    let mut out = stdout();
    for path in responders(&args.out) {
        let responder = StoredResponder::read(&path)?;
        let (selected, deals) = (100.0 * responder.selected, responder.recipe.evaluation.deals);
        writeln!(out, "{} wins {selected:.1} % of the {deals} deals that chose it", path.display())?;
        if best.as_ref().is_none_or(|(_, other)| responder.selected > other.selected) {
            best = Some((path, responder));
        }
    }
    let (path, StoredResponder { recipe, bound, .. }) = best.expect("there is a responder");
    for file in [NETWORK, BOUND] {
        write_whole(&args.out.join(file), &read_bytes(&path.join(file), MOST_NETWORK)?)?;
    }
    for row in &bound {
        write_bound(&mut out, &recipe, row, &path)?;
    }
    writeln!(out, "network            {}", args.out.join(NETWORK).display())?;
    Ok(Exit::Done)
}

/// Prints how often a responder wins the fresh deals.
fn write_bound(out: &mut impl std::io::Write, recipe: &Recipe, row: &JudgedRow, path: &Path) -> std::io::Result<()> {
    let JudgedRow { against, seats, level, matches, deals, .. } = row;
    writeln!(out, "{against} on {} at {seats} seats, a lower bound", recipe.rules)?;
    let equals = 1.0 / *seats as f64;
    let equal = 100.0 * equals;
    writeln!(
        out,
        "a responder wins   {}; an equally strong one {equal:.1} %",
        percent(row.win_share, row.low, row.high)
    )?;
    let weakness = match row.at_least {
        Some(limit) if limit > equals => format!("at least {:.2} % (95 %, one-sided)", 100.0 * limit),
        _ => format!("nothing shown: the one-sided limit is not above {equal:.1} %"),
    };
    writeln!(out, "weakness           {weakness}")?;
    writeln!(out, "deals              {deals} in all seats, not used for training or selection")?;
    let (chosen, file) = (recipe.evaluation.deals, path.join(format!("levels/{level}.net")));
    writeln!(out, "responder          {}, after {matches} matches, selected on {chosen} other deals", file.display())
}

fn percent(share: f64, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{:.1} % ({:.1} to {:.1})", 100.0 * share, 100.0 * low, 100.0 * high),
        _ => format!("{:.1} %", 100.0 * share),
    }
}

fn read_recipe(path: &Path) -> Result<Recipe, String> {
    let text = read_text(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Recipe::from_toml(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The recipe from the arguments; `None` if the arguments only resume a training.
fn recipe(args: &Args) -> Result<Option<Recipe>, Box<dyn std::error::Error>> {
    let mut recipe = match (&args.recipe, &args.exploit) {
        (Some(path), _) => read_recipe(path)?,
        (None, Some(agent)) => responder(args, agent)?,
        (None, None) => return Ok(None),
    };
    recipe.matches = args.matches.unwrap_or(recipe.matches);
    recipe.seed = args.seed.unwrap_or(recipe.seed);
    Ok(Some(recipe))
}

/// The value of --from for a network that starts from scratch.
const NOTHING: &str = "nothing";

fn responder(args: &Args, agent: &str) -> Result<Recipe, Box<dyn std::error::Error>> {
    let (name, seats) = (args.rules.as_deref().unwrap_or("classic"), usize::from(args.seats));
    let rules = read_rules(name, Path::new("."))?;
    let mut recipe = Recipe::exploiting(agent, name, seats);
    // The network to start from; `None` for random weights.
    let from = match args.from.as_deref() {
        Some(NOTHING) => None,
        Some(from) => Some(from),
        None => starting_network(Recipe::SHIPPED, &rules, &[seats]).is_ok().then_some(Recipe::SHIPPED),
    };
    // From nothing, too, a responder learns with the settings of the bundled network, which suit the rules.
    let model = from.unwrap_or(Recipe::SHIPPED);
    match starting_network(model, &rules, &[seats]) {
        Ok((_, facts)) => recipe = Recipe { from: from.map(str::to_owned), ..recipe.going_on_from(model, &facts) },
        Err(error) if from.is_some() => return Err(error.into()),
        Err(_) => {}
    }
    if let Some(matches) = args.matches {
        recipe = recipe.lasting(matches);
    }
    if let (Some(bound), Some(deals)) = (&mut recipe.bound, args.deals) {
        bound.deals = deals;
    }
    Ok(recipe)
}

/// The rules of a recipe. The path of a rule file is relative to the recipe file.
fn rules(args: &Args, recipe: &Recipe) -> Result<Rules, Box<dyn std::error::Error>> {
    let folder = args.recipe.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(read_rules(&recipe.rules, folder)?)
}

fn tell(progress: &ProgressDisplay, step: &Learned, begun: u64) {
    progress.position(0, step.matches, step.of);
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
    let ends =
        low.zip(high).map_or_else(String::new, |(low, high)| format!("{:.1} to {:.1}, ", 100.0 * low, 100.0 * high));
    format!("{:.1} % of the wins against {against} at {seats} seats ({ends}{deals} deals)", 100.0 * share)
}
