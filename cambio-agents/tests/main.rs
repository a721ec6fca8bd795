//! The tests of the agents, in one program so that it is linked once.

mod advantage;
mod allocations;
mod belief;
mod bytes;
mod cheats;
mod conformance;
mod equivariance;
mod learned;
mod legal;
mod luck;
mod oracle;
#[path = "../../cambio-core/tests/play/mod.rs"]
mod play;
mod probabilities;
mod review;
mod search;
mod value;
