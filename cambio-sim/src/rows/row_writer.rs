//! The writer of the rows of a file.

use super::cell::Field;
use super::cell_writer::{CELLS, CellBuffer, CellWriter};
use super::schema::Row;

/// Writes the rows of a CSV file into memory, without the header.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::rows::{MatchRow, RowKey, RowWriter, header};
/// use cambio_sim::{Experiment, play_block};
///
/// let (experiment, _) = Experiment::read(Path::new("../experiments/quickstart.toml"))?;
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let played = play_block(&plan, &plan.block(0)).unwrap();
///
/// let mut key = RowKey::default();
/// let first = &played.matches[0];
/// key.set_lineup(first.rules, first.seats, first.lineup);
/// let mut writer = RowWriter::over(Vec::new());
/// for row in &played.matches {
///     writer.put(key.of_match(row.deal, row.rotation), row);
/// }
/// let (bytes, rows) = writer.into_bytes();
/// let file = String::from_utf8([header::<MatchRow<'_>>(), bytes].concat())?;
/// assert_eq!((rows, file.lines().count()), (2, 3));
/// assert!(file.starts_with("rules,seats,lineup,deal,rotation,rounds,turns,decisions,winners,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RowWriter {
    out: Vec<u8>,
    buffer: CellBuffer,
    rows: u64,
}

impl RowWriter {
    /// A writer without rows that uses the memory of `out` again.
    pub fn over(mut out: Vec<u8>) -> RowWriter {
        out.clear();
        RowWriter { out, buffer: CellBuffer::default(), rows: 0 }
    }

    /// Writes a row. `key` holds its first cells, as [`RowKey::of_match`] returns them.
    ///
    /// # Panics
    /// If the other cells are so much longer than [`Row::ROOM`] says that they do not fit into the buffer.
    pub fn put<'a, R: Row<'a>>(&mut self, key: &[u8], row: &R) {
        const { assert!(R::ROOM <= CELLS, "the cells of a row fit into the buffer") }
        self.out.extend_from_slice(key);
        let mut writer = CellWriter { out: &mut self.out, buffer: &mut self.buffer, at: 0 };
        row.put_rest(&mut writer);
        writer.end();
        *self.out.last_mut().expect("a row has a cell") = b'\n';
        self.rows += 1;
    }

    /// The bytes that were written, and how many rows they are.
    pub fn into_bytes(self) -> (Vec<u8>, u64) {
        (self.out, self.rows)
    }
}

/// The cells with which every row of a match begins: rules, seats, lineup, deal and rotation.
///
/// They are written once for all rows of the match, and the first three once for all matches of a lineup.
///
/// ```
/// use cambio_sim::rows::RowKey;
///
/// let mut key = RowKey::default();
/// key.set_lineup("classic", 2, "random | greedy");
/// assert_eq!(key.of_match(7, 1), b"classic,2,random | greedy,7,1,");
/// ```
#[derive(Debug, Default)]
pub struct RowKey {
    text: Vec<u8>,
    /// Where the cells of the lineup end.
    lineup: usize,
    /// Where the cell of the deal ends.
    deal: usize,
    /// The deal in that cell.
    of: Option<u64>,
    buffer: CellBuffer,
}

impl RowKey {
    /// Sets the rule system, the number of seats and the lineup.
    pub fn set_lineup(&mut self, rules: &str, seats: usize, lineup: &str) {
        self.write(0, |writer| {
            rules.put(writer);
            seats.put(writer);
            lineup.put(writer);
        });
        self.lineup = self.text.len();
        self.of = None;
    }

    /// The cells of a match of this lineup, given its deal and rotation.
    pub fn of_match(&mut self, deal: u64, rotation: usize) -> &[u8] {
        if self.of != Some(deal) {
            self.write(self.lineup, |writer| deal.put(writer));
            self.deal = self.text.len();
            self.of = Some(deal);
        }
        self.write(self.deal, |writer| rotation.put(writer));
        &self.text
    }

    fn write(&mut self, from: usize, cells: impl FnOnce(&mut CellWriter<'_>)) {
        self.text.truncate(from);
        let mut writer = CellWriter { out: &mut self.text, buffer: &mut self.buffer, at: 0 };
        cells(&mut writer);
        writer.end();
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::{Score, Seat, SeatSet};

    use super::*;
    use crate::rows::{BySeat, MatchRow, Print, RoundRow, header};

    #[test]
    fn a_row_writer_takes_rows_of_any_length_into_used_memory() {
        let lineup = "a \"b\", c | ".repeat(2000);
        let mut key = RowKey::default();
        key.set_lineup("house", 8, &lineup);
        let row = |print: &str, deal| MatchRow {
            rules: "house",
            seats: 8,
            lineup: &lineup,
            deal,
            rotation: 7,
            rounds: 100,
            turns: u32::MAX,
            decisions: 0,
            winners: SeatSet::first(8),
            fingerprint: Print::read(print).unwrap(),
            analysis: true,
            reproducible: false,
        };
        let mut writer = RowWriter::over(vec![b'x'; 10_000]);
        for deal in 0..50 {
            writer.put(key.of_match(deal, 7), &row("0123456789abcdef", deal));
        }
        let (bytes, rows) = writer.into_bytes();
        assert_eq!(rows, 50);
        let text = [header::<MatchRow<'_>>(), bytes].concat();
        let cells: Vec<_> = csv::Reader::from_reader(&text[..]).into_records().map(Result::unwrap).collect();
        assert_eq!(cells.len(), 50);
        for (deal, cells) in (0..).zip(&cells) {
            assert_eq!(MatchRow::read(cells.iter()), Ok(row("0123456789abcdef", deal)));
        }
    }

    #[test]
    fn a_row_reads_back_as_it_was_written() {
        let row = RoundRow {
            rules: "ru\"les",
            seats: 2,
            lineup: "a(b=1,c=2) | d",
            deal: 7,
            rotation: 0,
            round: 1,
            starter: Seat::B,
            ended: "call",
            callers: [Seat::B, Seat::A].into_iter().collect(),
            winners: SeatSet::only(Seat::A),
            turns: 4,
            decisions: 20,
            reshuffles: 0,
            points: BySeat::new(&[3, -1]),
            scores: BySeat::new(&[Score::share(2), Score::points(5)]),
            call_turn: None,
        };
        let mut key = RowKey::default();
        key.set_lineup(row.rules, row.seats, row.lineup);
        let mut writer = RowWriter::default();
        writer.put(key.of_match(row.deal, row.rotation), &row);
        let text = [header::<RoundRow<'_>>(), writer.into_bytes().0].concat();
        let line = "\"ru\"\"les\",2,\"a(b=1,c=2) | d\",7,0,1,b,call,ba,a,4,20,0,3 -1,0.5 5,\n";
        assert_eq!(std::str::from_utf8(&text).unwrap().lines().nth(1).unwrap(), line.trim_end());
        let cells = csv::Reader::from_reader(&text[..]).records().next().unwrap().unwrap();
        let read = RoundRow::read(cells.iter()).unwrap();
        assert_eq!(RoundRow { scores: row.scores, ..read }, row);
        let short = csv::StringRecord::from(vec!["rules", "x"]);
        assert_eq!(RoundRow::read(short.iter()), Err("seats"));
    }
}
