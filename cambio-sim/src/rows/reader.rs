//! Reads rows back, and sees to it that they are those of their blocks.

use std::ops::Range;

use super::quantities::PlayerRow;
use super::schema::{MatchRow, RoundRow, Row as _};
use crate::plan::{Block, Plan};

/// A row that is not what it should be.
pub(crate) struct BadRow {
    /// The file that it is in.
    pub(crate) file: &'static str,
    /// What is wrong with it.
    pub(crate) what: String,
}

fn bad(file: &'static str, what: String) -> BadRow {
    BadRow { file, what }
}

/// The cells of some rows of CSV without a header.
fn records(bytes: &[u8]) -> Result<Vec<csv::StringRecord>, String> {
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    reader.into_records().collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Hands on the rows of some neighbouring blocks, block by block: matches, rounds and players. A block without rows was
/// voided.
pub(crate) fn for_each_block(
    plan: &Plan,
    blocks: Range<u64>,
    files: &[Vec<u8>],
    mut take: impl FnMut(&Block<'_>, &[MatchRow<'_>], &[RoundRow<'_>], &[PlayerRow<'_>]),
) -> Result<(), BadRow> {
    let match_cells = records(&files[0]).map_err(|what| bad("matches.csv", what))?;
    let round_cells = records(&files[1]).map_err(|what| bad("rounds.csv", what))?;
    let player_cells = records(&files[2]).map_err(|what| bad("players.csv", what))?;
    let field = |name: &'static str| move |field: &str| bad(name, format!("a row without a good `{field}`"));
    let matches: Vec<MatchRow<'_>> =
        match_cells.iter().map(MatchRow::read).collect::<Result<_, _>>().map_err(field("matches.csv"))?;
    let rounds: Vec<RoundRow<'_>> =
        round_cells.iter().map(RoundRow::read).collect::<Result<_, _>>().map_err(field("rounds.csv"))?;
    let players: Vec<PlayerRow<'_>> =
        player_cells.iter().map(PlayerRow::read).collect::<Result<_, _>>().map_err(field("players.csv"))?;
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
        let place = format!("{rules}, {seats} seats, {lineup}, deal {}", block.deal);
        if matches.len() < rotations || (0..rotations).any(|rotation| !is_of(&matches[rotation], rotation)) {
            return Err(bad("matches.csv", format!("the rotations of {place} are not all there")));
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
            return Err(bad("players.csv", format!("the seats of {place} are not all there")));
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
            return Err(bad("rounds.csv", format!("the rounds of {place} are not all there")));
        }
        take(&block, &matches[..rotations], &rounds[..rounds_of_block], &players[..of_block]);
        (matches, rounds, players) = (&matches[rotations..], &rounds[rounds_of_block..], &players[of_block..]);
    }
    if !matches.is_empty() || !rounds.is_empty() || !players.is_empty() {
        return Err(bad("matches.csv", "a row that belongs to no block of it".to_owned()));
    }
    Ok(())
}
