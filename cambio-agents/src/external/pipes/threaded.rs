//! Two threads that move bytes between the pipes and bounded channels. They end when the pipes are closed, so a
//! descendant of a bot that keeps the pipes open keeps the threads alive.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

use super::{Received, UNREAD};

/// The maximum number of pending pieces of output. A bot that writes more has to wait.
const MAX_PENDING_PIECES: usize = 4;

#[derive(Debug)]
pub(in super::super) struct Pipes {
    input: Option<SyncSender<Vec<u8>>>,
    output: Receiver<Vec<u8>>,
}

impl Pipes {
    pub(in super::super) fn new(mut stdin: ChildStdin, mut stdout: ChildStdout) -> std::io::Result<Pipes> {
        let (input, to_write) = sync_channel::<Vec<u8>>(UNREAD);
        let (has_read, output) = sync_channel(MAX_PENDING_PIECES);
        std::thread::Builder::new().spawn(move || {
            // A bot that has closed its input causes no error here; the error is then the missing answer.
            while let Ok(bytes) = to_write.recv() {
                if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        })?;
        std::thread::Builder::new().spawn(move || {
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
        })?;
        Ok(Pipes { input: Some(input), output })
    }

    /// Sends bytes without waiting until they are written. Returns false if too many buffers are pending.
    pub(in super::super) fn send(&mut self, bytes: Vec<u8>) -> bool {
        // A writer that has stopped is not an error: the bot has closed its input.
        !matches!(self.input.as_ref().map(|input| input.try_send(bytes)), Some(Err(TrySendError::Full(_))))
    }

    /// Waits for output, at most until `until`.
    pub(in super::super) fn receive(&mut self, until: Instant) -> Received {
        match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(piece) => Received::Piece(piece),
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    /// Closes the input when all buffers are written.
    pub(in super::super) fn end_input(&mut self) {
        self.input = None;
    }

    /// Closes the input. The threads end when the process ends.
    pub(in super::super) fn close(&mut self) {
        self.input = None;
    }
}
