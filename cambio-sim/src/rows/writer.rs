//! Sheets: the paper that rows are written on.

use super::cell::Field;
use super::pen::{CELLS, Pen, Strip};
use super::schema::Row;

/// The rows of a file as they are written.
#[derive(Debug, Default)]
pub struct Sheet {
    paper: Vec<u8>,
    strip: Strip,
    rows: u64,
}

impl Sheet {
    /// An empty sheet, which writes over what is on the paper.
    pub fn over(mut paper: Vec<u8>) -> Sheet {
        paper.clear();
        Sheet { paper, strip: Strip::default(), rows: 0 }
    }

    /// Writes a row, the cells that it begins with being written already.
    ///
    /// # Panics
    /// If the row's cells are longer than [`Row::ROOM`] says, by so much that the strip is not long enough.
    pub fn put<'a, R: Row<'a>>(&mut self, key: &[u8], row: &R) {
        const { assert!(R::ROOM <= CELLS, "the cells of a row have room on a strip") }
        self.paper.extend_from_slice(key);
        let mut pen = Pen { paper: &mut self.paper, strip: &mut self.strip, at: 0 };
        row.put_rest(&mut pen);
        pen.end();
        *self.paper.last_mut().expect("a row has a cell") = b'\n';
        self.rows += 1;
    }

    /// What was written, and how many rows that is.
    pub fn into_bytes(self) -> (Vec<u8>, u64) {
        (self.paper, self.rows)
    }
}

/// The cells that every row of a match begins with: what they are of its table, and then of itself.
#[derive(Debug, Default)]
pub struct RowKey {
    text: Vec<u8>,
    /// Where the cells of the table end, and those of the deal.
    table: usize,
    deal: usize,
    /// The deal that is written there.
    of: Option<u64>,
    strip: Strip,
}

impl RowKey {
    /// Another table: its rule system, number of seats and lineup.
    pub fn set_table(&mut self, rules: &str, seats: usize, lineup: &str) {
        self.write(0, |pen| {
            rules.put(pen);
            seats.put(pen);
            lineup.put(pen);
        });
        self.table = self.text.len();
        self.of = None;
    }

    /// A match of this table: its deal and rotation. Gives the cells.
    pub fn of_match(&mut self, deal: u64, rotation: usize) -> &[u8] {
        if self.of != Some(deal) {
            self.write(self.table, |pen| deal.put(pen));
            self.deal = self.text.len();
            self.of = Some(deal);
        }
        self.write(self.deal, |pen| rotation.put(pen));
        &self.text
    }

    fn write(&mut self, from: usize, cells: impl FnOnce(&mut Pen<'_>)) {
        self.text.truncate(from);
        let mut pen = Pen { paper: &mut self.text, strip: &mut self.strip, at: 0 };
        cells(&mut pen);
        pen.end();
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::{Score, Seat, SeatSet};

    use super::*;
    use crate::rows::{BySeat, MatchRow, Print, RoundRow, header};

    #[test]
    fn a_sheet_takes_rows_of_any_length_on_paper_that_was_used() {
        let lineup = "a \"b\", c | ".repeat(2000);
        let mut key = RowKey::default();
        key.set_table("house", 8, &lineup);
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
        let mut sheet = Sheet::over(vec![b'x'; 10_000]);
        for deal in 0..50 {
            sheet.put(key.of_match(deal, 7), &row("0123456789abcdef", deal));
        }
        let (bytes, rows) = sheet.into_bytes();
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
        key.set_table(row.rules, row.seats, row.lineup);
        let mut sheet = Sheet::default();
        sheet.put(key.of_match(row.deal, row.rotation), &row);
        let text = [header::<RoundRow<'_>>(), sheet.into_bytes().0].concat();
        let line = "\"ru\"\"les\",2,\"a(b=1,c=2) | d\",7,0,1,b,call,ba,a,4,20,0,3 -1,0.5 5,\n";
        assert_eq!(std::str::from_utf8(&text).unwrap().lines().nth(1).unwrap(), line.trim_end());
        let cells = csv::Reader::from_reader(&text[..]).records().next().unwrap().unwrap();
        let read = RoundRow::read(cells.iter()).unwrap();
        assert_eq!(RoundRow { scores: row.scores, ..read }, row);
        let short = csv::StringRecord::from(vec!["rules", "x"]);
        assert_eq!(RoundRow::read(short.iter()), Err("seats"));
    }
}
