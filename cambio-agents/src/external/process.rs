//! The process of a bot, with its deadlines and its termination.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap};

use super::pipes::{Pipes, Received};
use cambio_core::AgentError;
use cambio_core::text::EscapingWriter;

/// The maximum length of a line from a bot, in bytes.
pub(super) const LINE: usize = 1 << 16;
/// The time that a bot has to exit after its input has ended.
const GRACE: Duration = Duration::from_millis(500);
/// The time limit for the rest of a bot's messages after the bot has ended. Only a descendant of the bot can cause a wait.
const LAST_MESSAGES: Duration = Duration::from_millis(100);

/// The running process of a bot.
///
/// When the bot ends, our ends of the pipes are closed, even if a descendant of the bot keeps the other ends open.
#[derive(Debug)]
pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    pipes: Pipes,
    /// Closed when all messages of the bot have been printed.
    messages: Receiver<()>,
    /// Output that has arrived and is not yet read.
    received: Vec<u8>,
    is_over: bool,
}

impl Process {
    pub(super) fn start(words: &[String], folder: &Path) -> Result<Process, AgentError> {
        // A program without a separator is looked up in `PATH`. Whether another relative path starts in the working directory of the
        // bot depends on the system.
        let is_path = words[0].contains(std::path::is_separator);
        let in_folder = || std::path::absolute(folder.join(&words[0])).unwrap_or_else(|_| folder.join(&words[0]));
        let program = if is_path { in_folder() } else { words[0].as_str().into() };
        let mut command = CommandWrap::with_new(program, |command| {
            if folder != Path::new("") {
                command.current_dir(folder);
            }
            command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::std::JobObject);
        let failed = |error: std::io::Error| {
            let what = format!("the bot `{}` cannot be started: {error}", words[0]);
            if is_ours(&error) {
                AgentError::Machine(format!("{what}; this is no fault of the bot"))
            } else {
                AgentError::Failed(what)
            }
        };
        let mut child = spawn(&mut command).map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin().take(), child.stdout().take(), child.stderr().take())
        else {
            unreachable!("the pipes were requested");
        };
        match Pipes::new(stdin, stdout).and_then(|pipes| Ok((pipes, print(stderr)?))) {
            Ok((pipes, messages)) => Ok(Process { child, pipes, messages, received: Vec::new(), is_over: false }),
            Err(error) => {
                end(child.as_mut());
                Err(AgentError::Machine(format!("the pipes of the bot `{}` cannot be used: {error}", words[0])))
            }
        }
    }

    /// Sends lines without waiting until they are written.
    pub(super) fn send(&mut self, lines: Vec<u8>) -> Result<(), String> {
        // A bot that has closed its input causes no error here; the error is then the missing answer.
        if self.pipes.send(lines) { Ok(()) } else { Err("the bot does not read its input".to_owned()) }
    }

    /// Checks that the bot has written nothing since its last answer.
    pub(super) fn expect_silence(&mut self) -> Result<(), String> {
        if self.received.is_empty() {
            match self.pipes.receive(Instant::now()) {
                Received::Piece(piece) => self.received = piece,
                Received::Nothing => return Ok(()),
                Received::End => return Err(self.how_it_ended("before it was asked")),
            }
        }
        Err(format!("the bot wrote before it was asked: {}", shown(&self.received)))
    }

    /// Waits for the answer to a message, and returns it without its line break.
    pub(super) fn answer(&mut self, question: &str, deadline_ms: u32) -> Result<Vec<u8>, AgentError> {
        let end = Instant::now() + Duration::from_millis(deadline_ms.into());
        let mut searched = 0;
        loop {
            let line_break = self.received[searched..].iter().position(|&byte| byte == b'\n');
            if let Some(place) = line_break.map(|place| searched + place).filter(|&place| place <= LINE) {
                let rest = self.received.split_off(place + 1);
                let mut line = std::mem::replace(&mut self.received, rest);
                line.truncate(place);
                return Ok(line);
            }
            if self.received.len() > LINE {
                return Err(format!("the bot wrote a line of more than {LINE} bytes to answer `{question}`").into());
            }
            searched = self.received.len();
            // Waits in steps, because the program may be interrupted while it waits.
            let step = end.min(Instant::now() + Duration::from_millis(50));
            match self.pipes.receive(step) {
                Received::Piece(piece) => self.received.extend_from_slice(&piece),
                Received::Nothing if super::is_interrupted() => return Err(AgentError::Interrupted),
                Received::Nothing if Instant::now() < end => {}
                // How much of a line has arrived depends on the speed of the bot, so the message does not contain it.
                Received::Nothing => {
                    let hint = "it must flush its output after each line";
                    return Err(
                        format!("the bot gave no answer to `{question}` within {deadline_ms} ms; {hint}").into()
                    );
                }
                Received::End => {
                    return Err(self.how_it_ended(&format!("instead of answering `{question}`")).into());
                }
            }
        }
    }

