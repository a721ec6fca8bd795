//! `cambio bench`: a frozen benchmark for agents, and its leaderboard.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_report::{BENCH_PARTS, Bench, BenchEnd, BenchError, Leaderboard};
use cambio_sim::{PlayablePlan, ReplayScope, RunFolder};

use crate::exit::{CliResult, Exit};
use crate::run::{play_into, stop_on_signal, tell_outcome, threads};
use crate::say::{self, count, say, stdout};
use crate::tables::Format;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the options are independent switches")]
#[command(group(clap::ArgGroup::new("what").args(["agent", "board"]).required(true)))]
pub(super) struct Args {
    /// The agent to measure
    #[arg(value_name = "AGENT", requires = "out")]
    agent: Option<String>,
    /// The folder for the runs and the result; without --resume it must not exist
    #[arg(long, value_name = "DIR", conflicts_with = "board")]
    out: Option<PathBuf>,
    /// The time class, which sets the budgets of the searches among the opponents: 1ms, 10ms or 100ms a decision
    #[arg(long, value_name = "CLASS", default_value = "1ms")]
    class: String,
    /// Play a hundredth of the deals, and train responders for a hundredth of the time, to try the benchmark out
    #[arg(long)]
    quick: bool,
    /// Play only these parts: single rounds of classic (duel), four seats (table), whole matches (match), rules that no bundled
    /// network knows (transfer), the exact exploitability in mini games (exact), networks that learn to beat the agent (robust)
    #[arg(long, value_name = "PART", value_parser = BENCH_PARTS, num_args = 1.., value_delimiter = ',')]
    parts: Vec<String>,
    /// Write the experiment files and stop, to play them on many machines with Ray
    #[arg(long, conflicts_with = "resume")]
    plan: bool,
    /// Continue an interrupted benchmark
    #[arg(long)]
    resume: bool,
    /// The number of threads; 0 means one for each core. Only the measured times and the responders' training depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    quiet: bool,
    /// Instead of an agent: print the leaderboard of these complete benchmarks, after checking a sample of their matches
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with_all = ["class", "quick", "plan", "resume"])]
    board: Vec<PathBuf>,
    /// With --board: the output format
    #[arg(long, value_enum, default_value_t, requires = "board")]
    format: Format,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (Some(agent), Some(out)) = (&args.agent, &args.out) else { return print_board(args, roster) };
    let quiet = args.quiet;
    let bench = Bench::prepare(out, (agent, &args.class, args.quick), args.resume, roster).map_err(local)?;
    if args.plan {
        tell_plan(out, &bench);
        return Ok(Exit::Done);
    }
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    let note = |line: &str| {
        if !quiet {
            say!("{line}");
        }
    };
    let play = |plan: &PlayablePlan, folder: &mut RunFolder| play_into(plan, folder, &executor, quiet);
    match bench.play(&args.parts, &executor, &note, &play).map_err(local)? {
        BenchEnd::Done => {}
        BenchEnd::Interrupted => {
            say!("interrupted; the same command with --resume continues the benchmark");
            return Ok(Exit::Interrupted);
        }
        BenchEnd::Stopped(folder, report) => return Ok(tell_outcome(Some(&folder), quiet, &report)),
    }
    let result = bench.write_result().map_err(local)?;
    if !quiet {
        say::lines(&Leaderboard::of(std::slice::from_ref(&result)).text());
    }
    write!(stdout(), "{}", result.line())?;
    Ok(Exit::Done)
}

/// The error for the result of a command.
fn local(error: BenchError) -> Box<dyn std::error::Error> {
    error
}

fn tell_plan(out: &Path, bench: &Bench<'_>) {
    let experiments = bench.experiments();
    let (file, run) = &experiments[0];
    let name = run.file_name().unwrap_or_default().display();
    let number = count(experiments.len() as u64, "experiment");
    say!("{number} in {}/experiments; for each of them, such as {name}:", out.display());
    say!("    python -m cambio_game.ray run {} --out {}", file.display(), run.display());
    say!("the same command with --resume instead of --plan then plays the missing parts");
}

fn print_board(args: &Args, roster: &Roster) -> CliResult {
    let board = Leaderboard::read(&args.board, roster).map_err(local)?;
    let mut out = stdout();
    match args.format {
        Format::Json => write!(out, "{}", board.json())?,
        Format::Csv => write!(out, "{}", board.csv())?,
        Format::Md => write!(out, "{}", board.markdown())?,
        Format::Table => write!(out, "{}", board.text())?,
    }
    Ok(Exit::Done)
}

/// Checks the runs of a benchmark and its result. With all batches, also repeats the queries of the mini games and the fresh deals of
/// the responders.
pub(super) fn verify(folder: &Path, replay: ReplayScope, roster: &Roster) -> CliResult {
    let (checks, mut out) =
        (Bench::open(folder, roster).and_then(|bench| bench.check(replay)).map_err(local)?, stdout());
    checks.iter().try_for_each(|check| writeln!(out, "{}", check.text))?;
    Ok(checks.iter().map(|check| check.outcome).max().map_or(Exit::Done, Exit::from))
}
