//! Plays one deal block: a lineup on one deal in all its rotations.

use cambio_core::rng::Key;
use cambio_core::{
    Action, Agent, Briefing, MatchError, MatchResult, Observation, Pairing, Record, Recorder, Score, Scribe, Seat,
    SeatSet, State, play_match,
};

use crate::experiment::{Block, Plan};
use crate::guard::Guarded;
use crate::rows::{MatchRow, PlayerRow, RoundRow};
use crate::tally::Tally;

/// Whether full records are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Records {
    /// They are.
    Keep,
    /// They are not.
    Skip,
}

/// The rows of one block, in canonical order: by rotation, then round or seat.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockRows {
    /// One row a match.
    pub matches: Vec<MatchRow>,
    /// One row a round.
    pub rounds: Vec<RoundRow>,
    /// One row a seat of each match, with the agent's place in the plan.
    pub players: Vec<(usize, PlayerRow)>,
    /// One record a match, where they are kept.
    pub records: Vec<Record>,
}

/// An agent did what a player may not: it decided illegally, could not go on, or panicked.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentFault {
    /// Where: rule system, lineup, deal and rotation.
    pub place: String,
    /// What it did.
    pub what: String,
    /// The match up to there.
    pub record: Record,
}

/// Plays a block.
///
/// # Errors
/// If an agent decides what is not legal, cannot go on, or panics.
///
/// # Determinism
/// The rows depend on the plan's seed and the block alone.
pub fn play_block(plan: &Plan, block: &Block<'_>, records: Records) -> Result<BlockRows, Box<AgentFault>> {
    let mut rows = BlockRows::default();
    let places = (0..block.seats).map(|seat| block.lineup.agent(seat, 0));
    let mut agents: Vec<_> = places.map(|agent| Guarded::new(plan.agents[agent].make())).collect();
    for rotation in 0..plan.rotations(block.seats) {
        play_rotation(plan, block, rotation, records, &mut agents, &mut rows)?;
        // Everybody moves on by one seat. An agent forgets at the start of a match, and one that lives in a process of
        // its own need not start again.
        agents.rotate_left(1);
    }
    Ok(rows)
}

fn play_rotation(
    plan: &Plan,
    block: &Block<'_>,
    rotation: usize,
    records: Records,
    agents: &mut [Guarded<Box<dyn Agent>>],
    rows: &mut BlockRows,
) -> Result<(), Box<AgentFault>> {
    let Block { rules, seats, lineup, deal, .. } = *block;
    let places: Vec<usize> = (0..seats).map(|seat| lineup.agent(seat, rotation)).collect();
    let labels: Vec<&str> = places.iter().map(|&agent| plan.labels[agent].as_str()).collect();
    let key = Key { seed: plan.seed, deal };
    let pairing = Pairing { rules, seats, key };
    let mut tally = Tally::default();
    let mut script = Script::default();
    let result = match records {
        Records::Skip => play_match(&pairing, agents, &mut (&mut tally, &mut script)),
        Records::Keep => {
            let mut recorder = Recorder::new(rules);
            let mut scribe = (&mut tally, &mut script);
            let result = play_match(&pairing, agents, &mut (&mut scribe, &mut recorder));
            if let Ok(result) = &result {
                rows.records.push(recorder.finish(key, rotation, &labels, result));
            }
            result
        }
    };
    let result = result.map_err(|error| fault(plan, block, rotation, &labels, &script, &error))?;
    write_rows(plan, block, rotation, &places, &tally, &result, rows);
    Ok(())
}

/// The decisions of a match in order, with their seats.
#[derive(Default)]
struct Script(Vec<(Seat, Action)>);

impl Scribe for Script {
    fn decides(&mut self, _: &State<'_>, seat: Seat, action: Action) {
        self.0.push((seat, action));
    }
}

/// Decides what a script says, as far as it goes.
struct Scripted<'s> {
    decisions: Box<dyn Iterator<Item = Action> + Send + 's>,
    is_over: bool,
}

impl Agent for Scripted<'_> {
    fn begin(&mut self, _: &Briefing<'_>) {}

    fn decide(&mut self, _: &Observation<'_>) -> Action {
        let next = self.decisions.next();
        self.is_over = next.is_none();
        next.unwrap_or(Action::Pass)
    }

    fn trouble(&mut self) -> Option<String> {
        self.is_over.then(|| "the script is over".to_owned())
    }
}

