//! `report.html`: a run, or a response curve, on one page that a browser shows without a network and a fingerprinter prints.
//!
//! A page is a function of rows, experiment and lock, as the tables are: no date, no machine, no path is on it. What it says
//! is put into words and coordinates here; the templates in `templates/` only lay it out, and the engine escapes every text.
//!
//! The plots are SVG templates too, not drawings of a library. `plotters`, which draws the figures of our documentation,
//! writes SVG without title, description or role, with a font, a colour and a size in pixels at every element, so that
//! neither a reader's colour scheme nor a fingerprinter can have its own, and it guesses how wide text is. Forests, strips of
//! bars and one curve are little geometry (`plot`).

mod desk;
mod numbers;
mod parts;
mod plot;
mod run;
mod template;
mod tuning;
mod verdict;

use cambio_sim::Page;

pub use run::of_run;
pub use tuning::{Tuning, of_tuning};

/// The pages of a run, for those who play, check or merge it: `report.html`.
pub const PAGES: &[Page] = &[Page { file: "report.html", make: of_run }];
