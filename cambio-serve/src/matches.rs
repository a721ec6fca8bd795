//! Searches a run for matches with a property, in the rows of the run, or in the records if the rows do not show it.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use cambio_core::{Action, Card, Observer, Record, Score, Seat, Standing, replay};
use cambio_exec::{next_line, open_regular};
use cambio_sim::rows::{MatchKey, PlayerRow, RoundRow};
use cambio_sim::{PlayablePlan, StoredMatch, StoredRun, play_block};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{ApiError, ApiResult, json};
use crate::app_state::AppState;
use crate::runs::{folder, may_play};

/// The maximum number of matches in a list.
const LISTED: usize = 50;
/// The maximum number of matches that a search reads.
const SCANNED: u64 = 2_000_000;
/// The maximum number of bytes in a record.
const RECORD: u64 = 1 << 26;
/// The time limit for scanning records and replaying matches.
const LOOKING: Duration = Duration::from_secs(10);

/// The property of the matches in a list.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum MatchFilter {
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
    /// The matches with the largest swing: the largest score difference between two seats in one round.
    Swing,
    /// The matches with the most turns.
    Long,
}

#[derive(Deserialize)]
pub(crate) struct MatchListRequest {
    run: String,
    kind: MatchFilter,
    /// The agent that must take part; empty for any agent.
    #[serde(default)]
    agent: String,
}

impl MatchFilter {
    /// Whether the rows show that the match has the property or may have it.
    fn fits(self, players: &[PlayerRow<'_>]) -> bool {
        let mut counts = players.iter().map(|player| &player.counts);
        match self {
            MatchFilter::All | MatchFilter::Long | MatchFilter::Swing => true,
            MatchFilter::Failed => counts.any(|counts| counts.calls > counts.calls_succeeded),
            MatchFilter::Wrong => counts.any(|counts| counts.snaps_wrong > 0),
            MatchFilter::Foreign => counts.any(|counts| counts.snaps_right_foreign > 0),
            MatchFilter::Guess => counts.any(|counts| {
                counts.snaps_right_own + counts.snaps_right_foreign + counts.snaps_wrong + counts.snaps_late > 0
            }),
        }
    }
}

/// A match of a list. The players are in the order of their seats.
#[derive(Serialize)]
struct ListedMatch {
    #[serde(flatten)]
    which: StoredMatch,
    rounds: usize,
    turns: u32,
    winners: String,
    players: Vec<String>,
    swing: Option<f64>,
    /// The round and the decision that the link opens.
    at: Option<(usize, usize)>,
}

/// The largest score difference between two seats in a round.
fn swing(round: &RoundRow<'_>) -> f64 {
    let units = || round.scores.iter().map(|score| score.units());
    f64::from(units().max().unwrap_or(0) - units().min().unwrap_or(0)) / f64::from(Score::UNITS)
}

/// Inserts a match in descending order of the key, and truncates the list.
fn rank(listed: &mut Vec<ListedMatch>, one: ListedMatch, key: impl Fn(&ListedMatch) -> f64) {
    let at = listed.partition_point(|other| key(other) >= key(&one));
    listed.insert(at, one);
    listed.truncate(LISTED);
}

pub(crate) fn router() -> Router<Arc<AppState>> {
    Router::new().route("/api/runs/matches", get(list))
}

async fn list(State(state): State<Arc<AppState>>, Query(wanted): Query<MatchListRequest>) -> ApiResult {
    let own = Arc::clone(&state);
    let found = state.replays.run(move |token| {
        let path = folder(&own, &wanted.run)?;
        let run = StoredRun::open(&path).map_err(ApiError::bad)?;
        let mut records = match wanted.kind {
            MatchFilter::Guess => Some(RunRecords::open(&own, &path)?),
            _ => None,
        };
        let (begun, mut stopped) = (Instant::now(), false);
        let (mut listed, mut scanned, mut fitting): (Vec<ListedMatch>, u64, u64) = (Vec::new(), 0, 0);
        'blocks: for stored in run.blocks().map_err(ApiError::bad)? {
            let (block, rows) = stored.map_err(ApiError::bad)?;
            for (row, rounds, players) in rows.by_match() {
                stopped = token.is_cancelled() || (records.is_some() && begun.elapsed() > LOOKING);
                if stopped || scanned == SCANNED {
                    break 'blocks;
                }
                scanned += 1;
                let agents: Vec<&str> = players.iter().map(|player| player.agent).collect();
                if let Some(records) = &mut records {
                    records.step(&row.key, &agents)?;
                }
                let plays = wanted.agent.is_empty() || agents.contains(&&*wanted.agent);
                if !plays || !wanted.kind.fits(players) {
                    continue;
                }
                let (mut widest, mut at) = (None, None);
                if wanted.kind == MatchFilter::Swing {
                    let first =
                        rounds.iter().reduce(|widest, round| if swing(round) > swing(widest) { round } else { widest });
                    (widest, at) = (first.map(swing), first.map(|round| (round.round, 0)));
                }
                if let Some(records) = &mut records {
                    at = records.read(block.number, row.key.rotation)?.and_then(|record| first_guess(&record));
                    if at.is_none() {
                        continue;
                    }
                }
                fitting += 1;
                let one = ListedMatch {
                    which: row.key.into(),
                    rounds: row.rounds,
                    turns: row.turns,
                    winners: row.winners.iter_from(Seat::A).map(Seat::letter).collect(),
                    players: agents.into_iter().map(str::to_owned).collect(),
                    swing: widest,
                    at,
                };
                match wanted.kind {
                    MatchFilter::Long => rank(&mut listed, one, |one| f64::from(one.turns)),
                    MatchFilter::Swing => rank(&mut listed, one, |one| one.swing.unwrap_or(0.0)),
                    _ if listed.len() < LISTED => listed.push(one),
                    _ => {}
                }
            }
        }
        Ok::<_, ApiError>(
            serde_json::json!({ "matches": listed, "fitting": fitting, "scanned": scanned, "stopped": stopped }),
        )
    });
    Ok(json(&found.await??))
}

