//! What an agent considered before it decided.

use cambio_core::Action;

/// A decision that an agent considered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Considered {
    /// The decision.
    pub action: Action,
    /// What it is worth to the agent, in the unit of its [`Explanation`].
    pub value: f64,
    /// The standard error of the value, in the same unit; `None` for an agent that does not search, or tried it less than twice.
    pub error: Option<f64>,
    /// How often a search tried it; `None` for an agent that does not search.
    pub visits: Option<u32>,
}

/// What an agent considered at one decision. See [`Extensions::explain`](crate::Extensions::explain).
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// What values are: the end of a sentence that begins with "in".
    pub unit: &'static str,
    /// What it considered, in no particular order. Decisions that it cannot tell apart stand there once.
    pub considered: Vec<Considered>,
}
