//! Responses: the answers of desks, files, and errors.

use cambio_view::{Answer, RequestError};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Response, StatusCode, header};

/// An error with a status of HTTP and a sentence.
pub(crate) fn refused(status: StatusCode, sentence: impl Into<String>) -> RequestError {
    RequestError { status: status.as_u16(), sentence: sentence.into() }
}

/// The response to a request.
pub(crate) type HttpResponse = Response<Full<Bytes>>;

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
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RequestError> {
    let bug = |_| refused(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug in cambio");
    tokio::task::spawn_blocking(work).await.map_err(bug)
}
