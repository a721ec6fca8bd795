//! The card game Cambio: rules as data, a deterministic engine, leak-free observations, exact knowledge, and records.
//!
//! # A tour
//!
//! **Rules are data.** [`PRESETS`] names the published systems. A [`RulesSpec`] is unchecked; [`Rules`] are validated.
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
//! **A round is a [`State`]**: the public [`Table`] and the hidden faces. [`State::choices`] are the legal decisions.
//! [`State::apply`] carries one out. A [`Chance`] supplies random outcomes, and a [`Sink`] receives every [`Event`].
//!
//! ```
//! use cambio_core::rng::{Key, Purpose};
//! use cambio_core::{Dice, Event, Rules, Seat, Setup, State};
//!
//! let rules = Rules::preset("classic").unwrap();
//! let mut dice = Dice(Key::new(42, 0).stream(Purpose::Deck, 0));
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
//! a match between agents. [`Knowledge`] contains what a seat can deduce, and samples states from its information set.
//! [`testing::check_agent`] checks that an agent keeps the contract.
//!
//! **A match is stored as a [`Record`]**: one line of JSON with every decision and random outcome. [`replay`] verifies
//! it decision by decision. Programs in other languages can read and write records.
//!
//! **For learning**, [`ActionSpace`] provides dense action indices and masks, and [`TensorSpace`] observation tensors.
//! A [`RoundHistory`] keeps the public history that the tensors contain.
//!
//! This crate uses no threads, no clock, no files and no system entropy. Play uses no floating-point numbers.

mod encode;
mod engine;
#[cfg(doctest)]
mod fences;
mod play;
mod record;
pub mod rng;
mod rules;
mod shown;
pub mod testing;
mod view;

pub use encode::action_space::ActionSpace;
pub use encode::frozen::FrozenError;
pub use encode::tensor::{Block, BlockValues, TensorNumber, TensorSpace};
pub use engine::action::{Action, Choices, ParseActionError};
pub use engine::chance::{Chance, Dice, Race, RaceOrder, RoundChance};
pub use engine::event::{Ending, Event, Sighting, Sink, Verdict};
pub use engine::motion::Motion;
pub use engine::observation::{Observation, OwnedObservation, Tally, View};
pub use engine::snap::{SnapRights, WindowSign};
pub use engine::state::{DealError, IllegalAction, Setup, State, StateView};
pub use engine::table::{Carry, Phase, Source, Table};
pub use play::agent::{Agent, AgentError, Briefing, Considered, Explanation, Notice};
pub use play::chance_match::{ChanceMatch, Outcome};
pub use play::deal::Deal;
pub use play::matches::{Match, RoundResult, Standing};
pub use play::observer::Observer;
pub use play::players::{Failure, Players};
pub use play::playing::{Playing, Turn};
pub use play::referee::{Fault, MatchError, MatchResult, Pairing, Referee, Stepped, Thinker, play_match};
pub use play::round::RoundLog;
pub use record::replay::replay;
pub use record::save::RestoreError;
pub use record::{FORMAT, Fingerprint, Fingerprinter, Flaw, Record, Recorder, RoundRecord};
pub use rules::card::{Card, Kind, MAX_CARDS, MAX_KINDS, ParsePowerError, Power, Step};
pub use rules::knob;
pub use rules::score::Score;
pub use rules::seat::{MAX_SEATS, MAX_SLOTS, ParseSpotError, Seat, SeatSet, Spot, SpotIter, SpotSet};
pub use rules::{Deck, KNOBS, KnobDoc, MINI_GAMES, PRESETS, Rules, RulesError, RulesSpec};
pub use shown::{Shown, did_you_mean, shown};
pub use view::card_history::{CardHistory, Origin, Trace};
pub use view::knowledge::Knowledge;
pub use view::round_history::{PublicEvent, RoundHistory};
