//! The process of a bot: its pipes, its deadlines and its end.

use std::io::{Read as _, Write as _};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap};

/// The longest line that a bot may write, in bytes.
pub(super) const LINE: usize = 1 << 16;
/// The most sendings that may wait for a bot that does not read.
const UNREAD: usize = 64;
/// The most pieces of output that may wait. A bot that writes more has to wait.
const PIECES: usize = 4;
/// The time that a bot has to exit after its input has ended.
const GRACE: Duration = Duration::from_millis(500);

/// The running process of a bot.
///
/// Two threads move bytes between the pipes and bounded channels, so that the caller never waits for a pipe. The threads
/// end with the pipes.
#[derive(Debug)]
pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Vec<u8>>,
    /// Output that has arrived and is not yet read.
    received: Vec<u8>,
    is_over: bool,
}

impl Process {
    pub(super) fn start(words: &[String]) -> Result<Process, String> {
        let mut command = CommandWrap::with_new(&words[0], |command| {
            command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        });
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        let mut child =
            command.spawn().map_err(|error| format!("the bot `{}` cannot be started: {error}", words[0]))?;
        let (Some(mut stdin), Some(mut stdout)) = (child.stdin().take(), child.stdout().take()) else {
            unreachable!("both pipes were asked for");
        };
        let (input, to_write) = sync_channel::<Vec<u8>>(UNREAD);
        let (has_read, output) = sync_channel(PIECES);
        std::thread::spawn(move || {
            // If the bot has closed its input, its missing answer will tell.
            while let Ok(bytes) = to_write.recv() {
                if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        std::thread::spawn(move || {
            let mut piece = vec![0; 8192];
            loop {
                match stdout.read(&mut piece) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(size) => {
                        if has_read.send(piece[..size].to_vec()).is_err() {
                            break;
                        }
                    }
                }
            }
        });
        Ok(Process { child, input: Some(input), output, received: Vec::new(), is_over: false })
    }

    /// Sends lines, and does not wait until they are written.
    pub(super) fn send(&mut self, lines: Vec<u8>) -> Result<(), String> {
        match self.input.as_ref().map(|input| input.try_send(lines)) {
            Some(Err(TrySendError::Full(_))) => Err("the bot does not read its input".to_owned()),
            // The writer has stopped because the bot has closed its input. A missing answer will tell.
            _ => Ok(()),
        }
    }

    /// Checks that the bot has written nothing since its last answer.
    pub(super) fn expect_silence(&mut self) -> Result<(), String> {
        if self.received.is_empty() {
            match self.output.try_recv() {
                Ok(piece) => self.received = piece,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(self.how_it_ended("before it was asked")),
            }
        }
        Err(format!("the bot wrote before it was asked: {}", shown(&self.received)))
    }

    /// Waits for the answer to a question, and returns it without its line break.
    pub(super) fn answer(&mut self, question: &str, deadline_ms: u32) -> Result<Vec<u8>, String> {
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
                return Err(format!("the bot wrote a line of more than {LINE} bytes to answer `{question}`"));
            }
            searched = self.received.len();
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.received.extend_from_slice(&piece),
                Err(RecvTimeoutError::Timeout) if self.received.is_empty() => {
                    return Err(format!("the bot gave no answer to `{question}` within {deadline_ms} ms"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let part = shown(&self.received);
                    return Err(format!(
                        "the bot gave no whole line to answer `{question}` within {deadline_ms} ms, only {part}"
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.how_it_ended(&format!("instead of answering `{question}`")));
                }
            }
        }
    }

    /// Ends what is left of a bot that has closed its output, and says how it ended.
    ///
    /// A process closes its output on exit after its status is settled, so the kill does not change the status.
    fn how_it_ended(&mut self, when: &str) -> String {
        match self.end() {
            Some(status) if is_killed(status) => format!("the bot closed its output or was killed {when}"),
            Some(status) => format!("the bot exited {when} ({status})"),
            None => format!("the bot closed its output {when}"),
        }
    }

    /// Kills the whole group, and its leader even if it has moved to another group. Then waits for the leader. The order
    /// matters: until somebody waits for the leader, no other group can get its number.
    fn end(&mut self) -> Option<ExitStatus> {
        self.is_over = true;
        self.input = None;
        // This fails only if nothing of the group is left.
        let _ = self.child.start_kill();
        let _ = self.child.inner_mut().start_kill();
        self.child.wait().ok()
    }

    /// Ends the process at once.
    pub(super) fn kill(mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

impl Drop for Process {
    /// Ends the input, gives the bot a moment to exit, and kills what is left of its group.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.input = None;
        let end = Instant::now() + GRACE;
        // The output ends when the bot exits. Nobody reads what it still says.
        while self.output.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {
            if Instant::now() >= end {
                break;
            }
        }
        self.end();
    }
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
