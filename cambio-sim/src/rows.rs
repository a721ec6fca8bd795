//! The rows of a run: one type for each CSV file.
//!
//! `columns!` declares a row: a struct whose fields are the columns, in order. The module `columns` writes and reads each type of
//! field, and whole rows. `play/rows.rs` creates the rows of a match.
//!
//! A new column changes the format of runs (`book/src/versions.md`): the headers of older folders differ. To add a quantity that is
//! counted during a match, add a line to `quantities!` and count it in `impl Counts` in the same file. For any other column, add a
//! field to one of the rows below and set it in `play/rows.rs`. The data dictionary in
//! `book/src/columns.md` must end with the output of `cambio schema --rows --format md`.
//!
//! Files follow RFC 4180 with line feeds. An unknown value is an empty field. Numbers are written in the shortest form that
//! round-trips.

mod columns;
mod quantities;

use arrayvec::ArrayVec;
use cambio_core::engine::EndReason;
use cambio_core::record::Fingerprint;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Score, Seat, SeatSet};
use cambio_exec::Column;

use columns::{Columns, columns};
pub use columns::{LuckShare, RowWriter};
pub(crate) use columns::{RowReader, cell_table, header};
pub use quantities::{BehaviourRow, Counts, MEASURES, Measure, MeasureForm};
pub(crate) use quantities::{CountingContext, QuantitySums, ratio};

columns! {
    /// The fields that identify a match: the first columns of every file.
    #[derive(Copy)]
    MatchKey<'a> {
        /// The rule system.
        rules: &'a str,
        /// The number of seats.
        seats: usize => "seats",
        /// The agents of the lineup, seat a of rotation 0 first, separated by ` | `.
        lineup: &'a str,
        /// The number of the deal, counted from 0.
        deal: u64,
        /// The rotation: the number of the seating, counted from 0.
        rotation: usize,
    }
}

columns! {
    /// A row of `matches.csv`: one match.
    MatchRow<'a> {
        /// The match.
        key: MatchKey<'a>,
        /// The number of rounds.
        rounds: usize => "rounds",
        /// The number of turns.
        turns: u32 => "turns",
        /// The number of decisions.
        decisions: u32 => "decisions",
        /// The letters of the seats of rank 1 in alphabetical order, without a separator.
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
        /// The letter of the seat with the first turn.
        starter: Seat,
        /// The reason why the round ended: `call`, `empty_hand`, `turn_limit` or `stock_out`.
        ended: EndReason,
        /// The letters of the callers in the order of their calls, without a separator; empty without a call.
        callers: ArrayVec<Seat, MAX_SEATS>,
        /// The letters of the winners of the round in alphabetical order, without a separator: the successful callers; if
        /// there are none, the seats with the fewest points among those that did not call.
        winners: SeatSet,
        /// The number of turns.
        turns: usize => "turns",
        /// The number of decisions.
        decisions: u32 => "decisions",
        /// The number of reshuffles, in which the pile becomes a new stock.
        reshuffles: usize => "reshuffles",
        /// The points of the layouts, seat a first, separated by spaces.
        points: ArrayVec<i32, MAX_SEATS> => "points",
        /// The scores that the round added to the totals, seat a first, separated by spaces.
        scores: ArrayVec<Score, MAX_SEATS> => "scores",
        /// The turn of the first call, counted from 1 over all seats; empty without a call. A seat that calls because it has no cards may
        /// call in the turn of another one.
        first_call_turn: Option<u32> => "turns",
    }
}

columns! {
    /// A row of `players.csv`: one agent in one match.
    PlayerRow<'a> {
        /// The match.
        key: MatchKey<'a>,
        /// The letter of the agent's seat.
        seat: Seat,
        /// The agent.
        agent: &'a str,
        /// The agent's total; empty in a forfeited match.
        total: Option<f64> => "scores",
        /// The agent's rank by total; equal totals share a rank.
        rank: usize,
        /// Rank points, (seats − midrank) / (seats − 1): 1 for the best, 0 for the worst; tied seats get equal points.
        rank_points: f64 => "rank points",
        /// The win share: 1 / k for each of k seats of rank 1, 0 for the other seats.
        win_share: f64 => "wins",
        /// The number of rounds.
        rounds: u32 => "rounds",
        /// The measured quantities.
        counts: Counts,
        /// Whether an agent that sees hidden cards took part in the match.
        analysis: bool,
        /// Whether the agent forfeited the match by a fault.
        forfeit: bool,
        /// The luck of the cards: the part of the agent's win share that an outcome model ascribes to the cards. Its
        /// expected value is 0. The column exists only if the run measures the luck.
        luck: LuckShare => "wins",
    }
}

pub(crate) struct CsvFile {
    pub(crate) name: &'static str,
    /// The meaning of a row.
    pub(crate) row: &'static str,
    columns: fn() -> Vec<Column>,
}

impl CsvFile {
    /// The columns of the file in a run that measures the luck, or does not.
    pub(crate) fn columns(&self, measures_luck: bool) -> Vec<Column> {
        let mut columns = (self.columns)();
        columns.retain(|column| measures_luck || column.name != "luck");
        columns
    }
}

pub(crate) const FILES: [CsvFile; 3] = [
    CsvFile { name: "matches.csv", row: MatchRow::MEANING, columns: || MatchRow::columns(Column::default()) },
    CsvFile { name: "rounds.csv", row: RoundRow::MEANING, columns: || RoundRow::columns(Column::default()) },
    CsvFile { name: "players.csv", row: PlayerRow::MEANING, columns: || PlayerRow::columns(Column::default()) },
];
