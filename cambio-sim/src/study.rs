//! Studies: measurements that play only as many deals as their result needs.
//!
//! The studies are the sequential test ([`SprtOptions`](crate::sprt::SprtOptions)), tuning
//! ([`TuneOptions`](crate::tune::TuneOptions)), the value of decisions ([`AdvantageOptions`](crate::AdvantageOptions)) and the
//! responder ([`ExploitOptions`](crate::ExploitOptions)). A study requests the scores of consecutive deals, adds them in the order of the
//! deals, and stops when its rule says so. A [`StudyDriver`] plays the deals, on an executor or on other machines, keeps their scores
//! in a folder, and continues from there. After an interrupt, a study returns what it has computed so far.

mod folder;

use std::ops::{ControlFlow, Range};
use std::path::Path;

use cambio_agents::AgentSpec;
use cambio_core::play::MatchError;
use cambio_core::rng::Seed;
use cambio_core::{Rules, Seat};
use cambio_exec::{Executor, ExecutorError, Worker};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::folder::StudyFolder;
use crate::disk::RunError;
use crate::plan::{Experiment, LuckChoice, Unit, read_rules, read_seed, seeds};
use crate::play::PlayError;

/// The table of a study, and the seed of its deals.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TableOptions {
    /// The rules: a preset or a rule file [default: classic]
    #[cfg_attr(feature = "clap", arg(long))]
    pub rules: Option<String>,
    /// The number of seats [default: 2]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seats: Option<usize>,
    /// The seed of the deals: a whole number or any text [default: the name of the command, so that a test never plays the
    /// deals on which `tune` chose its agent]
    #[serde(with = "seeds")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED", value_parser = read_seed))]
    pub seed: Option<Seed>,
}

impl TableOptions {
    /// The name of the preset, or the path of the rule file.
    pub fn rules(&self) -> &str {
        self.rules.as_deref().unwrap_or("classic")
    }

    /// The number of seats.
    pub fn seats(&self) -> usize {
        self.seats.unwrap_or(2)
    }

    /// The given seed, or the seed of the command with this name.
    ///
    /// # Panics
    /// If the name is empty.
    pub fn seed(&self, command: &str) -> Seed {
        self.seed.unwrap_or_else(|| read_seed(command).expect("the name of a command is not empty"))
    }

    /// The rules, which are read from their file.
    pub(crate) fn read_rules(&self) -> Result<Rules, StudyError> {
        Ok(read_rules(self.rules(), Path::new("."))?)
    }

    /// Checks the number of seats.
    ///
    /// # Errors
    /// If there are fewer than 2 or more than 8 seats.
    pub fn check(&self) -> Result<(), StudyError> {
        in_range("seats", self.seats() as u64, 2, 8)
    }
}

/// The table of a study, and how a deal is played at it.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SettingOptions {
    /// The table.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub table: TableOptions,
    /// Play one round on each deal instead of a match
    #[cfg_attr(feature = "clap", arg(long))]
    pub rounds: bool,
    /// Whether to measure the luck of the cards and subtract it from the results, which gives narrower intervals
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub luck: LuckChoice,
}

impl SettingOptions {
    /// An experiment with these agents on the deals of the command with this name.
    pub fn experiment(&self, command: &str, agents: &[impl AsRef<str>]) -> Experiment {
        Experiment {
            seed: Some(self.table.seed(command)),
            unit: if self.rounds { Unit::Rounds } else { Unit::Match },
            luck: self.luck,
            ..Experiment::at(self.table.rules(), self.table.seats(), agents)
        }
    }
}

/// An error of a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// An option has an invalid value: the name of the option, and what the value must be and is.
    #[error("`{0}` {1}")]
    Option(&'static str, String),
    /// The options do not fit together or do not fit the agent.
    #[error("{0}")]
    Task(String),
    /// An agent was at fault in a single round.
    #[error("fault: {agent}: deal {deal}, the agent in seat {seat}: {error}")]
    Round {
        /// The measured agent.
        agent: String,
        /// The deal.
        deal: u64,
        /// The seat of the measured agent.
        seat: Seat,
        /// The fault.
        error: MatchError,
    },
    /// An error while playing.
    #[error(transparent)]
    Play(PlayError),
}

