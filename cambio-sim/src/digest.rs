//! From rows to tables.
//!
//! A [`Digest`] sums up the rows in canonical order. Its memory does not grow with the number of games. [`Derived`] makes the
//! derived tables from these sums.

mod baseline;
mod behaviour;
mod cell;
mod derived;
mod extract;
mod resampling;
mod sums;
mod tables;

pub use baseline::BaselineRow;
pub(crate) use baseline::against;
pub use behaviour::{Behaviour, CellBehaviour};
pub use cell::{CellDigest, SEAT_DEALS};
pub use derived::{Derived, Page, Source};
pub(crate) use extract::Extract;
pub use resampling::pairs_of_equals;
pub(crate) use resampling::resampling;
pub use sums::Digest;
pub use tables::{FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
