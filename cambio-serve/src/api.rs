//! The HTTP API of the pages.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use cambio_core::rng::Key;
use cambio_core::{Deal, MAX_SEATS, PRESETS, Record, Rules, Seat};
use cambio_sim::{Unit, fresh_seed, read_seed};
use cambio_view::{Invitation, MEDIANS, Refusal, Sitting, hint, inquire, rules_in_short};
use futures_util::stream::{self, Stream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Problem, json, show};
use crate::assets;
use crate::desk::Desk;
use crate::matches;
use crate::runs;

/// The most bytes of a request's body, and of a body that contains a record.
const BODY: usize = 64 * 1024;
const RECORD: usize = 8 * 1024 * 1024;

type Desks = State<Arc<Desk>>;

fn done() -> Response<Body> {
    json(&serde_json::json!({}))
}

pub(crate) fn router(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/", get(|| async { page("") }))
        .route("/{page}", get(|Path(name): Path<String>| async move { page(&name) }))
        .route("/assets/{file}", get(|Path(name): Path<String>| async move { file(assets::file(&name)) }))
        .route("/api/options", get(options))
        .route("/api/tables", post(open))
        .route("/api/tables/{table}/events", get(events))
        .route("/api/tables/{table}/act", post(act))
        .route("/api/tables/{table}/next", post(go_on))
        .route("/api/tables/{table}/undo", post(take_back))
        .route("/api/tables/{table}/hint", post(advise))
        .route("/api/tables/{table}/close", post(close))
        .route("/api/tables/{table}/record", get(record))
        .route("/api/tables/{table}/film", get(film_of_table))
        .route("/api/explain", post(explain).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals", post(appraise).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals/{number}", get(appraisal))
        .route("/api/film", post(film).layer(DefaultBodyLimit::max(RECORD)))
        .merge(runs::router())
        .merge(matches::router())
        .fallback(|| async { Problem::missing("there is no such page") })
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(desk)
}

fn page(name: &str) -> Answer {
    file(assets::page(name))
}

fn file(asset: Option<assets::Asset>) -> Answer {
    let asset = asset.ok_or_else(|| Problem::missing("there is no such page"))?;
    Ok(([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response())
}

/// Parses a JSON body. The content type is required because a form of another site cannot send it.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind != "application/json" {
        let what = format!("the content type must be `application/json`, found `{kind}`");
        return Err(Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    serde_json::from_slice(body).map_err(|error| Problem::bad(format!("the request is not valid: {error}")))
}

#[derive(Serialize)]
struct Options {
    presets: Vec<Preset>,
    agents: Vec<Choice>,
    tables: Vec<u64>,
}

#[derive(Serialize)]
struct Preset {
    name: &'static str,
    in_short: [String; 3],
    seats: usize,
}

#[derive(Serialize)]
struct Choice {
    spec: String,
    about: String,
    params: String,
}

async fn options(State(desk): Desks) -> Answer {
    let preset = |name: &'static str| {
        let rules = Rules::preset(name).expect("the shipped presets are rules");
        let seats = (2..=MAX_SEATS).rev().find(|&seats| rules.covers(seats).is_ok()).unwrap_or(2);
        Preset { name, in_short: rules_in_short(&rules), seats }
    };
    let mut agents = Vec::new();
    for entry in desk.settings.roster.entries().iter().filter(|entry| !entry.sees_all()) {
        let params: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
        // Skips agents that need a quoted text.
        if desk.settings.roster.parse(entry.name()).is_ok() {
            let (spec, about) = (entry.name().to_owned(), entry.about().to_owned());
            agents.push(Choice { spec, about, params: params.join(", ") });
        }
    }
    for spec in &desk.settings.allowed {
        let about = "Allowed with --with.".to_owned();
        agents.push(Choice { spec: spec.clone(), about, params: String::new() });
    }
    Ok(json(&Options { presets: PRESETS.map(preset).into(), agents, tables: desk.rooms.numbers() }))
}

/// The request to open a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// The name of a preset, or the text of a rule file.
    rules: String,
    opponents: Vec<String>,
    #[serde(default)]
    seat: Option<String>,
    #[serde(default)]
    one_round: bool,
    #[serde(default)]
    notes: bool,
    #[serde(default)]
    practice: bool,
    #[serde(default)]
    seed: Option<String>,
    /// The median of the agents' reaction times in milliseconds, if speed decides races.
    #[serde(default)]
    reaction: Option<u32>,
}

