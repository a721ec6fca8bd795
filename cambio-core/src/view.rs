//! What a seat may know: its observation now, what it can deduce, and the public history of the round.

pub(crate) mod chronicle;
pub(crate) mod history;
pub(crate) mod knowledge;
pub(crate) mod observation;
