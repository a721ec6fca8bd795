//! The index of a run: the facts about each match by which matches are searched. It is computed once and kept in the run folder.
//!
//! The index is a cache. It is not a part of the run: a folder without it, or with the index of other rows, has the same content.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cambio_core::{Record, Score, Seat};
use cambio_exec::{CancelToken, read_up_to, write_whole};
use cambio_sim::StoredRun;
use cambio_sim::rows::{MatchRow, PlayerRow, RoundRow};
use cambio_view::Catalogue;
use serde::{Deserialize, Serialize};

use crate::answer::ApiError;
use crate::match_records::{DecisionPlace, FirstDecisions, MatchRecords};
use crate::sessions::locked;

/// The name of the file in the run folder.
const FILE: &str = "matches.index";
/// The beginning of the file: its format. The first line continues with the hash of the rows, and with `guesses` if the index has them.
const FORMAT: &str = "cambio-match-index/2";
/// The maximum number of matches in an index.
const MOST: usize = 2_000_000;
/// The maximum number of bytes in a line of the file: the fields of `MatchFacts` are fourteen numbers.
const LINE: usize = 256;
/// The maximum number of indexes in memory.
const KEPT: usize = 4;
/// A request searches records for guesses for this time. The next request continues.
const PIECE: Duration = Duration::from_millis(700);

/// The facts about a match: a line of the index.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct MatchFacts {
    pub(crate) block: u64,
    pub(crate) rotation: usize,
    pub(crate) rounds: u32,
    pub(crate) turns: u32,
    /// The seats of rank 1, as bits.
    winners: u8,
    /// The seats with a failed call, a wrong snap, a right snap of another seat's card, any snap, and a guessed snap, as bits.
    /// `guesses` is 0 until guesses were searched.
    failed_calls: u8,
    wrong_snaps: u8,
    foreign_snaps: u8,
    snaps: u8,
    guesses: u8,
    /// The largest score difference between two seats in one round, in units of a score, and the first round with this difference.
    pub(crate) swing: i32,
    swing_round: usize,
    /// The round and the decision of the first guessed snap; 0 if there is none, or if guesses were not searched.
    guess_round: usize,
    guess_decision: usize,
}

impl MatchFacts {
    fn new(block: u64, row: &MatchRow<'_>, rounds: &[RoundRow<'_>], players: &[PlayerRow<'_>]) -> MatchFacts {
        let swing = |round: &RoundRow<'_>| {
            let units = || round.scores.iter().map(|score| score.units());
            units().max().unwrap_or(0) - units().min().unwrap_or(0)
        };
        let widest = rounds.iter().reduce(|widest, round| if swing(round) > swing(widest) { round } else { widest });
        let mut facts = MatchFacts {
            block,
            rotation: row.key.rotation,
            rounds: row.rounds as u32,
            turns: row.turns,
            winners: row.winners.iter_from(Seat::A).fold(0, |bits, seat| bits | 1 << seat.index()),
            swing: widest.map_or(0, swing),
            swing_round: widest.map_or(0, |round| round.round),
            ..MatchFacts::default()
        };
        for PlayerRow { seat, counts, .. } in players {
            let bit = |count: u32| u8::from(count > 0) << seat.index();
            facts.failed_calls |= bit(counts.calls - counts.calls_succeeded);
            facts.wrong_snaps |= bit(counts.snaps_wrong);
            facts.foreign_snaps |= bit(counts.snaps_right_foreign);
            facts.snaps |=
                bit(counts.snaps_right_own + counts.snaps_right_foreign + counts.snaps_wrong + counts.snaps_late);
        }
        facts
    }

    /// Whether the run has this match, so that a file from outside cannot name a match that does not exist.
    fn is_in(&self, run: &StoredRun) -> bool {
        self.block < run.plan.block_count() && self.rotation < run.plan.block(self.block).cell.seatings.len()
    }

    /// The letters of the seats of rank 1.
    pub(crate) fn winners(&self) -> String {
        Seat::ALL.into_iter().filter(|seat| self.winners >> seat.index() & 1 == 1).map(Seat::letter).collect()
    }

    /// The swing as a score.
    pub(crate) fn swing_score(&self) -> f64 {
        f64::from(self.swing) / f64::from(Score::UNITS)
    }

    /// The round and the decision of the first guessed snap.
    fn guess(&self) -> Option<DecisionPlace> {
        (self.guess_round > 0).then_some((self.guess_round, self.guess_decision))
    }
}

