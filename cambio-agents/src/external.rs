//! An agent in any language: a process that talks over standard input and output, one JSON object a line.
//!
//! The protocol is in PROTOCOL.md. This side trusts nothing that the other says: it waits no longer than the deadlines,
//! keeps no more of an answer than a line may have, and ends the whole process group.

mod message;
mod process;

use cambio_core::{Action, Agent, Briefing, Observation, RoundResult, Rules, Score, Sighting, Standing};
use serde_json::Value;

use crate::{Entry, Param, Params, Range, Text};
use process::Process;

/// The version of the protocol that this crate speaks.
pub const PROTOCOL: u32 = 1;

const DEADLINE_MS: u64 = 5000;
const START_MS: u64 = 10_000;
const DAY_MS: u64 = 86_400_000;

/// Why a command is no command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no word in it.
    #[error("it has no words; the first is the program")]
    Empty,
    /// A quote is not closed, or a backslash is the last character.
    #[error("a quote in it is not closed, or a backslash ends it")]
    Open,
}

/// Splits a command into words as a POSIX shell quotes them. Nothing is expanded.
fn split(command: &str) -> Result<Vec<String>, CommandError> {
    let words = shlex::split(command).ok_or(CommandError::Open)?;
    if words.first().is_none_or(String::is_empty) { Err(CommandError::Empty) } else { Ok(words) }
}

/// A bot in another process.
///
/// The process starts with the first match and serves every match of this agent; it ends with the agent, or when it is
/// at fault. The next match after a fault starts a new one.
///
/// # Determinism
/// As good as the bot's: it gets a seed with each match. Only faults depend on the clock.
#[derive(Debug)]
pub struct External {
    command: Vec<String>,
    deadline_ms: u64,
    start_ms: u64,
    process: Option<Process>,
    trouble: Option<String>,
    rules: Option<Rules>,
    round: usize,
    /// What was said since the bot was last asked; it is sent with the next question.
    unsent: Vec<u8>,
}

impl External {
    const PARAMS: &'static [Param] = &[
        Param {
            name: "deadline_ms",
            doc: "How long a decision may take, in milliseconds.",
            default: Some(DEADLINE_MS as f64),
            range: Range::Whole(1, DAY_MS as i32),
        },
        Param {
            name: "start_ms",
            doc: "How long the process may take to start and say hello, in milliseconds.",
            default: Some(START_MS as f64),
            range: Range::Whole(1, DAY_MS as i32),
        },
    ];

    pub(crate) fn entry() -> Entry {
        let make = |params: &Params| {
            let bot = External::new(params.text()).expect("the roster has checked the command");
            let (deadline, start) = (params.value("deadline_ms") as u64, params.value("start_ms") as u64);
            Box::new(bot.deadline_ms(deadline).start_ms(start)) as Box<dyn Agent>
        };
        let about = "A program in any language over standard input and output; see PROTOCOL.md.";
        Entry::new("external", about, External::PARAMS, make).with_text(Text {
            name: "command",
            doc: "The program and its words, quoted as in a shell; no shell is involved.",
            check: |text| split(text).map(drop).map_err(|error| error.to_string()),
            files: |text| {
                let words = split(text).unwrap_or_default();
                words.into_iter().filter(|word| std::path::Path::new(word).is_file()).collect()
            },
        })
    }

    /// A bot with this command, which is split into words as a shell quotes them; nothing is expanded.
    ///
    /// # Errors
    /// If the command has no words, or a quote in it is not closed.
    pub fn new(command: &str) -> Result<External, CommandError> {
        Ok(External {
            command: split(command)?,
            deadline_ms: DEADLINE_MS,
            start_ms: START_MS,
            process: None,
            trouble: None,
            rules: None,
            round: 0,
            unsent: Vec::new(),
        })
    }

    /// The bot, with this deadline for a decision, in milliseconds, at most a day.
    #[must_use]
    pub fn deadline_ms(self, deadline_ms: u64) -> External {
        External { deadline_ms: deadline_ms.min(DAY_MS), ..self }
    }

    /// The bot, with this deadline for its start, in milliseconds, at most a day.
    #[must_use]
    pub fn start_ms(self, start_ms: u64) -> External {
        External { start_ms: start_ms.min(DAY_MS), ..self }
    }

    /// Puts a message into the next sending.
    fn say(&mut self, message: &Value) {
        if self.trouble.is_none() {
            self.unsent.extend_from_slice(message.to_string().as_bytes());
            self.unsent.push(b'\n');
        }
    }

    fn send(&mut self) -> Result<(), String> {
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        process.send(std::mem::take(&mut self.unsent))
    }

    fn start(&mut self) -> Result<(), String> {
        if self.process.is_some() {
            return Ok(());
        }
        let process = self.process.insert(Process::start(&self.command)?);
        let hello = message::hello().to_string() + "\n";
        process.send(hello.into_bytes())?;
        let answer = process.answer("hello", self.start_ms)?;
        message::read_hello(&answer)
    }

    fn ask(&mut self, view: &Observation<'_>) -> Result<Action, String> {
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        process.expect_silence()?;
        self.say(&message::decide(self.round, view));
        self.send()?;
        let process = self.process.as_mut().ok_or("the bot has not been started")?;
        let answer = process.answer("decide", self.deadline_ms)?;
        message::read_decision(&answer)
    }

    /// Notes the trouble and ends the process at once.
    fn fail(&mut self, reason: String) {
        self.trouble = Some(reason);
        self.unsent.clear();
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }
}

impl Agent for External {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.trouble = None;
        self.rules = Some(*briefing.rules);
        self.unsent.clear();
        let begun = self.start().and_then(|()| {
            self.say(&message::begin(briefing));
            self.send()
        });
        begun.unwrap_or_else(|reason| self.fail(reason));
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.round = standing.round + 1;
        self.say(&message::round(standing));
    }

    fn notice(&mut self, sighting: &Sighting) {
        if let (None, Some(rules)) = (&self.trouble, &self.rules) {
            let message = message::event(rules, *sighting);
            self.say(&message);
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let first = || view.choices().nth(0).expect("who is asked has a choice");
        if self.trouble.is_some() {
            return first();
        }
        self.ask(view).unwrap_or_else(|reason| {
            self.fail(reason);
            first()
        })
    }

    fn trouble(&mut self) -> Option<String> {
        self.trouble.clone()
    }

    fn round_ends(&mut self, result: &RoundResult) {
        self.say(&message::round_end(result));
    }

    fn match_ends(&mut self, totals: &[Score]) {
        self.say(&message::end(totals));
        if self.trouble.is_none()
            && let Err(reason) = self.send()
        {
            self.fail(reason);
        }
    }
}
