//! The matches of a run that somebody looks for: by their rows, and where rows do not tell by their records.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use cambio_core::{Action, Card, Observer, Record, Seat, Standing, replay};
use cambio_sim::{PlayablePlan, StoredMatch, StoredRun, play_block};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, Problem, json};
use crate::desk::Desk;
use crate::runs::{aside, folder, may_start};

/// How many matches a list has.
const LISTED: usize = 50;
/// How many rows of matches are read for a list.
const SCANNED: u64 = 2_000_000;
/// So long records are looked through for a list, or matches played again.
const LOOKING: Duration = Duration::from_secs(10);

/// Which matches a list has.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// All, in the order of the rows.
    All,
    /// A caller failed.
    Failed,
    /// A snapped card was wrong.
    Wrong,
    /// A card of somebody else was snapped.
    Foreign,
    /// A seat snapped a card that it had not seen.
    Guess,
    /// Those with the greatest swing: the most that one round moved the scores of two seats apart.
    Swing,
    /// Those with the most turns.
    Long,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    run: String,
    kind: Kind,
    /// An agent that takes part; all if it is empty.
    #[serde(default)]
    agent: String,
}

/// What of a row of `matches.csv` tells which match it is.
#[derive(Deserialize, Serialize, Clone)]
struct Place {
    rules: String,
    seats: usize,
    lineup: String,
    deal: u64,
    rotation: usize,
    rounds: u64,
    turns: u64,
    winners: String,
}

impl Place {
    fn stored(&self) -> StoredMatch {
        let Place { rules, seats, lineup, deal, rotation, .. } = self.clone();
        StoredMatch { rules, seats, lineup, deal, rotation }
    }
}

/// What of a row of `players.csv` lists look at.
#[derive(Deserialize)]
struct Player {
    agent: String,
    calls: u64,
    calls_succeeded: u64,
    snaps_right_own: u64,
    snaps_right_foreign: u64,
    snaps_wrong: u64,
    snaps_late: u64,
}

/// What of a row of `rounds.csv` lists look at.
#[derive(Deserialize)]
struct Round {
    round: usize,
    scores: String,
}

impl Round {
    /// How far the scores of two seats lie apart.
    fn swing(&self) -> f64 {
        let scores = || self.scores.split(' ').filter_map(|score| score.parse::<f64>().ok());
        (scores().fold(f64::NEG_INFINITY, f64::max) - scores().fold(f64::INFINITY, f64::min)).max(0.0)
    }
}

impl Kind {
    /// Whether the rows say that the match fits, or at least that it may.
    fn fits(self, players: &[Player]) -> bool {
        match self {
            Kind::All | Kind::Long | Kind::Swing => true,
            Kind::Failed => players.iter().any(|player| player.calls > player.calls_succeeded),
            Kind::Wrong => players.iter().any(|player| player.snaps_wrong > 0),
            Kind::Foreign => players.iter().any(|player| player.snaps_right_foreign > 0),
            Kind::Guess => players.iter().any(|player| {
                player.snaps_right_own + player.snaps_right_foreign + player.snaps_wrong + player.snaps_late > 0
            }),
        }
    }
}

/// A match of a list, with its players by seat.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    place: Place,
    players: Vec<String>,
    swing: Option<f64>,
    /// Where in the match to look.
    at: Option<(usize, usize)>,
}

/// Inserts a match where its key belongs, the highest first, and keeps as many as are listed.
fn rank(listed: &mut Vec<Listed>, one: Listed, key: impl Fn(&Listed) -> f64) {
    let at = listed.partition_point(|other| key(other) >= key(&one));
    listed.insert(at, one);
    listed.truncate(LISTED);
}

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new().route("/api/runs/matches", get(list))
}

