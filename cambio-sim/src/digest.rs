//! From rows to tables.
//!
//! A [`Digest`] sums up the rows in canonical order. Its memory does not grow with the number of games. [`Derived`] makes the
//! derived tables from these sums.

mod behaviour;
mod cell;
mod derived;
mod extract;
mod resampling;
mod sums;
mod tables;

pub use behaviour::{Behaviour, CellBehaviour};
pub use cell::CellDigest;
pub use derived::{Derived, Page, Source};
pub(crate) use extract::Extract;
pub(crate) use resampling::resampling;
pub use sums::Digest;
pub use tables::{FaultRow, PairRow, RatingRow, SeatRow, SummaryRow};
