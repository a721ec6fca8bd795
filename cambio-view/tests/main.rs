//! The tests of the crate's interface, in one binary so that it is linked once.

mod bytes;
mod desk;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
