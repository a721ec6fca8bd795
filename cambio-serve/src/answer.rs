//! Responses: JSON, or an error with one sentence.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use cambio_view::{RequestError, SessionError};
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

/// Runs work that blocks, such as reading files, on a thread for such work. `failure` is the error if the work panics.
pub(crate) async fn aside<T: Send + 'static>(
    failure: &str,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError(StatusCode::INTERNAL_SERVER_ERROR, failure.to_owned()))?
}

pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    json_text(serde_json::to_string(value).expect("plain data serializes"))
}

/// A response with a text that is JSON.
pub(crate) fn json_text(text: String) -> Response<Body> {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Turns an error of the router, which is plain text or has no text, into the JSON that pages expect.
pub(crate) async fn with_sentence(response: Response<Body>) -> Response<Body> {
    let (status, headers) = (response.status(), response.headers());
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json") {
        return response;
    }
    let allowed = headers.get(header::ALLOW).cloned();
    let text = axum::body::to_bytes(response.into_body(), 4000).await.unwrap_or_default();
    let sentence = match (allowed.as_ref().and_then(|methods| methods.to_str().ok()), String::from_utf8_lossy(&text)) {
        (Some(methods), _) => format!("the method must be one of {methods}"),
        (None, text) if text.is_empty() => status.to_string(),
        (None, text) => text.into_owned(),
    };
    let mut response = ApiError(status, sentence).into_response();
    response.headers_mut().extend(allowed.map(|methods| (header::ALLOW, methods)));
    response
}
