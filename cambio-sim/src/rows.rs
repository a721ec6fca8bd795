//! The tidy rows of a run: one type for each CSV file. The names of its fields are the header.
//!
//! Each row type is declared once, and the writer and the reader come from that declaration. Files follow RFC 4180 with line
//! feeds. An unknown value is an empty cell, and numbers have the shortest form that reads back as the same number.

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
