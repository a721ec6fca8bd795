//! The application: maps requests to responses.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cambio_agents::Roster;
use cambio_view::{Answer, Catalogue, RequestError};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, header};

use crate::answer::{HttpResponse, answered, refused, run_blocking, with_type};
use crate::assets;
use crate::desks::Desks;
use crate::request_guard::{HEADERS, POLICY, RequestGuard, STORED_POLICY};
use crate::runs::Runs;

/// The time limit from the head of a request to the response. Reviews and the agents at a table work in the background.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum size in bytes of a request's body, which may contain a record.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The available agents.
    pub roster: Roster,
    /// The specs with a quoted text that pages may use. Such specs start programs or read files.
    pub allowed: Vec<String>,
    /// The folder whose run folders are shown.
    pub runs: PathBuf,
    /// The maximum number of desks, one for each tab of a browser. A new one replaces the oldest.
    pub desks: usize,
    /// A client that has not sent the whole head of its request after this time is disconnected.
    pub patience: Duration,
}

impl Settings {
    /// The default settings: 64 desks, run folders under `runs`, ten seconds for the head of a request.
    pub fn new(roster: Roster) -> Settings {
        let (runs, patience) = (PathBuf::from("runs"), Duration::from_secs(10));
        Settings { roster, allowed: Vec::new(), runs, desks: 64, patience }
    }
}

/// Maps requests to responses, and owns the desks. Clones share them.
///
/// ```
/// use cambio_serve::{App, Settings};
/// use http_body_util::Empty;
/// use hyper::body::Bytes;
/// use hyper::{Request, StatusCode};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let app = App::new(Settings::new(cambio_agents::roster()), "secret".to_owned(), 8417);
/// let ask = |path: &str| {
///     let request = Request::get(path).header("host", "127.0.0.1:8417").body(Empty::<Bytes>::new()).unwrap();
///     let app = app.clone();
///     async move { app.respond(request).await.status() }
/// };
/// assert_eq!(ask("/secret/").await, StatusCode::OK);
/// assert_eq!(ask("/guess/").await, StatusCode::FORBIDDEN);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct App {
    guard: Arc<RequestGuard>,
    desks: Arc<Desks>,
    runs: Arc<Runs>,
}

impl App {
    /// An application for this port of the loopback address. The path of each request must begin with the token.
    pub fn new(settings: Settings, token: String, port: u16) -> App {
        let catalogue = Arc::new(Catalogue::of_server(settings.roster, settings.allowed));
        let runs = Arc::new(Runs { root: settings.runs, catalogue: Arc::clone(&catalogue) });
        let desks = Arc::new(Desks::new(catalogue, Arc::clone(&runs), settings.desks));
        App { guard: Arc::new(RequestGuard::new(token, port)), desks, runs }
    }

    /// Whether a request has the token, the host and the origin of this server.
    pub(crate) fn is_admitted<B>(&self, request: &Request<B>) -> bool {
        self.guard.admit(request.method(), request.uri(), request.headers()).is_ok()
    }

    /// Responds to a request.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, self.answer(request)).await;
        let slow = || Err(refused(StatusCode::REQUEST_TIMEOUT, "the request took too long"));
        let answer = answer.unwrap_or_else(|_| slow());
        let mut response = answer.unwrap_or_else(|error| answered(Answer::from(Err(error))));
        let headers = response.headers_mut();
        headers.extend(HEADERS);
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(POLICY);
        response
    }

    async fn answer<B>(&self, request: Request<B>) -> Result<HttpResponse, RequestError>
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let (head, body) = request.into_parts();
        let path = self.guard.admit(&head.method, &head.uri, &head.headers)?;
        if path.starts_with("api/") {
            let path = head.uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
            let body = read_body(&head, body).await?;
            let desk = head.headers.get("cambio-desk").and_then(|name| name.to_str().ok()).unwrap_or_default();
            return self.desks.answer(desk, path, body).await.map(answered);
        }
        if head.method == Method::POST {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "the method must be GET"));
        }
        if path == "runs/report" {
            let (runs, query) = (Arc::clone(&self.runs), head.uri.query().unwrap_or_default().to_owned());
            let report = run_blocking(move || runs.report(&query)).await??;
            let mut response = with_type("text/html; charset=utf-8", report);
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, STORED_POLICY);
            return Ok(response);
        }
        let asset = assets::file(path);
        let (kind, text) = asset.ok_or_else(|| refused(StatusCode::NOT_FOUND, "there is no such page"))?;
        Ok(with_type(kind, text))
    }
}

/// The body of a POST.
async fn read_body<B>(head: &Parts, body: B) -> Result<Option<String>, RequestError>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    if head.method != Method::POST {
        return Ok(None);
    }
    // This type is required because a form on another site cannot send it.
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind != "application/json" {
        let what = format!("the content type must be `application/json`, found `{kind}`");
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    let bytes = Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(|error| {
        let is_long = error.is::<LengthLimitError>();
        let status = if is_long { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
        refused(status, format!("the body cannot be read, which may have up to {MAX_BODY_BYTES} bytes: {error}"))
    })?;
    let text = String::from_utf8(bytes.to_bytes().into());
    text.map(Some).map_err(|error| refused(StatusCode::BAD_REQUEST, format!("the body is not UTF-8: {error}")))
}
