//! Requests to an app without a network.

use cambio_serve::{App, Settings};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Request, Response};
use serde_json::Value;

pub(crate) const HOST: &str = "127.0.0.1:8417";
pub(crate) const TOKEN: &str = "0123456789abcdef";

/// The size of a randomized test: `small`, or `full` with `CAMBIO_FULL=1`.
pub(crate) fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}

pub(crate) fn app_with(settings: Settings) -> App {
    App::new(settings, TOKEN.to_owned(), 8417)
}

/// Runs a test on a single-threaded runtime.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub(crate) async fn get(app: &App, path: &str) -> (u16, String) {
    get_at(app, "", path).await
}

/// A request of the tab that has the desk of this name.
pub(crate) async fn get_at(app: &App, desk: &str, path: &str) -> (u16, String) {
    let request = Request::get(format!("/{TOKEN}/{path}")).header("host", HOST).header("cambio-desk", desk);
    read(app.respond(request.body(Full::default()).unwrap()).await).await
}

pub(crate) async fn post(app: &App, path: &str, body: impl Into<Bytes>) -> (u16, String) {
    post_at(app, "", path, body).await
}

pub(crate) async fn post_at(app: &App, desk: &str, path: &str, body: impl Into<Bytes>) -> (u16, String) {
    let request = Request::post(format!("/{TOKEN}/{path}")).header("host", HOST).header("cambio-desk", desk);
    let request = request.header("content-type", "application/json");
    read(app.respond(request.body(Full::new(body.into())).unwrap()).await).await
}

/// The status and the text of a response.
pub(crate) async fn read(response: Response<Full<Bytes>>) -> (u16, String) {
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The error message of a response.
pub(crate) fn sentence(text: &str) -> String {
    let told: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    told["error"].as_str().unwrap_or_default().to_owned()
}

/// The body of a request that opens a table against an agent.
pub(crate) fn table(opponent: &str) -> String {
    let request = serde_json::json!({ "rules": "classic", "opponents": [opponent], "seat": "b", "seed": "5" });
    serde_json::json!({ "request": request }).to_string()
}
