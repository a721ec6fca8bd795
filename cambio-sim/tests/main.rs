//! All integration tests in one program, so that only one is linked.

mod belief;
mod faults;
mod hostile;
mod luck;
mod quantities;
mod rows;
mod secrets;
mod units;
