//! `cambio bench`: a frozen benchmark for agents, and its leaderboard.

mod board;
mod result;
mod robust;
mod suite;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::{AgentSpec, Guarded, Roster};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::{AgentError, Rules, Seat};
use cambio_exec::{CancelToken, Executor, FileError, build_aside, write_whole};
use cambio_sim::{Experiment, PlayError, RunFolder, StoredRun, read_rules};
use cambio_solve::{AgentPolicy, Game, InfosetPolicy, InfosetView, Limits, SolveError};
use clap::ValueEnum as _;

use self::result::{
    BenchRequest, BenchResult, EXACT, EXPERIMENTS, ExactResult, REQUEST, RESULT, exact_file, read_json,
};
use self::suite::{BenchTable, Suite, write_rules};
use crate::exit::{CliResult, Exit};
use crate::run::{play_into, stop_on_signal, tell_outcome, threads};
use crate::run_check::verify_run;
use crate::say::{self, count, plain, say, stdout};
use crate::setting::from_here;
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
    /// Play only these parts
    #[arg(long, value_name = "PART", value_enum, num_args = 1.., value_delimiter = ',')]
    parts: Vec<Part>,
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
    /// With --board: also write the leaderboard as a page; - is standard output
    #[arg(long, value_name = "FILE", requires = "board")]
    html: Option<PathBuf>,
    /// With --board: the output format
    #[arg(long, value_enum, default_value_t, requires = "board")]
    format: Format,
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Part {
    /// Single rounds of classic against six opponents
    Duel,
    /// Classic at four seats, among three copies of one opponent
    Table,
    /// Whole matches of original and faessler
    Match,
    /// Twelve rule systems that no bundled network knows
    Transfer,
    /// The exact exploitability in the mini games
    Exact,
    /// Networks that learn to beat the agent
    Robust,
}

impl Args {
    fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    fn has_run(&self, table: &BenchTable) -> bool {
        Part::from_str(&table.part, false).is_ok_and(|part| self.has(part))
    }
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (Some(agent), Some(out)) = (&args.agent, &args.out) else {
        return board::run(&args.board, args.html.as_deref(), args.format, roster);
    };
    let suite = Suite::own();
    suite.check_networks()?;
    let agent = roster.player(agent)?;
    let request = BenchRequest {
        benchmark: suite.name.clone(),
        agent: agent.to_string(),
        class: args.class.clone(),
        quick: args.quick,
    };
    let tables = request.tables(&suite, roster)?;
    check_start(&agent)?;
    prepare(args, out, &suite, &request, &tables)?;
    if args.plan {
        tell_plan(out, &tables);
        return Ok(Exit::Done);
    }
    let bench = Bench {
        args,
        out,
        suite: &suite,
        agent: &agent,
        tables: &tables,
        roster,
        executor: Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?),
    };
    let exit = bench.play_all()?;
    if exit == Exit::Interrupted {
        say!("interrupted; the same command with --resume continues the benchmark");
    }
    if exit != Exit::Done {
        return Ok(exit);
    }
    let result = BenchResult::of(out, roster)?;
    let line = result.line();
    write_whole(&out.join(RESULT), line.as_bytes())?;
    if !args.quiet {
        say::lines(&board::text(&board::leaderboard(&suite, &[result])));
    }
    write!(stdout(), "{line}")?;
    Ok(Exit::Done)
}

