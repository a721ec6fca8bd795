//! All integration tests in one program, so that only one is linked.

mod batches;
mod belief;
mod bytes;
mod faults;
mod focal;
mod hostile;
mod hypothesis;
mod luck;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
mod quantities;
mod rows;
mod secrets;
