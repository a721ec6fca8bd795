//! What a seat may know in addition to its observation: its deductions, and the public history of the round.

pub(crate) mod card_history;
pub(crate) mod knowledge;
pub(crate) mod round_history;

pub use card_history::{CardHistory, CardTrace, Origin};
pub use knowledge::{ImpossibleSighting, Knowledge};
pub use round_history::RoundHistory;
