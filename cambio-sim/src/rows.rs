//! The rows of a run: one type for each CSV file.
//!
//! `columns!` declares a row: a struct whose fields are the columns, in order. The module `columns` writes and reads each type of
//! field, and `file` writes and reads whole rows with the crate csv. `play/rows.rs` makes the rows of a match.
//!
//! To add a quantity that is counted during a match, add a line to `quantities!` and count it in `impl Counts`, in the same file. Any
//! other column is a field of one of the rows below, and gets its value in `play/rows.rs`.
//!
//! Files follow RFC 4180 with line feeds. An unknown value is an empty field, and numbers have the shortest form that reads back as
//! the same number.

mod columns;
mod file;
mod quantities;

use arrayvec::ArrayVec;
use cambio_core::{Ending, Fingerprint, MAX_SEATS, Score, Seat, SeatSet};

pub(crate) use columns::Column;
#[cfg(feature = "parquet")]
pub(crate) use columns::Kind;
pub use columns::RowWriter;
use columns::{Columns, columns};
pub(crate) use file::{RowReader, header};
pub use quantities::{BehaviourRow, Counts, Form, Known, MEASURES, Measure, NotSummed, Summed, Sums};
pub(crate) use quantities::{Context, ratio};

columns! {
    /// The match of a row: the first columns of every file.
    #[derive(Copy)]
    MatchKey<'a> {
        /// The rule system.
        rules: &'a str,
        /// The number of seats.
        seats: usize,
        /// The agents of the lineup, seat a of rotation 0 first.
        lineup: &'a str,
        /// The deal.
        deal: u64,
        /// The rotation: which of the lineup's seatings.
        rotation: usize,
    }
}

columns! {
    /// A row of `matches.csv`: one match.
    MatchRow<'a> {
        /// The match.
        key: MatchKey<'a>,
        /// How many rounds were played.
        rounds: usize,
        /// How many turns began.
        turns: u32,
        /// How many decisions were made.
        decisions: u32,
        /// The seats of rank 1.
        winners: SeatSet,
        /// The fingerprint of play, 16 hexadecimal digits.
        fingerprint: Fingerprint,
        /// Whether an agent that sees hidden cards took part.
        analysis: bool,
        /// Whether all agents of the match are reproducible.
        reproducible: bool,
    }
}

columns! {
    /// A row of `rounds.csv`: one round.
    RoundRow<'a> {
        /// The match.
        key: MatchKey<'a>,
        /// The round, counted from 1.
        round: usize,
        /// The seat with the first turn.
        starter: Seat,
        /// Why the round ended: `call`, `empty_hand`, `turn_limit` or `stock_out`.
        ended: Ending,
        /// The callers in the order of their calls; empty without one.
        callers: ArrayVec<Seat, MAX_SEATS>,
        /// The seats that won the round: the callers who succeeded, else those with the fewest points who did not call.
        winners: SeatSet,
        /// How many turns began.
        turns: usize,
        /// How many decisions were made.
        decisions: u32,
        /// How often the pile became a new stock.
        reshuffles: usize,
        /// The points of the layouts, seat a first, separated by spaces.
        points: ArrayVec<i32, MAX_SEATS>,
        /// What the round added to the totals, seat a first, separated by spaces.
        scores: ArrayVec<Score, MAX_SEATS>,
        /// The turn in which the first call was made, counted from 1; empty without one.
        call_turn: Option<u32>,
    }
}

columns! {
    /// A row of `players.csv`: one agent in one match.
    PlayerRow<'a> {
        /// The match.
        key: MatchKey<'a>,
        /// The agent's seat.
        seat: Seat,
        /// The agent.
        agent: &'a str,
        /// Its total; empty in a match that was forfeited.
        total: Option<f64>,
        /// Its rank by total; equal totals share a rank.
        rank: usize,
        /// (seats − midrank) / (seats − 1): 1 for the best alone, 0 for the worst alone, ties share.
        rank_points: f64,
        /// Its share of the match's win: 1 / k with k seats of rank 1.
        win: f64,
        /// How many rounds were played.
        rounds: u32,
        /// The measured quantities.
        counts: Counts,
        /// Whether an agent that sees hidden cards took part in the match.
        analysis: bool,
        /// Whether it was at fault and lost the match by that.
        forfeit: bool,
    }
}

/// A CSV file of a run.
pub(crate) struct CsvFile {
    pub(crate) name: &'static str,
    pub(crate) columns: fn() -> Vec<Column>,
}

/// The CSV files of a run.
pub(crate) const FILES: [CsvFile; 3] = [
    CsvFile { name: "matches.csv", columns: || MatchRow::columns("match") },
    CsvFile { name: "rounds.csv", columns: || RoundRow::columns("round") },
    CsvFile { name: "players.csv", columns: || PlayerRow::columns("player") },
];
