//! The open sessions, limited in number, and the threads on which their agents decide.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};

use cambio_view::{Refusal, Sitting};

/// A table: a session that pages can connect to.
#[derive(Debug)]
pub(crate) struct Room {
    sitting: Mutex<Sitting>,
    /// The number of the last step; `None` when the table is closed.
    changed: watch::Sender<Option<u64>>,
    touched: Mutex<Instant>,
    /// Limits hints to one at a time.
    pub(crate) hints: Semaphore,
}

/// Locks a mutex and ignores poisoning: the data is consistent between calls.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Room {
    pub(crate) fn sitting(&self) -> MutexGuard<'_, Sitting> {
        locked(&self.sitting)
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
        self.changed.send_if_modified(|told| match told {
            Some(told) if *told != last => {
                *told = last;
                true
            }
            _ => false,
        });
    }
}

/// The open tables by number, and the last number.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    rooms: BTreeMap<u64, Arc<Room>>,
}

#[derive(Debug)]
pub(crate) struct Rooms {
    open: Mutex<Open>,
    most: usize,
    idle: Duration,
    thinkers: Arc<Semaphore>,
}

impl Rooms {
    pub(crate) fn new(most: usize, idle: Duration) -> Rooms {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Rooms { open: Mutex::default(), most, idle, thinkers: Arc::new(Semaphore::new(cores)) }
    }

    /// Opens a table after closing idle ones. Fails if the maximum number is open.
    pub(crate) fn open(&self, sitting: Sitting) -> Result<u64, Refusal> {
        let mut open = locked(&self.open);
        open.rooms.retain(|_, room| !room.is_idle(self.idle));
        if open.rooms.len() >= self.most {
            let most = self.most;
            return Err(Refusal(format!("all {most} tables are in use: leave one, or wait until one is idle")));
        }
        open.last += 1;
        let number = open.last;
        let changed = watch::Sender::new(Some(sitting.feed().last()));
        let touched = Mutex::new(Instant::now());
        let room = Room { sitting: Mutex::new(sitting), changed, touched, hints: Semaphore::new(1) };
        open.rooms.insert(number, Arc::new(room));
        Ok(number)
    }

    pub(crate) fn get(&self, number: u64) -> Option<Arc<Room>> {
        let room = locked(&self.open).rooms.get(&number).cloned()?;
        room.touch();
        Some(room)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        locked(&self.open).rooms.keys().copied().collect()
    }

    /// Closes a table and notifies its pages.
    pub(crate) fn close(&self, number: u64) {
        if let Some(room) = locked(&self.open).rooms.remove(&number) {
            room.changed.send_replace(None);
        }
    }

    /// Runs the agents of a table in the background until the person has to decide, and notifies the pages.
    pub(crate) fn think(&self, room: &Arc<Room>) {
        let last = room.sitting().feed().last();
        room.tell(last);
        let (room, thinkers) = (Arc::clone(room), Arc::clone(&self.thinkers));
        tokio::spawn(async move {
            loop {
                let Ok(_permit) = thinkers.acquire().await else { return };
                if room.changed.borrow().is_none() {
                    return;
                }
                let Some(job) = room.sitting().job() else { return };
                let done = tokio::task::spawn_blocking(move || job.run()).await;
                let last = {
                    let mut sitting = room.sitting();
                    match done {
                        Ok(done) => sitting.finish(done),
                        Err(_) => sitting.fail(),
                    }
                    sitting.feed().last()
                };
                room.tell(last);
            }
        });
    }
}
