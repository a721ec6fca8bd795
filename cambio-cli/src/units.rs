//! `cambio units`: an experiment that many machines play through a shared store.

#[cfg(feature = "cluster")]
pub(crate) mod cluster;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_sim::units::{UnitStore, WorkUnit, merge_units, play_unit, replay_unit};
use cambio_sim::{Plan, PlayError, RunError};
use clap::Subcommand;

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::run::{ExperimentChanges, stop_on_signal, threads};
use crate::say::{count, say, stdout};
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    step: UnitsCommand,
}

#[derive(Debug, Subcommand)]
enum UnitsCommand {
    /// Put an experiment into a store
    Begin(BeginArgs),
    /// Play the missing batches of one part and commit them to the store
    Play(PlayArgs),
    /// Show the progress, the missing batches and the time per match of each lineup
    Show(StoreArg),
    /// Replay some stored units and check that the bytes are the same
    Check(CheckArgs),
    /// Merge all units into a run folder, with the same bytes as a run on one machine
    Merge(MergeArgs),
}

#[derive(Debug, clap::Args)]
struct StoreArg {
    /// The store: a folder that all machines share; with the Cargo feature `cloud` also s3://, gs:// or az://
    #[arg(long, value_name = "PLACE")]
    store: String,
}

#[derive(Debug, clap::Args)]
struct BeginArgs {
    /// The experiment file
    spec: PathBuf,
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    changes: ExperimentChanges,
}

#[derive(Debug, clap::Args)]
struct PlayArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The number of the part to play, from 0 [default: from the environment variable `SLURM_ARRAY_TASK_ID` or
    /// `JOB_COMPLETION_INDEX`]
    #[arg(long, value_name = "I", requires = "of", allow_negative_numbers = true)]
    index: Option<u64>,
    /// The number of parts; without --of, all missing batches are played
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    of: Option<u64>,
    /// Play these batches, such as 16..32, instead of a part
    #[arg(long, value_name = "FROM..TO", value_parser = batches, conflicts_with_all = ["index", "of"])]
    batches: Option<Range<u64>>,
    /// Also replay the batches that the store already contains, and compare the bytes
    #[arg(long)]
    again: bool,
    /// The number of threads; 0 means one for each core. The rows do not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The number of units to replay, spread evenly over the store
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// The number of threads; 0 means one for each core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
}

#[derive(Debug, clap::Args)]
struct MergeArgs {
    #[command(flatten)]
    store: StoreArg,
    /// The folder for the merged run; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Wait until the store has all units; stop waiting if an agent was at fault
    #[arg(long)]
    wait: bool,
    /// The output format of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

fn batches(text: &str) -> Result<Range<u64>, String> {
    let read = |text: &str| text.parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(read(from)?..read(to)?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| "must be FROM..TO with FROM < TO, such as 16..32".into())
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    match &args.step {
        UnitsCommand::Begin(args) => begin(args, roster),
        UnitsCommand::Play(args) => play(args, roster),
        UnitsCommand::Show(args) => show(args),
        UnitsCommand::Check(args) => check(args, roster),
        UnitsCommand::Merge(args) => merge(args),
    }
}

fn begin(args: &BeginArgs, roster: &Roster) -> CliResult {
    let (experiment, text) = args.changes.read(&args.spec)?;
    let plan = experiment.plan(roster, args.spec.parent().unwrap_or(Path::new(".")))?.with_toml(text);
    UnitStore::open(&args.store.store)?.begin(&plan)?;
    let (matches, batches) = (count(plan.matches(), "match"), count(plan.batch_count(), "batch"));
    say!("{}: {matches} in {batches}", args.store.store);
    Ok(Exit::Done)
}

/// The batches that this process plays, from the options or from the environment of an array job or indexed job.
fn part(args: &PlayArgs, plan: &Plan) -> Result<Range<u64>, String> {
    if let Some(batches) = &args.batches {
        let all = plan.batch_count();
        let error = format!("--batches must end at {all} or below, found {}..{}", batches.start, batches.end);
        return if batches.end <= all { Ok(batches.clone()) } else { Err(error) };
    }
    let Some(of) = args.of else { return Ok(0..plan.batch_count()) };
    let by_job = || {
        ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"].into_iter().find_map(|name| {
            let text = std::env::var(name).ok()?;
            Some(text.parse().map_err(|_| format!("{name} must be a whole number, 0 or more, found `{text}`")))
        })
    };
    let index = match args.index {
        Some(index) => index,
        None => by_job().ok_or("--of requires --index, the number of the part to play")??,
    };
    if index >= of {
        return Err(format!("the index of the part must be from 0 to {} with --of {of}, found {index}", of - 1));
    }
    Ok(plan.part(index, of))
}

