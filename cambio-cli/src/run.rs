//! `cambio run`.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cambio_agents::Roster;
use cambio_core::rng::Seed;
use cambio_exec::{CancelToken, Executor, MOST_THREADS};
use cambio_sim::{
    Experiment, LineupRule, Lineups, PlayError, PlayProgress, PlayablePlan, PlayedBatches, Report, RunError, RunFolder,
    Runner, StoredRun,
};

use crate::exit::{CliResult, Exit};
use crate::program;
use crate::progress::ProgressDisplay;
use crate::say::{count, say};
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The experiment file
    spec: PathBuf,
    /// The folder for the run's files; without --resume it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The number of threads; 0 means one for each core. The rows do not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Continue an interrupted run, or start one if the folder does not exist
    #[arg(long)]
    resume: bool,
    /// Also write a record of every match to records.jsonl
    #[arg(long)]
    records: bool,
    /// The number of deals, instead of the number in the file
    #[arg(long, value_name = "N")]
    deals: Option<u64>,
    /// The seed, instead of the seed in the file: a whole number or any text
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = cambio_sim::read_seed)]
    seed: Option<Seed>,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
    /// The output format of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n <= MOST_THREADS).ok_or_else(|| format!("must be a number from 0 to {MOST_THREADS}"))
}

/// Returns a token that is cancelled by an interrupt (Ctrl-C). Matches then stop soon, and the processes of bots end. A
/// second interrupt ends the command at once, with the exit code `exit`.
pub(super) fn stop_on_signal(exit: Exit) -> Result<CancelToken, ctrlc::Error> {
    static TOKEN: OnceLock<CancelToken> = OnceLock::new();
    if let Some(token) = TOKEN.get() {
        return Ok(token.clone());
    }
    let token = TOKEN.get_or_init(CancelToken::new).clone();
    let interrupted = token.clone();
    ctrlc::set_handler(move || {
        if !interrupted.cancel() {
            // The files of a run are consistent at all times, so the process may exit here.
            cambio_agents::end_bots();
            std::process::exit(exit as i32);
        }
        // Stop waiting for bots.
        cambio_agents::interrupt();
        say!("stopping; interrupt again to stop at once");
    })?;
    Ok(token)
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (mut experiment, text) = Experiment::read(&args.spec)?;
    experiment.deals = args.deals.unwrap_or(experiment.deals);
    experiment.seed = args.seed.or(experiment.seed);
    experiment.records |= args.records;
    let base = args.spec.parent().unwrap_or(Path::new("."));
    let plan = experiment.plan(roster, base)?.with_toml(text);
    if !args.resume {
        refuse_existing("--out", &args.out)?;
    }
    if !args.quiet {
        tell_seating(&experiment, &plan);
    }
    let folder = if args.resume { RunFolder::reopen(&args.out, &plan)? } else { RunFolder::create(&args.out, &plan)? };
    if let Some(other) = folder.other_revision() {
        say!("this run was started by revision {other} of the program; this revision may play differently");
    }
    play(&plan, Some(folder), args.threads, args.quiet, args.format)
}

/// Fails if the folder of an option exists. The message says how to continue.
pub(super) fn refuse_existing(option: &str, out: &Path) -> Result<(), String> {
    let resume = if StoredRun::is_in(out) { ", or continue its run with `cambio run --resume`" } else { "" };
    let refuse = || Err(format!("{} already exists; choose another {option}{resume}", out.display()));
    if out.exists() { refuse() } else { Ok(()) }
}

/// Prints how agents are seated if there are fewer agents than seats and the experiment does not say it.
pub(super) fn tell_seating(experiment: &Experiment, plan: &PlayablePlan) {
    let agents = &plan.agents;
    let is_default = matches!(experiment.lineups, Lineups::Unsaid | Lineups::Rule(LineupRule::All));
    for cell in plan.cells.iter().filter(|cell| is_default && (2..cell.seats).contains(&agents.len())) {
        say!(
            "{} agents at {} seats: agents play in several seats, such as {}; in an experiment file, lineups = {{ field = \
             [\"{}\"] }} seats one other agent at a time against copies of this one",
            agents.len(),
            cell.seats,
            cell.lineups[0].label(),
            agents[0].label,
        );
    }
}

