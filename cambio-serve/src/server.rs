//! The accept loop, with limits on the number of connections and on slow clients.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::{HeaderValue, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::app::{App, Settings};

/// The maximum number of simultaneous connections. A browser opens up to six for each window.
const MAX_CONNECTIONS: usize = 256;
/// The maximum size of the head of a request in bytes.
const HEAD_BYTES: usize = 16 * 1024;
/// The interval at which the server calls `stop`, and after which it tries to accept connections again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A random token of 128 bits.
///
/// # Errors
/// If this machine cannot provide random bytes.
pub fn fresh_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// A server bound to a port of this machine.
#[derive(Debug)]
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    app: App,
    address: String,
    patience: Duration,
}

impl Server {
    /// Binds a port of the loopback address; port 0 selects a free one. The address contains the token.
    ///
    /// # Errors
    /// If the port is in use, or this machine cannot provide threads.
    ///
    /// ```
    /// use cambio_serve::{Server, Settings, fresh_token};
    ///
    /// let server = Server::bind(0, Settings::new(cambio_agents::roster()), fresh_token().unwrap()).unwrap();
    /// assert!(server.address().starts_with("http://127.0.0.1:"));
    /// server.run(|| true);
    /// ```
    pub fn bind(port: u16, settings: Settings, token: String) -> std::io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))?;
        let port = listener.local_addr()?.port();
        let (address, patience) = (format!("http://127.0.0.1:{port}/{token}/"), settings.patience);
        Ok(Server { runtime, listener, app: App::new(settings, token, port), address, patience })
    }

    /// The address to open in a browser. Anyone who knows it may play and read the runs.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves requests until `stop` returns true. `stop` is called ten times a second.
    pub fn run(self, mut stop: impl FnMut() -> bool) {
        let Server { runtime, listener, app, patience, .. } = self;
        runtime.spawn(listen(listener, app, patience));
        runtime.block_on(async {
            while !stop() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        // Does not wait for searches that are still running.
        runtime.shutdown_background();
    }
}

/// Accepts connections.
async fn listen(listener: TcpListener, app: App, patience: Duration) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut strangers = VecDeque::new();
    loop {
        let Some((stream, place)) = accept(&listener, &places, &mut strangers).await else {
            // No file descriptors left, or the client has disconnected: try again later.
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        };
        let (app, is_known) = (app.clone(), Arc::<AtomicBool>::default());
        let known = Arc::clone(&is_known);
        let task = tokio::spawn(async move {
            serve(app, stream, patience, known).await;
            drop(place);
        });
        strangers.push_back(Stranger { is_known, task: task.abort_handle() });
    }
}

/// A connection that has not sent the token yet.
struct Stranger {
    /// Set by the first request with the token.
    is_known: Arc<AtomicBool>,
    task: AbortHandle,
}

/// Accepts a connection. If all places are in use, closes the oldest connection that has not sent the token, because any
/// program on this machine can open connections.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    strangers: &mut VecDeque<Stranger>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let is_strange = |other: &Stranger| !other.is_known.load(Ordering::Relaxed) && !other.task.is_finished();
    strangers.retain(is_strange);
    let mut place = Arc::clone(places).try_acquire_owned().ok();
    if place.is_none() && strangers.is_empty() {
        place = Some(Arc::clone(places).acquire_owned().await.ok()?);
    }
    let (stream, _) = listener.accept().await.ok()?;
    if place.is_none() {
        strangers.retain(is_strange);
        strangers.pop_front().inspect(|oldest| oldest.task.abort());
    }
    let place = if let Some(place) = place { place } else { Arc::clone(places).acquire_owned().await.ok()? };
    Some((stream, place))
}

async fn serve(app: App, stream: TcpStream, patience: Duration, is_known: Arc<AtomicBool>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let app = app.clone();
        let is_admitted = app.is_admitted(&request);
        is_known.fetch_or(is_admitted, Ordering::Relaxed);
        async move {
            let mut response = app.respond(request).await;
            if !is_admitted {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(HEAD_BYTES);
    // Errors of the connection are ignored, because they concern only this client.
    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
}
