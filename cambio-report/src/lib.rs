//! `report.html`: the report page of a run, a response curve or a learned network, which works offline and in print.
//!
//! Like the tables of a run, a page is a pure function of the rows, the experiment and the lock file. The page contains
//! no date, machine or path. This crate computes the texts and coordinates. The templates in `templates/` contain the
//! layout, and the template engine escapes every text.
//!
//! The plots are SVG templates, so that they have a title, a description and a role for screen readers, and use the
//! colours and fonts of the page. There are forest plots, histograms and curves; `plot` computes their geometry.

mod cell_report;
mod curves;
mod learning;
mod misfit;
mod numbers;
mod parameter;
mod parts;
mod plot;
mod run;
mod template;
mod tuning;
mod verdict;

pub use learning::of_learning;
pub use numbers::{is_even, noun};
pub use run::{Run, of_run};
pub use tuning::{Tuning, of_tuning, write_tuning};
