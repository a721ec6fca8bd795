//! An agent in any language: a process that reads and writes one JSON object per line.
//!
//! PROTOCOL.md describes the protocol. The adapter [`External`] enforces the deadlines, limits the length of an answer,
//! and in the end kills the whole process group of the bot.

mod message;
mod pipes;
mod process;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Rules};
use serde_json::Value;

use crate::params;
use crate::params::Text;
use process::Process;
pub use process::end_bots;

params! {
    /// The parameters of [`External`].
    pub(crate) struct ExternalParams {
        /// The time limit for a decision, in milliseconds.
        deadline_ms: u32 = 5000 in 1..=86_400_000,
        /// The time limit for the start of the process and its answer to `hello`, in milliseconds.
        start_ms: u32 = 10_000 in 1..=86_400_000,
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends all current and future waits for bots in this process, when the program is interrupted. The bots then fail with
/// [`AgentError::Interrupted`].
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Whether [`interrupt`] has been called.
#[inline]
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The text of the agent `external`.
pub(crate) const COMMAND: Text = Text {
    name: "command",
    meaning: "The program and its arguments, quoted as in a shell; no shell is involved.",
    example: "python3 bot.py",
    is_needed: true,
    check: |text, _| split(text).map(drop).map_err(|error| error.to_string()),
    files: |text, folder| {
        let words = split(text).unwrap_or_default();
        words.into_iter().filter(|word| folder.join(word).is_file()).collect()
    },
};

/// The error for an invalid command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command has no words, or the first word is empty.
    #[error("it is empty; the first word must be a program")]
    Empty,
    /// A quote is not closed, or a backslash is the last character.
    #[error("it has an unclosed quote, or ends with a backslash")]
    Open,
}

/// Splits a command into words, quoted as in a POSIX shell. Nothing is expanded.
fn split(command: &str) -> Result<Vec<String>, CommandError> {
    let words = shlex::split(command).ok_or(CommandError::Open)?;
    if words.first().is_none_or(String::is_empty) { Err(CommandError::Empty) } else { Ok(words) }
}

/// A bot in another process.
///
/// The process starts with the first match and serves every match of the agent. It ends with the agent, or at a fault; the
/// match after a fault starts a new process.
///
/// # Determinism
/// The bot gets a seed for each match; its decisions are as deterministic as the bot. Only faults depend on the clock.
///
/// # Examples
/// ```
/// use cambio_agents::roster;
///
/// assert!(roster().parse(r#"external("python3 'my bot.py'", deadline_ms=50)"#).is_ok());
/// let error = roster().parse(r#"external("python3 'my bot.py")"#).unwrap_err();
/// assert!(error.to_string().ends_with("it has an unclosed quote, or ends with a backslash"));
/// ```
#[derive(Debug)]
pub(crate) struct External {
    command: Vec<String>,
    /// The working directory of the bot; empty for that of this process.
    folder: PathBuf,
    params: ExternalParams,
    process: Option<Process>,
    /// The error after which the bot cannot continue this match.
    failed: Option<AgentError>,
    rules: Option<Rules>,
    round: usize,
    /// The messages since the last `decide`, which are sent together with the next `decide`.
    unsent: Vec<u8>,
}

impl External {
    /// A bot with this command: a program and its arguments, quoted as in a shell. No shell is involved, and nothing is
    /// expanded.
    ///
    /// # Errors
    /// If the command has no words, or a quote in it is not closed.
    pub(crate) fn new(command: &str, params: &ExternalParams) -> Result<External, CommandError> {
        Ok(External {
            command: split(command)?,
            folder: PathBuf::new(),
            params: *params,
            process: None,
            failed: None,
            rules: None,
            round: 0,
            unsent: Vec::new(),
        })
    }

    /// The bot with this working directory, in which relative paths of the command start.
    #[must_use]
    pub(crate) fn in_folder(self, folder: &Path) -> External {
        External { folder: folder.to_owned(), ..self }
    }

    /// Adds a message to the buffer.
    fn say(&mut self, message: &Value) {
        if self.failed.is_none() {
            self.unsent.extend_from_slice(message.to_string().as_bytes());
            self.unsent.push(b'\n');
        }
    }

    fn send(&mut self) -> Result<(), AgentError> {
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        Ok(process.send(std::mem::take(&mut self.unsent))?)
    }

    fn start(&mut self) -> Result<(), AgentError> {
        if self.process.is_some() {
            return Ok(());
        }
        let process = self.process.insert(Process::start(&self.command, &self.folder)?);
        let hello = message::hello().to_string() + "\n";
        process.send(hello.into_bytes())?;
        let answer = process.answer("hello", self.params.start_ms)?;
        Ok(message::read_hello(&answer)?)
    }

    fn ask(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        process.expect_silence()?;
        self.say(&message::decide(self.round, view));
        self.send()?;
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        let answer = process.answer("decide", self.params.deadline_ms)?;
        Ok(message::read_decision(&answer)?)
    }

    /// Keeps the error and ends the process at once.
    fn fail(&mut self, error: AgentError) -> AgentError {
        self.unsent.clear();
        if let Some(process) = self.process.take() {
            process.kill();
        }
        self.failed.insert(error).clone()
    }
}

impl Agent for External {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.failed = None;
        self.rules = Some(*briefing.rules);
        self.unsent.clear();
        let begun = self.start().and_then(|()| {
            self.say(&message::begin(briefing));
            self.send()
        });
        begun.map_err(|error| self.fail(error))
    }

    fn notice(&mut self, notice: Notice<'_>) {
        if self.failed.is_some() {
            return;
        }
        match notice {
            Notice::RoundBegins(standing) => {
                self.round = standing.round + 1;
                self.say(&message::round(standing));
            }
            Notice::Event(sighting) => {
                if let Some(rules) = &self.rules {
                    let message = message::event(rules, *sighting);
                    self.say(&message);
                }
            }
            Notice::Table(_) => {}
            Notice::RoundEnds(result) => self.say(&message::round_end(result)),
            Notice::MatchEnds(result) => {
                self.say(&message::end(&result.totals));
                if let Err(error) = self.send() {
                    self.fail(error);
                }
            }
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => self.ask(view).map_err(|error| self.fail(error)),
        }
    }
}
