//! The HTTP API of the pages.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Extension, Router};
use cambio_core::{Record, Seat};
use cambio_sim::fresh_seed;
use cambio_view::{
    ActionRequest, ExplainRequest, HintRequest, MatchRequest, ReviewRequest, Session, SessionError, TableOption,
    TableRequest, hint, inquire, position_for_hint, replay_in_json,
};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::answer::{ApiError, ApiResult, aside, json, json_text};
use crate::app_state::{AppState, Shared};
use crate::assets;
use crate::matches;
use crate::request_guard::Access;
use crate::room::checked_name;
use crate::runs;
use crate::sessions::{OpenPage, OpenSession};

/// The maximum size in bytes of a request's body, and of a body that contains a record.
const BODY: usize = 64 * 1024;
const RECORD: usize = 2 * 1024 * 1024;
/// The maximum size of the body of a guest's request.
const GUEST_BODY: usize = 4 * 1024;

/// The error if an agent panics at its start. Agents start on a blocking thread, because they may read a network from disk.
const NOT_STARTED: &str = "an agent could not be started; this is a bug in cambio";

fn done() -> Response<Body> {
    json(&serde_json::json!({}))
}

pub(crate) fn router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/", get(|| async { page("") }))
        .route("/{page}", get(|Path(name): Path<String>| async move { page(&name) }))
        .route("/assets/{file}", get(|Path(name): Path<String>| async move { file(assets::file(&name)) }))
        .route("/api/options", get(options))
        .route("/api/tables", post(open).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/tables/{table}/undo", post(take_back))
        .route("/api/tables/{table}/hint", post(advise))
        .route("/api/tables/{table}/begin", post(begin))
        .route("/api/tables/{table}/replace", post(replace))
        .route("/api/tables/{table}/close", post(close))
        .route("/api/explain", post(explain).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals", post(begin_review).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals/{number}", get(review_progress))
        .route("/api/matches", post(play))
        .route("/api/film", post(replay_of_record).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/runs/matches", get(matches::list))
        .merge(runs::router())
        .merge(table_routes())
        .fallback(|| async { ApiError::missing("there is no such page") })
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(state)
}

/// The requests of the people at a table.
fn table_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/api/tables/{table}/events", get(events))
        .route("/api/tables/{table}/act", post(act))
        .route("/api/tables/{table}/next", post(go_on))
        .route("/api/tables/{table}/record", get(record))
        .route("/api/tables/{table}/film", get(replay_of_table))
}

/// All that a guest may reach: the pages of the table, their files, and the requests of the guest's seat.
pub(crate) fn guest_router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/{page}", get(|Path(name): Path<String>| async move { file(assets::guest_page(&name)) }))
        .route("/assets/{file}", get(|Path(name): Path<String>| async move { file(assets::file(&name)) }))
        .route("/api/tables/{table}/sit", post(sit))
        .route("/api/tables/{table}/leave", post(leave))
        .merge(table_routes())
        .fallback(|| async { ApiError::missing("there is no such page for a guest") })
        .layer(DefaultBodyLimit::max(GUEST_BODY))
        .with_state(state)
}

fn page(name: &str) -> ApiResult {
    file(assets::page(name))
}

