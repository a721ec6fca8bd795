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
use cambio_core::Record;
use cambio_sim::fresh_seed;
use cambio_view::{
    ActionRequest, ExplainRequest, HintRequest, MatchRequest, ReviewRequest, Session, SessionError, TableOption,
    TableRequest, first_record, hint, inquire, position_for_hint,
};
use futures_util::stream::{self, Stream};
use serde::de::DeserializeOwned;

use crate::answer::{ApiError, ApiResult, json, show};
use crate::app_state::AppState;
use crate::assets;
use crate::matches;
use crate::runs;

/// The maximum size in bytes of a request's body, and of a body that contains a record.
const BODY: usize = 64 * 1024;
const RECORD: usize = 8 * 1024 * 1024;

type Shared = State<Arc<AppState>>;

fn done() -> Response<Body> {
    json(&serde_json::json!({}))
}

pub(crate) fn router(state: Arc<AppState>) -> Router {
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
        .route("/api/tables/{table}/film", get(replay_of_table))
        .route("/api/explain", post(explain).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals", post(begin_review).layer(DefaultBodyLimit::max(RECORD)))
        .route("/api/appraisals/{number}", get(review_progress))
        .route("/api/matches", post(play))
        .route("/api/film", post(replay_of_record).layer(DefaultBodyLimit::max(RECORD)))
        .merge(runs::router())
        .merge(matches::router())
        .fallback(|| async { ApiError::missing("there is no such page") })
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(state)
}

fn page(name: &str) -> ApiResult {
    file(assets::page(name))
}

fn file(asset: Option<assets::Asset>) -> ApiResult {
    let asset = asset.ok_or_else(|| ApiError::missing("there is no such page"))?;
    Ok(([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response())
}

/// Parses a JSON body. The content type is required because a form on another site cannot send this type.
fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind != "application/json" {
        let what = format!("the content type must be `application/json`, found `{kind}`");
        return Err(ApiError(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    serde_json::from_slice(body).map_err(|error| ApiError::bad(format!("the request is not valid: {error}")))
}

async fn options(State(state): Shared) -> ApiResult {
    let tables = state.sessions.all().into_iter().map(|(table, opened)| TableOption::new(table, &opened.session()));
    Ok(json(&state.catalogue.options(tables.collect())))
}

async fn open(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: TableRequest = read(&headers, &body)?;
    let request = request.seeded(fresh_seed);
    let host = Arc::clone(&state);
    let session = if request.has_position() {
        state.questions.run(move |token| request.open(&host.catalogue, &|| !token.is_cancelled())).await?
    } else {
        // Runs on a blocking thread, because agents may read a network from disk.
        tokio::task::spawn_blocking(move || request.open(&host.catalogue, &|| true)).await.map_err(|_| {
            let what = "an agent could not be started; this is a bug in cambio";
            ApiError(StatusCode::INTERNAL_SERVER_ERROR, what.to_owned())
        })?
    }?;
    let table =
        state.sessions.open(session).map_err(|refusal| ApiError(StatusCode::TOO_MANY_REQUESTS, refusal.to_string()))?;
    Ok(json(&serde_json::json!({ "table": table })))
}

/// Streams the steps of a table. A page that connects, or has missed too many steps, receives the full current state.
async fn events(
    State(state): Shared,
    Path(table): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let opened = state.open_session(table)?;
    state.sessions.think(&opened);
    let steps = stream::unfold(
        (opened.watch(), opened, None::<u64>, Vec::new()),
        |(mut changes, opened, from, mut due)| async move {
            loop {
                if let Some(event) = due.pop() {
                    return Some((Ok(event), (changes, opened, from, due)));
                }
                let is_closed = changes.borrow_and_update().is_none();
                if is_closed {
                    return None;
                }
                let (last, steps, hello) = {
                    let session = opened.session();
                    let feed = session.feed();
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
                    return Some((Ok(event), (changes, opened, from, due)));
                }
                if changes.changed().await.is_err() {
                    return None;
                }
            }
        },
    );
    Ok(Sse::new(steps).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Handles a request at a table, then lets the agents of this table continue.
fn at_table(
    state: &Arc<AppState>,
    table: u64,
    headers: &HeaderMap,
    body: &Bytes,
    act: impl FnOnce(&mut Session, &ActionRequest) -> Result<(), SessionError>,
) -> ApiResult {
    let request: ActionRequest = read(headers, body)?;
    let opened = state.open_session(table)?;
    let acted = act(&mut opened.session(), &request);
    acted?;
    state.sessions.think(&opened);
    Ok(done())
}

async fn act(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, table, &headers, &body, |session, request| session.act(request.at, &request.action, request.time))
}

async fn go_on(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, table, &headers, &body, |session, request| session.go_on(request.at))
}

async fn take_back(State(state): Shared, Path(table): Path<u64>, headers: HeaderMap, body: Bytes) -> ApiResult {
    at_table(&state, table, &headers, &body, |session, request| session.take_back(request.at))
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
async fn record_of(state: &Arc<AppState>, table: u64) -> Result<Record, ApiError> {
    let opened = state.open_session(table)?;
    let record = tokio::task::spawn_blocking(move || opened.session().record()).await;
    Ok(record.map_err(|_| {
        ApiError(StatusCode::INTERNAL_SERVER_ERROR, "the record cannot be made; this is a bug in cambio".to_owned())
    })??)
}

async fn record(State(state): Shared, Path(table): Path<u64>) -> ApiResult {
    let record = record_of(&state, table).await?;
    let name = format!("attachment; filename=\"cambio-{table}.jsonl\"");
    let head = [(header::CONTENT_TYPE, "application/jsonl".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((head, format!("{}\n", record.to_json())).into_response())
}

async fn replay_of_table(State(state): Shared, Path(table): Path<u64>) -> ApiResult {
    let record = record_of(&state, table).await?;
    show(record).await
}

async fn replay_of_record(body: Bytes) -> ApiResult {
    let text =
        std::str::from_utf8(&body).map_err(|error| ApiError::bad(format!("the record is not UTF-8: {error}")))?;
    show(first_record(text)?).await
}

async fn play(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: MatchRequest = read(&headers, &body)?;
    let own = Arc::clone(&state);
    let played = state.questions.run(move |token| request.play(&own.catalogue, fresh_seed, &|| !token.is_cancelled()));
    show(played.await??).await
}

async fn explain(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: ExplainRequest = read(&headers, &body)?;
    let agent = state.catalogue.agent(&request.agent)?;
    let (record, at) = (request.record()?, (request.round, request.decision));
    let found = state.questions.run(move |token| inquire(&record, at, &agent, &|| !token.is_cancelled()));
    Ok(json(&found.await??))
}

async fn begin_review(State(state): Shared, headers: HeaderMap, body: Bytes) -> ApiResult {
    let request: ReviewRequest = read(&headers, &body)?;
    Ok(json(&serde_json::json!({ "appraisal": state.reviews.begin(&request)? })))
}

async fn review_progress(State(state): Shared, Path(number): Path<u64>) -> ApiResult {
    let progress = state.reviews.progress(number);
    Ok(json(&progress.ok_or_else(|| ApiError::missing("this analysis is no longer kept; start it again"))?))
}
