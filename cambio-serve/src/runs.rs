//! The run folders under a root: their reports, and their matches played again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;
use cambio_agents::Roster;
use cambio_core::Record;
use cambio_sim::{StoredRun, play_block};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Problem, json, show};
use crate::desk::Desk;
use crate::gate::STORED_POLICY;
use crate::sitting::Refusal;

/// How many folders are listed, and how deep below the root they may lie.
const FOLDERS: usize = 200;
const DEPTH: usize = 2;
/// How many matches a list has.
const LISTED: usize = 50;
/// How many rows of matches are read for a list.
const SCANNED: u64 = 2_000_000;

type Desks = State<Arc<Desk>>;

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new()
        .route("/api/runs", get(list))
        .route("/api/runs/matches", get(matches))
        .route("/api/runs/film", get(film))
        .route("/runs/report", get(report))
}

/// A run folder, as the list shows it.
#[derive(Serialize)]
struct Folder {
    name: String,
    title: String,
    agents: Vec<String>,
    rules: Vec<String>,
    matches: u64,
    of: u64,
    report: bool,
    /// Why it cannot be read, if it cannot.
    problem: Option<String>,
}

/// The run folders under a root, by their names below it.
fn folders(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((path, name, depth)) = open.pop() {
        if path.join("spec.lock.json").is_file() {
            found.insert(if name.is_empty() { ".".to_owned() } else { name }, path);
        } else if depth < DEPTH {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            // Links may lead out of the root.
            for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                let Ok(own) = entry.file_name().into_string() else { continue };
                let below = if name.is_empty() { own } else { format!("{name}/{own}") };
                open.push((entry.path(), below, depth + 1));
            }
        }
        if found.len() >= FOLDERS {
            break;
        }
    }
    found
}

/// The folder of this name. A name is one of the list, so no path leads elsewhere.
fn folder(desk: &Desk, name: &str) -> Result<PathBuf, Problem> {
    let found = folders(&desk.settings.runs).remove(name);
    found.ok_or_else(|| Problem(StatusCode::NOT_FOUND, format!("there is no run folder `{name}`")))
}

/// Does what may take a while on a thread that may wait.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Problem(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug in cambio".to_owned()))?
}

async fn list(State(desk): Desks) -> Answer {
    let listed = aside(move || {
        let root = desk.settings.runs.display().to_string();
        let read = |(name, path): (String, PathBuf)| match StoredRun::open(&path) {
            Ok(run) => Folder {
                title: if run.plan.name.is_empty() { name.clone() } else { run.plan.name.clone() },
                agents: run.plan.agents.iter().map(|agent| agent.label.clone()).collect(),
                rules: run.plan.cells.iter().map(|cell| format!("{} at {}", cell.rules.name(), cell.seats)).collect(),
                matches: run.matches(),
                of: if run.shard.is_some() { run.matches() } else { run.plan.matches() },
                report: path.join("report.html").is_file(),
                problem: None,
                name,
            },
            Err(error) => Folder {
                title: name.clone(),
                agents: Vec::new(),
                rules: Vec::new(),
                matches: 0,
                of: 0,
                report: false,
                problem: Some(error.to_string()),
                name,
            },
        };
        let listed: Vec<Folder> = folders(&desk.settings.runs).into_iter().map(read).collect();
        Ok(serde_json::json!({ "root": root, "runs": listed }))
    });
    Ok(json(&listed.await?))
}

#[derive(Deserialize)]
struct Name {
    run: String,
}

async fn report(State(desk): Desks, Query(name): Query<Name>) -> Answer {
    let text = aside(move || {
        let path = folder(&desk, &name.run)?.join("report.html");
        cambio_sim::read_text(&path).map_err(|_| Problem::missing("this run has no report yet"))
    });
    let head = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".parse().expect("a type")),
        (header::CONTENT_SECURITY_POLICY, STORED_POLICY),
    ];
    Ok((head, text.await?).into_response())
}

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
    /// Those with the most turns.
    Long,
}

#[derive(Deserialize)]
struct Wanted {
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

/// What of a row of `players.csv` lists look at.
#[derive(Deserialize)]
struct Player {
    agent: String,
    calls: u64,
    calls_succeeded: u64,
    snaps_wrong: u64,
    snaps_right_foreign: u64,
}

impl Kind {
    fn fits(self, players: &[Player]) -> bool {
        match self {
            Kind::All | Kind::Long => true,
            Kind::Failed => players.iter().any(|player| player.calls > player.calls_succeeded),
            Kind::Wrong => players.iter().any(|player| player.snaps_wrong > 0),
            Kind::Foreign => players.iter().any(|player| player.snaps_right_foreign > 0),
        }
    }
}

/// A match of a list, with its players by seat.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    place: Place,
    players: Vec<String>,
}