async fn open(State(desk): Desks, headers: HeaderMap, body: Bytes) -> Answer {
    let wish: Wish = read(&headers, &body)?;
    let seats = wish.opponents.len() + 1;
    if !(2..=MAX_SEATS).contains(&seats) {
        let found = wish.opponents.len();
        return Err(Problem::bad(format!("there must be 1 to {} opponents, found {found}", MAX_SEATS - 1)));
    }
    let unit = if wish.one_round { Unit::Rounds } else { Unit::Match };
    let rules = unit.of(desk.rules(&wish.rules)?);
    let mut letters = wish.seat.as_deref().unwrap_or("a").chars();
    let person =
        letters.next().and_then(Seat::from_letter).filter(|seat| seat.index() < seats && letters.next().is_none());
    let last = Seat::ALL[seats - 1];
    let person =
        person.ok_or_else(|| Problem::bad(format!("the seat must be a to {last} in a game of {seats} players")))?;
    let opponents = wish.opponents.iter().map(|spec| desk.agent(spec)).collect::<Result<Vec<_>, _>>()?;
    let seed = wish.seed.filter(|seed| !seed.is_empty()).unwrap_or_else(fresh_seed);
    let key = Key::new(read_seed(&seed).map_err(|what| Problem::bad(format!("the seed is `{seed}`; {what}")))?, 0);
    rules.covers(seats).map_err(Problem::bad)?;
    let deal = Deal::new(&rules, key);
    let reaction = wish.reaction;
    if let Some(median) = reaction.filter(|median| !MEDIANS.contains(median)) {
        let (from, to) = (MEDIANS.start(), MEDIANS.end());
        return Err(Problem::bad(format!("the reaction time must be {from} to {to} ms, found {median} ms")));
    }
    let invitation = Invitation { deal, person, opponents, notes: wish.notes, practice: wish.practice, reaction };
    // On a blocking thread, because agents may read a network from disk.
    let sitting = tokio::task::spawn_blocking(move || Sitting::new(invitation)).await;
    let sitting = sitting.map_err(|_| {
        Problem(StatusCode::INTERNAL_SERVER_ERROR, "an agent could not be started; this is a bug in cambio".to_owned())
    })?;
    let table =
        desk.rooms.open(sitting).map_err(|refusal| Problem(StatusCode::TOO_MANY_REQUESTS, refusal.to_string()))?;
    Ok(json(&serde_json::json!({ "table": table })))
}

