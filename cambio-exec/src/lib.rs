//! Parallel work whose results are committed in order ([`Executor`]), cancellation ([`CancelToken`]), locked folders
//! ([`Claim`]) and atomic file writes ([`write_whole`]), for runs and training. This crate does not depend on the game.

mod executor;
mod files;
mod text;

pub use executor::{CancelToken, Executor, ExecutorError, MOST_THREADS, ThreadsError, Worker};
pub use files::{Claim, FileError, build_aside, create_folder, lock, write_whole};
pub use text::{one_or_many, open_regular, read_text, read_up_to};
