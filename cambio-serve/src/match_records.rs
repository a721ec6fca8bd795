//! The records of a run's matches, in the order of its rows: read from a file, or made by playing the matches again.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

use cambio_core::engine::SnapOutcome;
use cambio_core::play::RoundResult;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Observer, Record, Seat, Standing, State, replay};
use cambio_exec::{next_line, open_regular};
use cambio_sim::{Block, Plan, PlayablePlan, StoredRun, play_block};
use cambio_view::Catalogue;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::ApiError;

/// The maximum number of bytes in a record.
const RECORD: u64 = 1 << 26;

/// Fails if an agent of the run starts a program, reads a file or may search for long, unless the settings allow this agent.
pub(crate) fn may_play(catalogue: &Catalogue, run: &StoredRun) -> Result<(), ApiError> {
    run.plan.agents.iter().map(|agent| agent.spec.as_str()).try_for_each(|spec| {
        if spec.contains('"') {
            return catalogue.agent(spec).map(drop).map_err(ApiError::from);
        }
        let agent = catalogue.roster().parse(spec).map_err(ApiError::bad)?;
        if catalogue.is_allowed(spec) { Ok(()) } else { Ok(catalogue.check_budget(&agent)?) }
    })
}

/// The records of a run.
#[derive(Debug)]
pub(crate) enum MatchRecords {
    /// The file, and its next line if this line was already read.
    Stored { file: BufReader<File>, next: Option<Vec<u8>> },
    /// The plan, and the last block with its records.
    Played { plan: Box<PlayablePlan>, block: Option<(u64, Vec<Record>)> },
}

fn unreadable(error: &std::io::Error) -> ApiError {
    ApiError::bad(format!("cannot read the run's records.jsonl: {error}"))
}

/// The fields of a record that identify its match.
#[derive(Deserialize)]
struct RecordHeader {
    rules: Value,
    seats: usize,
    deal: u64,
    rotation: usize,
    agents: Vec<String>,
}

impl RecordHeader {
    fn is_of(&self, plan: &Plan, block: &Block<'_>, rotation: usize) -> bool {
        let rules = self.rules.as_str().or_else(|| self.rules["name"].as_str());
        rules == Some(block.cell.rules.name())
            && (self.seats, self.deal, self.rotation) == (block.cell.seats, block.deal, rotation)
            && self.agents == plan.seated(block, rotation)
    }
}

impl MatchRecords {
    /// Opens the records of a run folder.
    pub(crate) fn open(catalogue: &Catalogue, path: &Path) -> Result<MatchRecords, ApiError> {
        match open_regular(&path.join("records.jsonl")) {
            Ok(file) => return Ok(MatchRecords::Stored { file: BufReader::new(file), next: None }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&error)),
        }
        let mut run = StoredRun::open(path).map_err(ApiError::bad)?;
        may_play(catalogue, &run)?;
        run.plan.records = true;
        let plan = Box::new(run.playable(catalogue.roster()).map_err(ApiError::bad)?);
        Ok(MatchRecords::Played { plan, block: None })
    }

    /// The record of a match; `None` if it has none or is not `wanted`. Must be called for every match, in the order of the rows.
    pub(crate) fn of_match(
        &mut self,
        plan: &Plan,
        block: &Block<'_>,
        rotation: usize,
        wanted: bool,
    ) -> Result<Option<Record>, ApiError> {
        match self {
            MatchRecords::Stored { file, next } => {
                if next.is_none() {
                    *next = next_line(file, RECORD).map_err(|error| unreadable(&error))?;
                }
                let is_own = |line: &Vec<u8>| {
                    let header = serde_json::from_slice::<RecordHeader>(line);
                    header.is_ok_and(|header| header.is_of(plan, block, rotation))
                };
                let own = next.take_if(|line| is_own(line)).filter(|_| wanted);
                Ok(own.and_then(|line| Record::read(str::from_utf8(&line).ok()?).ok()))
            }
            MatchRecords::Played { .. } if !wanted => Ok(None),
            MatchRecords::Played { plan: playable, block: last } => {
                if last.as_ref().is_none_or(|(number, _)| *number != block.number) {
                    let block = playable.block(block.number);
                    let rows = play_block(playable, &block).map_err(|fault| ApiError::bad(&fault.what))?;
                    *last = Some((block.number, rows.records));
                }
                Ok(last.as_ref().and_then(|(_, records)| records.get(rotation).cloned()))
            }
        }
    }
}

/// A decision of a record: its round and its number, both counted from 1.
pub(crate) type DecisionPlace = (usize, usize);

/// The first decisions of some seats in a record that a search for matches can look for.
#[derive(Default)]
pub(crate) struct FirstDecisions {
    /// The seats whose decisions count, as bits.
    seats: u8,
    pub(crate) failed_call: Option<DecisionPlace>,
    pub(crate) wrong_snap: Option<DecisionPlace>,
    /// A snap of another seat's card that matched.
    pub(crate) foreign_snap: Option<DecisionPlace>,
    /// A snap of a card that the seat had not seen.
    pub(crate) guessed_snap: Option<DecisionPlace>,
    /// The seats with such a snap, as bits.
    pub(crate) guessers: u8,
    /// The current decision, and the last call and snap of each seat.
    at: DecisionPlace,
    calls: [DecisionPlace; MAX_SEATS],
    snaps: [DecisionPlace; MAX_SEATS],
}

impl FirstDecisions {
    /// Finds the decisions in a record, up to its first error if it has one.
    pub(crate) fn of(record: &Record, seats: u8) -> FirstDecisions {
        let mut found = FirstDecisions { seats, ..FirstDecisions::default() };
        let _ = replay(record, &mut found);
        found
    }

    fn counts(&self, seat: Seat) -> bool {
        self.seats >> seat.index() & 1 == 1
    }
}

impl Observer for FirstDecisions {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        self.at = (self.at.0 + 1, 0);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.at.1 += 1;
        if let Action::Snap(spot) = action {
            self.snaps[seat.index()] = self.at;
            if self.counts(seat) && !state.table().seen(seat).contains(spot) {
                self.guessed_snap.get_or_insert(self.at);
                self.guessers |= 1 << seat.index();
            }
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        match *event {
            Event::Called { seat } => self.calls[seat.index()] = self.at,
            Event::Snapped { seat, verdict: SnapOutcome::Wrong, .. } if self.counts(seat) => {
                self.wrong_snap.get_or_insert(self.snaps[seat.index()]);
            }
            Event::Snapped { seat, spot, verdict: SnapOutcome::Right, .. }
                if self.counts(seat) && spot.seat() != seat =>
            {
                self.foreign_snap.get_or_insert(self.snaps[seat.index()]);
            }
            _ => {}
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        let failed = |seat: &Seat| self.counts(*seat) && !result.succeeded.contains(*seat);
        if let Some(seat) = result.callers_in_order().find(failed) {
            self.failed_call.get_or_insert(self.calls[seat.index()]);
        }
    }
}
