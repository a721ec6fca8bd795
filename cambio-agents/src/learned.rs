//! Networks that evaluate the result of each decision.

#![expect(clippy::inline_always, reason = "only inlined code uses the vector instructions of the machine")]

mod candidates;
mod card;
mod evaluation;
mod features;
mod file;
mod general;
mod network;
mod position;
mod shipped;
mod vectors;

pub use evaluation::{MatchStanding, Network, NetworkEvaluation, NetworkInputs};
pub(crate) use file::{NETWORK, open, seal};
pub use file::{NetworkError, NetworkMetadata, read_network};
pub use general::Embedding;
pub use network::FloatNetwork;
pub(crate) use shipped::Shipped;
pub use shipped::{missing_networks, provide_network};

/// Converts a logit to a win share.
pub(crate) fn win_share(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}
