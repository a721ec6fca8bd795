//! Views of a match for people: the table, events in words, sessions, replays, hints and reviews.
//!
//! The crate uses no network, threads or clock, so the same code serves a terminal, a server and a page in a browser. A
//! [`Sitting`] is a session: a person's match against agents. It returns [`Job`]s, which the caller runs on any thread.
//! A [`Film`] is the replay of a finished match. [`inquire`] shows the candidates that an agent considers at one
//! decision of a record, and [`appraise`] reviews a round: it computes the cost of each decision.
//!
//! # Hidden information
//! The steps of a session contain only observations, sightings and public information. Replays, explanations and
//! reviews need a record, which exists only for a match that is over:
//!
//! ```
//! use cambio_core::{Pairing, Recorder, Rules, play_match, rng::Key};
//! use cambio_view::{Film, appraise, inquire};
//!
//! let greedy = cambio_agents::roster().parse("greedy").unwrap();
//! let pairing = Pairing { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(42, 0) };
//! let mut recorder = Recorder::new(&pairing.rules);
//! let result = play_match(&pairing, &mut [greedy.make(), greedy.make()], &mut recorder).unwrap();
//! let record = recorder.finish(pairing.key, 0, &["greedy", "greedy"], &result);
//!
//! assert_eq!(Film::of(&record).unwrap().decisions(), record.rounds[0].decisions.len());
//! let found = inquire(&record, (1, 1), &greedy).unwrap();
//! assert_eq!(found.decided, found.played);
//! let mut decisions = 0;
//! appraise(&record, 1, 8, &mut |_| {
//!     decisions += 1;
//!     decisions < 3
//! });
//! assert_eq!(decisions, 3);
//! ```

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