fn file(asset: Option<assets::Asset>) -> ApiResult {
    let asset = asset.ok_or_else(|| ApiError::missing("there is no such page"))?;
    Ok(([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response())
}

/// Parses a JSON body.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, ApiError> {
    check_type(headers)?;
    parse(body)
}

/// Checks that the body is JSON. This type is required because a form on another site cannot send it.
fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind != "application/json" {
        let what = format!("the content type must be `application/json`, found `{kind}`");
        return Err(ApiError(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| ApiError::bad(format!("the request is not valid: {error}")))
}

async fn options(State(state): Shared) -> ApiResult {
    let tables = state.sessions.all().into_iter().map(|(table, opened)| {
        let host = opened.room().host;
        TableOption::new(table, &opened.session(), host)
    });
    Ok(json(&state.catalogue.options(tables.collect())))
}

async fn open(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: TableRequest = read(&headers, &body)?;
    let request = request.seeded(fresh_seed);
    let (own, host, name) = (Arc::clone(&state), request.seat(), checked_name(request.name()).map_err(ApiError::bad)?);
    let asked = request.clone();
    let session = if request.has_position() {
        state.questions.run(move |token| asked.open(&own.catalogue, &|| !token.is_cancelled())).await??
    } else {
        aside(NOT_STARTED, move || Ok(asked.open(&own.catalogue, &|| true)?)).await?
    };
    let opened = state.sessions.open(session, host, name, Some(request));
    let table = opened.map_err(|refusal| ApiError(StatusCode::TOO_MANY_REQUESTS, refusal.to_string()))?;
    Ok(json(&serde_json::json!({ "table": table })))
}

/// A page that follows a table.
struct Follower {
    state: Arc<AppState>,
    opened: Arc<OpenSession>,
    seat: Seat,
    changes: watch::Receiver<Option<u64>>,
    /// The room that was sent last, if several people play.
    room: String,
    /// The edition of the room and the number of the next step.
    next: Option<(u64, u64)>,
    _page: OpenPage,
}

impl Follower {
    fn new(state: &Arc<AppState>, opened: Arc<OpenSession>, seat: Seat) -> Result<Follower, ApiError> {
        let page = OpenPage::new(&opened, seat).map_err(|error| ApiError(StatusCode::TOO_MANY_REQUESTS, error.0))?;
        let (state, changes) = (Arc::clone(state), opened.watch());
        Ok(Follower { state, changes, opened, seat, room: String::new(), next: None, _page: page })
    }

    /// The events that the page has not received; `None` if the table is closed or the seat has been given up. A page that
    /// connects, has missed too many steps, or shows other players, receives the full current state.
    fn news(&mut self) -> Option<Vec<Event>> {
        (*self.changes.borrow_and_update())?;
        let room = self.opened.room();
        let session = self.opened.session();
        if !room.has(self.seat) {
            return None;
        }
        let (edition, mut events) = (room.edition, Vec::new());
        if session.config().is_shared() {
            let origin = self.state.network.get().unwrap_or(&self.state.loopback);
            let view = room.view(self.seat, session.config(), origin, self.opened.number);
            let view = serde_json::to_string(&view).expect("plain data serializes");
            if view != self.room {
                events.push(Event::default().event("room").data(&view));
                self.room = view;
            }
        }
        if edition > 0 {
            let feed = session.feed(self.seat);
            let known = self.next.filter(|(known, _)| *known == edition).and_then(|(_, from)| feed.since(from));
            match known {
                None => events.push(Event::default().event("hello").data(feed.hello())),
                Some(steps) => events.extend(steps.iter().map(|step| Event::default().event("step").data(&**step))),
            }
            self.next = Some((edition, feed.last() + 1));
        }
        Some(events)
    }
}

/// Streams the room and the steps of a table.
async fn events(
    State(state): Shared,
    Extension(access): Extension<Access>,
    Path(table): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let (opened, seat) = state.seat(access, table)?;
    let follower = Follower::new(&state, opened, seat)?;
    state.sessions.think(&follower.opened);
    let events = stream::unfold((follower, VecDeque::new()), async |(mut follower, mut due)| {
        loop {
            if let Some(event) = due.pop_front() {
                return Some((Ok(event), (follower, due)));
            }
            due.extend(follower.news()?);
            if due.is_empty() {
                follower.changes.changed().await.ok()?;
            }
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Handles a request at a table, then lets the agents of this table continue.
fn at_table(
    state: &Arc<AppState>,
    (Extension(access), Path(table)): TablePath,
    headers: &HeaderMap,
    body: &Bytes,
    act: impl FnOnce(&mut Session, Seat, &ActionRequest) -> Result<(), SessionError>,
) -> ApiResult {
    let request: ActionRequest = read(headers, body)?;
    let (opened, seat) = state.seat(access, table)?;
    {
        let room = opened.room();
        if room.edition == 0 || !room.has(seat) {
            return Err(SessionError("the match has not begun".to_owned()).into());
        }
        act(&mut opened.session(), seat, &request)?;
    }
    state.sessions.think(&opened);
    Ok(done())
}

/// The table in a request's path, with what the request may reach.
type TablePath = (Extension<Access>, Path<u64>);

async fn act(State(state): Shared, at: TablePath, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, at, &headers, &body, |session, seat, request| {
        session.act(seat, request.at, &request.action, request.time)
    })
}

async fn go_on(State(state): Shared, at: TablePath, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, at, &headers, &body, |session, seat, request| session.go_on(seat, request.at))
}

async fn take_back(State(state): Shared, at: TablePath, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, at, &headers, &body, |session, _, request| session.take_back(request.at))
}

/// The wish of a guest to take a seat.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SitRequest {
    name: String,
}

async fn sit(
    State(state): Shared,
    (Extension(access), Path(table)): TablePath,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let request: SitRequest = read(&headers, &body)?;
    let (opened, seat) = state.seat(access, table)?;
    let name = checked_name(&request.name).map_err(ApiError::bad)?;
    // When all seats are taken, the match begins.
    aside(NOT_STARTED, move || Ok(state.sessions.sit(&opened, seat, name, &state.substitute)?)).await?;
    Ok(done())
}

async fn leave(
    State(state): Shared,
    (Extension(access), Path(table)): TablePath,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let NoFields {} = read(&headers, &body)?;
    let (opened, seat) = state.seat(access, table)?;
    state.sessions.leave(&opened, seat, state.substitute.clone())?;
    Ok(done())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

async fn begin(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    let NoFields {} = read(&headers, &body)?;
    let opened = state.open_session(table)?;
    aside(NOT_STARTED, move || Ok(state.sessions.begin(&opened, &state.substitute)?)).await?;
    Ok(done())
}

/// The host's wish that a bot plays on for a person.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplaceRequest {
    seat: char,
}

async fn replace(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: ReplaceRequest = read(&headers, &body)?;
    let opened = state.open_session(table)?;
    let seat = Seat::from_letter(request.seat).ok_or_else(|| ApiError::bad("the seat must be a letter from a to h"))?;
    state.sessions.leave(&opened, seat, state.substitute.clone())?;
    Ok(done())
}

async fn advise(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: HintRequest = read(&headers, &body)?;
    let opened = state.open_session(table)?;
    let adviser = state.catalogue.agent(&request.agent)?;
    let Ok(own) = Arc::clone(&opened.hints).try_acquire_owned() else {
        return Err(ApiError(StatusCode::TOO_MANY_REQUESTS, "a hint is already being computed".to_owned()));
    };
    let (config, actions) = {
        let mut session = opened.session();
        let position = position_for_hint(&session)?;
        session.count_hint();
        position
    };
    opened.tell();
    let thought = state.questions.run(move |token| {
        let _own = own;
        hint(&config, &actions, &adviser, &|| !token.is_cancelled() && !opened.is_closed())
    });
    Ok(json(&thought.await??))
}

async fn close(State(state): Shared, Path(table): Path<u64>) -> ApiResult {
    state.sessions.close(table);
    Ok(done())
}

/// Returns the record of a table, from a blocking thread, because a session is locked while agents receive events.
async fn record_of(state: &Arc<AppState>, (Extension(access), Path(table)): TablePath) -> Result<Record, ApiError> {
    let (opened, _) = state.seat(access, table)?;
    let failure = "the record cannot be made; this is a bug in cambio";
    aside(failure, move || Ok(opened.session().record()?)).await
}

async fn record(State(state): Shared, at: TablePath) -> ApiResult {
    let name = format!("attachment; filename=\"cambio-{}.jsonl\"", at.1.0);
    let record = record_of(&state, at).await?;
    let head = [(header::CONTENT_TYPE, "application/jsonl".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((head, format!("{}\n", record.to_json())).into_response())
}

async fn replay_of_table(State(state): Shared, at: TablePath) -> ApiResult {
    let record = record_of(&state, at).await?;
    Ok(json_text(state.replays.run(move |_| replay_in_json(&record, None)).await??))
}

async fn replay_of_record(State(state): Shared, body: Bytes) -> ApiResult {
    let own = Arc::clone(&state);
    let made = state.replays.run(move |_| {
        let text = str::from_utf8(&body).map_err(|error| ApiError::bad(format!("the record is not UTF-8: {error}")))?;
        Ok::<_, ApiError>(replay_in_json(&own.catalogue.record(text)?, None)?)
    });
    Ok(json_text(made.await??))
}

async fn play(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: MatchRequest = read(&headers, &body)?;
    let own = Arc::clone(&state);
    let played = state.questions.run(move |token| {
        let record = request.play(&own.catalogue, fresh_seed, &|| !token.is_cancelled())?;
        replay_in_json(&record, None)
    });
    Ok(json_text(played.await??))
}

async fn explain(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    check_type(&headers)?;
    let own = Arc::clone(&state);
    let found = state.questions.run(move |token| {
        let request: ExplainRequest = parse(&body)?;
        let (agent, record) = (own.catalogue.agent(&request.agent)?, request.record(&own.catalogue)?);
        let at = (request.round, request.decision);
        Ok::<_, ApiError>(inquire(&record, at, &agent, &|| !token.is_cancelled())?)
    });
    Ok(json(&found.await??))
}

async fn begin_review(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    check_type(&headers)?;
    let own = Arc::clone(&state);
    let read = state.questions.run(move |_| {
        let request: ReviewRequest = parse(&body)?;
        Ok::<_, ApiError>((request.record(&own.catalogue)?, request.round))
    });
    let ((record, decisions), round) = read.await??;
    Ok(json(&serde_json::json!({ "appraisal": state.reviews.begin(record, round, decisions)? })))
}

async fn review_progress(State(state): Shared, Path(number): Path<u64>) -> ApiResult {
    let progress = state.reviews.progress(number);
    Ok(json(&progress.ok_or_else(|| ApiError::missing("this analysis is no longer kept; start it again"))?))
}
