//! The engine: plays one round, decision by decision. A [`State`](state::State) is the public [`Table`](table::Table)
//! and the hidden faces. Events describe every change. A [`Chance`](chance::Chance) supplies random outcomes.

pub(crate) mod action;
pub(crate) mod chance;
pub(crate) mod event;
pub(crate) mod motion;
pub(crate) mod observation;
pub(crate) mod snap;
pub(crate) mod state;
pub(crate) mod table;
