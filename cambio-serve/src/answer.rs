//! Responses: JSON, or an error with one sentence.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use cambio_core::Record;
use cambio_view::{Replay, SessionError};
use serde::Serialize;

/// An error response: a status and a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ApiError(pub(crate) StatusCode, pub(crate) String);

impl ApiError {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass owned errors")]
    pub(crate) fn bad(what: impl ToString) -> ApiError {
        ApiError(StatusCode::BAD_REQUEST, what.to_string())
    }

    pub(crate) fn missing(what: &str) -> ApiError {
        ApiError(StatusCode::NOT_FOUND, what.to_owned())
    }
}

impl From<SessionError> for ApiError {
    fn from(refusal: SessionError) -> ApiError {
        ApiError(StatusCode::CONFLICT, refusal.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        // Shortens the sentence and escapes control characters, because it may quote untrusted text.
        let sentence = cambio_core::text::excerpt(&self.1).up_to(2000).to_string();
        (self.0, json(&serde_json::json!({ "error": sentence }))).into_response()
    }
}

pub(crate) type ApiResult = Result<Response<Body>, ApiError>;

pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_string(value).expect("plain data serializes");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A replay and its record, which the page sends back when it requests an explanation or a review.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    #[serde(rename = "film")]
    replay: &'a Replay,
    record: &'a str,
}

/// Responds with the replay of a record, which is made on a blocking thread.
pub(crate) async fn show(record: Record) -> ApiResult {
    let made = tokio::task::spawn_blocking(move || (Replay::of(&record), record.to_json())).await;
    let (replay, text) =
        made.map_err(|_| ApiError(StatusCode::INTERNAL_SERVER_ERROR, "the replay cannot be made".to_owned()))?;
    let replay = replay.map_err(ApiError::bad)?;
    Ok(json(&ReplayAnswer { replay: &replay, record: &text }))
}