/// Plays a match that stopped again from its script, to have its record: an agent might not do the same twice.
fn fault(
    plan: &Plan,
    block: &Block<'_>,
    rotation: usize,
    labels: &[&str],
    script: &Script,
    error: &MatchError,
) -> Box<AgentFault> {
    let Block { rules, seats, deal, .. } = *block;
    let key = Key { seed: plan.seed, deal };
    let of = |seat| script.0.iter().filter(move |decision| decision.0 == seat).map(|decision| decision.1);
    let agents = Seat::ALL[..seats].iter().map(|&seat| Scripted { decisions: Box::new(of(seat)), is_over: false });
    let mut recorder = Recorder::new(rules);
    // It ends where the match stopped, in the trouble of a script that is over.
    let _ = play_match(&Pairing { rules, seats, key }, &mut agents.collect::<Vec<_>>(), &mut recorder);
    let illegal = match error {
        MatchError::Fault(fault) => Some(&**fault),
        _ => None,
    };
    let place = format!("{}, {seats} seats, {}, deal {deal}, rotation {rotation}", rules.name(), labels.join(" | "));
    let mut record = recorder.stop(key, rotation, labels, illegal);
    record.fields.insert("x-fault".to_owned(), error.to_string().into());
    Box::new(AgentFault { place, what: error.to_string(), record })
}

fn write_rows(
    plan: &Plan,
    block: &Block<'_>,
    rotation: usize,
    places: &[usize],
    tally: &Tally,
    result: &MatchResult,
    rows: &mut BlockRows,
) {
    let (rules, seats, deal) = (block.rules.name().to_owned(), block.seats, block.deal);
    let lineup = plan.lineup_label(block.lineup);
    let best = result.ranks.iter().filter(|&&rank| rank == 1).count();
    let winners = Seat::ALL.iter().zip(&result.ranks).filter(|(_, rank)| **rank == 1).map(|(seat, _)| seat.letter());
    rows.matches.push(MatchRow {
        rules: rules.clone(),
        seats,
        lineup: lineup.clone(),
        deal,
        rotation,
        rounds: result.rounds,
        turns: tally.seats.iter().map(|seat| seat.turns).sum(),
        decisions: tally.rounds.iter().map(|round| round.decisions).sum(),
        winners: winners.collect(),
        fingerprint: tally.printer.of_match().to_string(),
    });
    for (number, round) in tally.rounds.iter().enumerate() {
        let letters = |seats: SeatSet| seats.iter().map(Seat::letter).collect();
        rows.rounds.push(RoundRow {
            rules: rules.clone(),
            seats,
            lineup: lineup.clone(),
            deal,
            rotation,
            round: number + 1,
            starter: round.result.starter.to_string(),
            ended: round.result.ended.word(),
            callers: round.result.callers_in_order().map(Seat::letter).collect(),
            winners: letters(round.result.winners),
            turns: round.result.turns,
            decisions: round.decisions,
            reshuffles: round.reshuffles,
            points: spaced(round.result.points()),
            scores: spaced(round.result.scores()),
        });
    }
    for (seat, (&agent, did)) in places.iter().zip(&tally.seats).enumerate() {
        let rank = result.ranks[seat];
        let tied = result.ranks.iter().filter(|&&other| other == rank).count();
        let midrank = rank as f64 + (tied - 1) as f64 / 2.0;
        rows.players.push((
            agent,
            PlayerRow {
                rules: rules.clone(),
                seats,
                lineup: lineup.clone(),
                deal,
                rotation,
                seat: Seat::ALL[seat].letter(),
                agent: plan.labels[agent].clone(),
                total: f64::from(result.totals[seat].units()) / f64::from(Score::UNITS),
                rank,
                rank_points: (seats as f64 - midrank) / (seats - 1) as f64,
                win: if rank == 1 { 1.0 / best as f64 } else { 0.0 },
                rounds: result.rounds as u32,
                points: did.points,
                rounds_won: did.rounds_won,
                calls: did.calls,
                calls_succeeded: did.calls_succeeded,
                points_at_calls: (did.calls > 0).then_some(did.points_at_calls),
                snaps_right_own: did.snaps_right_own,
                snaps_right_foreign: did.snaps_right_foreign,
                snaps_wrong: did.snaps_wrong,
                snaps_late: did.snaps_late,
                touches: did.touches,
                penalties: did.penalties,
                gifts: did.gifts,
                looks: did.looks,
                swaps: did.swaps,
                turns: did.turns,
            },
        ));
    }
}

fn spaced<T: ToString>(list: &[T]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
