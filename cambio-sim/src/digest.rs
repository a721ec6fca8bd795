//! From rows to tables: sums over the rows, taken in canonical order, in memory that does not grow with the number of
//! games, and the derived tables that are made of them.

mod behaviour;
mod cell;
mod derived;
mod extract;
mod resampling;
mod sums;
mod tables;

pub use behaviour::{Behaviour, CellBehaviour};
pub use cell::{CellDigest, Duel, SeatEffect};
pub use derived::{Derived, Page, Source};
pub(crate) use extract::Extract;
pub(crate) use resampling::resampling;
pub use sums::Digest;
pub use tables::{FaultRow, PairRow, RatingRow, SeatRow, SummaryRow};
