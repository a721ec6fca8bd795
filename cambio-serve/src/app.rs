//! The application: maps requests to responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use axum::response::IntoResponse as _;
use cambio_view::{Session, SessionError};
use tower::ServiceExt as _;

use crate::answer::{ApiError, with_sentence};
use crate::api;
use crate::app_state::AppState;
use crate::request_guard::{Access, HEADERS, POLICY, RequestGuard};
use crate::settings::Settings;

/// The time limit from the head of a request to the response. Longer computations run in the background.
const ANSWER: Duration = Duration::from_secs(60);

/// Maps requests to responses, and owns the tables. Clones share the tables.
///
/// ```
/// use axum::body::Body;
/// use axum::http::{Request, StatusCode};
/// use cambio_serve::{App, Settings};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let app = App::new(Settings::new(cambio_agents::roster()), "secret".to_owned(), 8417);
/// let ask = |path: &str| {
///     let request = Request::get(path).header("host", "127.0.0.1:8417").body(Body::empty()).unwrap();
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
    pub(crate) state: Arc<AppState>,
    /// The requests of the owner and of guests.
    router: Router,
    guests: Router,
}

impl App {
    /// An application for this port of the loopback address. The path of each request must begin with the token.
    pub fn new(settings: Settings, token: String, port: u16) -> App {
        let state = Arc::new(AppState::new(settings, port));
        App {
            guard: Arc::new(RequestGuard::new(token, port)),
            router: api::router(Arc::clone(&state)),
            guests: api::guest_router(Arc::clone(&state)),
            state,
        }
    }

    /// The same application at an address in a local network. There it accepts only the links to seats, whose requests reach
    /// only the pages of their table. Links that the host sees from now on begin with this address.
    #[must_use]
    pub fn in_network(&self, address: SocketAddr) -> App {
        self.state.network.get_or_init(|| format!("http://{address}/"));
        App { guard: Arc::new(RequestGuard::of_network(address)), ..self.clone() }
    }

    /// Opens a table for a session, and returns its number. The agents start to decide when a page connects. If several people
    /// play, the first of them is the host.
    ///
    /// # Errors
    /// If the maximum number of tables is open.
    pub fn open(&self, session: Session) -> Result<u64, SessionError> {
        let host = session.config().person();
        self.state.sessions.open(session, host, String::new(), None)
    }

    fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(Access, String), ApiError> {
        self.guard.admit(method, uri, headers, |token| self.state.sessions.linked(token))
    }

    /// What a request may reach; `None` if it does not have a token, the host and the origin of this server.
    pub(crate) fn access(&self, request: &Request<Body>) -> Option<Access> {
        self.admit(request.method(), request.uri(), request.headers()).ok().map(|(access, _)| access)
    }

    /// Responds to a request.
    pub async fn respond(&self, request: Request<Body>) -> Response<Body> {
        secured(self.answer(request).await)
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        let (access, path) = match self.admit(&head.method, &head.uri, &head.headers) {
            Ok(admitted) => admitted,
            Err(problem) => return problem.into_response(),
        };
        let path = head.uri.query().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        match path.parse::<Uri>() {
            Ok(uri) => head.uri = uri,
            Err(_) => return ApiError(StatusCode::BAD_REQUEST, "the address is not valid".to_owned()).into_response(),
        }
        head.extensions.insert(access);
        let router = if access == Access::Owner { &self.router } else { &self.guests };
        let answer = router.clone().oneshot(Request::from_parts(head, body));
        match tokio::time::timeout(ANSWER, answer).await {
            Ok(Ok(response)) => with_sentence(response).await,
            Ok(Err(never)) => match never {},
            Err(_) => ApiError(StatusCode::REQUEST_TIMEOUT, "the request took too long".to_owned()).into_response(),
        }
    }
}

/// The response with all security headers.
pub(crate) fn secured(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(POLICY);
    response
}
