//! `report.html`: a run, a response curve, or a network that learned, as one page. A browser shows it without a network, and it can be printed.
//!
//! A page is a function of the rows, the experiment and the lock, like the tables of a run. It contains no date, machine or
//! path. This crate makes the words and the coordinates; the templates in `templates/` lay them out, and the template engine
//! escapes every text.
//!
//! The plots are SVG templates too. `plotters`, which draws the figures of the book, writes SVG without title, description
//! or role, and puts a font, a colour and a size in pixels on every element. A reader's colour scheme and a printer could
//! not change them, and the width of text is guessed. The plots here are forests, strips of bars and one curve, which need
//! little geometry (`plot`).

mod cell_report;
mod curves;
mod film;
mod learning;
mod narrator;
mod numbers;
mod parts;
mod plot;
mod run;
mod scene;
mod template;
mod tuning;
mod verdict;
mod words;

pub use film::{Film, Frame, Line, RoundFilm, TABLE_JS, VIEWER_CSS, WATCH_JS};
pub use learning::{Learning, of_learning};
pub use narrator::Narrator;
pub use numbers::is_even;
pub use run::{Run, of_run};
pub use scene::{Held, KindView, Lying, Move, Scene};
pub use tuning::{Tuning, of_tuning, write_tuning};
pub use words::{cards_in_short, rules_in_short, scores_in_words};
