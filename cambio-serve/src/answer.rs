//! Responses: JSON, or an error with one sentence.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use cambio_core::Record;
use cambio_view::{RequestError, SessionError, replay_in_json};
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

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> ApiError {
        ApiError(StatusCode::from_u16(error.status).expect("a status code of HTTP"), error.sentence)
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
    json_text(serde_json::to_string(value).expect("plain data serializes"))
}

/// A response with a text that is JSON.
pub(crate) fn json_text(text: String) -> Response<Body> {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Responds with the replay of a record, which is made on a blocking thread.
pub(crate) async fn show(record: Record) -> ApiResult {
    let made = tokio::task::spawn_blocking(move || replay_in_json(&record, None)).await;
    let made = made.map_err(|_| ApiError(StatusCode::INTERNAL_SERVER_ERROR, "the replay cannot be made".to_owned()))?;
    Ok(json_text(made?))
}
