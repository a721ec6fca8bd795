//! The tidy rows of a run: what each CSV file holds, its header being the fields' names.
//!
//! A row is declared once, and written and read by that declaration: RFC 4180, line feeds, an empty cell for what is
//! unknown, numbers in the shortest form that reads back as the same number.

mod cell;
mod declare;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod pen;
mod quantities;
mod reader;
mod schema;
mod writer;

pub use cell::{BySeat, Field, Kind, Print, SeatOrder};
pub use pen::Pen;
pub use quantities::{BehaviourRow, Counts, Form, Known, MEASURES, Measure, NotSummed, PlayerRow, Summed, Sums};
pub(crate) use quantities::{Context, MatchEnd, RoundEnd, ratio};
pub(crate) use reader::{BadRow, for_each_block};
pub use schema::{Column, MatchRow, RoundRow, Row, header};
pub use writer::{RowKey, Sheet};