/// The records of a run: read from a file in the order of the rows, or made by playing the matches again.
enum RunRecords {
    Stored { file: BufReader<File>, next: Option<Vec<u8>>, own: Option<Vec<u8>> },
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

impl RunRecords {
    fn open(state: &AppState, path: &Path) -> Result<RunRecords, ApiError> {
        match open_regular(&path.join("records.jsonl")) {
            Ok(file) => return Ok(RunRecords::Stored { file: BufReader::new(file), next: None, own: None }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&error)),
        }
        let mut run = StoredRun::open(path).map_err(ApiError::bad)?;
        may_play(state, &run)?;
        run.plan.records = true;
        let plan = Box::new(run.playable(state.catalogue.roster()).map_err(ApiError::bad)?);
        Ok(RunRecords::Played { plan, block: None })
    }

    /// Advances to the record of this row, if the row has one. Must be called for every row in order.
    fn step(&mut self, key: &MatchKey<'_>, players: &[&str]) -> Result<(), ApiError> {
        let RunRecords::Stored { file, next, own } = self else { return Ok(()) };
        if next.is_none() {
            *next = next_line(file, RECORD).map_err(|error| unreadable(&error))?;
        }
        let is_it = |head: RecordHeader| {
            let rules = head.rules.as_str().or_else(|| head.rules["name"].as_str());
            rules == Some(key.rules)
                && (head.seats, head.deal, head.rotation) == (key.seats, key.deal, key.rotation)
                && head.agents == players
        };
        let fits = next.as_ref().is_some_and(|line| serde_json::from_slice(line).is_ok_and(is_it));
        *own = if fits { next.take() } else { None };
        Ok(())
    }

    /// The record of the row in the last call of `step`, which has this block and rotation; `None` if there is none.
    fn read(&mut self, number: u64, rotation: usize) -> Result<Option<Record>, ApiError> {
        match self {
            RunRecords::Stored { own, .. } => {
                Ok(own.take().and_then(|line| Record::read(str::from_utf8(&line).ok()?).ok()))
            }
            RunRecords::Played { plan, block } => {
                if block.as_ref().is_none_or(|(own, _)| *own != number) {
                    let rows = play_block(plan, &plan.block(number)).map_err(|fault| ApiError::bad(&fault.what))?;
                    *block = Some((number, rows.records));
                }
                Ok(block.as_ref().and_then(|(_, records)| records.get(rotation).cloned()))
            }
        }
    }
}

/// The round and the number of the first decision in which a seat snapped a card that it had not seen.
fn first_guess(record: &Record) -> Option<(usize, usize)> {
    #[derive(Default)]
    struct SnapGuesses {
        at: (usize, usize),
        first: Option<(usize, usize)>,
    }
    impl Observer for SnapGuesses {
        fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
            self.at = (self.at.0 + 1, 0);
        }

        fn decides(&mut self, state: &cambio_core::State, seat: Seat, action: Action) {
            self.at.1 += 1;
            if let Action::Snap(spot) = action
                && !state.table().seen(seat).contains(spot)
            {
                self.first.get_or_insert(self.at);
            }
        }
    }
    let mut guesses = SnapGuesses::default();
    // If the record has an error, a guess before the error still counts, so the result is ignored.
    let _ = replay(record, &mut guesses);
    guesses.first
}
