//! `cambio run` and `cambio shard`.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::rng::Seed;
use cambio_exec::{CancelToken, Executor, MOST_THREADS};
use cambio_report::PAGES;
use cambio_sim::{
    Experiment, PlanError, PlayablePlan, Progress, Report, RunError, RunFolder, RunOutcome, Runner, Secret, Shard,
    StoredRun, keep_fault,
};

use crate::exit::{CliResult, Exit};
use crate::run_progress::RunProgress;
use crate::say::say;
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    playing: Playing,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShardArgs {
    #[command(flatten)]
    playing: Playing,
    /// Which shard, counted from 0
    #[arg(long, value_name = "I", allow_negative_numbers = true)]
    index: u64,
    /// The number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    of: u64,
}

#[derive(Debug, clap::Args)]
struct Playing {
    /// The experiment file
    spec: PathBuf,
    /// The folder for the rows; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The number of threads; 0 means one for each core. The rows do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Go on with an interrupted run; the folder may exist
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    changes: Changes,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
    /// Whether the folder goes when the command ends.
    #[arg(skip)]
    is_passing: bool,
}

/// What the command line says of an experiment beside its file.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Changes {
    /// Also write the record of every match, to records.jsonl
    #[arg(long)]
    records: bool,
    /// The number of deals, instead of that in the file
    #[arg(long, value_name = "N")]
    deals: Option<u64>,
    /// The seed, instead of that in the file: a whole number or a text
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = cambio_sim::read_seed)]
    seed: Option<Seed>,
}

impl Changes {
    /// Reads an experiment with these changes, and its text as it is in the file.
    pub(super) fn read(&self, spec: &Path) -> Result<(Experiment, String), PlanError> {
        let (mut experiment, text) = Experiment::read(spec)?;
        experiment.deals = self.deals.unwrap_or(experiment.deals);
        experiment.seed = self.seed.or(experiment.seed);
        experiment.records |= self.records;
        Ok((experiment, text))
    }
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| *n <= MOST_THREADS)
        .ok_or_else(|| format!("allowed is a number from 0 to {MOST_THREADS}"))
}

/// A token that is cancelled when the user interrupts. Play then stops soon, and the processes of bots end with it. A second
/// interrupt ends the command at once, with `exit`.
pub(super) fn stop_on_signal(exit: Exit) -> Result<CancelToken, ctrlc::Error> {
    let token = CancelToken::new();
    let interrupted = token.clone();
    ctrlc::set_handler(move || {
        if !interrupted.cancel() {
            // The files of a run are safe at any moment.
            cambio_agents::end_orphans();
            std::process::exit(exit as i32);
        }
        // Nobody waits for a bot any more.
        cambio_agents::interrupt();
        say!("stopping; interrupt again to stop at once");
    })?;
    Ok(token)
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (plan, report, exit) = play(&args.playing, None, roster)?;
    // After a failed write the tables would cover rows that are not on disk.
    if !matches!(report.outcome, RunOutcome::Unwritable(_)) {
        tables::print(&plan, &report.derived, args.format)?;
    }
    Ok(exit)
}

/// Plays an experiment and prints its tables. What it writes is kept in `out` if that is given, else in `passing`, which goes.
pub(super) fn run_passing(
    spec: &Path,
    out: Option<&Path>,
    passing: &Path,
    threads: usize,
    quiet: bool,
    format: Format,
    roster: &Roster,
) -> CliResult {
    let playing = Playing {
        spec: spec.to_owned(),
        out: out.unwrap_or(passing).to_owned(),
        threads,
        resume: false,
        changes: Changes { records: out.is_some(), ..Changes::default() },
        quiet,
        is_passing: out.is_none(),
    };
    run(&Args { playing, format }, roster)
}

pub(super) fn shard(args: &ShardArgs, roster: &Roster) -> CliResult {
    if args.index >= args.of {
        let (index, of) = (args.index, args.of);
        return Err(format!("--index {index} of {of} parts; allowed is 0 to {}", of - 1).into());
    }
    let shard = Shard { index: args.index, of: args.of };
    Ok(play(&args.playing, Some(shard), roster)?.2)
}

