//! Limits on the searches that pages start: their number and their end.

use std::sync::Arc;

use axum::http::StatusCode;
use cambio_exec::CancelToken;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::ApiError;

/// Slots for searches of one kind. Some searches run at once, some wait, and further ones are refused.
#[derive(Debug)]
pub(crate) struct SearchSlots {
    /// The places of all searches, running or waiting.
    places: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl SearchSlots {
    /// Slots for this many searches at once, and for this many that wait.
    pub(crate) fn new(at_once: usize, waiting: usize) -> SearchSlots {
        let [places, running] = [at_once + waiting, at_once].map(|permits| Arc::new(Semaphore::new(permits)));
        SearchSlots { places, running }
    }

    /// Takes a place. Fails if too many searches are waiting.
    pub(crate) fn enter(&self) -> Result<SearchPlace, ApiError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let what = "too many computations are waiting on this server; try again when some have finished";
            ApiError(StatusCode::TOO_MANY_REQUESTS, what.to_owned())
        })?;
        Ok(SearchPlace { place, running: Arc::clone(&self.running) })
    }

    /// Runs a search on a blocking thread. Its token is cancelled if the client disconnects or the time for the response is
    /// over. The search keeps its slot until it returns.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce(&CancelToken) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = self.enter()?.turn().await;
        let token = CancelToken::new();
        let _guard = CancelOnDrop(token.clone());
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            search(&token)
        });
        done.await.map_err(|_| ApiError::bad("the agent failed: it panicked"))
    }
}

/// The place of a search that waits for a slot.
pub(crate) struct SearchPlace {
    place: OwnedSemaphorePermit,
    running: Arc<Semaphore>,
}

impl SearchPlace {
    /// Waits for a slot. The search may run until the permits are dropped.
    pub(crate) async fn turn(self) -> [OwnedSemaphorePermit; 2] {
        let slot = self.running.acquire_owned().await.expect("the semaphore is never closed");
        [self.place, slot]
    }
}

struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
