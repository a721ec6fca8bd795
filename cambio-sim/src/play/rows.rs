//! The rows of a block: created from matches, written as CSV, and read back.

use arrayvec::ArrayVec;
use cambio_agents::Luck;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{MatchResult, Record, Score, Seat, SeatSet};

use super::fault::AgentFault;
use super::tally::{MatchTally, RoundTally};
use crate::plan::{Block, Plan};
use crate::rows::{FILES, LuckShare, MatchKey, MatchRow, PlayerRow, RoundRow, RowReader, RowWriter};

/// The rows of one block, in canonical order: by rotation, then round or seat.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockRows<'p> {
    /// One row per match.
    pub matches: Vec<MatchRow<'p>>,
    /// One row per round.
    pub rounds: Vec<RoundRow<'p>>,
    /// One row per match and seat.
    pub players: Vec<PlayerRow<'p>>,
    /// One record per match, if the plan keeps records.
    pub records: Vec<Record>,
    /// The faults of agents, if faults do not stop the run.
    pub faults: Vec<AgentFault>,
}

impl<'p> BlockRows<'p> {
    pub(super) fn clear(&mut self) {
        self.matches.clear();
        self.rounds.clear();
        self.players.clear();
        self.records.clear();
    }

    /// Iterates over matches: the row of the match, its rounds, and its players by seat. No row may be missing.
    pub(crate) fn by_match(&self) -> impl Iterator<Item = (&MatchRow<'p>, &[RoundRow<'p>], &[PlayerRow<'p>])> {
        let (mut rounds, mut players) = (&self.rounds[..], &self.players[..]);
        self.matches.iter().map(move |row| {
            let rounds = rounds.split_off(..row.rounds).expect("a match has a row for each round");
            (row, rounds, players.split_off(..row.key.seats).expect("a match has a row for each seat"))
        })
    }

    /// Appends the rows to `matches.csv`, `rounds.csv` and `players.csv`, without headers.
    ///
    /// ```
    /// use std::path::Path;
    /// use cambio_sim::rows::RowWriter;
    /// use cambio_sim::{Experiment, play_block};
    ///
    /// let (experiment, _) = Experiment::read(Path::new("../experiments/quickstart.toml"))?;
    /// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
    /// let mut files = [0; 3].map(|_| RowWriter::over(Vec::new()));
    /// play_block(&plan, &plan.block(0)).unwrap().write(&mut files);
    ///
    /// let [matches, rounds, players] = files.map(RowWriter::into_bytes);
    /// assert_eq!((matches.1, rounds.1, players.1), (2, 3, 4));
    /// assert!(matches.0.starts_with(b"original,2,random | random(pass=0.9),0,0,"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, [matches, rounds, players]: &mut [RowWriter; 3]) {
        self.matches.iter().for_each(|row| matches.write(row));
        self.rounds.iter().for_each(|row| rounds.write(row));
        self.players.iter().for_each(|row| players.write(row));
    }

    /// Reads the next rows of the files, which must be the rows of this block. A void block has no rows. If a row is malformed or
    /// missing, returns the name of the file and a message.
    pub(crate) fn read(
        plan: &'p Plan,
        block: &Block<'p>,
        [matches, rounds, players]: &mut [RowReader<'_>; 3],
    ) -> Result<BlockRows<'p>, (&'static str, String)> {
        let (rules, seats, lineup) = (block.cell.rules.name(), block.cell.seats, block.lineup.label());
        let label = |seat, rotation| &*plan.agents[block.agent(seat, rotation)].label;
        let begin = [rules, &seats.to_string(), lineup, &block.deal.to_string()];
        let texts: Vec<&str> = [rules, lineup].into_iter().chain((0..seats).map(|seat| label(seat, 0))).collect();
        let [in_matches, in_rounds, in_players] = FILES.map(|file| move |what| (file.name, what));
        let rows = BlockRows {
            matches: matches.read(&begin, &texts).map_err(in_matches)?,
            rounds: rounds.read(&begin, &texts).map_err(in_rounds)?,
            players: players.read(&begin, &texts).map_err(in_players)?,
            ..BlockRows::default()
        };
        let lacks = |rows: &str| format!("{rows} of {rules}, {seats} seats, {lineup}, deal {} are missing", block.deal);
        let played = if rows.matches.is_empty() { 0 } else { block.cell.seatings.len() };
        if !rows.matches.iter().map(|row| row.key.rotation).eq(0..played) {
            return Err(in_matches(lacks("rotations")));
        }
        let expected = rows.matches.iter().flat_map(|row| (1..=row.rounds).map(|round| (row.key.rotation, round)));
        let is_sound =
            |row: &RoundRow<'_>| row.points.len() == seats && row.callers.iter().all(|caller| caller.index() < seats);
        if !rows.rounds.iter().map(|row| (row.key.rotation, row.round)).eq(expected)
            || !rows.rounds.iter().all(is_sound)
        {
            return Err(in_rounds(lacks("rounds")));
        }
        let expected = (0..played).flat_map(|rotation| (0..seats).map(move |seat| (rotation, seat)));
        let is_sound = |row: &PlayerRow<'_>| {
            row.agent == label(row.seat.index(), row.key.rotation)
                && (1..=seats).contains(&row.rank)
                && row.luck.units().is_some() == block.cell.baseline.is_some()
        };
        let found = rows.players.iter().map(|row| (row.key.rotation, row.seat.index()));
        if !found.eq(expected) || !rows.players.iter().all(is_sound) {
            return Err(in_players(lacks("seats")));
        }
        Ok(rows)
    }

    /// Copies the rows of rotation `twin` to `rotation`, which must be the next rotation.
    pub(super) fn repeat(&mut self, twin: usize, rotation: usize) {
        fn repeat<'p, R: Clone>(rows: &mut Vec<R>, key: fn(&mut R) -> &mut MatchKey<'p>, [twin, rotation]: [usize; 2]) {
            for index in 0..rows.len() {
                let mut row = rows[index].clone();
                if key(&mut row).rotation == twin {
                    key(&mut row).rotation = rotation;
                    rows.push(row);
                }
            }
        }

        repeat(&mut self.matches, |row| &mut row.key, [twin, rotation]);
        repeat(&mut self.rounds, |row| &mut row.key, [twin, rotation]);
        repeat(&mut self.players, |row| &mut row.key, [twin, rotation]);
        if let Some(mut record) = self.records.get(twin).cloned() {
            record.fields.insert("rotation".to_owned(), rotation.into());
            self.records.push(record);
        }
    }
}