fn play(
    args: &Playing,
    shard: Option<Shard>,
    roster: &Roster,
) -> Result<(PlayablePlan, Report, Exit), Box<dyn std::error::Error>> {
    let (experiment, text) = args.changes.read(&args.spec)?;
    let base = args.spec.parent().unwrap_or(Path::new("."));
    let plan = if experiment.secret && args.resume && Secret::is_in(&args.out) {
        experiment.plan_with(Secret::read(&args.out)?, roster, base)?
    } else {
        experiment.plan(roster, base)?
    };
    if plan.secret && shard.is_some() {
        return Err("the experiment has `secret = true`; allowed in shards is a seed, which they all know".into());
    }
    let mut folder = if args.resume {
        RunFolder::reopen(&args.out, &text, &plan, shard)?
    } else {
        RunFolder::create(&args.out, &text, &plan, shard)?
    };
    if let Some(other) = folder.other_revision() {
        say!("this run was begun by a program of revision {other}; what this one plays may differ");
    }
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    let before = if args.resume { StoredRun::open(folder.path()).map_or(0, |stored| stored.matches()) } else { 0 };
    let shown = RunProgress::new(&plan, before, args.quiet);
    let tell = |progress: &Progress<'_>| shown.show(progress);
    let report = Runner::new(&executor).with_pages(PAGES).with_progress(&tell).run(&plan, &mut folder)?;
    shown.finish();
    let exit = tell_outcome(args, &folder, &report)?;
    Ok((plan, report, exit))
}

/// Prints on standard error how a run ended whose folder is not kept.
fn tell_passing(is_quiet: bool, report: &Report) -> Exit {
    let matches = report.matches;
    match &report.outcome {
        RunOutcome::Complete => {
            if !is_quiet {
                say!("{matches} matches; --out DIR keeps their rows and a report");
            }
            Exit::Done
        }
        RunOutcome::Interrupted => {
            say!("interrupted after {matches} matches");
            Exit::Interrupted
        }
        RunOutcome::Halted(what) => {
            say!("error: {what}");
            Exit::Interrupted
        }
        RunOutcome::Unwritable(error) => {
            say!("error: {error}");
            Exit::Interrupted
        }
        RunOutcome::Fault(fault) => {
            say!("fault: {}: {}; with --out DIR the match up to the fault is kept", fault.place, fault.what);
            Exit::Fault
        }
    }
}

/// Prints on standard error how the run ended, and writes the match of a fault to a file.
fn tell_outcome(args: &Playing, folder: &RunFolder, report: &Report) -> Result<Exit, RunError> {
    let (out, matches) = (args.out.display(), report.matches);
    if args.is_passing {
        return Ok(tell_passing(args.quiet, report));
    }
    match &report.outcome {
        RunOutcome::Complete => {
            // It may be there from a fault before the run was resumed.
            let _ = std::fs::remove_file(folder.path().join("fault.jsonl"));
            let faults = report.derived.faults.len();
            if faults > 0 {
                let policy = &report.derived.faults[0].policy;
                let became =
                    if policy == "void" { "their deal blocks are void" } else { "their matches are forfeited" };
                say!(
                    "agents were at fault {faults} times: {became}; {} has each",
                    args.out.join("faults.csv").display()
                );
            }
            if !args.quiet {
                let report =
                    folder.shard().is_none().then(|| format!("; open {}", args.out.join("report.html").display()));
                say!("{matches} matches in {out}{}", report.unwrap_or_default());
            }
            Ok(Exit::Done)
        }
        RunOutcome::Interrupted => {
            say!("interrupted: {matches} matches are in {out}, whole deal blocks only; --resume plays the rest");
            Ok(Exit::Interrupted)
        }
        RunOutcome::Halted(what) => {
            say!("error: {what}");
            say!(
                "{matches} matches are in {out}; once there is more of it, or with fewer --threads, --resume plays the rest"
            );
            Ok(Exit::Interrupted)
        }
        RunOutcome::Unwritable(error) => {
            let kept = StoredRun::open(folder.path()).map_or(0, |stored| stored.matches());
            say!("error: {error}");
            say!("{kept} matches are safely in {out}; once it can be written again, --resume plays the rest");
            Ok(Exit::Interrupted)
        }
        RunOutcome::Fault(fault) => {
            let record = keep_fault(folder.path(), fault)?;
            let program = std::env::current_exe().map_or("cambio".to_owned(), |path| path.display().to_string());
            say!("fault: {}: {}", fault.place, fault.what);
            say!("{matches} matches before it are in {out}; see the match up to the fault with");
            say!("    {program} replay --events {}", record.display());
            Ok(Exit::Fault)
        }
    }
}