impl StudyError {
    /// The error that ended a single round of the measured agent. A machine without resources is not a fault of the agent.
    pub(crate) fn of_match(agent: &AgentSpec, deal: u64, seat: Seat, error: MatchError) -> StudyError {
        if let MatchError::Failed(failure) = &error
            && !failure.error.is_fault()
        {
            return PlayError::halted(&failure.error, error.to_string()).into();
        }
        StudyError::Round { agent: agent.to_string(), deal, seat, error }
    }
}

impl<E> From<E> for StudyError
where
    PlayError: From<E>,
{
    fn from(error: E) -> StudyError {
        StudyError::Play(error.into())
    }
}

/// Checks that a whole number is from `least` to `most`.
pub(crate) fn in_range(name: &'static str, value: u64, least: u64, most: u64) -> Result<(), StudyError> {
    let wrong = || StudyError::Option(name, format!("must be a whole number from {least} to {most}, found {value}"));
    (least..=most).contains(&value).then_some(()).ok_or_else(wrong)
}

/// Checks that a number is a probability above 0 and below 1.
pub(crate) fn probability(name: &'static str, value: f64) -> Result<(), StudyError> {
    let wrong = || StudyError::Option(name, format!("must be a number above 0 and below 1, found {value}"));
    (value > 0.0 && value < 1.0).then_some(()).ok_or_else(wrong)
}

/// A step of a study, for people.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum StudyStep {
    /// Play begins: the description of a study whose options do not describe it.
    Begin(String),
    /// The study plays. About ten times a second, and at the start of each stage.
    Play(String),
}

/// Plays the deals of a study on other machines.
pub trait RemotePlayer: Sync {
    /// Plays the first deals of the range, at least one. `request` says what to play; it is the argument of the study's `scores`. Returns
    /// consecutive results of that function.
    ///
    /// # Errors
    /// If an agent is at fault, or play was interrupted.
    fn scores(&self, request: &str, deals: Range<u64>) -> Result<Vec<String>, PlayError>;
}

/// Plays the deals of a study, and keeps their scores.
///
/// # Examples
/// ```
/// use cambio_sim::sprt::SprtOptions;
/// use cambio_sim::{Executor, StudyDriver};
///
/// let roster = cambio_agents::roster();
/// let options = SprtOptions { agent: "greedy".into(), other: "random".into(), elo1: 50.0, ..SprtOptions::default() };
/// let executor = Executor::new(1)?;
/// # let out = std::env::temp_dir().join(format!("cambio-study-{}", std::process::id()));
/// // The study is interrupted at its first message.
/// let token = executor.cancel_token();
/// let mut stop = |_| drop(token.cancel());
/// let mut driver = StudyDriver::new(&executor, &mut stop).with_out(Some(&out));
/// let interrupted = options.run(&roster, &mut driver);
/// assert!(driver.is_interrupted() && interrupted.is_ok());
/// driver.finish(&interrupted?.to_json(), Vec::new())?;
///
/// // The same study in the same folder continues.
/// let executor = Executor::new(1)?;
/// let mut ignore = |_| ();
/// let mut driver = StudyDriver::new(&executor, &mut ignore).with_out(Some(&out));
/// let result = options.run(&roster, &mut driver)?;
/// assert!(!driver.is_interrupted() && result.deals < 100);
/// driver.finish(&result.to_json(), Vec::new())?;
/// # std::fs::remove_dir_all(&out)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StudyDriver<'a> {
    executor: &'a Executor,
    remote: Option<&'a dyn RemotePlayer>,
    out: Option<&'a Path>,
    folder: Option<StudyFolder>,
    progress: &'a mut dyn FnMut(StudyStep),
    /// The number of stages so far.
    stages: u64,
    is_interrupted: bool,
}

impl std::fmt::Debug for StudyDriver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StudyDriver").field("out", &self.out).field("stages", &self.stages).finish_non_exhaustive()
    }
}