    /// Kills a bot that has closed its output, and describes how the bot ended.
    ///
    /// A process closes its output on exit after its status is final, so the kill does not change the status.
    fn how_it_ended(&mut self, when: &str) -> String {
        match self.end() {
            Some(status) if is_killed(status) => format!("the bot closed its output or was killed {when}"),
            Some(status) => format!("the bot exited {when} ({status})"),
            None => format!("the bot closed its output {when}"),
        }
    }

    fn end(&mut self) -> Option<ExitStatus> {
        self.is_over = true;
        self.pipes.close();
        let status = end(self.child.as_mut());
        let _ = self.messages.recv_timeout(LAST_MESSAGES);
        status
    }

    /// Kills the process at once.
    pub(super) fn kill(mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

impl Drop for Process {
    /// Closes the input, waits up to [`GRACE`] for the bot to exit, and kills the rest of its process group.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.pipes.end_input();
        let end = Instant::now() + GRACE;
        // The output ends when the bot exits. Until then it is discarded.
        while !super::is_interrupted() && Instant::now() < end {
            let step = end.min(Instant::now() + Duration::from_millis(50));
            if matches!(self.pipes.receive(step), Received::End) {
                break;
            }
        }
        self.end();
    }
}

/// Prints a bot's standard error on ours with escaped control characters, in a thread that ends with the bot and its descendants.
fn print(mut stderr: ChildStderr) -> std::io::Result<Receiver<()>> {
    let (open, messages) = channel();
    std::thread::Builder::new().spawn(move || {
        let (mut out, mut piece, _open) = (EscapingWriter::new(std::io::stderr()), vec![0; 8192], open);
        let mut is_in_line = false;
        while let Ok(size @ 1..) = stderr.read(&mut piece) {
            // If our standard error is closed, the bot can still write.
            let _ = out.write_all(&piece[..size]);
            is_in_line = piece[size - 1] != b'\n';
        }
        if is_in_line {
            // So that the next message begins a line of its own.
            let _ = out.flush().and_then(|()| out.write_all(b"\n"));
        }
        let _ = out.flush();
    })?;
    Ok(messages)
}

/// The process IDs of the running bots.
fn bots() -> MutexGuard<'static, BTreeSet<u32>> {
    static BOTS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    BOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a bot, while the list of bots is locked, so that [`end_bots`] ends it too.
fn spawn(command: &mut CommandWrap) -> std::io::Result<Box<dyn ChildWrapper>> {
    let mut bots = bots();
    let child = command.spawn()?;
    bots.insert(child.id());
    Ok(child)
}

/// Kills all running bots with their process groups. On Windows, the job objects of the bots end with this process.
pub fn end_bots() {
    #[cfg(unix)]
    for &bot in &*bots() {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(bot as i32), nix::sys::signal::Signal::SIGKILL);
    }
}

/// Kills the whole group, and its leader even if it has moved to another group. Then waits for the leader. The order
/// matters: until the leader is reaped, no other group can get its ID.
fn end(child: &mut dyn ChildWrapper) -> Option<ExitStatus> {
    let number = child.id();
    // The kill fails only if the group is empty.
    let _ = child.start_kill();
    let _ = child.inner_mut().start_kill();
    let status = child.wait().ok();
    bots().remove(&number);
    status
}

/// Whether the start failed because this process or the machine ran out of a resource. Then the bot is not at fault.
#[cfg(unix)]
fn is_ours(error: &std::io::Error) -> bool {
    use nix::errno::Errno::{EAGAIN, EMFILE, ENFILE, ENOMEM};
    [EAGAIN, EMFILE, ENFILE, ENOMEM].iter().any(|&number| error.raw_os_error() == Some(number as i32))
}

#[cfg(not(unix))]
fn is_ours(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::WouldBlock)
}

#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(9)
}

#[cfg(not(unix))]
fn is_killed(_: ExitStatus) -> bool {
    false
}

/// Quotes output for a sentence: at most 80 characters, without control characters.
pub(super) fn shown(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(&output[..output.len().min(400)]);
    let text = text.trim_end().escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    match text.char_indices().nth(80) {
        Some((place, _)) => format!("`{}…`", &text[..place]),
        None => format!("`{text}`"),
    }
}
