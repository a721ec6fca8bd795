//! The desks of all tabs, and the threads on which they compute.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cambio_exec::CancelToken;
use cambio_view::{Answer, Catalogue, Computation, Desk, DeskWork, Reply, RequestError};
use hyper::StatusCode;
use tokio::sync::{Semaphore, watch};

use crate::answer::{refused, run_blocking};
use crate::runs::Runs;

/// The maximum length of the name of a desk in bytes.
const MAX_NAME_BYTES: usize = 64;
/// The maximum number of requests whose computation waits.
const MAX_WAITING: usize = 16;
/// A request for the next steps of a table is answered after this time, also without steps.
const POLL_TIME: Duration = Duration::from_secs(20);
/// A review stops if its tab has sent no request for this time.
const UNWATCHED: Duration = Duration::from_secs(20);
/// A desk that has had no request for this time is closed when another one opens.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// The desk of a tab.
#[derive(Debug)]
struct TabDesk {
    desk: Mutex<Desk>,
    /// Changes when the desk may have news.
    changed: watch::Sender<()>,
    used: Mutex<Instant>,
    is_closed: AtomicBool,
}

/// Locks a mutex and ignores poisoning, because the data is consistent between calls.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TabDesk {
    fn idle_time(&self) -> Duration {
        locked(&self.used).elapsed()
    }

    /// Whether the result of a work is still of use.
    fn goes_on(&self, is_review: bool) -> bool {
        let is_unwatched = is_review && self.idle_time() > UNWATCHED;
        !is_unwatched && !self.is_closed.load(Ordering::Relaxed)
    }

    /// The work that can begin now.
    fn work(&self) -> Vec<DeskWork> {
        let mut desk = locked(&self.desk);
        std::iter::from_fn(|| desk.work()).collect()
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.changed.send_replace(());
    }
}

/// The desks of all tabs.
#[derive(Debug)]
pub(crate) struct Desks {
    catalogue: Arc<Catalogue>,
    runs: Arc<Runs>,
    most: usize,
    open: Mutex<BTreeMap<String, Arc<TabDesk>>>,
    /// The agents that decide at the same time, the reviews, and the computations of answers with those that wait.
    agents: Arc<Semaphore>,
    reviews: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Desks {
    pub(crate) fn new(catalogue: Arc<Catalogue>, runs: Arc<Runs>, most: usize) -> Desks {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let [agents, reviews, answers, waiting] =
            [cores, 1, cores, cores + MAX_WAITING].map(|permits| Arc::new(Semaphore::new(permits)));
        Desks { catalogue, runs, most, open: Mutex::default(), agents, reviews, answers, waiting }
    }

    /// The desk of this name, which is opened if it does not exist.
    fn get(&self, name: &str) -> Result<Arc<TabDesk>, RequestError> {
        if name.len() > MAX_NAME_BYTES {
            let what = format!("the name of the desk must have at most {MAX_NAME_BYTES} bytes, found {}", name.len());
            return Err(refused(StatusCode::BAD_REQUEST, what));
        }
        let mut open = locked(&self.open);
        if let Some(found) = open.get(name) {
            *locked(&found.used) = Instant::now();
            return Ok(Arc::clone(found));
        }
        let entropy = [getrandom::u64(), getrandom::u64()].map(|bits| bits.map(u128::from));
        let [Ok(low), Ok(high)] = entropy else {
            let what = "this machine cannot provide random bytes";
            return Err(refused(StatusCode::INTERNAL_SERVER_ERROR, what));
        };
        let mut by_age: Vec<_> = open.iter().map(|(name, desk)| (desk.idle_time(), name.clone())).collect();
        by_age.sort();
        for (number, (age, name)) in by_age.into_iter().enumerate() {
            if age > IDLE || number + 1 >= self.most {
                open.remove(&name).inspect(|desk| desk.close());
            }
        }
        let runs = Arc::clone(&self.runs);
        let desk = Desk::new(Arc::clone(&self.catalogue), high << 64 | low)
            .with_runs(Arc::new(move |what, query| runs.answer(what, query)));
        let desk = TabDesk {
            desk: Mutex::new(desk),
            changed: watch::Sender::new(()),
            used: Mutex::new(Instant::now()),
            is_closed: AtomicBool::new(false),
        };
        Ok(Arc::clone(open.entry(name.to_owned()).or_insert(Arc::new(desk))))
    }

    /// Answers a request of a tab. Waits if its table has no new steps.
    pub(crate) async fn answer(
        self: &Arc<Desks>,
        name: &str,
        path: String,
        body: Option<String>,
    ) -> Result<Answer, RequestError> {
        let tab = self.get(name)?;
        let end = tokio::time::Instant::now() + POLL_TIME;
        let request = Arc::new((path, body));
        loop {
            let mut changed = tab.changed.subscribe();
            let (own, asked) = (Arc::clone(&tab), Arc::clone(&request));
            // On a blocking thread, because agents start when a table opens.
            let answered = run_blocking(move || {
                let reply = locked(&own.desk).request(&asked.0, asked.1.as_deref());
                (reply, own.work())
            });
            let (reply, work) = answered.await?;
            if request.1.is_some() {
                tab.changed.send_replace(());
            }
            self.begin(&tab, work);
            match reply {
                Reply::Now(answer) => return Ok(answer),
                Reply::Later(computation) => return self.compute(&tab, computation).await,
                Reply::Wait => {
                    let news = tokio::time::timeout_at(end, changed.changed()).await;
                    if news.is_err() || tab.is_closed.load(Ordering::Relaxed) {
                        return Ok(Answer { status: 204, body: String::new() });
                    }
                }
            }
        }
    }

    /// Computes an answer on a blocking thread. The computation stops if the client disconnects, and keeps its place until it returns.
    async fn compute(&self, tab: &Arc<TabDesk>, computation: Computation<Answer>) -> Result<Answer, RequestError> {
        let place = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| {
            let what = "too many computations are waiting on this server; try again when some have finished";
            refused(StatusCode::TOO_MANY_REQUESTS, what)
        })?;
        let slot = Arc::clone(&self.answers).acquire_owned().await.expect("the semaphore is never closed");
        let token = CancelToken::new();
        let _guard = CancelOnDrop(token.clone());
        let own = Arc::clone(tab);
        run_blocking(move || {
            let _permits = (place, slot);
            computation(&|| !token.is_cancelled() && own.goes_on(false))
        })
        .await
    }

    /// Does work of a desk in the background, and then the work that follows from it.
    fn begin(self: &Arc<Desks>, tab: &Arc<TabDesk>, work: Vec<DeskWork>) {
        for DeskWork { is_review, task } in work {
            let (desks, tab) = (Arc::clone(self), Arc::clone(tab));
            let slots = Arc::clone(if is_review { &self.reviews } else { &self.agents });
            tokio::spawn(async move {
                let slot = slots.acquire_owned().await.expect("the semaphore is never closed");
                let own = Arc::clone(&tab);
                let next = run_blocking(move || {
                    task(&|| own.goes_on(is_review));
                    drop(slot);
                    own.work()
                });
                // The desk itself reports panics.
                let next = next.await.unwrap_or_default();
                tab.changed.send_replace(());
                desks.begin(&tab, next);
            });
        }
    }
}

struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