/// The deals of one stage of a study.
pub(crate) struct Stage {
    /// What to play, for [`RemotePlayer`].
    pub(crate) request: String,
    pub(crate) deals: Range<u64>,
    /// The number of parts of each deal, which are played in parallel.
    pub(crate) parts: usize,
}

/// The state of a stage while it is being played.
struct Playing<'s, T, P> {
    state: &'s mut T,
    folder: Option<&'s mut StudyFolder>,
    stage: u64,
    /// The finished parts of the next deal.
    parts: Vec<P>,
    /// The number of finished deals.
    done: u64,
}

/// The reason why a stage stops before its last deal.
enum StageEnd {
    Enough,
    Failed(StudyError),
}

impl<E: Into<StudyError>> From<E> for StageEnd {
    fn from(error: E) -> StageEnd {
        StageEnd::Failed(error.into())
    }
}

impl<'a> StudyDriver<'a> {
    /// A driver on this machine.
    pub fn new(executor: &'a Executor, progress: &'a mut dyn FnMut(StudyStep)) -> StudyDriver<'a> {
        StudyDriver { executor, remote: None, out: None, folder: None, progress, stages: 0, is_interrupted: false }
    }

    /// Keeps the scores in this folder. The study creates the folder when it begins, and continues there if the folder has the same
    /// study, unfinished.
    #[must_use]
    pub fn with_out(self, out: Option<&'a Path>) -> StudyDriver<'a> {
        StudyDriver { out, ..self }
    }

    /// Plays the deals on other machines.
    #[must_use]
    pub fn with_remote(self, remote: &'a dyn RemotePlayer) -> StudyDriver<'a> {
        StudyDriver { remote: Some(remote), ..self }
    }

    /// Whether the study was interrupted, so that its result is undecided.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Begins a study after the check of its options. `lock` is everything on which its deals depend.
    pub(crate) fn begin(&mut self, lock: &Value) -> Result<(), StudyError> {
        self.folder = self.out.map(|out| StudyFolder::open(out, lock)).transpose()?;
        Ok(())
    }

    /// Writes the files of the result to the folder of the study, if it has one; without files, the object as `result.json`. Unless
    /// the study was interrupted, it is finished.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self, result: &Value, files: Vec<(&str, Vec<u8>)>) -> Result<(), RunError> {
        let own = || vec![("result.json", format!("{result:#}\n").into_bytes())];
        let files = if files.is_empty() { own() } else { files };
        self.folder.map_or(Ok(()), |folder| folder.finish(&files, self.is_interrupted))
    }

    pub(crate) fn tell(&mut self, step: StudyStep) {
        (self.progress)(step);
    }

    /// Plays a stage: takes the scores of earlier processes from the folder, then plays the remaining deals. `add` receives all
    /// parts of a deal, in the order of the deals, and ends the stage by `Break`. Faults on deals after that are ignored. After an
    /// interrupt, the stage and all later stages have fewer deals.
    pub(crate) fn play<P: Serialize + DeserializeOwned + Send, T: Send>(
        &mut self,
        asked: Stage,
        state: &mut T,
        part: impl Fn(u64, usize, &Worker<'_>) -> Option<Result<P, StudyError>> + Sync,
        add: impl Fn(&mut T, &[P]) -> ControlFlow<()> + Sync,
        status: impl Fn(&T, u64) -> Option<String>,
    ) -> Result<(), StudyError> {
        let Stage { request, deals, parts } = asked;
        let number = self.stages;
        self.stages += 1;
        let mut next = deals.start;
        while next < deals.end
            && let Some(stored) = self.folder.as_mut().map(|folder| folder.stored(number, next)).transpose()?.flatten()
        {
            next += 1;
            if add(state, &stored).is_break() {
                return Ok(());
            }
        }
        if self.is_interrupted {
            return Ok(());
        }
        let done = next - deals.start;
        let mut playing = Playing { state, folder: self.folder.as_mut(), stage: number, parts: Vec::new(), done };
        let commit = |playing: &mut Playing<'_, T, P>, deal: u64, found: Result<P, StudyError>| {
            playing.parts.push(found?);
            if playing.parts.len() < parts {
                return Ok(());
            }
            let found = std::mem::take(&mut playing.parts);
            playing.done += 1;
            if let Some(folder) = &mut playing.folder {
                folder.keep(playing.stage, deal, &found)?;
            }
            if add(playing.state, &found).is_break() { Err(StageEnd::Enough) } else { Ok(()) }
        };
        let look = |playing: &mut Playing<'_, T, P>, progress: &mut dyn FnMut(StudyStep)| {
            if let Some(status) = status(playing.state, playing.done) {
                progress(StudyStep::Play(status));
            }
            playing.folder.as_mut().map_or(Ok(()), |folder| folder.flush())
        };
        let (remote, executor, progress) = (self.remote, self.executor, &mut *self.progress);
        let end = if let Some(remote) = remote {
            let mut play = || {
                while next < deals.end {
                    for piece in remote.scores(&request, next..deals.end)? {
                        let scores: Vec<Vec<P>> = serde_json::from_str(&piece).expect("the package wrote the scores");
                        for found in scores {
                            found.into_iter().try_for_each(|found| commit(&mut playing, next, Ok(found)))?;
                            next += 1;
                        }
                    }
                    look(&mut playing, progress)?;
                }
                Ok(())
            };
            play().map_err(ExecutorError::Failed)
        } else {
            let each = parts as u64;
            let work = |item: u64, worker: &Worker<'_>| {
                if worker.is_stopped() {
                    return None;
                }
                let found = part(item / each, (item % each) as usize, worker)?;
                (found.is_ok() || !cambio_agents::is_interrupted()).then_some(found)
            };
            let commit = |playing: &mut Playing<'_, T, P>, item, found| commit(playing, item / each, found);
            let look = |playing: &mut Playing<'_, T, P>, _| look(playing, progress).map_err(StageEnd::from);
            executor.run_watched(next * each..deals.end * each, &mut playing, work, commit, look)
        };
        if let Some(folder) = &mut self.folder {
            folder.flush()?;
        }
        match end {
            Ok(()) | Err(ExecutorError::Failed(StageEnd::Enough)) => {}
            Err(
                ExecutorError::Cancelled
                | ExecutorError::Failed(StageEnd::Failed(StudyError::Play(PlayError::Interrupted))),
            ) => self.is_interrupted = true,
            Err(ExecutorError::Failed(StageEnd::Failed(error))) => return Err(error),
        }
        Ok(())
    }
}