fn play(args: &PlayArgs, roster: &Roster) -> CliResult {
    let store = UnitStore::open(&args.store.store)?;
    let plan = store.playable(roster)?;
    let batches = part(args, &plan)?;
    let units = match (batches.is_empty(), args.again) {
        (true, _) => Vec::new(),
        (_, true) => vec![batches.clone()],
        _ => store.missing(batches.clone())?,
    };
    if units.is_empty() {
        say!("nothing to play: the store already has these batches, or the part is empty");
        return Ok(Exit::Done);
    }
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    for unit in units {
        let of = plan.matches_of(unit.clone());
        let bar = ProgressDisplay::matches(of, args.quiet);
        let played = play_unit(&executor, &plan, unit, &store, |played| {
            bar.position(0, played, of);
            bar.status(|| format!("{played}/{of} matches"));
        });
        bar.finish();
        match played {
            Ok(played) => say!("committed {}: {}", count(played.matches, "match"), played.unit.name()),
            Err(error) => return Ok(tell(&error)),
        }
    }
    Ok(Exit::Done)
}

/// Prints why a unit was not played, and returns the exit code.
fn tell(error: &PlayError) -> Exit {
    match error {
        PlayError::Run(error) => return Exit::of(error),
        PlayError::Fault(_) => say!("{error}"),
        PlayError::Interrupted => say!("interrupted; the unit is discarded"),
        _ => say!("error: {error}"),
    }
    if matches!(error, PlayError::Fault(_)) { Exit::Fault } else { Exit::Interrupted }
}

fn show(args: &StoreArg) -> CliResult {
    let store = UnitStore::open(&args.store)?;
    let (plan, units) = (store.plan()?, store.units()?);
    let missing = store.missing(0..plan.batch_count())?;
    let left: u64 = missing.iter().map(|batches| batches.end - batches.start).sum();
    let mut out = stdout();
    let (all, matches) = (plan.batch_count(), plan.matches());
    writeln!(out, "{}: {matches} matches in {all} batches", if plan.name.is_empty() { "run" } else { &plan.name })?;
    let (units, done) = (count(units.len() as u64, "unit"), count(all - left, "batch"));
    writeln!(out, "{units} with {done}; {} missing", count(left, "batch"))?;
    for batches in missing.iter().take(10) {
        writeln!(out, "missing: --batches {}..{}", batches.start, batches.end)?;
    }
    if missing.len() > 10 {
        writeln!(out, "missing: {} more ranges", missing.len() - 10)?;
    }
    for fault in store.faults()? {
        writeln!(out, "fault: {fault}")?;
    }
    for cost in store.costs()? {
        let cell = &plan.cells[cost.cell];
        let (rules, seats, lineup) = (cell.rules.name(), cell.seats, cell.lineups[cost.lineup].label());
        let each = 1000.0 * cost.seconds / cost.matches.max(1) as f64;
        writeln!(out, "{each:>10.3} ms a match  {rules}, {seats} seats: {lineup}")?;
    }
    Ok(Exit::Done)
}

fn check(args: &CheckArgs, roster: &Roster) -> CliResult {
    let store = UnitStore::open(&args.store.store)?;
    let plan = store.playable(roster)?;
    let units = store.units()?;
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    let (of, wanted) = (units.len() as u64, args.sample.min(units.len() as u64));
    let chosen: Vec<&WorkUnit> = (0..wanted).map(|number| &units[(number * of / wanted) as usize]).collect();
    let mut compared = 0;
    for unit in &chosen {
        match replay_unit(&executor, &plan, unit, &store) {
            Ok(found) => compared += u64::from(found.is_some()),
            Err(error) => return Ok(tell(&error)),
        }
    }
    say!("{compared} of {of} units replayed with the same bytes");
    if compared < wanted {
        say!("{} skipped because their agents are not reproducible", wanted - compared);
    }
    Ok(Exit::Done)
}

/// How often a waiting merge polls the store.
const LOOK: std::time::Duration = std::time::Duration::from_secs(5);

/// Waits for the experiment, and then until the store has all units or a fault.
fn wait(store: &UnitStore, is_quiet: bool) -> Result<(), RunError> {
    let bar = ProgressDisplay::spinner(is_quiet);
    loop {
        match store.plan() {
            Err(RunError::NotBegun(_)) => {}
            Err(error) => return Err(error),
            Ok(plan) => {
                let missing = store.missing(0..plan.batch_count())?;
                if missing.is_empty() || !store.faults()?.is_empty() {
                    return Ok(());
                }
                let left: u64 = missing.iter().map(|batches| batches.end - batches.start).sum();
                bar.status(|| format!("waiting for {left} of {} batches", plan.batch_count()));
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn merge(args: &MergeArgs) -> CliResult {
    let store = UnitStore::open(&args.store.store)?;
    if args.wait {
        wait(&store, args.quiet)?;
    }
    let bar = ProgressDisplay::matches(store.plan()?.batch_count(), args.quiet);
    let (stored, derived) = merge_units(&store, &args.out, |done, of| {
        bar.position(0, done, of);
        bar.status(|| format!("{done}/{of} batches"));
    })?;
    bar.finish();
    #[cfg(feature = "report")]
    cambio_report::Run::stored(&stored, &derived).write(&args.out)?;
    tables::print(&stored.plan, &derived, &stored.timing, args.format)?;
    Ok(Exit::Done)
}
