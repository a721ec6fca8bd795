//! Reads rows back and checks that they are the rows of their blocks.

use std::ops::Range;

use super::quantities::PlayerRow;
use super::schema::{MatchRow, RoundRow, Row};
use crate::plan::{Block, Plan};

/// A row that is malformed or belongs to another block.
pub(crate) struct BadRow {
    /// The file that it is in.
    pub(crate) file: &'static str,
    /// What is wrong with it.
    pub(crate) what: String,
}

fn bad(file: &'static str, what: String) -> BadRow {
    BadRow { file, what }
}

/// Some rows of CSV without a header.
enum Rows<'b> {
    /// Rows without quotes. Their cells can be borrowed.
    Plain(&'b str),
    /// Rows with quotes in a cell, as in the command of a bot. Quotes are doubled in the file, so the cells are copied.
    Copied(Vec<csv::StringRecord>),
}

impl<'b> Rows<'b> {
    fn new(bytes: &'b [u8]) -> Result<Rows<'b>, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        if !text.contains("\"\"") {
            return Ok(Rows::Plain(text));
        }
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        Ok(Rows::Copied(reader.into_records().collect::<Result<_, _>>().map_err(|error| error.to_string())?))
    }

    /// Reads all rows.
    ///
    /// # Errors
    /// The name of the field that is missing or is not what it should be.
    fn read<'a, R: Row<'a>>(&'a self) -> Result<Vec<R>, &'static str> {
        match self {
            Rows::Plain(text) => {
                let mut rows = Vec::new();
                let mut cells = Cells { text, at: 0, is_in_row: false };
                while cells.begin_row() {
                    rows.push(R::read(&mut cells)?);
                }
                Ok(rows)
            }
            Rows::Copied(records) => records.iter().map(|cells| R::read(cells.iter())).collect(),
        }
    }
}

/// Iterates over the cells of a row, then of the next. A cell with a comma or a line feed stands in quotes.
struct Cells<'a> {
    text: &'a str,
    /// The number of bytes that were read.
    at: usize,
    /// Whether the row has another cell.
    is_in_row: bool,
}

impl Cells<'_> {
    /// Goes on to the next row. Returns whether there is one.
    fn begin_row(&mut self) -> bool {
        self.is_in_row = self.at < self.text.len();
        self.is_in_row
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        if !self.is_in_row {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        let end;
        if bytes.get(start) == Some(&b'"') {
            start += 1;
            end = start + self.text[start..].find('"')?;
            self.at = end + 1;
        } else {
            end = end_of_cell(bytes, start);
            self.at = end;
        }
        self.is_in_row = match bytes.get(self.at) {
            Some(b',') => true,
            Some(b'\n') | None => false,
            // Text behind a closing quote belongs to no cell.
            Some(_) => return None,
        };
        self.at += 1;
        Some(&self.text[start..end])
    }
}

/// The place of the next comma or line feed, and that of the end where there is none. Cells are short, so a search by eight
/// bytes at a time, which has one branch for most cells, takes less than one by bytes or by a call.
#[inline]
fn end_of_cell(bytes: &[u8], start: usize) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The highest bit of the first byte that is zero, and of no byte before it (Mycroft 1987).
    let first_zero = |word: u64| word.wrapping_sub(EACH) & !word & (EACH << 7);
    let mut at = start;
    while let Some(eight) = bytes[at..].first_chunk() {
        let word = u64::from_le_bytes(*eight);
        let found = first_zero(word ^ (EACH * u64::from(b','))) | first_zero(word ^ (EACH * u64::from(b'\n')));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes[at..].iter().position(|byte| matches!(byte, b',' | b'\n'));
    rest.map_or(bytes.len(), |rest| at + rest)
}

