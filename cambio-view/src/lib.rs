//! Views of a match for people: the table, events in words, sessions, replays, hints and reviews.
//!
//! The crate uses no network, threads or clock, so the same code serves a terminal, a server and a page in a browser. A
//! [`Desk`] answers the requests of a page. A [`Session`] is a match of a person, with agents in the other seats. It returns
//! [jobs](Session::job), which the caller runs on any thread. A [`Replay`] shows a finished match, decision by decision, and [`review`]
//! computes the cost of each decision in a round.
//!
//! # Hidden information
//! The steps of a session contain only observations, sightings and public information. Replays and reviews need a
//! record, which exists only for a match that is over:
//!
//! ```
//! use cambio_core::{MatchSetup, Recorder, Rules, play_match, rng::Key};
//! use cambio_view::{Replay, review};
//!
//! let greedy = cambio_agents::roster().parse("greedy").unwrap();
//! let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(42, 0) };
//! let mut recorder = Recorder::new(&match_setup.rules);
//! let result = play_match(&match_setup, &mut [greedy.make(), greedy.make()], &mut recorder).unwrap();
//! let record = recorder.finish(match_setup.key, 0, &["greedy", "greedy"], &result);
//!
//! assert!(Replay::of(&record).unwrap().page(&[]).contains("greedy"));
//! let mut decisions = 0;
//! review(&record, 1, 8, &mut |_| {
//!     decisions += 1;
//!     decisions < 3
//! });
//! assert_eq!(decisions, 3);
//! ```

mod catalogue;
mod config;
mod desk;
mod hint;
mod narrator;
mod page;
mod reaction;
mod replay;
mod requests;
mod review;
mod scene;
mod session;
mod words;

pub use catalogue::{Catalogue, RequestError};
pub use config::SessionConfig;
pub use desk::{Answer, Desk, DeskWork, Reply, RunFolders};
pub use narrator::{NarratedLine, Narrator};
pub use page::{PageStep, Prompt, RoundEnd};
pub use replay::{Replay, VIEWER_FILES};
pub use requests::replay_in_json;
pub use review::{DecisionCost, ReviewProgress, review};
pub use scene::{CardValue, KindView, Scene};
pub use session::{Computation, JobResult, Session, SessionError};
pub use words::{cards_in_short, power_in_words, rules_in_short};
