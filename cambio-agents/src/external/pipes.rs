//! Our ends of a bot's pipes. Nobody waits for a pipe longer than it says.

#[cfg_attr(unix, path = "pipes/polled.rs")]
#[cfg_attr(not(unix), path = "pipes/threaded.rs")]
mod ends;

pub(super) use ends::Pipes;

/// The most sendings that may wait for a bot that does not read.
const UNREAD: usize = 64;

/// What came of waiting for output.
pub(super) enum Received {
    /// Some output.
    Piece(Vec<u8>),
    /// None until then.
    Nothing,
    /// The output is closed.
    End,
}
