//! Pages about a run, several runs, a response curve or a learned network, which work offline and in print.
//!
//! Like the tables of a run, a page is a pure function of the rows, the experiment and the lock file. The page contains
//! no date or machine, and no path except the folders that a comparison names. Only the section about the times of agents,
//! which [`without_times`] removes, depends on the machine. This crate computes the texts and coordinates. The templates in
//! `templates/` contain the layout, and the template engine escapes every text.
//!
//! The plots are SVG templates, so that they have a title, a description and a role for screen readers, and use the
//! colours and fonts of the page. There are forest plots, histograms and curves; `plot` computes their geometry. [`plots`]
//! returns the plots of a page as separate files.

#[cfg(feature = "learn")]
mod bench;
mod cell_report;
mod comparison;
mod curves;
mod export;
#[cfg(feature = "learn")]
mod leaderboard;
mod learning;
mod misfit;
mod numbers;
mod parameter;
mod parts;
mod plot;
mod run;
mod template;
mod times;
mod tuning;
mod verdict;

#[cfg(feature = "learn")]
pub use bench::{BENCH_PARTS, Bench, BenchCheck, BenchEnd, BenchError, BenchResult, CheckOutcome, PlayRun};
pub use comparison::of_comparison;
pub use export::{Plot, plots};
#[cfg(feature = "learn")]
pub use leaderboard::{Leaderboard, of_leaderboard};
pub use learning::of_learning;
pub use run::{Run, of_run};
pub use times::without_times;
pub use tuning::{Tuning, of_tuning, tuning_files};
