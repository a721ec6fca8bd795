//! The card game Cambio: rules as data, a deterministic engine, leak-free observations, exact knowledge, and records.
//!
//! # A tour
//!
//! **Rules are data.** [`PRESETS`](rules::PRESETS) names the published rule systems. A [`RulesSpec`] is unchecked;
//! [`Rules`] are validated.
//!
//! ```
//! use cambio_core::{Rules, RulesSpec};
//!
//! let classic = Rules::preset("classic")?;
//! let mine = RulesSpec::from_toml("base = 'classic'\nname = 'six cards'\nhand = 6\npeek = 'choose 2'")?.validate()?;
//! assert_eq!((classic.deck().len(), mine.spec().hand.get()), (54, 6));
//! # Ok::<(), cambio_core::RulesError>(())
//! ```
//!
//! **A round is a [`State`]**: the public [`Table`] and the hidden faces. [`State::choices`] returns the legal
//! decisions, and [`State::apply`] carries out a decision. A [`Chance`](engine::Chance) supplies random outcomes, and a
//! [`Sink`](engine::Sink) receives every [`Event`].
//!
//! ```
//! use cambio_core::rng::{Key, Purpose};
//! use cambio_core::{Event, Rules, Seat, State, engine::{Dice, Setup}};
//!
//! let rules = Rules::preset("classic").unwrap();
//! let mut dice = Dice(Key::new(42, 0).stream(Purpose::Deck, 0));
//! // The sorted deck, for a fixed example; a real game shuffles it.
//! let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut ()).unwrap();
//! assert_eq!(state.choices().to_string(), "draw");
//!
//! let mut events = Vec::new();
//! state.apply("draw".parse().unwrap(), &mut dice, &mut |event: &Event<_>| events.push(*event)).unwrap();
//! assert_eq!(state.choices().to_string(), "drop, keep a1, keep a2, keep a3, keep a4");
//!
//! // Only the seat that draws sees the card.
//! assert!(matches!(events[0].seen_from(Seat::A), Event::Drew { face: Some(_), .. }));
//! assert!(matches!(events[0].seen_from(Seat::B), Event::Drew { face: None, .. }));
//! assert!(state.observe(Seat::A).held().is_some() && state.observe(Seat::B).held().is_none());
//! ```
//!
//! **A player is an [`Agent`]**: it receives [`Sighting`]s and an [`Observation`], never a state. [`play_match`] plays
//! a match between agents. [`Knowledge`] contains what a seat can deduce, and samples states from the seat's
//! information set.
//! [`testing::check_agent`] checks that an agent obeys the contract of [`Agent`].
//!
//! **A program that makes the decisions itself** steps a match with [`Playing`]; [`Players`] are agents for some of the
//! seats. A [`Referee`] steps a match between agents. A [`ChanceMatch`](play::ChanceMatch) lets the program choose the
//! random outcomes too.
//!
//! ```
//! use cambio_core::{Playing, Rules, rng::Key};
//!
//! let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
//! while let Some(turn) = playing.turn() {
//!     let action = turn.view.choices().nth(0).unwrap();
//!     playing.act(action).unwrap();
//! }
//! ```
//!
//! **A match is stored as a [`Record`]**: one line of JSON with every decision and random outcome. [`replay`] verifies
//! it decision by decision. Programs in other languages can read and write records.
//!
//! **For learning**, [`ActionSpace`](encode::ActionSpace) provides dense action indices and masks, and
//! [`TensorSpace`](encode::TensorSpace) provides observation tensors. A [`RoundHistory`](view::RoundHistory) keeps the
//! public history that the tensors contain.
//!
//! This crate uses no threads, no clock, no files and no system entropy. Play uses no floating-point numbers.

pub mod encode;
pub mod engine;
#[cfg(doctest)]
mod fences;
pub mod play;
pub mod position;
pub mod record;
pub mod rng;
pub mod rules;
pub mod testing;
pub mod text;
pub mod view;

pub use engine::{Action, Choices, Event, Observation, Phase, Sighting, State, Table, View};
pub use play::{
    Agent, AgentError, Briefing, Deal, Match, MatchResult, MatchSetup, Notice, Observer, Players, Playing, Referee,
    Standing, play_match,
};
pub use position::Position;
pub use record::{Record, Recorder, replay};
pub use rules::{Card, Rules, RulesError, RulesSpec, Score, Seat, SeatSet, Spot, SpotSet};
pub use view::Knowledge;
