//! The open sessions, limited in number, and the threads on which their agents decide.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cambio_agents::AgentSpec;
use cambio_core::Seat;
use cambio_view::{Catalogue, RequestError, SavedSession, Session, SessionError, TableRequest};
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};

use crate::room::{Room, SavedRoom};

/// A table: a session that pages can connect to.
#[derive(Debug)]
pub(crate) struct OpenSession {
    pub(crate) number: u64,
    /// The request that opened the table; `None` if no request did.
    request: Option<TableRequest>,
    /// Locked before the session, if both are locked.
    room: Mutex<Room>,
    /// The match. Before the match of several people begins, this session only has its configuration.
    session: Mutex<Session>,
    /// Counts the changes of the room and the session; `None` when the table is closed.
    changed: watch::Sender<Option<u64>>,
    touched: Mutex<Instant>,
    /// Limits hints to one at a time.
    pub(crate) hints: Arc<Semaphore>,
    /// Limits the tasks that wait for the end of a snap window to one at a time.
    timer: Semaphore,
}

/// Locks a mutex and ignores poisoning, because the data is consistent between calls.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenSession {
    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    pub(crate) fn room(&self) -> MutexGuard<'_, Room> {
        locked(&self.room)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<u64>> {
        self.changed.subscribe()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.changes().is_none()
    }

    /// The number of changes of the room and the session; `None` when the table is closed.
    pub(crate) fn changes(&self) -> Option<u64> {
        *self.changed.borrow()
    }

    /// The table as data; `None` if no request opened it.
    pub(crate) fn save(&self) -> Option<SavedTable<'_>> {
        let request = Cow::Borrowed(self.request.as_ref()?);
        let (room, session) = (self.room(), self.session());
        Some(SavedTable { request, room: room.save(session.config()), session: session.save() })
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

    /// Notifies the pages of a change.
    pub(crate) fn tell(&self) {
        self.changed.send_if_modified(|changes| {
            *changes = changes.map(|changes| changes + 1);
            changes.is_some()
        });
    }
}

/// A table as data.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedTable<'a> {
    request: Cow<'a, TableRequest>,
    room: SavedRoom,
    session: SavedSession,
}

/// A page that a person has open at a table.
pub(crate) struct OpenPage {
    opened: Arc<OpenSession>,
    seat: Seat,
}

impl OpenPage {
    /// Fails if the person has too many open pages.
    pub(crate) fn new(opened: &Arc<OpenSession>, seat: Seat) -> Result<OpenPage, SessionError> {
        opened.room().open_page(seat)?;
        opened.tell();
        Ok(OpenPage { opened: Arc::clone(opened), seat })
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.opened.room().close_page(self.seat);
        self.opened.tell();
    }
}

/// The open tables by number, and the number of the table that was opened last.
#[derive(Debug, Default)]
struct SessionTable {
    last: u64,
    sessions: BTreeMap<u64, Arc<OpenSession>>,
    /// The tables and seats of the links. The keys are hashes, so that a comparison reveals nothing about a token.
    links: BTreeMap<[u8; 32], (u64, Seat)>,
}

impl SessionTable {
    /// Adds a table with its links.
    fn insert(&mut self, number: u64, request: Option<TableRequest>, room: Room, session: Session) {
        for (token, seat) in room.links() {
            self.links.insert(blake3::hash(token.as_bytes()).into(), (number, seat));
        }
        let opened = OpenSession {
            number,
            request,
            room: Mutex::new(room),
            session: Mutex::new(session),
            changed: watch::Sender::new(Some(0)),
            touched: Mutex::new(Instant::now()),
            hints: Arc::new(Semaphore::new(1)),
            timer: Semaphore::new(1),
        };
        self.sessions.insert(number, Arc::new(opened));
    }

    /// Removes the links of a table, except to the seats for which `is_kept` returns true.
    fn remove_links(&mut self, number: u64, is_kept: impl Fn(Seat) -> bool) {
        self.links.retain(|_, (table, seat)| *table != number || is_kept(*seat));
    }
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

    /// Closes idle tables, then opens a table. The person in seat `host` opens it and has this name. Fails if the maximum number of
    /// tables is open. `request` is the request that opens the table, if there is one.
    pub(crate) fn open(
        &self,
        session: Session,
        host: Seat,
        name: String,
        request: Option<TableRequest>,
    ) -> Result<u64, SessionError> {
        let room = Room::new(session.config(), host, name).map_err(|error| SessionError(error.to_string()))?;
        let mut open = locked(&self.open);
        let SessionTable { sessions, links, .. } = &mut *open;
        sessions.retain(|_, opened| !opened.is_idle(self.idle));
        links.retain(|_, (table, _)| sessions.contains_key(table));
        self.check_space(&open)?;
        open.last += 1;
        let number = open.last;
        open.insert(number, request, room, session);
        Ok(number)
    }

