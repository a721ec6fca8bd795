//! The open sessions, limited in number, and the threads on which their agents decide.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{Either, select};
use tokio::sync::{Semaphore, watch};

use cambio_view::{Session, SessionError};

/// A table: a session that pages can connect to.
#[derive(Debug)]
pub(crate) struct OpenSession {
    session: Mutex<Session>,
    /// The number of the last step; `None` when the table is closed.
    changed: watch::Sender<Option<u64>>,
    touched: Mutex<Instant>,
    /// Limits hints to one at a time.
    pub(crate) hints: Arc<Semaphore>,
}

/// Locks a mutex and ignores poisoning, because the data is consistent between calls.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenSession {
    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<u64>> {
        self.changed.subscribe()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.changed.borrow().is_none()
    }

    /// Waits until the table is closed.
    async fn closed(&self) {
        // An error means that the table no longer exists.
        let _ = self.watch().wait_for(Option::is_none).await;
    }

    fn touch(&self) {
        *locked(&self.touched) = Instant::now();
    }

    fn is_idle(&self, after: Duration) -> bool {
        self.changed.receiver_count() == 0 && locked(&self.touched).elapsed() > after
    }

    fn tell(&self, last: u64) {
        self.changed.send_if_modified(|known| match known {
            Some(known) if *known != last => {
                *known = last;
                true
            }
            _ => false,
        });
    }
}

/// The open tables by number, and the number of the table that was opened last.
#[derive(Debug, Default)]
struct SessionTable {
    last: u64,
    sessions: BTreeMap<u64, Arc<OpenSession>>,
}

#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<SessionTable>,
    most: usize,
    idle: Duration,
    thinkers: Arc<Semaphore>,
    /// Limits the searches of closed tables that have no permit of `thinkers`.
    abandoned: Arc<Semaphore>,
}

impl Sessions {
    pub(crate) fn new(most: usize, idle: Duration) -> Sessions {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let [thinkers, abandoned] = [cores; 2].map(|cores| Arc::new(Semaphore::new(cores)));
        Sessions { open: Mutex::default(), most, idle, thinkers, abandoned }
    }

    /// Closes idle tables, then opens a table. Fails if the maximum number of tables is open.
    pub(crate) fn open(&self, session: Session) -> Result<u64, SessionError> {
        let mut open = locked(&self.open);
        open.sessions.retain(|_, opened| !opened.is_idle(self.idle));
        if open.sessions.len() >= self.most {
            let most = self.most;
            return Err(SessionError(format!("all {most} tables are in use: leave one, or wait until one is idle")));
        }
        open.last += 1;
        let number = open.last;
        let changed = watch::Sender::new(Some(session.feed().last()));
        let touched = Mutex::new(Instant::now());
        let opened = OpenSession { session: Mutex::new(session), changed, touched, hints: Arc::new(Semaphore::new(1)) };
        open.sessions.insert(number, Arc::new(opened));
        Ok(number)
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<OpenSession>> {
        let opened = locked(&self.open).sessions.get(&number).cloned()?;
        opened.touch();
        Some(opened)
    }

    pub(crate) fn all(&self) -> Vec<(u64, Arc<OpenSession>)> {
        locked(&self.open).sessions.iter().map(|(&number, opened)| (number, Arc::clone(opened))).collect()
    }

    /// Closes a table and notifies its pages.
    pub(crate) fn close(&self, number: u64) {
        if let Some(opened) = locked(&self.open).sessions.remove(&number) {
            opened.changed.send_replace(None);
        }
    }

    /// Runs the agents of a table in the background until the person has to decide, and notifies the pages.
    pub(crate) fn think(&self, opened: &Arc<OpenSession>) {
        let last = opened.session().feed().last();
        opened.tell(last);
        let opened = Arc::clone(opened);
        let (thinkers, abandoned) = (Arc::clone(&self.thinkers), Arc::clone(&self.abandoned));
        tokio::spawn(async move {
            loop {
                let Ok(permit) = thinkers.acquire().await else { return };
                if opened.is_closed() {
                    return;
                }
                let Some(job) = opened.session().job() else { return };
                let own = Arc::clone(&opened);
                let done = tokio::task::spawn_blocking(move || job.run_while(&|| !own.is_closed()));
                let done = match select(done, Box::pin(opened.closed())).await {
                    Either::Left((done, _)) => done,
                    Either::Right(((), done)) => {
                        // A search ends only with its decision. Until then, another table may use the permit.
                        let aside = abandoned.acquire();
                        if let Either::Left((_aside, done)) = select(Box::pin(aside), done).await {
                            drop(permit);
                            let _ = done.await;
                        }
                        return;
                    }
                };
                let last = {
                    let mut session = opened.session();
                    match done {
                        Ok(done) => session.finish(done),
                        Err(_) => session.fail(),
                    }
                    session.feed().last()
                };
                opened.tell(last);
            }
        });
    }
}
