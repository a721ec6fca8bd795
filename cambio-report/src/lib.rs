//! Pages about a run, which work offline and in print.
//!
//! Like the tables of a run, a page is a pure function of the rows, the experiment and the lock file. The page contains
//! no date, machine or path. Only the section about the times of agents
//! depends on the machine.
//!
//! A [`Page`] is data: sections of headings, paragraphs, tables and figures. `templates/page.html` has the layout of all pages,
//! `templates/prose.txt` their sentences, and `figure` draws forest plots as SVG. A new plot is a function in `figure` and a call in the module of its page.

#[cfg(feature = "learn")]
mod bench;
mod cell;
mod figure;
#[cfg(feature = "learn")]
mod leaderboard;
mod numbers;
mod page;
mod review;
mod run;
mod verdict;

#[cfg(feature = "learn")]
pub use bench::{BENCH_PARTS, Bench, BenchCheck, BenchEnd, BenchError, BenchResult};
#[cfg(feature = "learn")]
pub use leaderboard::Leaderboard;
pub use page::Page;
pub use review::{ReviewTable, of_review};
pub use run::{Run, of_run, with_page};
