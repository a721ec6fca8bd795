//! What runs and learners need of the machine and that knows nothing of the game: many pieces of work at once with their
//! results in order ([`Executor`]), a switch that stops work ([`CancelToken`]), and files that are whole or not there.

mod executor;
mod files;
mod text;

pub use executor::{CancelToken, Executor, MOST_THREADS, Stopped, ThreadsError, Worker};
pub use files::{Claim, FileError, beside, create_folder, lock, write_whole};
pub use text::{one_or_many, open_regular, read_text, read_up_to};
