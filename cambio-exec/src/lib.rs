//! Parallel work whose results are committed in order ([`Executor`]), cancellation ([`CancelToken`]), locked folders
//! ([`Claim`], [`lock`]), atomic writes of files ([`write_whole`]) and folders ([`build_aside`]), files that people write
//! ([`read_text`], [`one_or_many`]), tables of results ([`table!`]), and the CPU time of a thread ([`thread_cpu_time`]). This
//! crate does not depend on the game.

mod executor;
mod files;
mod table;
mod text;

pub use executor::{CancelToken, Executor, ExecutorError, MOST_THREADS, ThreadsError, Worker, thread_cpu_time};
pub use files::{
    Claim, FileError, build_aside, create_folder, create_private_folder, lock, write_private, write_whole,
};
#[doc(hidden)]
pub use serde;
pub use table::{Cell, Column, Estimate, Field, Part, Row, one_line, serialize_row};
pub use text::{
    append_regular, next_line, one_or_many, open_regular, read_all, read_bytes, read_line, read_text, read_up_to,
};
