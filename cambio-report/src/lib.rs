//! `report.html`: a run, a response curve, or a network that learned, as one page. A browser shows it without a network, and it can be printed.
//!
//! A page is a function of the rows, the experiment and the lock, like the tables of a run. It contains no date, machine or
//! path. This crate makes the words and the coordinates; the templates in `templates/` lay them out, and the template engine
//! escapes every text.
//!
//! The plots are SVG templates too, because a plot needs a title, a description and a role for screen readers, and takes its
//! colours and fonts from the page. They are forests, strips of bars and one curve, which need little geometry (`plot`).

mod cell_report;
mod curves;
mod learning;
mod numbers;
mod parts;
mod plot;
mod run;
mod template;
mod tuning;
mod verdict;

pub use learning::of_learning;
pub use numbers::is_even;
pub use run::{Run, of_run};
pub use tuning::{Tuning, of_tuning, write_tuning};
