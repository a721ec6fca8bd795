//! Non-blocking pipes: bytes that cannot be written yet are kept, and written while the caller waits for output.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Received, UNREAD};

#[derive(Debug)]
pub(in super::super) struct Pipes {
    /// `None` once the input is closed.
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    /// The buffers that are not written yet.
    unsent: VecDeque<Vec<u8>>,
    /// The number of written bytes of the first buffer.
    written: usize,
    /// Whether to close the input when all buffers are written.
    ends: bool,
}

impl Pipes {
    pub(in super::super) fn new(input: ChildStdin, output: ChildStdout) -> std::io::Result<Pipes> {
        unblock(&input)?;
        unblock(&output)?;
        Ok(Pipes { input: Some(input), output: Some(output), unsent: VecDeque::new(), written: 0, ends: false })
    }

    /// Sends bytes without waiting until they are written. Returns false if too many buffers are pending.
    pub(in super::super) fn send(&mut self, bytes: Vec<u8>) -> bool {
        self.write();
        if self.input.is_none() {
            return true;
        }
        if self.unsent.len() >= UNREAD {
            return false;
        }
        self.unsent.push_back(bytes);
        self.write();
        true
    }

    /// Writes as much as the pipe accepts.
    fn write(&mut self) {
        while let (Some(input), Some(first)) = (&mut self.input, self.unsent.front()) {
            match input.write(&first[self.written..]) {
                Ok(size) if self.written + size == first.len() => {
                    self.unsent.pop_front();
                    self.written = 0;
                }
                Ok(size) => self.written += size,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The bot has closed its input.
                Err(_) => self.input = None,
            }
        }
        if self.ends || self.input.is_none() {
            self.input = None;
            self.unsent.clear();
        }
    }

    /// Waits for output, at most until `until`.
    pub(in super::super) fn receive(&mut self, until: Instant) -> Received {
        loop {
            self.write();
            let Some(output) = &mut self.output else { return Received::End };
            let mut piece = vec![0; 8192];
            match output.read(&mut piece) {
                Ok(0) => return Received::End,
                Ok(size) => {
                    piece.truncate(size);
                    return Received::Piece(piece);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return Received::End,
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Received::Nothing;
            }
            let mut ends = vec![PollFd::new(output.as_fd(), PollFlags::POLLIN)];
            if let Some(input) = self.input.as_ref().filter(|_| !self.unsent.is_empty()) {
                ends.push(PollFd::new(input.as_fd(), PollFlags::POLLOUT));
            }
            // Rounded up, because a wait of 0 ms would be a busy loop.
            let wait = u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX);
            // After an error, such as a signal, the next read shows the state of the pipe.
            let _ = poll(&mut ends, PollTimeout::from(wait));
        }
    }

    /// Closes the input when all buffers are written.
    pub(in super::super) fn end_input(&mut self) {
        self.ends = true;
        self.write();
    }

    pub(in super::super) fn close(&mut self) {
        (self.input, self.output) = (None, None);
    }
}

fn unblock(end: &impl AsFd) -> std::io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(end.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(end.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}
