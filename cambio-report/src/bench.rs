//! The frozen benchmark for agents.
//!
//! The suite is a list of runs, of games to solve and of responders to train. [`Bench`] plays it into a folder, which it can resume, and
//! [`BenchResult`] is computed from the folder. The leaderboard of several folders is a [`Leaderboard`](crate::Leaderboard).

mod responders;
mod result;
mod suite;

use std::path::{Path, PathBuf};

use cambio_agents::{AgentSpec, Guarded, Roster};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::text::excerpt;
use cambio_core::{AgentError, Rules, Seat};
use cambio_exec::{CancelToken, Executor, ExecutorError, FileError, build_aside, write_whole};
use cambio_sim::{
    CheckOutcome, Experiment, PlayError, PlayablePlan, ReplayScope, Report, RunError, RunFolder, StoredRun, Worker,
    read_rules, verify,
};
use cambio_solve::{AgentPolicy, Game, InfosetPolicy, InfosetView, Limits, SolveError};

pub use self::result::BenchResult;
pub(crate) use self::result::{BenchRequest, RobustResult, WinShare};
use self::result::{EXACT, EXPERIMENTS, ExactResult, REQUEST, RESULT, exact_file, read_json};
pub(crate) use self::suite::RUN_PARTS;
use self::suite::{BenchTable, Suite, plans, write_rules};

/// The parts of the benchmark.
pub const BENCH_PARTS: [&str; 6] = ["duel", "table", "match", "transfer", "exact", "robust"];

/// An error of a benchmark: a sentence, or an error of a run.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

/// A function that receives messages for people.
type Note<'a> = &'a (dyn Fn(&str) + Sync);

/// A function that plays the rest of a run and writes its page.
type PlayRun<'a> = &'a dyn Fn(&PlayablePlan, &mut RunFolder) -> Result<Report, RunError>;

/// A message as one line without control characters.
fn plain(text: &str) -> String {
    excerpt(text).up_to(10_000).to_string()
}

/// A benchmark of an agent in a folder.
///
/// ```
/// use cambio_report::{Bench, Leaderboard};
/// use cambio_sim::{CheckOutcome, Executor, ReplayScope, Runner};
///
/// let (roster, place) = (cambio_agents::roster(), tempfile::tempdir()?);
/// let bench = Bench::prepare(&place.path().join("greedy"), ("greedy", "1ms", true), false, &roster)?;
/// assert_eq!(bench.experiments().len(), 16);
///
/// // Play one part, without pages of the runs.
/// let executor = Executor::new(1)?;
/// let play = |plan: &_, folder: &mut _| Runner::new(&executor).run(plan, folder);
/// bench.play(&["match".to_owned()], &executor, &|line| eprintln!("{line}"), &play)?;
/// let result = bench.write_result()?;
/// assert!(result.line().contains(r#""complete":false"#));
/// let checks = bench.check(ReplayScope::Sample(1))?;
/// let verified = checks.iter().filter(|check| check.outcome == CheckOutcome::Verified);
/// assert_eq!((checks.len(), verified.count()), (17, 2));
///
/// let board = Leaderboard::of(&[result]);
/// assert!(board.text().contains("greedy (1ms, quick; forfeits: 0)"));
/// assert!(board.markdown().starts_with("| agent | class |") && board.csv().starts_with("agent,class,"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct Bench<'a> {
    folder: PathBuf,
    suite: Suite,
    request: BenchRequest,
    agent: AgentSpec,
    tables: Vec<BenchTable>,
    roster: &'a Roster,
}

/// How a call of [`Bench::play`] ended.
#[derive(Debug)]
pub enum BenchEnd {
    /// The parts are complete.
    Done,
    /// Play was interrupted, and can be resumed.
    Interrupted,
    /// An error or a fault of an agent stopped the run in this folder.
    Stopped(PathBuf, Box<Report>),
}

/// A check of a part of a benchmark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BenchCheck {
    /// The part and the finding, in lines.
    pub text: String,
    /// The outcome.
    pub outcome: CheckOutcome,
}

impl BenchCheck {
    fn new(part: &str, outcome: CheckOutcome, finding: impl std::fmt::Display) -> BenchCheck {
        BenchCheck { text: format!("{part}: {finding}"), outcome }
    }

    fn missing(part: &str) -> BenchCheck {
        BenchCheck::new(part, CheckOutcome::Missing, "missing")
    }

    fn wrong(part: &str, finding: &str) -> BenchCheck {
        BenchCheck::new(part, CheckOutcome::Wrong, format_args!("wrong: {}", plain(finding)))
    }
}

