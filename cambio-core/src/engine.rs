//! The engine: plays one round, decision by decision. A [`State`] is the public [`Table`] and the hidden faces. Events
//! describe every change. A [`Chance`] supplies random outcomes.

pub(crate) mod action;
pub(crate) mod chance;
pub(crate) mod event;
pub(crate) mod motion;
pub(crate) mod observation;
pub(crate) mod snap;
pub(crate) mod state;
pub(crate) mod table;

pub use action::{Action, Choices};
pub use chance::{Chance, Dice, RaceOrder, RoundChance, SnapRace};
pub use event::{EndReason, Event, Sighting, Sink, SnapOutcome};
pub use motion::{Motion, OnTable};
pub use observation::{Observation, OwnedObservation, PointSummary, View};
pub use snap::{SnapRights, WindowSign};
pub use state::{DealError, IllegalAction, Setup, State, StateView};
pub use table::{CardSource, CarryOver, Phase, Table};
