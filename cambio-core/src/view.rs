//! What a seat may know in addition to its observation: its deductions, and the public history of the round.

pub(crate) mod card_history;
pub(crate) mod knowledge;
pub(crate) mod round_history;
