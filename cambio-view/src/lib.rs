//! Everything a person sees of a match of Cambio: the table, what happens in words, replays, hints, and reviews.
//!
//! The crate uses no network, threads or clock, so the same code serves a terminal, a server and a page in a browser.
//! A [`Sitting`] is a person's match against agents; it names [`Job`]s, which its owner runs where it likes. A [`Film`] is a match that is
//! over. [`inquire`] says what an agent considers at a decision of it, and [`appraise`] what the decisions of a round cost.
//!
//! # What a person may know
//! The steps of a sitting are made of observations, sightings and public information. A film, an inquiry and an appraisal are made of a
//! record, so only of a match that is over.

mod appraisal;
mod belief;
mod film;
mod inquiry;
mod narrator;
mod page;
mod reaction;
mod scene;
mod sitting;
mod words;

pub use appraisal::{Progress, appraise};
pub use belief::Beliefs;
pub use film::{Film, Frame, Line, RoundFilm, TABLE_JS, VIEWER_CSS, WATCH_JS};
pub use inquiry::{Finding, Hint, hint, inquire};
pub use narrator::Narrator;
pub use page::{Ask, Feed, RoundEnd, Step};
pub use reaction::{MEDIANS, ReactionTimes};
pub use scene::{Held, KindView, Lying, Move, Scene, Worth};
pub use sitting::{Done, Invitation, Job, Refusal, Sitting};
pub use words::{cards_in_short, rules_in_short, scores_in_words};
