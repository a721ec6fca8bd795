//! The rows of a block.

use cambio_core::{MAX_SEATS, MatchResult, Record, Score, Seat, SeatSet};

use super::fault::AgentFault;
use super::tally::Tally;
use crate::plan::{Block, Plan};
use crate::rows::{BySeat, MatchEnd, MatchRow, PlayerRow, RoundRow};

/// The rows of one block, in canonical order: by rotation, then round or seat.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockRows<'p> {
    /// One row a match.
    pub matches: Vec<MatchRow<'p>>,
    /// One row a round.
    pub rounds: Vec<RoundRow<'p>>,
    /// One row a seat of each match.
    pub players: Vec<PlayerRow<'p>>,
    /// One record a match, if the plan keeps records.
    pub records: Vec<Record>,
    /// The faults of agents, if faults do not stop the run.
    pub faults: Vec<AgentFault>,
}

impl BlockRows<'_> {
    pub(super) fn clear(&mut self) {
        self.matches.clear();
        self.rounds.clear();
        self.players.clear();
        self.records.clear();
    }

    /// Repeats the rows of the rotation `twin` for `rotation`, which is the next.
    pub(super) fn repeat(&mut self, twin: usize, rotation: usize) {
        let BlockRows { matches, rounds, players, records, .. } = self;
        matches.push(MatchRow { rotation, ..matches[twin].clone() });
        let from = rounds.partition_point(|row| row.rotation < twin);
        for place in from..from + matches[twin].rounds {
            rounds.push(RoundRow { rotation, ..rounds[place].clone() });
        }
        let seats = matches[twin].seats;
        for place in twin * seats..(twin + 1) * seats {
            players.push(PlayerRow { rotation, ..players[place].clone() });
        }
        if let Some(mut record) = records.get(twin).cloned() {
            record.fields.insert("rotation".to_owned(), rotation.into());
            records.push(record);
        }
    }
}

/// How a match ended.
pub(super) enum Ending<'a> {
    /// It was played to its end. The second field has the lapses of each seat that counts them.
    Played(&'a MatchResult, &'a [Option<u32>; MAX_SEATS]),
    /// This seat was at fault: it has the last rank, and the others share the first.
    Forfeit(Seat),
}

impl Ending<'_> {
    fn rank(&self, seat: usize, seats: usize) -> usize {
        match self {
            Ending::Played(result, _) => result.ranks[seat],
            Ending::Forfeit(loser) if loser.index() == seat => seats,
            Ending::Forfeit(_) => 1,
        }
    }
}

pub(super) fn write_rows<'p>(
    plan: &'p Plan,
    block: &Block<'p>,
    rotation: usize,
    tally: &Tally,
    ending: &Ending<'_>,
    rows: &mut BlockRows<'p>,
) {
    let (rules, seats, deal, lineup) = (block.cell.rules.name(), block.cell.seats, block.deal, block.lineup.label());
    let mut ranks = [0; MAX_SEATS];
    let ranks = &mut ranks[..seats];
    let mut winners = SeatSet::default();
    for ((seat, place), rank) in Seat::ALL.into_iter().zip(0..).zip(&mut *ranks) {
        *rank = ending.rank(place, seats);
        if *rank == 1 {
            winners.insert(seat);
        }
    }
    let analysis = plan.is_analysis(block.lineup);
    rows.matches.push(MatchRow {
        rules,
        seats,
        lineup,
        deal,
        rotation,
        rounds: tally.rounds.len(),
        turns: tally.seats[..seats].iter().map(|seat| seat.turns).sum(),
        decisions: tally.rounds.iter().map(|round| round.decisions).sum(),
        winners,
        fingerprint: tally.fingerprinter.of_match().into(),
        analysis,
        reproducible: plan.is_reproducible(block.lineup),
    });
    for (number, round) in tally.rounds.iter().enumerate() {
        rows.rounds.push(RoundRow {
            rules,
            seats,
            lineup,
            deal,
            rotation,
            round: number + 1,
            starter: round.result.starter,
            ended: round.result.ended.word(),
            callers: round.result.callers_in_order().collect(),
            winners: round.result.winners,
            turns: round.result.turns,
            decisions: round.decisions,
            reshuffles: round.reshuffles,
            points: BySeat::new(round.result.points()),
            scores: BySeat::new(round.result.scores()),
            call_turn: round.call_turn,
        });
    }
    let real = |small: usize| f64::from(small as u32);
    let mut points = [0; MAX_SEATS];
    points.iter_mut().zip(&tally.seats).for_each(|(sum, counts)| *sum = counts.points);
    let end = match ending {
        Ending::Played(_, lapses) => MatchEnd { lapses: **lapses, points: Some(&points[..seats]) },
        Ending::Forfeit(_) => MatchEnd { lapses: [None; MAX_SEATS], points: None },
    };
    let ranks = &*ranks;
    rows.players.extend(tally.seats[..seats].iter().enumerate().map(|(seat, counts)| {
        let mut counts = *counts;
        counts.finish(&end, seat);
        let rank = ranks[seat];
        let tied = ranks.iter().filter(|&&other| other == rank).count();
        // Twice the midrank, so that the numbers stay whole until the one division.
        let midrank = 2 * rank + tied - 1;
        PlayerRow {
            rules,
            seats,
            lineup,
            deal,
            rotation,
            seat: Seat::ALL[seat],
            agent: plan.agents[block.agent(seat, rotation)].label.as_str(),
            total: match ending {
                Ending::Played(result, _) => Some(f64::from(result.totals[seat].units()) / f64::from(Score::UNITS)),
                Ending::Forfeit(_) => None,
            },
            rank,
            rank_points: real(2 * seats - midrank) / real(2 * (seats - 1)),
            win: if rank == 1 { 1.0 / real(winners.len()) } else { 0.0 },
            rounds: tally.rounds.len() as u32,
            analysis,
            forfeit: matches!(ending, Ending::Forfeit(loser) if loser.index() == seat),
            ..counts.row()
        }
    }));
}