    /// Keeps new tables from getting this number.
    pub(crate) fn reserve(&self, number: u64) {
        let mut open = locked(&self.open);
        open.last = open.last.max(number);
    }

    /// Fails if the maximum number of tables is open.
    fn check_space(&self, open: &SessionTable) -> Result<(), SessionError> {
        let most = self.most;
        if open.sessions.len() < most {
            return Ok(());
        }
        Err(SessionError(format!("all {most} tables are in use: leave one, or wait until one is idle")))
    }

    /// Opens a table again that an earlier server has saved. Its agents start when a page connects.
    pub(crate) fn restore(
        &self,
        number: u64,
        saved: SavedTable<'_>,
        catalogue: &Catalogue,
        substitute: &AgentSpec,
    ) -> Result<(), RequestError> {
        let mut open = locked(&self.open);
        self.check_space(&open)?;
        let (room, config) = Room::restore(&saved.room, saved.request.config(catalogue)?, substitute)?;
        let session = Session::resume(config, &saved.session)?;
        open.insert(number, Some(saved.request.into_owned()), room, session);
        Ok(())
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<OpenSession>> {
        let opened = locked(&self.open).sessions.get(&number).cloned()?;
        opened.touch();
        Some(opened)
    }

    pub(crate) fn all(&self) -> Vec<(u64, Arc<OpenSession>)> {
        locked(&self.open).sessions.iter().map(|(&number, opened)| (number, Arc::clone(opened))).collect()
    }

    /// The table and the seat of a link with this token.
    pub(crate) fn linked(&self, token: &str) -> Option<(u64, Seat)> {
        locked(&self.open).links.get(blake3::hash(token.as_bytes()).as_bytes()).copied()
    }

    /// Closes a table and notifies its pages.
    pub(crate) fn close(&self, number: u64) {
        let mut open = locked(&self.open);
        open.remove_links(number, |_| false);
        if let Some(opened) = open.sessions.remove(&number) {
            opened.changed.send_replace(None);
        }
    }

    /// A person takes a seat. When all seats are taken, the match begins.
    pub(crate) fn sit(
        &self,
        opened: &Arc<OpenSession>,
        seat: Seat,
        name: String,
        substitute: &AgentSpec,
    ) -> Result<(), SessionError> {
        let is_full = opened.room().sit(seat, name)?;
        opened.tell();
        if is_full { self.begin(opened, substitute) } else { Ok(()) }
    }

    /// Begins the match of several people, or another match with the same people. Fails if a match is in progress.
    pub(crate) fn begin(&self, opened: &Arc<OpenSession>, substitute: &AgentSpec) -> Result<(), SessionError> {
        {
            let mut room = opened.room();
            let mut session = opened.session();
            if room.edition > 0 && session.record().is_err() {
                return Err(SessionError("the match is in progress".to_owned()));
            }
            *session = Session::new(room.begin(session.config(), substitute));
            locked(&self.open).remove_links(opened.number, |seat| room.has(seat));
        }
        self.think(opened);
        Ok(())
    }

    /// A person leaves, and an agent plays on if the match is in progress.
    pub(crate) fn leave(
        &self,
        opened: &Arc<OpenSession>,
        seat: Seat,
        substitute: AgentSpec,
    ) -> Result<(), SessionError> {
        {
            let mut room = opened.room();
            if !room.has(seat) || seat == room.host {
                return Err(SessionError(format!("no guest is in seat {seat}")));
            }
            let mut session = opened.session();
            if room.edition > 0 && session.record().is_err() {
                session.replace(seat, substitute)?;
            }
            room.leave(seat);
            if room.edition > 0 {
                locked(&self.open).remove_links(opened.number, |seat| room.has(seat));
            }
        }
        self.think(opened);
        Ok(())
    }

    /// Runs the agents of a table in the background until people have to decide, closes snap windows, and notifies the pages.
    pub(crate) fn think(&self, opened: &Arc<OpenSession>) {
        opened.tell();
        if opened.room().edition == 0 {
            return;
        }
        let opened = Arc::clone(opened);
        let (thinkers, abandoned) = (Arc::clone(&self.thinkers), Arc::clone(&self.abandoned));
        tokio::spawn(async move {
            loop {
                let Ok(permit) = thinkers.acquire().await else { return };
                if opened.is_closed() {
                    return;
                }
                let (job, window) = {
                    let mut session = opened.session();
                    (session.job(), session.open_window().zip(Some(session.config().snap_time)))
                };
                let Some(job) = job else {
                    let Some((window, time)) = window else { return };
                    drop(permit);
                    let Ok(_timer) = opened.timer.try_acquire() else { return };
                    tokio::time::sleep(Duration::from_millis(time.into())).await;
                    opened.session().close_window(window);
                    opened.tell();
                    continue;
                };
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
                match done {
                    Ok(done) => opened.session().finish(done),
                    Err(_) => opened.session().fail(),
                }
                opened.tell();
            }
        });
    }
}