async fn matches(State(desk): Desks, Query(wanted): Query<Wanted>) -> Answer {
    let found = aside(move || {
        let path = folder(&desk, &wanted.run)?;
        let open = |name: &str| {
            let file = csv::Reader::from_path(path.join(name));
            file.map_err(|_| Problem::missing("this run has no rows that can be read; rows that are compressed cannot"))
        };
        let (mut rows, mut players) = (open("matches.csv")?, open("players.csv")?);
        let mut players = players.deserialize::<Player>();
        let (mut listed, mut scanned, mut fitting): (Vec<Listed>, u64, u64) = (Vec::new(), 0, 0);
        for row in rows.deserialize::<Place>() {
            // The last row of a run in progress may be half written.
            let Ok(place) = row else { break };
            let seated: Vec<Player> = players.by_ref().take(place.seats.min(8)).map_while(Result::ok).collect();
            if seated.len() < place.seats || scanned == SCANNED {
                break;
            }
            scanned += 1;
            let plays = wanted.agent.is_empty() || seated.iter().any(|player| player.agent == wanted.agent);
            if !plays || !wanted.kind.fits(&seated) {
                continue;
            }
            fitting += 1;
            let players = seated.into_iter().map(|player| player.agent).collect();
            if wanted.kind == Kind::Long {
                let at = listed.partition_point(|other| other.place.turns >= place.turns);
                listed.insert(at, Listed { place, players });
                listed.truncate(LISTED);
            } else if listed.len() < LISTED {
                listed.push(Listed { place, players });
            }
        }
        Ok(serde_json::json!({ "matches": listed, "fitting": fitting, "scanned": scanned }))
    });
    Ok(json(&found.await?))
}

/// Which match of a run.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    /// The name of the rules.
    pub rules: String,
    /// How many seats.
    pub seats: usize,
    /// The lineup, as the rows name it.
    pub lineup: String,
    /// The number of the deal.
    pub deal: u64,
    /// The number of the rotation.
    pub rotation: usize,
}

async fn film(State(desk): Desks, Query(name): Query<Name>, Query(which): Query<StoredMatch>) -> Answer {
    let record = aside(move || {
        let run = StoredRun::open(&folder(&desk, &name.run)?).map_err(Problem::bad)?;
        // What a run folder names is not started unasked.
        for agent in run.plan.agents.iter().filter(|agent| agent.label.contains('"')) {
            desk.agent(&agent.label)?;
        }
        play_again(run, &desk.settings.roster, &which).map_err(Problem::bad)
    });
    show(record.await?).await
}

/// The record of a match of a run, which is played again from its key.
///
/// # Errors
/// If the run has no such match, or an agent of it cannot play.
///
/// ```no_run
/// use cambio_serve::{StoredMatch, play_again};
/// use cambio_sim::StoredRun;
///
/// let run = StoredRun::open("runs/quickstart".as_ref()).unwrap();
/// let lineup = run.plan.cells[0].lineups[0].label().to_owned();
/// let which = StoredMatch { rules: "classic".to_owned(), seats: 2, lineup, deal: 0, rotation: 0 };
/// let record = play_again(run, &cambio_agents::roster(), &which).unwrap();
/// assert_eq!(record.rounds.len(), 1);
/// ```
pub fn play_again(mut run: StoredRun, roster: &Roster, which: &StoredMatch) -> Result<Record, Refusal> {
    let refuse = |what: String| Refusal(what);
    run.plan.records = true;
    let plan = run.playable(roster).map_err(|error| refuse(error.to_string()))?;
    let mut before = 0;
    let mut number = None;
    for cell in &plan.cells {
        let lineups = cell.lineups.len() as u64;
        let lineup = cell.lineups.iter().position(|lineup| lineup.label() == which.lineup);
        if cell.rules.name() == which.rules && cell.seats == which.seats && which.deal < plan.deals {
            number = number.or(lineup.map(|lineup| before + which.deal * lineups + lineup as u64));
        }
        before += lineups * plan.deals;
    }
    let missing = || refuse("the run has no such match".to_owned());
    let number = number.ok_or_else(missing)?;
    let rows = play_block(&plan, &plan.block(number)).map_err(|fault| refuse(fault.what.clone()))?;
    rows.records.into_iter().nth(which.rotation).ok_or_else(missing)
}