/// Plays a range of deals for [`RemotePlayer`]: the scores of each deal as a JSON list.
pub(crate) fn scores_of<P: Serialize + DeserializeOwned + Clone + Send>(
    executor: &Executor,
    (deals, parts): (Range<u64>, usize),
    part: impl Fn(u64, usize) -> Result<P, StudyError> + Sync,
) -> Result<String, StudyError> {
    let (mut found, stage) = (Vec::new(), Stage { request: String::new(), deals, parts });
    let add = |found: &mut Vec<Vec<P>>, scores: &[P]| {
        found.push(scores.to_vec());
        ControlFlow::Continue(())
    };
    let part = |deal, place, _: &Worker<'_>| Some(part(deal, place));
    StudyDriver::new(executor, &mut |_| ()).play(stage, &mut found, part, add, |_, _| None)?;
    Ok(json!(found).to_string())
}

/// The lock of a study: the build of the program, the options, and a text that identifies what they refer to.
pub(crate) fn lock_of(study: &str, options: &impl Serialize, identity: &str) -> Value {
    json!({ "build": crate::BUILD, "study": study, "options": options, "plan": identity })
}

/// Reads the options of a study from a JSON object. Missing options have their default values.
///
/// # Errors
/// If an option is unknown or has a value of the wrong type.
pub fn read_options<T: Default + DeserializeOwned + Serialize>(text: &str) -> Result<T, StudyError> {
    let wrong = |error: serde_json::Error| StudyError::Task(error.to_string());
    let given: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(wrong)?;
    let known = crate::object(T::default());
    match given.keys().find(|name| !known.contains_key(*name)) {
        Some(name) => Err(StudyError::Task(format!("there is no option `{name}`"))),
        None => serde_json::from_value(given.into()).map_err(wrong),
    }
}
