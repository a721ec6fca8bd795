//! The program's ends of a bot's pipes: two threads move bytes between them and bounded channels, so no function waits longer
//! than its time limit. The threads end when the pipes are closed; a descendant of a bot that keeps the pipes open keeps them alive.

use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

/// The maximum number of pending buffers for a bot that does not read.
const MAX_PENDING_BUFFERS: usize = 64;
/// The maximum number of pending pieces of output. A bot that writes more has to wait.
const MAX_PENDING_PIECES: usize = 4;

/// The result of waiting for output.
pub(super) enum Received {
    /// Some output.
    Piece(Vec<u8>),
    /// No output within the time limit.
    Nothing,
    /// The output is closed.
    End,
}

#[derive(Debug)]
pub(super) struct Pipes {
    /// `None` once the input is to be closed.
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Vec<u8>>,
}

impl Pipes {
    pub(super) fn new(mut stdin: ChildStdin, mut stdout: ChildStdout) -> std::io::Result<Pipes> {
        let (input, to_write) = sync_channel::<Vec<u8>>(MAX_PENDING_BUFFERS);
        let (has_read, output) = sync_channel(MAX_PENDING_PIECES);
        std::thread::Builder::new().spawn(move || {
            // A bot that has closed its input causes no error here; the error is then the missing answer.
            while let Ok(bytes) = to_write.recv() {
                if stdin.write_all(&bytes).is_err() {
                    break;
                }
            }
        })?;
        std::thread::Builder::new().spawn(move || {
            let mut piece = vec![0; 8192];
            loop {
                match stdout.read(&mut piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(size) => {
                        if has_read.send(piece[..size].to_vec()).is_err() {
                            break;
                        }
                    }
                }
            }
        })?;
        Ok(Pipes { input: Some(input), output })
    }

    /// Sends bytes without waiting until they are written. Returns false if too many buffers are pending.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> bool {
        // A writer that has stopped is not an error: the bot has closed its input.
        !matches!(self.input.as_ref().map(|input| input.try_send(bytes)), Some(Err(TrySendError::Full(_))))
    }

    /// Waits for output, at most until `until`.
    pub(super) fn receive(&mut self, until: Instant) -> Received {
        match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(piece) => Received::Piece(piece),
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    /// Closes the input when all buffers are written.
    pub(super) fn end_input(&mut self) {
        self.input = None;
    }
}