/// Refuses an agent that cannot begin a match of any preset, such as a bot that cannot be started: it would forfeit all.
fn check_start(agent: &AgentSpec) -> Result<(), Box<dyn std::error::Error>> {
    let begin = |name: &str| agent.try_begin(&Rules::preset(name).expect("it is a preset"), 2);
    match begin("classic") {
        // Whether a bot can be started does not depend on the rules.
        Err(error) if agent.is_external() || PRESETS.into_iter().chain(MINI_GAMES).all(|name| begin(name).is_err()) => {
            Err(format!("`{agent}` cannot begin a match of classic, or of any other preset: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Creates the folder with the request and the experiments, or checks that the folder is for the same request.
fn prepare(
    args: &Args,
    out: &Path,
    suite: &Suite,
    request: &BenchRequest,
    tables: &[BenchTable],
) -> Result<(), Box<dyn std::error::Error>> {
    if args.resume && out.join(REQUEST).exists() {
        let own = BenchRequest::read(out)?;
        if own != *request {
            let quick = if own.quick { " --quick" } else { "" };
            let shown = format!("{}` --class {}{quick}", own.agent, own.class);
            return Err(
                format!("{} belongs to another benchmark: `{shown}; choose another --out", out.display()).into()
            );
        }
        return Ok(());
    }
    if out.exists() {
        let resume = if out.join(REQUEST).exists() { ", or continue its benchmark with --resume" } else { "" };
        return Err(format!("{} already exists; choose another --out{resume}", out.display()).into());
    }
    build_aside(out, |new| {
        let experiments = new.join(EXPERIMENTS);
        write_rules(&experiments)?;
        for table in tables {
            let toml = from_here(suite.experiment(table, &request.agent))?.to_toml();
            write_whole(&experiments.join(format!("{}.toml", table.name)), toml.as_bytes())?;
        }
        Ok(write_whole(&new.join(REQUEST), (serde_json::to_string(request)? + "\n").as_bytes())?)
    })
}

fn tell_plan(out: &Path, tables: &[BenchTable]) {
    let shown = out.display();
    say!(
        "{} in {shown}/{EXPERIMENTS}; for each of them, such as {}:",
        count(tables.len() as u64, "experiment"),
        tables[0].name
    );
    let name = &tables[0].name;
    say!("    python -m cambio_game.ray run {shown}/{EXPERIMENTS}/{name}.toml --out {shown}/{name}");
    say!("the same command with --resume instead of --plan then plays the missing parts");
}

/// A benchmark that is being played.
struct Bench<'a> {
    args: &'a Args,
    out: &'a Path,
    suite: &'a Suite,
    agent: &'a AgentSpec,
    tables: &'a [BenchTable],
    roster: &'a Roster,
    executor: Executor,
}

impl Bench<'_> {
    fn note(&self, line: &str) {
        if !self.args.quiet {
            say!("{line}");
        }
    }

    /// Plays the missing runs of the chosen parts.
    fn play_all(&self) -> CliResult {
        let chosen: Vec<&BenchTable> = self.tables.iter().filter(|table| self.args.has_run(table)).collect();
        for (number, table) in chosen.iter().enumerate() {
            self.note(&format!("{} (run {} of {})", table.name, number + 1, chosen.len()));
            match self.play(table)? {
                Exit::Done => {}
                other => return Ok(other),
            }
        }
        let goes_on =
            (!self.args.has(Part::Exact) || self.exploit()?) && (!self.args.has(Part::Robust) || robust::train(self)?);
        Ok(if goes_on { Exit::Done } else { Exit::Interrupted })
    }

    /// Plays the rest of a run.
    fn play(&self, table: &BenchTable) -> CliResult {
        let (folder, experiments) = (self.out.join(&table.name), self.out.join(EXPERIMENTS));
        if folder.exists()
            && StoredRun::open(&folder).is_ok_and(|stored| stored.is_complete() && stored.claims_complete)
        {
            return Ok(Exit::Done);
        }
        self.refuse_changed_agent()?;
        let (experiment, text) = Experiment::read(&experiments.join(format!("{}.toml", table.name)))?;
        let plan = from_here(experiment)?.plan(self.roster, &experiments)?.with_toml(text);
        let mut run = RunFolder::reopen(&folder, &plan)?;
        let report = play_into(&plan, &mut run, &self.executor, self.args.quiet)?;
        match report.outcome {
            Ok(()) => Ok(Exit::Done),
            Err(PlayError::Interrupted) => Ok(Exit::Interrupted),
            Err(_) => Ok(tell_outcome(Some(run.path()), self.args.quiet, &report)),
        }
    }

    /// Fails if a file of the agent has changed since a run of the benchmark began.
    fn refuse_changed_agent(&self) -> Result<(), Box<dyn std::error::Error>> {
        if self.agent.files().is_empty() {
            return Ok(());
        }
        for table in self.tables {
            let Ok(stored) = StoredRun::open(&self.out.join(&table.name)) else { continue };
            let changes = stored.changed_files(std::slice::from_ref(self.agent));
            if !changes.is_empty() {
                let (shown, changes) = (stored.path.display(), changes.join(", "));
                return Err(
                    format!("since {shown} was played, {changes}; choose another --out for the new agent").into()
                );
            }
        }
        Ok(())
    }

    /// Computes the exploitability in each mini game. Returns whether it was not interrupted.
    fn exploit(&self) -> Result<bool, Box<dyn std::error::Error>> {
        let folder = self.out.join(EXACT);
        std::fs::create_dir_all(&folder).map_err(FileError::unwritable(&folder))?;
        let missing: Vec<&String> =
            self.suite.exact.games.iter().filter(|game| !exact_file(self.out, game).exists()).collect();
        if !missing.is_empty() {
            self.refuse_changed_agent()?;
        }
        let cancel = self.executor.cancel_token();
        let work = |number: u64, _: &cambio_sim::Worker<'_>| {
            exact(missing[number as usize], self.agent, self.suite.exact.streams, &cancel).transpose()
        };
        let commit = |(): &mut (),
                      _,
                      found: Result<ExactResult, SolveError>|
         -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            let found = found?;
            let shown = match (&found.exploitability, &found.error) {
                (Some(value), _) => {
                    format!("exploitability {value:.6}, {} random streams", self.suite.exact.streams)
                }
                (None, error) => error.clone().unwrap_or_default(),
            };
            self.note(&format!("{}: {shown}", found.game));
            let text = serde_json::to_string(&found)? + "\n";
            Ok(write_whole(&exact_file(self.out, &found.game), text.as_bytes())?)
        };
        match self.executor.run_watched(0..missing.len() as u64, &mut (), work, commit, |(), _| Ok(())) {
            Ok(()) => Ok(true),
            Err(cambio_exec::ExecutorError::Cancelled) => Ok(false),
            Err(cambio_exec::ExecutorError::Failed(error)) => Err(error),
        }
    }
}

/// The exploitability of an agent in a mini game; `None` after an interruption. An agent that cannot play the game has an
/// error instead of a value.
fn exact(game: &str, agent: &AgentSpec, streams: u32, cancel: &CancelToken) -> Result<Option<ExactResult>, SolveError> {
    let rules = read_rules(game, Path::new(".")).expect("the mini games are presets");
    // An agent that cannot begin is found before the tree is built, which takes time.
    let begun = agent.try_begin(&rules, 2).map_err(|error| SolveError::Failed { seat: Seat::A, error });
    let measured = begun.and_then(|()| {
        let compiled = Game::compile(&rules, &Limits::default(), &mut |_| ())?;
        let policy = AgentPolicy::new(|| Guarded::new(agent.make()), 0, streams);
        let answers = compiled.ask(&mut Cancellable { policy, cancel }, &mut |_| ())?;
        Ok(compiled.exploitability(&answers.strategy))
    });
    let game = game.to_owned();
    match measured {
        _ if cancel.is_cancelled() => Ok(None),
        Ok(exploitability) => Ok(Some(ExactResult { game, exploitability: Some(exploitability), error: None })),
        Err(error @ (SolveError::Illegal { .. } | SolveError::Failed { .. })) => {
            Ok(Some(ExactResult { game, exploitability: None, error: Some(plain(&error.to_string())) }))
        }
        Err(error) => Err(error),
    }
}

/// A policy that fails after an interruption.
struct Cancellable<'a, P> {
    policy: P,
    cancel: &'a CancelToken,
}

