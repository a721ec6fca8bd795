//! `cambio units`: a run that many machines play through a store that all of them reach.

pub(crate) mod cluster;

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_report::Run;
use cambio_sim::units::{UnitStore, WorkUnit, merge_units, play_unit, replay_unit};
use cambio_sim::{Plan, PlayError, RunError};
use clap::Subcommand;

use crate::exit::{CliResult, Exit};
use crate::progress::Progress;
use crate::run::{Changes, stop_on_signal, threads};
use crate::say::say;
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Put an experiment into a store, from where every machine plays it
    Begin(BeginArgs),
    /// Play one part of what the store lacks, and commit it
    Play(PlayArgs),
    /// Say what the store has, what it lacks, and what each lineup costs
    Show(StoreArg),
    /// Play some units again and compare their bytes
    Check(CheckArgs),
    /// Put all units together in a run folder: the same bytes as one run
    Merge(MergeArgs),
}

#[derive(Debug, clap::Args)]
struct StoreArg {
    /// The store: a folder that all machines see; with the feature `cloud` also s3://, gs:// or az://
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
    changes: Changes,
}

#[derive(Debug, clap::Args)]
struct PlayArgs {
    #[command(flatten)]
    store: StoreArg,
    /// Which part, counted from 0 [default: `SLURM_ARRAY_TASK_ID` or `JOB_COMPLETION_INDEX`; else all]
    #[arg(long, value_name = "I", requires = "of", allow_negative_numbers = true)]
    index: Option<u64>,
    /// The number of parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    of: Option<u64>,
    /// Play these batches, such as 16..32, instead of a part
    #[arg(long, value_name = "FROM..TO", value_parser = batches, conflicts_with_all = ["index", "of"])]
    batches: Option<Range<u64>>,
    /// Play what the store has already too, and compare the bytes
    #[arg(long)]
    again: bool,
    /// The number of threads; 0 means one for each core. The rows do not depend on it
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
    /// How many units, spread evenly over those in the store
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
    /// Wait until the store has all units; a fault ends the wait
    #[arg(long)]
    wait: bool,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
}

fn batches(text: &str) -> Result<Range<u64>, String> {
    let read = |text: &str| text.parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(read(from)?..read(to)?));
    range
        .filter(|range| !range.is_empty())
        .ok_or_else(|| "allowed is FROM..TO, two whole numbers, such as 16..32".into())
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    match &args.step {
        Step::Begin(args) => begin(args, roster),
        Step::Play(args) => play(args, roster),
        Step::Show(args) => show(args),
        Step::Check(args) => check(args, roster),
        Step::Merge(args) => merge(args),
    }
}

fn begin(args: &BeginArgs, roster: &Roster) -> CliResult {
    let (experiment, text) = args.changes.read(&args.spec)?;
    let plan = experiment.plan(roster, args.spec.parent().unwrap_or(Path::new(".")))?.with_toml(text);
    UnitStore::open(&args.store.store)?.begin(&plan)?;
    say!("{} matches in {} batches of the ledger, in {}", plan.matches(), plan.batch_count(), args.store.store);
    Ok(Exit::Done)
}

/// Which part this process plays: what it was told, or what the array job or the indexed job says.
fn part(args: &PlayArgs, plan: &Plan) -> Result<Range<u64>, String> {
    if let Some(batches) = &args.batches {
        let all = plan.batch_count();
        let told = format!("--batches {}..{}; allowed is up to {all}", batches.start, batches.end);
        return if batches.end <= all { Ok(batches.clone()) } else { Err(told) };
    }
    let Some(of) = args.of else { return Ok(0..plan.batch_count()) };
    let by_job = || {
        ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"].into_iter().find_map(|name| {
            let text = std::env::var(name).ok()?;
            Some(text.parse().map_err(|_| format!("{name} is `{text}`; allowed is a whole number from 0 on")))
        })
    };
    let index = match args.index {
        Some(index) => index,
        None => by_job().ok_or("--of says how many parts there are; --index has to say which one this is")??,
    };
    if index >= of {
        return Err(format!("part {index} of {of}; allowed is 0 to {}", of - 1));
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
        say!("nothing to play: the store has these batches, or the part has none");
        return Ok(Exit::Done);
    }
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    for unit in units {
        let of = plan.matches_of(unit.clone());
        let bar = Progress::matches(of, args.quiet);
        let played = play_unit(&executor, &plan, unit, &store, |played| {
            bar.position(0, played, of);
            bar.status(|| format!("{played}/{of} matches"));
        });
        bar.finish();
        match played {
            Ok(played) => say!("committed {} matches: {}", played.matches, played.unit.name()),
            Err(error) => return Ok(tell(&error)),
        }
    }
    Ok(Exit::Done)
}

/// Says why a unit was not played, and returns the exit for it.
fn tell(error: &PlayError) -> Exit {
    match error {
        PlayError::Run(error) => return Exit::of(error),
        PlayError::Fault(_) => say!("{error}"),
        PlayError::Interrupted => say!("interrupted; nothing of this unit is kept"),
        _ => say!("error: {error}"),
    }
    if matches!(error, PlayError::Fault(_)) { Exit::Fault } else { Exit::Interrupted }
}

fn show(args: &StoreArg) -> CliResult {
    let store = UnitStore::open(&args.store)?;
    let (plan, units) = (store.plan()?, store.units()?);
    let missing = store.missing(0..plan.batch_count())?;
    let left: u64 = missing.iter().map(|batches| batches.end - batches.start).sum();
    let mut out = std::io::stdout().lock();
    let (all, matches) = (plan.batch_count(), plan.matches());
    writeln!(out, "{}: {matches} matches in {all} batches", if plan.name.is_empty() { "run" } else { &plan.name })?;
    writeln!(out, "{} units; {} batches are there, {left} are missing", units.len(), all - left)?;
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
    say!("{compared} of {of} units were played again and gave the same bytes");
    if compared < wanted {
        say!("{} were left out: their agents do not decide the same each time", wanted - compared);
    }
    Ok(Exit::Done)
}

/// How often a merge that waits looks into the store.
const LOOK: std::time::Duration = std::time::Duration::from_secs(5);

/// Waits until a store has all units, or one was stopped by a fault. A run that is not begun yet is waited for too.
fn wait(store: &UnitStore, is_quiet: bool) -> Result<(), RunError> {
    let bar = Progress::spinner(is_quiet);
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
                bar.status(|| format!("{left} of {} batches are missing", plan.batch_count()));
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
    let bar = Progress::matches(store.plan()?.batch_count(), args.quiet);
    let (stored, derived) = merge_units(&store, &args.out, |done, of| {
        bar.position(0, done, of);
        bar.status(|| format!("{done}/{of} batches"));
    })?;
    bar.finish();
    Run::stored(&stored, &derived).write(&args.out)?;
    tables::print(&stored.plan, &derived, args.format)?;
    Ok(Exit::Done)
}