/// Plays a plan, writes to the folder if there is one, and prints the outcome and the tables.
pub(super) fn play(
    plan: &PlayablePlan,
    mut folder: Option<RunFolder>,
    threads: usize,
    quiet: bool,
    format: Format,
) -> CliResult {
    let executor = Executor::new(threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    let report = match &mut folder {
        Some(folder) => play_into(plan, folder, &executor, quiet)?,
        None => with_progress(plan, 0, &executor, quiet, |runner| runner.play(plan)),
    };
    // After a failed write, the tables would include rows that are not on disk.
    if report.matches > 0 && !matches!(report.outcome, Err(PlayError::Run(_))) {
        tables::print(plan, &report.derived, &report.timing, format)?;
    }
    Ok(tell_outcome(folder.as_ref().map(RunFolder::path), quiet, &report))
}

/// Plays the rest of a plan into a folder, and writes the page of the run.
pub(super) fn play_into(
    plan: &PlayablePlan,
    folder: &mut RunFolder,
    executor: &Executor,
    quiet: bool,
) -> Result<Report, RunError> {
    let report = with_progress(plan, folder.matches(), executor, quiet, |runner| runner.run(plan, folder))?;
    #[cfg(feature = "report")]
    let report = cambio_report::with_page(report, plan, folder);
    Ok(report)
}

/// Calls `run` with a runner that shows its progress. `before` is the number of matches that are already on disk.
fn with_progress<T>(
    plan: &PlayablePlan,
    before: u64,
    executor: &Executor,
    quiet: bool,
    run: impl FnOnce(Runner<'_>) -> T,
) -> T {
    let (progress, played) = (ProgressDisplay::matches(plan.matches(), quiet), Cell::new(0));
    let rate = || played.get() as f64 / progress.elapsed().as_secs_f64();
    let tell = |run: &PlayProgress| {
        played.set(run.played);
        let (done, of) = (before + run.played, before + run.of);
        progress.position(before, done, of);
        progress.status(|| match run.played {
            _ if progress.has_bar() => String::new(),
            0 => format!("{done}/{of} matches"),
            played => {
                let left = (run.of - played) as f64 / rate();
                format!("{done}/{of} matches, {:.0} a second, {left:.0} s left", rate())
            }
        });
    };
    let ended = run(Runner::new(executor).with_progress(&tell));
    progress.finish();
    if !quiet {
        let seconds = progress.elapsed().as_secs_f64();
        say!("played {} in {seconds:.1} s, {:.0} a second", count(played.get(), "match"), rate());
    }
    ended
}

/// Prints on standard error how a run ended.
pub(super) fn tell_outcome(out: Option<&Path>, is_quiet: bool, report: &Report) -> Exit {
    let (matches, folder) = (count(report.matches, "match"), out.unwrap_or(Path::new("")).display());
    let error = match &report.outcome {
        Ok(()) => {
            let faults = &report.derived.faults;
            if let Some(first) = faults.first() {
                let became = if first.policy == "void" { "voided with their deal blocks" } else { "forfeited" };
                let matches = count(faults.len() as u64, "match");
                say!("{matches} {became}, because an agent was at fault; {folder}/faults.csv lists the faults");
            }
            match out {
                _ if is_quiet => {}
                Some(out) if cfg!(feature = "report") => {
                    say!("{matches} in {folder}; open {}", out.join("report.html").display());
                }
                Some(_) => say!("{matches} in {folder}"),
                None => say!("{matches}; add --out DIR to keep the rows and a report"),
            }
            return Exit::Done;
        }
        Err(PlayError::Fault(fault)) => {
            let Some(record) = &fault.kept else {
                say!("fault: {fault}; add --out DIR to keep a record of the match up to the fault");
                return Exit::Fault;
            };
            say!("fault: {}: {}", fault.place, fault.what);
            say!("{folder} has {matches} from before the fault; this command shows the match up to the fault:");
            say!("    {} replay --events {record}", program());
            return Exit::Fault;
        }
        Err(error) => error,
    };
    match (error, out) {
        (PlayError::Plan(_), _) => {
            say!("error: {error}");
            return Exit::Fault;
        }
        (PlayError::Interrupted, None) => say!("interrupted after {matches}"),
        (PlayError::Interrupted, _) => {
            say!("interrupted: {folder} has {matches}, in complete deal blocks; --resume continues the run");
        }
        (_, None) => say!("error: {error}"),
        (PlayError::Run(_), Some(out)) => {
            let kept = StoredRun::open(out).map_or(0, |stored| stored.matches());
            say!("error: {error}");
            say!("{folder} has {}; once it can be written again, --resume continues the run", count(kept, "match"));
        }
        _ => {
            say!("error: {error}");
            say!("{folder} has {matches}; with more of the resource or fewer --threads, --resume continues the run");
        }
    }
    Exit::Interrupted
}

/// Prints a note on standard error if a run is not complete. Fails if the manifest says that the run is complete,
/// because then lines of its ledger are missing.
pub(super) fn tell_if_partial(stored: &StoredRun) -> Result<(), RunError> {
    if stored.is_complete() {
        return Ok(());
    }
    let PlayedBatches { batches: found, of: wanted } = stored.extent();
    if stored.claims_complete {
        let what = format!("it has {found} of {wanted} batches, and the manifest says that the run is complete");
        return Err(RunError::damaged(&stored.path.join("ledger.jsonl"), what));
    }
    say!(
        "the run is not complete: {found} of {wanted} batches, {}; the results cover only these",
        count(stored.matches(), "match")
    );
    Ok(())
}