impl<'a> Bench<'a> {
    /// Creates a folder for the benchmark of an agent, with its experiments. With `resume`, the folder may exist.
    ///
    /// # Errors
    /// If the agent or the class is invalid, the agent cannot begin a match of any preset, or the folder exists already or is for another
    /// benchmark.
    pub fn prepare(
        folder: &Path,
        (agent, class, quick): (&str, &str, bool),
        resume: bool,
        roster: &'a Roster,
    ) -> Result<Bench<'a>, BenchError> {
        let suite = Suite::own();
        let agent = roster.player(agent)?;
        let (benchmark, class) = (suite.name.clone(), class.to_owned());
        let request = BenchRequest { benchmark, agent: agent.to_string(), class, quick };
        let tables = request.tables(&suite, roster)?;
        check_start(&agent)?;
        let bench = Bench { folder: folder.to_owned(), suite, request, agent, tables, roster };
        bench.claim(resume)?;
        Ok(bench)
    }

    /// The benchmark in a folder.
    ///
    /// # Errors
    /// If the folder has no benchmark of this program's suite.
    pub fn open(folder: &Path, roster: &'a Roster) -> Result<Bench<'a>, BenchError> {
        let (request, suite) = (BenchRequest::read(folder)?, Suite::own());
        let (agent, tables) = (roster.parse(&request.agent)?, request.tables(&suite, roster)?);
        Ok(Bench { folder: folder.to_owned(), suite, request, agent, tables, roster })
    }

    /// Whether a folder contains a benchmark.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(REQUEST).exists()
    }

    /// The experiment files, each with the folder of its run.
    pub fn experiments(&self) -> Vec<(PathBuf, PathBuf)> {
        let file = |table: &BenchTable| self.folder.join(EXPERIMENTS).join(format!("{}.toml", table.name));
        self.tables.iter().map(|table| (file(table), self.folder.join(&table.name))).collect()
    }

    /// Creates the folder with the request and the experiments, or checks that the folder is for the same request.
    fn claim(&self, resume: bool) -> Result<(), BenchError> {
        let (shown, exists) = (self.folder.display(), self.folder.join(REQUEST).exists());
        if resume && exists {
            let own = BenchRequest::read(&self.folder)?;
            if own != self.request {
                let quick = if own.quick { " --quick" } else { "" };
                let other = format!("`{}` --class {}{quick}", own.agent, own.class);
                return Err(format!("{shown} belongs to another benchmark: {other}; choose another --out").into());
            }
            return Ok(());
        }
        if self.folder.exists() {
            let resume = if exists { ", or continue its benchmark with --resume" } else { "" };
            return Err(format!("{shown} already exists; choose another --out{resume}").into());
        }
        build_aside(&self.folder, |new| {
            let experiments = new.join(EXPERIMENTS);
            write_rules(&experiments)?;
            for table in &self.tables {
                let experiment = table.experiment.clone().in_current_folder()?;
                write_whole(&experiments.join(format!("{}.toml", table.name)), experiment.to_toml().as_bytes())?;
            }
            Ok(write_whole(&new.join(REQUEST), (serde_json::to_string(&self.request)? + "\n").as_bytes())?)
        })
    }

    /// Plays the missing runs of some parts, solves the games, and trains the responders; without `parts`, of all parts.
    ///
    /// # Errors
    /// If a file of the agent has changed since a run began, or a file cannot be read or written.
    pub fn play(
        &self,
        parts: &[String],
        executor: &Executor,
        note: Note<'_>,
        play: PlayRun<'_>,
    ) -> Result<BenchEnd, BenchError> {
        let has = |part: &str| parts.is_empty() || parts.iter().any(|other| other == part);
        let chosen: Vec<&BenchTable> = self.tables.iter().filter(|table| has(&table.part)).collect();
        for (number, table) in chosen.iter().enumerate() {
            note(&format!("{} (run {} of {})", table.name, number + 1, chosen.len()));
            match self.play_table(table, play)? {
                BenchEnd::Done => {}
                end => return Ok(end),
            }
        }
        let goes_on = (!has("exact") || self.exploit(executor, note)?)
            && (!has("robust") || responders::train(self, executor, note)?);
        Ok(if goes_on { BenchEnd::Done } else { BenchEnd::Interrupted })
    }

    /// Plays the rest of a run.
    fn play_table(&self, table: &BenchTable, play: PlayRun<'_>) -> Result<BenchEnd, BenchError> {
        let (folder, experiments) = (self.folder.join(&table.name), self.folder.join(EXPERIMENTS));
        if folder.exists()
            && StoredRun::open(&folder).is_ok_and(|stored| stored.is_complete() && stored.claims_complete)
        {
            return Ok(BenchEnd::Done);
        }
        self.refuse_changed_agent()?;
        let (experiment, text) = Experiment::read(&experiments.join(format!("{}.toml", table.name)))?;
        let planned = experiment.in_current_folder()?.plan(self.roster, &experiments)?.with_toml(text);
        let report = play(&planned, &mut RunFolder::reopen(&folder, &planned)?)?;
        Ok(match report.outcome {
            Ok(()) => BenchEnd::Done,
            Err(PlayError::Interrupted) => BenchEnd::Interrupted,
            Err(_) => BenchEnd::Stopped(folder, Box::new(report)),
        })
    }

    /// Fails if a file of the agent has changed since a run of the benchmark began.
    fn refuse_changed_agent(&self) -> Result<(), BenchError> {
        if self.agent.files().is_empty() {
            return Ok(());
        }
        for stored in self.tables.iter().filter_map(|table| StoredRun::open(&self.folder.join(&table.name)).ok()) {
            let changes = stored.changed_files(std::slice::from_ref(&self.agent));
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
    fn exploit(&self, executor: &Executor, note: Note<'_>) -> Result<bool, BenchError> {
        let folder = self.folder.join(EXACT);
        std::fs::create_dir_all(&folder).map_err(FileError::unwritable(&folder))?;
        let games = &self.suite.exact.games;
        let missing: Vec<&String> = games.iter().filter(|game| !exact_file(&self.folder, game).exists()).collect();
        if !missing.is_empty() {
            self.refuse_changed_agent()?;
        }
        let cancel = executor.cancel_token();
        let work = |number: u64, _: &Worker<'_>| self.exact(missing[number as usize], &cancel).transpose();
        let commit = |(): &mut (), _, found: Result<ExactResult, SolveError>| -> Result<(), BenchError> {
            let found = found?;
            let shown = match (&found.exploitability, &found.error) {
                (Some(value), _) => format!("exploitability {value:.6}, {} random streams", self.suite.exact.streams),
                (None, error) => error.clone().unwrap_or_default(),
            };
            note(&format!("{}: {shown}", found.game));
            let text = serde_json::to_string(&found)? + "\n";
            Ok(write_whole(&exact_file(&self.folder, &found.game), text.as_bytes())?)
        };
        match executor.run_watched(0..missing.len() as u64, &mut (), work, commit, |(), _| Ok(())) {
            Ok(()) => Ok(true),
            Err(ExecutorError::Cancelled) => Ok(false),
            Err(ExecutorError::Failed(error)) => Err(error),
        }
    }

    /// The exploitability of the agent in a mini game; `None` after an interruption. An agent that cannot play the game has an
    /// error instead of a value.
    fn exact(&self, game: &str, cancel: &CancelToken) -> Result<Option<ExactResult>, SolveError> {
        let rules = read_rules(game, Path::new(".")).expect("the mini games are presets");
        // An agent that cannot begin is found before the tree is built, which takes time.
        let begun = self.agent.try_begin(&rules, 2).map_err(|error| SolveError::Failed { seat: Seat::A, error });
        let measured = begun.and_then(|()| {
            let compiled = Game::compile(&rules, &Limits::default(), &mut |_| ())?;
            let policy = AgentPolicy::new(|| Guarded::new(self.agent.make()), 0, self.suite.exact.streams);
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

    /// Computes the result from the files of the complete parts, and writes it to `result.json`.
    ///
    /// # Errors
    /// If a file is damaged, a run is not the run of the suite, or the file cannot be written.
    pub fn write_result(&self) -> Result<BenchResult, BenchError> {
        let result = BenchResult::of(self)?;
        write_whole(&self.folder.join(RESULT), result.line().as_bytes())?;
        Ok(result)
    }

    /// The result of a complete benchmark, after checking that it matches its runs, and that a sample of matches can be repeated.
    pub(crate) fn checked(&self) -> Result<BenchResult, BenchError> {
        let checks = self.check(ReplayScope::Sample(1))?;
        if let Some(flaw) = checks.iter().find(|check| check.outcome == CheckOutcome::Wrong) {
            return Err(RunError::damaged(&self.folder, flaw.text.as_str()).into());
        }
        let result = BenchResult::of(self)?;
        if !result.complete {
            return Err(
                format!("{} is not complete; `cambio bench --resume` continues it", self.folder.display()).into()
            );
        }
        Ok(result)
    }

    /// Checks the runs, of which it replays some or all batches, and the result. If it replays all batches, it also repeats the queries
    /// of the mini games and the fresh deals of the responders.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn check(&self, replay: ReplayScope) -> Result<Vec<BenchCheck>, BenchError> {
        let wanted = plans(&self.tables, self.roster)?;
        let runs = self.tables.iter().zip(&wanted).map(|(table, wanted)| self.check_run(table, wanted, replay));
        let mut checks = runs.collect::<Result<Vec<_>, _>>()?;
        if replay == ReplayScope::All {
            checks.extend(
                self.suite.exact.games.iter().map(|game| self.check_exact(game)).collect::<Result<Vec<_>, _>>()?,
            );
            checks.extend(responders::verify(self)?);
        }
        // The result is computed from the runs of the suite.
        if checks[..wanted.len()].iter().all(|check| check.outcome != CheckOutcome::Wrong) {
            checks.push(self.check_result()?);
        }
        Ok(checks)
    }

    /// The run of a table; `None` if it has not begun.
    fn stored(&self, table: &BenchTable, wanted: &PlayablePlan) -> Result<Option<StoredRun>, RunError> {
        let path = self.folder.join(&table.name);
        if !path.exists() {
            return Ok(None);
        }
        let stored = StoredRun::open(&path)?;
        if stored.plan.is_same_run(wanted) {
            return Ok(Some(stored));
        }
        Err(RunError::damaged(&path, format!("it is another run than the one of {}", self.suite.name)))
    }

    fn check_run(
        &self,
        table: &BenchTable,
        wanted: &PlayablePlan,
        replay: ReplayScope,
    ) -> Result<BenchCheck, BenchError> {
        let name = &table.name;
        let stored = match self.stored(table, wanted) {
            Ok(None) => return Ok(BenchCheck::missing(name)),
            Ok(Some(stored)) => stored,
            Err(error @ RunError::Damaged(_)) => return Ok(BenchCheck::wrong(name, &error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let findings = verify(&stored, self.roster, replay);
        let outcome = findings.outcome(&stored);
        let finding = match outcome {
            CheckOutcome::Wrong => return Ok(BenchCheck::wrong(name, &findings.wrong[0])),
            CheckOutcome::Missing => "not complete".to_owned(),
            CheckOutcome::Unchecked => format!("verified in part: not replayed: {}", plain(&findings.unreplayed[0])),
            CheckOutcome::Verified => format!("verified, batches replayed: {}", findings.replayed),
        };
        Ok(BenchCheck::new(name, outcome, finding))
    }

    fn check_result(&self) -> Result<BenchCheck, BenchError> {
        let found = BenchResult::of(self)?;
        Ok(if !found.complete || !self.folder.join(RESULT).exists() {
            let what = "the benchmark is not complete; `cambio bench --resume` continues it";
            BenchCheck::new(RESULT, CheckOutcome::Missing, what)
        } else if let Err(error) = found.check_file(&self.folder) {
            BenchCheck::wrong(RESULT, &error.to_string())
        } else {
            BenchCheck::new(RESULT, CheckOutcome::Verified, "verified")
        })
    }

    fn check_exact(&self, game: &str) -> Result<BenchCheck, BenchError> {
        let file = exact_file(&self.folder, game);
        Ok(if !file.exists() {
            BenchCheck::missing(game)
        } else if !self.agent.is_reproducible() {
            let what = "cannot be checked, because the agent is not reproducible";
            BenchCheck::new(game, CheckOutcome::Verified, what)
        } else if self.exact(game, &CancelToken::new())? == Some(read_json(&file)?) {
            BenchCheck::new(game, CheckOutcome::Verified, "verified")
        } else {
            BenchCheck::wrong(game, &format!("another exploitability than in {}", file.display()))
        })
    }
}

/// Refuses an agent that cannot begin a match of any preset, such as a bot that cannot be started: it would forfeit all.
fn check_start(agent: &AgentSpec) -> Result<(), BenchError> {
    let begin = |name: &str| agent.try_begin(&Rules::preset(name).expect("it is a preset"), 2);
    match begin("classic") {
        // Whether a bot can be started does not depend on the rules.
        Err(error) if agent.is_external() || PRESETS.into_iter().chain(MINI_GAMES).all(|name| begin(name).is_err()) => {
            Err(format!("`{agent}` cannot begin a match of classic, or of any other preset: {error}").into())
        }
        _ => Ok(()),
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
