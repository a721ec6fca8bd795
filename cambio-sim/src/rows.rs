//! The tidy rows of a run: what each CSV file holds, its header being the fields' names.
//!
//! A row is declared once, and written and read by that declaration: RFC 4180, line feeds, an empty cell for what is
//! unknown, numbers in the shortest form that reads back as the same number.

mod cell;
mod cell_writer;
mod declare;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod quantities;
mod reader;
mod row_writer;
mod schema;

pub use cell::{BySeat, Field, Kind, Print, SeatOrder};
pub use cell_writer::CellWriter;
pub use quantities::{BehaviourRow, Counts, Form, Known, MEASURES, Measure, NotSummed, PlayerRow, Summed, Sums};
pub(crate) use quantities::{Context, MatchEnd, RoundEnd, ratio};
pub(crate) use reader::{BadRow, for_each_block};
pub use row_writer::{RowKey, RowWriter};
pub use schema::{Column, MatchRow, RoundRow, Row, header};