async fn list(State(desk): State<Arc<Desk>>, Query(wanted): Query<Wanted>) -> Answer {
    let found = aside(move || {
        let path = folder(&desk, &wanted.run)?;
        let open = |name: &str| {
            let file = csv::Reader::from_path(path.join(name));
            file.map_err(|_| Problem::missing("this run has no rows that can be read; rows that are compressed cannot"))
        };
        let (mut rows, mut players, mut rounds) = (open("matches.csv")?, open("players.csv")?, open("rounds.csv")?);
        let (mut players, mut rounds) = (players.deserialize::<Player>(), rounds.deserialize::<Round>());
        let mut records = match wanted.kind {
            Kind::Guess => Some(Records::open(&desk, &path)?),
            _ => None,
        };
        let (begun, mut stopped) = (Instant::now(), false);
        let (mut listed, mut scanned, mut fitting): (Vec<Listed>, u64, u64) = (Vec::new(), 0, 0);
        for row in rows.deserialize::<Place>() {
            // The last row of a run in progress may be half written.
            let Ok(place) = row else { break };
            let seated: Vec<Player> = players.by_ref().take(place.seats.min(8)).map_while(Result::ok).collect();
            if seated.len() < place.seats || scanned == SCANNED {
                break;
            }
            let mut at = None;
            let mut swing = None;
            if wanted.kind == Kind::Swing {
                let own = rounds.by_ref().take(place.rounds as usize).map_while(Result::ok);
                let widest = own.reduce(|widest, round| if round.swing() > widest.swing() { round } else { widest });
                let Some(widest) = widest else { break };
                (swing, at) = (Some(widest.swing()), Some((widest.round, 0)));
            }
            if records.is_some() && begun.elapsed() > LOOKING {
                stopped = true;
                break;
            }
            scanned += 1;
            let plays = wanted.agent.is_empty() || seated.iter().any(|player| player.agent == wanted.agent);
            let may_fit = plays && wanted.kind.fits(&seated);
            let agents: Vec<String> = seated.into_iter().map(|player| player.agent).collect();
            if let Some(records) = &mut records {
                records.step(&place, &agents);
            }
            if !may_fit {
                continue;
            }
            if let Some(records) = &mut records {
                at = records.read(&place)?.and_then(|record| first_guess(&record));
                if at.is_none() {
                    continue;
                }
            }
            fitting += 1;
            let one = Listed { place, players: agents, swing, at };
            match wanted.kind {
                Kind::Long => rank(&mut listed, one, |one| one.place.turns as f64),
                Kind::Swing => rank(&mut listed, one, |one| one.swing.unwrap_or(0.0)),
                _ if listed.len() < LISTED => listed.push(one),
                _ => {}
            }
        }
        Ok(serde_json::json!({ "matches": listed, "fitting": fitting, "scanned": scanned, "stopped": stopped }))
    });
    Ok(json(&found.await?))
}

/// The records of a run: those that it stored, in the order of its rows, else made by playing again.
enum Records {
    Stored { lines: Lines<BufReader<File>>, next: Option<String>, own: Option<String> },
    Played { plan: Box<PlayablePlan>, block: Option<(u64, Vec<Record>)> },
}

/// What of a record tells which match it is.
#[derive(Deserialize)]
struct Head {
    rules: Value,
    seats: usize,
    deal: u64,
    rotation: usize,
    agents: Vec<String>,
}

impl Records {
    fn open(desk: &Desk, path: &Path) -> Result<Records, Problem> {
        if let Ok(file) = File::open(path.join("records.jsonl")) {
            return Ok(Records::Stored { lines: BufReader::new(file).lines(), next: None, own: None });
        }
        let mut run = StoredRun::open(path).map_err(Problem::bad)?;
        may_start(desk, &run)?;
        run.plan.records = true;
        let plan = Box::new(run.playable(&desk.settings.roster).map_err(Problem::bad)?);
        Ok(Records::Played { plan, block: None })
    }

    /// Goes on to the record of this row. It has to be told of every row in order; one that was at fault may have no record.
    fn step(&mut self, place: &Place, players: &[String]) {
        let Records::Stored { lines, next, own } = self else { return };
        *next = next.take().or_else(|| lines.next()?.ok());
        let is_it = |head: Head| {
            let rules = head.rules.as_str().or_else(|| head.rules["name"].as_str());
            rules == Some(&*place.rules)
                && (head.seats, head.deal, head.rotation) == (place.seats, place.deal, place.rotation)
                && head.agents == players
        };
        let fits = next.as_ref().is_some_and(|line| serde_json::from_str(line).is_ok_and(is_it));
        *own = if fits { next.take() } else { None };
    }

    /// The record of the row that it went on to, if there is one.
    fn read(&mut self, place: &Place) -> Result<Option<Record>, Problem> {
        match self {
            Records::Stored { own, .. } => Ok(own.take().and_then(|line| Record::read(&line).ok())),
            Records::Played { plan, block } => {
                let Some(number) = place.stored().block(plan) else { return Ok(None) };
                if block.as_ref().is_none_or(|(own, _)| *own != number) {
                    let rows = play_block(plan, &plan.block(number)).map_err(|fault| Problem::bad(&fault.what))?;
                    *block = Some((number, rows.records));
                }
                Ok(block.as_ref().and_then(|(_, records)| records.get(place.rotation).cloned()))
            }
        }
    }
}

/// The first decision, by round and number, that snapped a card which its seat had not seen.
fn first_guess(record: &Record) -> Option<(usize, usize)> {
    #[derive(Default)]
    struct Guesses {
        at: (usize, usize),
        first: Option<(usize, usize)>,
    }
    impl Observer for Guesses {
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
    let mut guesses = Guesses::default();
    // What a flawed record has up to its flaw counts too.
    let _ = replay(record, &mut guesses);
    guesses.first
}
