//! The program's ends of a bot's pipes. No function waits longer than its time limit.

#[cfg_attr(unix, path = "pipes/polled.rs")]
#[cfg_attr(not(unix), path = "pipes/threaded.rs")]
mod ends;

pub(super) use ends::Pipes;

/// The maximum number of pending buffers for a bot that does not read.
const UNREAD: usize = 64;

/// The result of waiting for output.
pub(super) enum Received {
    /// Some output.
    Piece(Vec<u8>),
    /// No output within the time limit.
    Nothing,
    /// The output is closed.
    End,
}