pub(super) enum MatchEnding<'a> {
    /// The match was completed. The second field has the lapses of each seat whose agent counts lapses.
    Played(&'a MatchResult, &'a [Option<u32>; MAX_SEATS]),
    /// The given seat was at fault: it gets the last rank, and the other seats share the first rank.
    Forfeit(Seat),
}

impl MatchEnding<'_> {
    fn rank(&self, seat: usize, seats: usize) -> usize {
        match self {
            MatchEnding::Played(result, _) => result.ranks[seat],
            MatchEnding::Forfeit(loser) if loser.index() == seat => seats,
            MatchEnding::Forfeit(_) => 1,
        }
    }
}

pub(super) fn write_rows<'p>(
    plan: &'p Plan,
    block: &Block<'p>,
    rotation: usize,
    (tally, luck): (&MatchTally, Option<&Luck>),
    ending: &MatchEnding<'_>,
    rows: &mut BlockRows<'p>,
) {
    let Block { cell, lineup, deal, .. } = *block;
    let seats = cell.seats;
    let key = MatchKey { rules: cell.rules.name(), seats, lineup: lineup.label(), deal, rotation };
    let ranks: ArrayVec<usize, MAX_SEATS> = (0..seats).map(|seat| ending.rank(seat, seats)).collect();
    let winners: SeatSet =
        Seat::ALL.into_iter().zip(&ranks).filter(|(_, rank)| **rank == 1).map(|(seat, _)| seat).collect();
    let analysis = plan.is_analysis(lineup);
    rows.matches.push(MatchRow {
        key,
        rounds: tally.rounds.len(),
        turns: tally.seats[..seats].iter().map(|seat| seat.turns).sum(),
        decisions: tally.rounds.iter().map(|round| round.decisions).sum(),
        winners,
        fingerprint: tally.fingerprinter.of_match(),
        analysis,
        reproducible: plan.is_reproducible(lineup),
    });
    rows.rounds.extend(tally.rounds.iter().zip(1..).map(
        |(RoundTally { result, decisions, reshuffles, first_call_turn }, round)| RoundRow {
            key,
            round,
            starter: result.starter,
            ended: result.ended,
            callers: result.callers_in_order().collect(),
            winners: result.winners,
            turns: result.turns,
            decisions: *decisions,
            reshuffles: *reshuffles,
            points: result.points().iter().copied().collect(),
            scores: result.scores().iter().copied().collect(),
            first_call_turn: *first_call_turn,
        },
    ));
    let real = |small: usize| f64::from(small as u32);
    let points: ArrayVec<i64, MAX_SEATS> = tally.seats[..seats].iter().map(|counts| counts.points).collect();
    rows.players.extend(Seat::ALL.into_iter().zip(&ranks).enumerate().map(|(index, (seat, &rank))| {
        let mut counts = tally.seats[index];
        let mut total = None;
        if let MatchEnding::Played(result, lapses) = ending {
            counts.finish(lapses[index], &points);
            total = Some(f64::from(result.totals[index].units()) / f64::from(Score::UNITS));
        }
        let tied = ranks.iter().filter(|&&other| other == rank).count();
        // Twice the midrank, so that only one division rounds.
        let midrank = 2 * rank + tied - 1;
        PlayerRow {
            key,
            seat,
            agent: &plan.agents[block.agent(index, rotation)].label,
            total,
            rank,
            rank_points: real(2 * seats - midrank) / real(2 * (seats - 1)),
            win_share: if rank == 1 { 1.0 / real(winners.len()) } else { 0.0 },
            rounds: tally.rounds.len() as u32,
            counts,
            analysis,
            forfeit: matches!(ending, MatchEnding::Forfeit(loser) if *loser == seat),
            luck: luck.map_or(LuckShare::default(), |luck| LuckShare::new(luck.shares()[index])),
        }
    }));
}
