//! The tests of tournaments, in one program so that it is linked once.

mod belief;
mod faults;
mod quantities;
mod rows;
mod secrets;
mod units;