impl<P: InfosetPolicy> InfosetPolicy for Cancellable<'_, P> {
    fn choose(&mut self, moment: &InfosetView<'_>) -> Result<Vec<f64>, SolveError> {
        if self.cancel.is_cancelled() {
            return Err(SolveError::Failed { seat: Seat::A, error: AgentError::Interrupted });
        }
        self.policy.choose(moment)
    }
}

/// Whether a folder contains a benchmark.
pub(super) fn is_in(folder: &Path) -> bool {
    folder.join(REQUEST).exists()
}

/// Checks the runs of a benchmark and its result. With `all`, also repeats the matches of all runs, the queries of the mini
/// games and the fresh deals of the responders.
pub(super) fn verify(folder: &Path, replay: cambio_sim::ReplayScope, roster: &Roster) -> CliResult {
    let (request, suite) = (BenchRequest::read(folder)?, Suite::own());
    suite.check_networks()?;
    let agent = roster.parse(&request.agent)?;
    let mut worst = Exit::Done;
    let mut out = stdout();
    let tables = request.tables(&suite, roster)?;
    let wanted = suite.plans(&tables, &request.agent, roster)?;
    for (table, wanted) in tables.iter().zip(wanted) {
        write!(out, "{}: ", table.name)?;
        let path = folder.join(&table.name);
        let exit = if path.exists() {
            let stored = StoredRun::open(&path)?;
            if stored.plan.is_same_run(&wanted) {
                verify_run(&path, replay, roster)?
            } else {
                writeln!(out, "wrong: it is another run than the one of {}", suite.name)?;
                Exit::Wrong
            }
        } else {
            writeln!(out, "missing")?;
            Exit::Interrupted
        };
        worst = worse(worst, exit);
    }
    if replay == cambio_sim::ReplayScope::All {
        worst = worse(worst, verify_exact(folder, &suite, &agent)?);
        worst = worse(worst, robust::verify(folder, &suite, &agent, roster)?);
    }
    worst = worse(worst, verify_result(folder, roster)?);
    Ok(worst)
}