/// Reads the rows of some neighbouring blocks and passes them on, block by block: matches, rounds and players. A block without
/// rows was voided.
pub(crate) fn for_each_block<'p>(
    plan: &'p Plan,
    blocks: Range<u64>,
    files: &[Vec<u8>],
    mut take: impl FnMut(&Block<'p>, &[MatchRow<'_>], &[RoundRow<'_>], &[PlayerRow<'_>]),
) -> Result<(), BadRow> {
    let rows = |file: usize, name| Rows::new(&files[file]).map_err(|what| bad(name, what));
    let (matches, rounds, players) = (rows(0, "matches.csv")?, rows(1, "rounds.csv")?, rows(2, "players.csv")?);
    let field = |name: &'static str| move |field: &str| bad(name, format!("a row without a good `{field}`"));
    let matches: Vec<MatchRow<'_>> = matches.read().map_err(field("matches.csv"))?;
    let rounds: Vec<RoundRow<'_>> = rounds.read().map_err(field("rounds.csv"))?;
    let players: Vec<PlayerRow<'_>> = players.read().map_err(field("players.csv"))?;
    let (mut matches, mut rounds, mut players) = (&matches[..], &rounds[..], &players[..]);
    for number in blocks {
        let block = plan.block(number);
        let (rules, seats, lineup) = (block.cell.rules.name(), block.cell.seats, block.lineup.label());
        let is_of = |row: &MatchRow<'_>, rotation: usize| {
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
        };
        let rotations = block.cell.seatings.len();
        if !matches.first().is_some_and(|row| is_of(row, 0)) {
            continue;
        }
        let lacks = |file, rows: &str| {
            let place = format!("{rules}, {seats} seats, {lineup}, deal {}", block.deal);
            bad(file, format!("the {rows} of {place} are not all there"))
        };
        if matches.len() < rotations || (0..rotations).any(|rotation| !is_of(&matches[rotation], rotation)) {
            return Err(lacks("matches.csv", "rotations"));
        }
        let seated = |row: &PlayerRow<'_>, count: usize| {
            let (rotation, seat) = (count / seats, count % seats);
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
                && row.seat.index() == seat
                && row.agent == plan.agents[block.agent(seat, rotation)].label
                && (1..=seats).contains(&row.rank)
        };
        let of_block = rotations * seats;
        if players.len() < of_block || (0..of_block).any(|count| !seated(&players[count], count)) {
            return Err(lacks("players.csv", "seats"));
        }
        let played = |row: &RoundRow<'_>, rotation: usize, round: usize| {
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
                && row.round == round
                && row.points.as_slice().len() == seats
                && row.callers.first().is_none_or(|caller| caller.index() < seats)
        };
        let expected = matches[..rotations].iter().flat_map(|row| (1..=row.rounds).map(|round| (row.rotation, round)));
        let rounds_of_block: usize = matches[..rotations].iter().map(|row| row.rounds).sum();
        if rounds.len() < rounds_of_block
            || expected.zip(rounds).any(|((rotation, round), row)| !played(row, rotation, round))
        {
            return Err(lacks("rounds.csv", "rounds"));
        }
        take(&block, &matches[..rotations], &rounds[..rounds_of_block], &players[..of_block]);
        (matches, rounds, players) = (&matches[rotations..], &rounds[rounds_of_block..], &players[of_block..]);
    }
    if !matches.is_empty() || !rounds.is_empty() || !players.is_empty() {
        return Err(bad("matches.csv", "a row that belongs to no block of it".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::{Bounded as _, Key, Purpose};

    use super::*;
    use crate::rows::{CellWriter, Column, Field as _, RowWriter};

    /// A row of texts.
    #[derive(PartialEq, Debug)]
    struct Texts<'a>(Vec<&'a str>);

    impl<'a> Row<'a> for Texts<'a> {
        const COLUMNS: &'static [Column] = &[];
        const ROOM: usize = 0;

        fn put_rest(&self, writer: &mut CellWriter<'_>) {
            self.0.iter().for_each(|text| text.put(writer));
        }

        fn read(cells: impl Iterator<Item = &'a str>) -> Result<Self, &'static str> {
            Ok(Texts(cells.collect()))
        }
    }

    #[test]
    fn texts_of_any_kind_are_read_as_they_were_written() {
        let mut stream = Key::new(1, 0).stream(Purpose::Deck, 0);
        let mut copied = 0;
        for _ in 0..3000 {
            // The last part is a quote, which not every text has.
            let parts = ["a", "bc", "é", " ", "12", ",", "\n", "\r", "\""];
            let parts = &parts[..parts.len() - stream.below(2) as usize];
            let mut text = || -> String {
                (0..stream.below(4)).map(|_| parts[stream.below(parts.len() as u32) as usize]).collect()
            };
            let texts: Vec<Vec<String>> = (0..4).map(|row| (0..2 + row).map(|_| text()).collect()).collect();
            let rows: Vec<Texts<'_>> =
                texts.iter().map(|row| Texts(row.iter().map(String::as_str).collect())).collect();
            let mut writer = RowWriter::default();
            for row in &rows {
                writer.put(b"", row);
            }
            let (bytes, _) = writer.into_bytes();
            let written = Rows::new(&bytes).unwrap();
            copied += u32::from(matches!(written, Rows::Copied(_)));
            assert_eq!(written.read::<Texts<'_>>().unwrap(), rows, "{}", String::from_utf8_lossy(&bytes));
        }
        assert!((500..2500).contains(&copied), "{copied}");
    }

    #[test]
    fn a_row_that_is_cut_or_too_long_is_refused() {
        let read = |text: &str| Rows::new(text.as_bytes()).unwrap().read::<MatchRow<'_>>().map(|rows| rows.len());
        let row = "classic,2,\"a(b=1,c=2) | d\",0,1,1,9,40,ab,0123456789abcdef,false,true\n";
        assert_eq!(read(&row.repeat(2)), Ok(2));
        for (text, field) in [
            (row.replace(",true", ""), "reproducible"),
            (row.replace(",true", ",true,"), "the end of the row"),
            (row.replace("| d\"", "| d"), "lineup"),
            (row.replace("| d\"", "| d\"x"), "lineup"),
            (row.replace(",9,", ",-9,"), "turns"),
            (format!("{row}\n"), "seats"),
        ] {
            assert_eq!(read(&text), Err(field), "{text}");
        }
    }
}