/// The property of the matches that a search finds, or their order.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MatchFilter {
    /// All matches, in the order of the rows.
    All,
    /// A call failed.
    Failed,
    /// A snap was wrong.
    Wrong,
    /// A seat snapped another seat's matching card.
    Foreign,
    /// A seat snapped a card that it had not seen.
    Guess,
    /// All matches, the largest swing first: the largest score difference between two seats in one round.
    Swing,
    /// All matches, the most turns first.
    Long,
}

impl MatchFilter {
    /// Whether one of these seats, given as bits, has the property; if no single seat can have it, whether there is a seat.
    pub(crate) fn fits(self, facts: &MatchFacts, seats: u8) -> bool {
        let having = match self {
            MatchFilter::All | MatchFilter::Long | MatchFilter::Swing => u8::MAX,
            MatchFilter::Failed => facts.failed_calls,
            MatchFilter::Wrong => facts.wrong_snaps,
            MatchFilter::Foreign => facts.foreign_snaps,
            MatchFilter::Guess => facts.guesses,
        };
        having & seats != 0
    }

    /// The place in a match that its link opens, if the facts contain it for any seat; decision 0 is the deal.
    pub(crate) fn place(self, facts: &MatchFacts) -> Option<DecisionPlace> {
        match self {
            MatchFilter::Guess => facts.guess(),
            MatchFilter::Swing => Some((facts.swing_round, 0)),
            _ => None,
        }
    }

    /// The first decision of these seats that has the property, if single decisions have it.
    pub(crate) fn first_decision(self, record: &Record, seats: u8) -> Option<DecisionPlace> {
        let first = FirstDecisions::of(record, seats);
        match self {
            MatchFilter::Failed => first.failed_call,
            MatchFilter::Wrong => first.wrong_snap,
            MatchFilter::Foreign => first.foreign_snap,
            MatchFilter::Guess => first.guessed_snap,
            MatchFilter::All | MatchFilter::Swing | MatchFilter::Long => None,
        }
    }
}

/// The seats of an agent among the players of a match, as bits; all seats for the empty name.
pub(crate) fn seats_of<'n>(players: impl IntoIterator<Item = &'n str>, agent: &str) -> u8 {
    let bits = players.into_iter().zip(0..).map(|(name, seat)| u8::from(agent.is_empty() || name == agent) << seat);
    bits.sum()
}

/// The index of a run.
#[derive(Debug)]
pub(crate) struct MatchIndex {
    pub(crate) run: StoredRun,
    pub(crate) facts: Vec<MatchFacts>,
    /// The number of matches whose records were searched for guesses.
    guesses: usize,
    records: Option<MatchRecords>,
}

impl MatchIndex {
    /// Reads the index from the run folder, or computes it from the rows. If the run has more rows than an earlier index, the
    /// search for guesses continues where it was.
    fn open(run: StoredRun, earlier: Option<MatchIndex>, token: &CancelToken) -> Result<MatchIndex, ApiError> {
        let mut index = MatchIndex { run, facts: Vec::new(), guesses: 0, records: None };
        if index.read().is_some() {
            return Ok(index);
        }
        index.facts = facts(&index.run, token)?;
        if let Some(earlier) = earlier.filter(|earlier| index.run.continues(&earlier.run)) {
            index.facts[..earlier.guesses].copy_from_slice(earlier.with_guesses());
            (index.guesses, index.records) = (earlier.guesses, earlier.records);
        }
        index.write();
        Ok(index)
    }

    /// The first line of the file. It contains the hash of the ledger, so an index of other rows does not fit.
    fn head(&self, has_guesses: bool) -> String {
        format!("{FORMAT} {}{}\n", self.run.rows_hash(), if has_guesses { " guesses" } else { "" })
    }

    /// The number of matches in the whole index.
    fn len(&self) -> usize {
        MOST.min(self.run.matches() as usize)
    }

