//! Responses: the answers of desks, files, and errors with one sentence.

use cambio_view::Answer;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Response, StatusCode, header};

/// An error response: a status and a sentence.
#[derive(Debug)]
pub(crate) struct HttpError(pub(crate) StatusCode, pub(crate) String);

/// The response to a request.
pub(crate) type HttpResponse = Response<Full<Bytes>>;

impl From<HttpError> for HttpResponse {
    fn from(HttpError(status, sentence): HttpError) -> HttpResponse {
        let sentence = cambio_core::text::excerpt(&sentence).up_to(2000).to_string();
        let body = serde_json::json!({ "error": sentence }).to_string();
        answered(Answer { status: status.as_u16(), body })
    }
}

/// An answer of a desk as a response.
pub(crate) fn answered(Answer { status, body }: Answer) -> HttpResponse {
    let mut response = with_type("application/json", body);
    *response.status_mut() = StatusCode::from_u16(status).expect("a status code of HTTP");
    response
}

pub(crate) fn with_type(kind: &'static str, body: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

/// Runs work that blocks, such as reading files, on a thread for such work.
pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, HttpError> {
    let bug = |_| HttpError(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug in cambio".to_owned());
    tokio::task::spawn_blocking(work).await.map_err(bug)
}
