//! The engine: what happens in one round, decision by decision. A [`State`](state::State) is the public
//! [`Table`](table::Table) and the faces that it hides; events say what changed, and chance is asked where something is open.

pub(crate) mod action;
pub(crate) mod chance;
pub(crate) mod event;
pub(crate) mod motion;
pub(crate) mod observation;
pub(crate) mod snap;
pub(crate) mod state;
pub(crate) mod table;
