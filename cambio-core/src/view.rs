//! What a seat may know beside its observation: what it can deduce, and the public history of the round.

pub(crate) mod card_history;
pub(crate) mod knowledge;
pub(crate) mod round_history;