fn worse(one: Exit, other: Exit) -> Exit {
    if one == Exit::Done || other == Exit::Wrong { other } else { one }
}

fn verify_exact(folder: &Path, suite: &Suite, agent: &AgentSpec) -> CliResult {
    let (mut out, mut exit) = (stdout(), Exit::Done);
    for game in &suite.exact.games {
        let file = exact_file(folder, game);
        if !file.exists() {
            writeln!(out, "{game}: missing")?;
            exit = worse(exit, Exit::Interrupted);
        } else if !agent.is_reproducible() {
            writeln!(out, "{game}: cannot be checked, because the agent is not reproducible")?;
        } else if exact(game, agent, suite.exact.streams, &CancelToken::new())? == Some(read_json(&file)?) {
            writeln!(out, "{game}: verified")?;
        } else {
            writeln!(out, "{game}: wrong: another exploitability than in {}", file.display())?;
            exit = Exit::Wrong;
        }
    }
    Ok(exit)
}

fn verify_result(folder: &Path, roster: &Roster) -> CliResult {
    let (mut out, file) = (stdout(), folder.join(RESULT));
    let found = BenchResult::of(folder, roster)?;
    if !found.complete || !file.exists() {
        writeln!(out, "the benchmark is not complete; `cambio bench --resume` continues it")?;
        return Ok(Exit::Interrupted);
    }
    if let Err(error) = found.check_file(folder) {
        writeln!(out, "wrong: {}", plain(&error.to_string()))?;
        return Ok(Exit::Wrong);
    }
    writeln!(out, "{}: verified", file.display())?;
    Ok(Exit::Done)
}