/// Streams the steps of a table. A page that connects, or has missed too many steps, receives the full current state.
async fn events(
    State(desk): Desks,
    Path(table): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let room = desk.room(table)?;
    desk.rooms.think(&room);
    let steps =
        stream::unfold((room.watch(), room, None::<u64>, Vec::new()), |(mut told, room, from, mut due)| async move {
            loop {
                if let Some(event) = due.pop() {
                    return Some((Ok(event), (told, room, from, due)));
                }
                let is_closed = told.borrow_and_update().is_none();
                if is_closed {
                    return None;
                }
                let (last, steps, hello) = {
                    let sitting = room.sitting();
                    let feed = sitting.feed();
                    let steps = from.and_then(|from| feed.since(from));
                    let hello = steps.is_none().then(|| feed.hello());
                    (feed.last(), steps.unwrap_or_default(), hello)
                };
                due = match hello {
                    Some(hello) => vec![Event::default().event("hello").data(hello)],
                    None => steps.iter().rev().map(|step| Event::default().event("step").data(&**step)).collect(),
                };
                let from = Some(last + 1);
                if let Some(event) = due.pop() {
                    return Some((Ok(event), (told, room, from, due)));
                }
                if told.changed().await.is_err() {
                    return None;
                }
            }
        });
    Ok(Sse::new(steps).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deed {
    at: u64,
    #[serde(default)]
    action: String,
    /// Milliseconds since the page showed the question.
    #[serde(default)]
    time: Option<u32>,
}

/// Handles a request at a table, then lets its agents continue.
fn at_table(
    desk: &Arc<Desk>,
    table: u64,
    headers: &HeaderMap,
    body: &Bytes,
    act: impl FnOnce(&mut Sitting, &Deed) -> Result<(), Refusal>,
) -> Answer {
    let deed: Deed = read(headers, body)?;
    let room = desk.room(table)?;
    let acted = act(&mut room.sitting(), &deed);
    acted?;
    desk.rooms.think(&room);
    Ok(done())
}

async fn act(State(desk): Desks, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> Answer {
    at_table(&desk, table, &headers, &body, |sitting, deed| sitting.act(deed.at, &deed.action, deed.time))
}

async fn go_on(State(desk): Desks, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> Answer {
    at_table(&desk, table, &headers, &body, |sitting, deed| sitting.go_on(deed.at))
}

async fn take_back(State(desk): Desks, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> Answer {
    at_table(&desk, table, &headers, &body, |sitting, deed| sitting.take_back(deed.at))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    agent: String,
}

async fn advise(State(desk): Desks, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> Answer {
    let question: Question = read(&headers, &body)?;
    let room = desk.room(table)?;
    let adviser = desk.agent(&question.agent)?;
    let Ok(_turn) = room.hints.try_acquire() else {
        return Err(Problem(StatusCode::TOO_MANY_REQUESTS, "a hint is already being computed".to_owned()));
    };
    let (invitation, actions) = {
        let sitting = room.sitting();
        if !sitting.invitation().practice {
            return Err(Problem(StatusCode::CONFLICT, "hints are available only at a practice table".to_owned()));
        }
        (sitting.invitation().clone(), sitting.actions())
    };
    let thought = tokio::task::spawn_blocking(move || hint(&invitation, &actions, &adviser)).await;
    Ok(json(&thought.map_err(|_| Problem::bad("the agent failed: it panicked"))??))
}

async fn close(State(desk): Desks, Path(table): Path<u64>) -> Answer {
    desk.rooms.close(table);
    Ok(done())
}

/// On a blocking thread, because the lock of a session may be held while an agent receives events.
async fn record_of(desk: &Arc<Desk>, table: u64) -> Result<Record, Problem> {
    let room = desk.room(table)?;
    let record = tokio::task::spawn_blocking(move || room.sitting().record()).await;
    Ok(record.map_err(|_| {
        Problem(StatusCode::INTERNAL_SERVER_ERROR, "the record cannot be made; this is a bug in cambio".to_owned())
    })??)
}

async fn record(State(desk): Desks, Path(table): Path<u64>) -> Answer {
    let record = record_of(&desk, table).await?;
    let name = format!("attachment; filename=\"cambio-{table}.jsonl\"");
    let head = [(header::CONTENT_TYPE, "application/jsonl".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((head, format!("{}\n", record.to_json())).into_response())
}

async fn film_of_table(State(desk): Desks, Path(table): Path<u64>) -> Answer {
    let record = record_of(&desk, table).await?;
    show(record).await
}

async fn film(body: Bytes) -> Answer {
    let text = std::str::from_utf8(&body).map_err(|error| Problem::bad(format!("the record is not UTF-8: {error}")))?;
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    show(Record::read(line.trim()).map_err(Problem::bad)?).await
}

/// The request to explain a decision.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Why {
    record: serde_json::Value,
    round: usize,
    decision: usize,
    agent: String,
}

async fn explain(State(desk): Desks, headers: HeaderMap, body: Bytes) -> Answer {
    let why: Why = read(&headers, &body)?;
    let agent = desk.agent(&why.agent)?;
    let record = Record::read(&why.record.to_string()).map_err(Problem::bad)?;
    let found = tokio::task::spawn_blocking(move || inquire(&record, (why.round, why.decision), &agent)).await;
    Ok(json(&found.map_err(|_| Problem::bad("the agent failed: it panicked"))??))
}

/// The request to review a round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Worth {
    record: serde_json::Value,
    round: usize,
}

async fn appraise(State(desk): Desks, headers: HeaderMap, body: Bytes) -> Answer {
    let worth: Worth = read(&headers, &body)?;
    let record = Record::read(&worth.record.to_string()).map_err(Problem::bad)?;
    Ok(json(&serde_json::json!({ "appraisal": desk.appraisals.begin(record, worth.round)? })))
}

async fn appraisal(State(desk): Desks, Path(number): Path<u64>) -> Answer {
    let progress = desk.appraisals.progress(number);
    Ok(json(&progress.ok_or_else(|| Problem::missing("this analysis is no longer kept; start it again"))?))
}
