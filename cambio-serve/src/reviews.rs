//! Reviews of rounds, computed in the background, once for each round.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cambio_core::Record;
use cambio_view::{ReviewProgress, ReviewRequest, review};

use crate::answer::ApiError;
use crate::searches::{SearchPlace, SearchSlots};
use crate::sessions::locked;

/// The maximum number of reviews that are kept.
const KEPT: usize = 64;
/// A review stops if no page has requested its progress for this time.
const UNWATCHED: Duration = Duration::from_secs(20);

/// The hash of a record and the number of a round.
type RoundKey = (blake3::Hash, usize);

/// The review of a round.
#[derive(Debug)]
pub(crate) struct ReviewJob {
    number: u64,
    of: RoundKey,
    progress: Mutex<ReviewProgress>,
    /// The time of the last request for the progress.
    asked: Mutex<Instant>,
    /// Whether the review is running or scheduled.
    runs: Mutex<bool>,
}

impl ReviewJob {
    fn is_watched(&self) -> bool {
        locked(&self.asked).elapsed() < UNWATCHED
    }
}

/// The most recent reviews, of which one is computed at a time.
#[derive(Debug)]
pub(crate) struct Reviews {
    jobs: Mutex<(u64, VecDeque<Arc<ReviewJob>>)>,
    slots: SearchSlots,
}

impl Reviews {
    pub(crate) fn new() -> Reviews {
        // A page that waits for a review of an earlier server must not receive another one with the same number.
        let first = getrandom::u32().unwrap_or_default().into();
        Reviews { jobs: Mutex::new((first, VecDeque::new())), slots: SearchSlots::new(1, 2 * KEPT) }
    }

    /// Starts the review of a round with this number of decisions, unless the review exists. Returns the number of the review.
    pub(crate) fn begin(&self, record: Record, round: usize, decisions: usize) -> Result<u64, ApiError> {
        let of = (blake3::hash(record.to_json().as_bytes()), round);
        let job = {
            let (last, jobs) = &mut *locked(&self.jobs);
            if let Some(job) = jobs.iter().find(|job| job.of == of) {
                Arc::clone(job)
            } else {
                *last += 1;
                let progress = Mutex::new(ReviewProgress::new(decisions, ReviewRequest::PLAYOUTS));
                let (asked, runs) = (Mutex::new(Instant::now()), Mutex::new(false));
                let job = Arc::new(ReviewJob { number: *last, of, progress, asked, runs });
                jobs.truncate(KEPT - 1);
                jobs.push_front(Arc::clone(&job));
                job
            }
        };
        *locked(&job.asked) = Instant::now();
        let number = job.number;
        if !locked(&job.progress).over && !*locked(&job.runs) {
            let place = self.slots.enter()?;
            if !std::mem::replace(&mut *locked(&job.runs), true) {
                tokio::spawn(work(place, job, Arc::new(record)));
            }
        }
        Ok(number)
    }

    /// The progress of a review; `None` if no review has this number.
    pub(crate) fn progress(&self, number: u64) -> Option<ReviewProgress> {
        let job = locked(&self.jobs).1.iter().find(|job| job.number == number).map(Arc::clone)?;
        *locked(&job.asked) = Instant::now();
        let progress = locked(&job.progress).clone();
        Some(progress)
    }
}

/// Computes a review when the worker is free, as long as a page requests its progress.
async fn work(place: SearchPlace, job: Arc<ReviewJob>, record: Arc<Record>) {
    let _turn = place.turn().await;
    loop {
        let (own, record) = (Arc::clone(&job), Arc::clone(&record));
        let done = tokio::task::spawn_blocking(move || {
            let mut tell = |progress: &ReviewProgress| {
                locked(&own.progress).clone_from(progress);
                own.is_watched()
            };
            if own.is_watched() { review(&record, own.of.1, ReviewRequest::PLAYOUTS, &mut tell) } else { None }
        });
        match done.await {
            Ok(Some(progress)) => *locked(&job.progress) = progress,
            Ok(None) => {}
            Err(_) => {
                let progress = &mut *locked(&job.progress);
                progress.trouble = Some("the analysis panicked; this is a bug in cambio".to_owned());
                progress.over = true;
            }
        }
        *locked(&job.runs) = false;
        // A page may have requested the progress since the review stopped.
        let is_due = !locked(&job.progress).over && job.is_watched();
        if !is_due || std::mem::replace(&mut *locked(&job.runs), true) {
            return;
        }
    }
}
