//! The accept loop, with limits on the number of connections and on slow clients.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::IntoResponse as _;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tower::service_fn;

use crate::answer::ApiError;
use crate::app::{App, secured};
use crate::request_guard::Access;
use crate::room::fresh_token;
use crate::sessions::locked;
use crate::settings::Settings;
use crate::table_folder::TableFolder;

/// The maximum number of simultaneous connections of a listener. A browser opens up to six for each window.
const MOST_CONNECTIONS: usize = 256;
/// The maximum number of simultaneous connections of a guest, so that one guest cannot take all places.
const GUEST_CONNECTIONS: usize = 32;
/// The maximum size of the head of a request in bytes.
const HEAD_BYTES: usize = 16 * 1024;
/// The interval at which the server calls `stop`, and after which it tries to accept connections again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A server bound to an address of this machine and, if the settings ask for it, to one in a local network.
#[derive(Debug)]
pub struct Server {
    runtime: tokio::runtime::Runtime,
    /// Each listener with the application that answers its requests.
    listeners: Vec<(TcpListener, App)>,
    address: String,
    patience: Duration,
    tables: Option<TableFolder>,
}

impl Server {
    /// Binds a port of the loopback address; port 0 selects a free one. The address contains a random token. If the settings have
    /// an address in a local network, binds the same port there for the links of guests. With a folder, the server has the token, the
    /// tables and the finished reviews of the last server with this folder, and keeps its own there.
    ///
    /// # Errors
    /// If the port is in use, this machine does not have the address, or it cannot provide random bytes or threads.
    ///
    /// ```
    /// use cambio_serve::{Server, Settings};
    ///
    /// let server = Server::bind(0, Settings::new(cambio_agents::roster()), None).unwrap();
    /// assert!(server.address().starts_with("http://127.0.0.1:"));
    /// server.run(|| true);
    /// ```
    pub fn bind(port: u16, settings: Settings, mut tables: Option<TableFolder>) -> std::io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))?;
        let port = listener.local_addr()?.port();
        let token = tables.as_ref().map_or_else(fresh_token, |tables| Ok(tables.token().to_owned()))?;
        let address = format!("http://127.0.0.1:{port}/{token}/");
        let (patience, network) = (settings.patience, settings.network);
        let app = App::new(settings, token, port);
        if let Some(tables) = &mut tables {
            tables.restore(&app.state);
        }
        let mut listeners = vec![(listener, app.clone())];
        if let Some(host) = network {
            let listener = runtime.block_on(TcpListener::bind((host, port)))?;
            let guests = app.in_network(listener.local_addr()?);
            listeners.push((listener, guests));
        }
        Ok(Server { runtime, listeners, address, patience, tables })
    }

    /// The address to open in a browser. Anyone who knows it may play and read the runs.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves requests until `stop` returns true. `stop` is called ten times a second. If the server keeps its tables, writes
    /// those that have changed, the last time before it returns.
    pub fn run(self, mut stop: impl FnMut() -> bool) {
        let Server { runtime, listeners, patience, mut tables, .. } = self;
        let state = Arc::clone(&listeners[0].1.state);
        for (listener, app) in listeners {
            runtime.spawn(listen(listener, app, patience));
        }
        runtime.block_on(async {
            while !stop() {
                tokio::time::sleep(LOOK_EVERY).await;
                if let Some(tables) = &mut tables {
                    tables.save(&state.sessions);
                }
            }
        });
        if let Some(tables) = tables {
            tables.save_at_end(&state.sessions);
        }
        // Does not wait for searches that are still running.
        runtime.shutdown_background();
    }
}

/// Accepts connections. Each listener has its own places, so that the local network cannot take those of this machine.
async fn listen(listener: TcpListener, app: App, patience: Duration) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let guests = GuestPlaces::default();
    let mut strangers = VecDeque::new();
    loop {
        let Some((stream, place)) = accept(&listener, &places, &mut strangers).await else {
            // No file descriptors left, or the client has disconnected: try again later.
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        };
        let (app, guests, is_known) = (app.clone(), guests.clone(), Arc::<AtomicBool>::default());
        let known = Arc::clone(&is_known);
        let task = tokio::spawn(async move {
            serve(app, stream, patience, known, guests).await;
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

/// The places of the connections of each guest.
type GuestPlaces = Arc<Mutex<BTreeMap<Access, Arc<Semaphore>>>>;

/// Takes a place of a guest; `None` if the guest has too many connections.
fn enter(guests: &GuestPlaces, guest: Access) -> Option<OwnedSemaphorePermit> {
    let mut guests = locked(guests);
    guests.retain(|_, places| places.available_permits() < GUEST_CONNECTIONS);
    let places = guests.entry(guest).or_insert_with(|| Arc::new(Semaphore::new(GUEST_CONNECTIONS)));
    Arc::clone(places).try_acquire_owned().ok()
}

async fn serve(app: App, stream: TcpStream, patience: Duration, is_known: Arc<AtomicBool>, guests: GuestPlaces) {
    // The guest whose link the first request with a link has.
    let guest = Arc::new(OnceLock::new());
    let answer = service_fn(move |request: Request<hyper::body::Incoming>| {
        let (app, request) = (app.clone(), request.map(Body::new));
        let access = app.access(&request);
        let is_admitted = match access {
            Some(guest_access @ Access::Guest { .. }) => guest.get_or_init(|| enter(&guests, guest_access)).is_some(),
            Some(Access::Owner) => true,
            None => false,
        };
        is_known.fetch_or(is_admitted, Ordering::Relaxed);
        async move {
            let mut response = if access.is_some() && !is_admitted {
                let what = format!("at most {GUEST_CONNECTIONS} connections of a guest can be open; close some pages");
                secured(ApiError(StatusCode::TOO_MANY_REQUESTS, what).into_response())
            } else {
                app.respond(request).await
            };
            if !is_admitted {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(HEAD_BYTES);
    // Errors of the connection are ignored, because they concern only this client.
    let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(answer)).await;
}