    /// Reads the file; `None` if there is none, or if it is not the index of these rows.
    fn read(&mut self) -> Option<()> {
        let text = read_up_to(&self.run.path.join(FILE), (LINE * (self.len() + 2)) as u64).ok()?;
        let [(rows, guesses), (without, _)] =
            [true, false].map(|has| (text.strip_prefix(&self.head(has)), if has { self.len() } else { 0 }));
        let guesses = if rows.is_some() { guesses } else { 0 };
        let mut reader = csv::Reader::from_reader(rows.or(without)?.as_bytes());
        let facts: Vec<MatchFacts> = reader.deserialize().collect::<Result<_, _>>().ok()?;
        let fits = facts.len() == self.len() && facts.iter().all(|facts| facts.is_in(&self.run));
        fits.then(|| (self.facts, self.guesses) = (facts, guesses))
    }

    /// Writes the file, unless the run will get more rows. If the folder may only be read, the index stays in memory.
    fn write(&self) {
        if !self.run.is_complete() || self.facts.is_empty() {
            return;
        }
        let mut file = csv::Writer::from_writer(self.head(self.guesses == self.len()).into_bytes());
        for facts in &self.facts {
            file.serialize(facts).expect("numbers can be written to memory");
        }
        let bytes = file.into_inner().expect("memory can be written to");
        let _ = write_whole(&self.run.path.join(FILE), &bytes);
    }

    /// The matches whose guesses are known.
    pub(crate) fn with_guesses(&self) -> &[MatchFacts] {
        &self.facts[..self.guesses]
    }

    /// Searches the records of further matches for guesses, until all are known or the time is over.
    pub(crate) fn search_guesses(&mut self, catalogue: &Catalogue, token: &CancelToken) -> Result<(), ApiError> {
        let begun = Instant::now();
        while self.guesses < self.len() {
            if token.is_cancelled() || begun.elapsed() > PIECE {
                return Ok(());
            }
            let records = match &mut self.records {
                Some(records) => records,
                missing => missing.insert(MatchRecords::open(catalogue, &self.run.path)?),
            };
            let facts = &mut self.facts[self.guesses];
            let may_guess = facts.snaps != 0;
            let plan = &self.run.plan;
            let record = records.of_match(plan, &plan.block(facts.block), facts.rotation, may_guess)?;
            let found = record.map_or_else(FirstDecisions::default, |record| FirstDecisions::of(&record, u8::MAX));
            (facts.guess_round, facts.guess_decision) = found.guessed_snap.unwrap_or_default();
            facts.guesses = found.guessers;
            self.guesses += 1;
            if self.guesses == self.len() {
                self.records = None;
                self.write();
            }
        }
        Ok(())
    }
}

/// The facts about the matches of a run, from its rows.
fn facts(run: &StoredRun, token: &CancelToken) -> Result<Vec<MatchFacts>, ApiError> {
    let mut facts = Vec::new();
    for stored in run.blocks().map_err(ApiError::bad)? {
        if token.is_cancelled() {
            return Err(ApiError::bad("the search was stopped"));
        }
        let (block, rows) = stored.map_err(ApiError::bad)?;
        let of_block =
            rows.by_match().map(|(row, rounds, players)| MatchFacts::new(block.number, row, rounds, players));
        facts.extend(of_block.take(MOST - facts.len()));
        if facts.len() == MOST {
            break;
        }
    }
    Ok(facts)
}

/// An index that the first request computes while it holds the lock.
type SharedIndex = Arc<Mutex<Option<MatchIndex>>>;

/// The indexes of the run folders that were searched last, the last one first.
#[derive(Debug, Default)]
pub(crate) struct MatchIndexes(Mutex<Vec<(PathBuf, SharedIndex)>>);

impl MatchIndexes {
    /// Calls `search` with the index of a run folder.
    pub(crate) fn with<T>(
        &self,
        path: &Path,
        token: &CancelToken,
        search: impl FnOnce(&mut MatchIndex) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let run = StoredRun::open(path).map_err(ApiError::bad)?;
        let shared = {
            let kept = &mut *locked(&self.0);
            let place = kept.iter().position(|(own, _)| own == path);
            let entry = place.map_or_else(|| (path.to_owned(), SharedIndex::default()), |place| kept.remove(place));
            kept.truncate(KEPT - 1);
            kept.insert(0, entry);
            Arc::clone(&kept[0].1)
        };
        let index = &mut *locked(&shared);
        let is_current = |old: &MatchIndex| run.continues(&old.run) && run.matches() == old.run.matches();
        match index {
            Some(index) if is_current(index) => search(index),
            _ => {
                let old = index.take();
                search(index.insert(MatchIndex::open(run, old, token)?))
            }
        }
    }
}
