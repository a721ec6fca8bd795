//! Requests to an app without a network.

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use cambio_serve::App;
use http_body_util::BodyExt as _;
use serde_json::Value;

pub(crate) mod socket;

pub(crate) const HOST: &str = "127.0.0.1:8417";
pub(crate) const TOKEN: &str = "0123456789abcdef";

/// The size of a randomized test: `small`, or `full` with `CAMBIO_FULL=1`.
pub(crate) fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}

/// Runs a test on a single-threaded runtime.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub(crate) async fn get(app: &App, path: &str) -> Response<Body> {
    get_as(app, TOKEN, path).await
}

pub(crate) async fn post(app: &App, path: &str, body: impl Into<Body>) -> Response<Body> {
    post_as(app, TOKEN, path, body).await
}

/// A request with the token of a link.
pub(crate) async fn get_as(app: &App, token: &str, path: &str) -> Response<Body> {
    let request = Request::get(format!("/{token}/{path}")).header("host", HOST).body(Body::empty()).unwrap();
    app.respond(request).await
}

pub(crate) async fn post_as(app: &App, token: &str, path: &str, body: impl Into<Body>) -> Response<Body> {
    let request = Request::post(format!("/{token}/{path}"));
    let request = request.header("host", HOST).header("content-type", "application/json");
    app.respond(request.body(body.into()).unwrap()).await
}

/// The status and the text of a response.
pub(crate) async fn read(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The status and the error message of a response.
pub(crate) async fn sentence(response: Response<Body>) -> (u16, String) {
    let (status, text) = read(response).await;
    let told: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}"));
    (status.as_u16(), told["error"].as_str().unwrap_or_default().to_owned())
}

/// The tokens of the guests' links at a table, with the letters of their seats.
pub(crate) async fn links(app: &App, table: u64) -> Vec<(char, String)> {
    let room = Page::of(app, table).await.next().await.unwrap();
    let links = room["players"].as_array().unwrap().iter().zip('a'..);
    let token = |link: &str| link.split('/').nth(3).unwrap().to_owned();
    links.filter_map(|(player, seat)| Some((seat, token(player["link"].as_str()?)))).collect()
}

/// The event stream of a page.
pub(crate) struct Page {
    body: Body,
    rest: String,
    /// All bytes so far.
    pub(crate) all: String,
    /// The last step or room.
    pub(crate) last: Value,
}

impl Page {
    pub(crate) async fn of(app: &App, table: u64) -> Page {
        Page::linked(app, TOKEN, table).await
    }

    pub(crate) async fn linked(app: &App, token: &str, table: u64) -> Page {
        let response = get_as(app, token, &format!("api/tables/{table}/events")).await;
        assert_eq!(response.status(), StatusCode::OK);
        Page { body: response.into_body(), rest: String::new(), all: String::new(), last: Value::Null }
    }

    /// The step of the next event; `None` when the table is closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.rest.split_once("\n\n") {
                let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                let data = data.concat();
                let rest = rest.to_owned();
                self.rest = rest;
                if data.is_empty() {
                    continue;
                }
                let told: Value = serde_json::from_str(&data).unwrap();
                self.last = if told["step"].is_object() { told["step"].clone() } else { told };
                return Some(self.last.clone());
            }
            let frame = self.body.frame().await?.unwrap();
            let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            self.all += &text;
            self.rest += &text;
        }
    }
}
