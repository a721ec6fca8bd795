//! Responses: JSON, or an error with one sentence.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use cambio_core::Record;
use cambio_view::{Film, Refusal};
use serde::Serialize;

/// An error response: a status and a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem(pub(crate) StatusCode, pub(crate) String);

impl Problem {
    #[expect(clippy::needless_pass_by_value, reason = "callers pass owned errors")]
    pub(crate) fn bad(what: impl ToString) -> Problem {
        Problem(StatusCode::BAD_REQUEST, what.to_string())
    }

    pub(crate) fn missing(what: &str) -> Problem {
        Problem(StatusCode::NOT_FOUND, what.to_owned())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        Problem(StatusCode::CONFLICT, refusal.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        // The sentence may quote untrusted text.
        let sentence = cambio_core::shown(&self.1).up_to(2000).to_string();
        (self.0, json(&serde_json::json!({ "error": sentence }))).into_response()
    }
}

pub(crate) type Answer = Result<Response<Body>, Problem>;

pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_string(value).expect("plain data serializes");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A replay and its record, which the page sends back when it requests an explanation or a review.
#[derive(Serialize)]
struct Shown<'a> {
    film: &'a Film,
    record: &'a str,
}

/// Makes the replay of a record on a blocking thread.
pub(crate) async fn show(record: Record) -> Answer {
    let made = tokio::task::spawn_blocking(move || (Film::of(&record), record.to_json())).await;
    let (film, text) =
        made.map_err(|_| Problem(StatusCode::INTERNAL_SERVER_ERROR, "the replay cannot be made".to_owned()))?;
    let film = film.map_err(Problem::bad)?;
    Ok(json(&Shown { film: &film, record: &text }))
}
