//! Answers: JSON, or a problem in one sentence.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use cambio_core::Record;
use cambio_view::{Film, Refusal};
use serde::Serialize;

/// Why a request is refused: a status and a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem(pub(crate) StatusCode, pub(crate) String);

impl Problem {
    #[expect(clippy::needless_pass_by_value, reason = "errors are passed on as they are")]
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
        // What others wrote may be quoted; a page shows it as text.
        let sentence = cambio_core::shown(&self.1).up_to(2000).to_string();
        (self.0, json(&serde_json::json!({ "error": sentence }))).into_response()
    }
}

pub(crate) type Answer = Result<Response<Body>, Problem>;

pub(crate) fn json(value: &impl Serialize) -> Response<Body> {
    let text = serde_json::to_string(value).expect("what is sent is plain data");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A film, and the record that it was made of: the page sends that back when it asks why something was decided.
#[derive(Serialize)]
struct Shown<'a> {
    film: &'a Film,
    record: &'a str,
}

/// Makes the film of a record on a thread of its own.
pub(crate) async fn show(record: Record) -> Answer {
    let made = tokio::task::spawn_blocking(move || (Film::of(&record), record.to_json())).await;
    let (film, text) =
        made.map_err(|_| Problem(StatusCode::INTERNAL_SERVER_ERROR, "the film cannot be made".to_owned()))?;
    let film = film.map_err(Problem::bad)?;
    Ok(json(&Shown { film: &film, record: &text }))
}
