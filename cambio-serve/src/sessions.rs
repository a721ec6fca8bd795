//! The open sessions, limited in number, and the threads on which their agents decide.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    pub(crate) hints: Semaphore,
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
}

impl Sessions {
    pub(crate) fn new(most: usize, idle: Duration) -> Sessions {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Sessions { open: Mutex::default(), most, idle, thinkers: Arc::new(Semaphore::new(cores)) }
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
        let opened = OpenSession { session: Mutex::new(session), changed, touched, hints: Semaphore::new(1) };
        open.sessions.insert(number, Arc::new(opened));
        Ok(number)
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<OpenSession>> {
        let opened = locked(&self.open).sessions.get(&number).cloned()?;
        opened.touch();
        Some(opened)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        locked(&self.open).sessions.keys().copied().collect()
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
        let (opened, thinkers) = (Arc::clone(opened), Arc::clone(&self.thinkers));
        tokio::spawn(async move {
            loop {
                let Ok(_permit) = thinkers.acquire().await else { return };
                if opened.changed.borrow().is_none() {
                    return;
                }
                let Some(job) = opened.session().job() else { return };
                let done = tokio::task::spawn_blocking(move || job.run()).await;
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
