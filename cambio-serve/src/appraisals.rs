//! The appraisals of rounds, worked out in the background, once a round.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cambio_core::Record;
use cambio_view::{Progress, Refusal, appraise};
use tokio::sync::Semaphore;

use crate::rooms::locked;

/// The number of playouts for each chance.
const PLAYOUTS: u32 = 200;
/// The most rounds whose appraisals are kept.
const KEPT: usize = 64;
/// After how long an appraisal that no page asks about stops.
const UNWATCHED: Duration = Duration::from_secs(20);

/// Which round of which record.
type RoundOf = (blake3::Hash, usize);

/// The appraisal of a round.
#[derive(Debug)]
pub(crate) struct Job {
    number: u64,
    of: RoundOf,
    progress: Mutex<Progress>,
    /// When a page asked last.
    asked: Mutex<Instant>,
    /// Whether a worker has it or is going to take it.
    runs: Mutex<bool>,
}

impl Job {
    fn is_watched(&self) -> bool {
        locked(&self.asked).elapsed() < UNWATCHED
    }
}

/// The appraisals of the rounds that were asked for last. One is worked out at a time.
#[derive(Debug)]
pub(crate) struct Appraisals {
    jobs: Mutex<(u64, VecDeque<Arc<Job>>)>,
    worker: Arc<Semaphore>,
}

impl Appraisals {
    pub(crate) fn new() -> Appraisals {
        Appraisals { jobs: Mutex::default(), worker: Arc::new(Semaphore::new(1)) }
    }

    /// Begins the appraisal of a round, counted from 1, unless it is there already. Returns its number. Fails if the
    /// record has no such round.
    pub(crate) fn begin(&self, record: Record, round: usize) -> Result<u64, Refusal> {
        let Some(decisions) = record.rounds.get(round.wrapping_sub(1)).map(|round| round.decisions.len()) else {
            return Err(Refusal(format!("the match has no round {round}")));
        };
        let of = (blake3::hash(record.to_json().as_bytes()), round);
        let job = {
            let (last, jobs) = &mut *locked(&self.jobs);
            if let Some(job) = jobs.iter().find(|job| job.of == of) {
                Arc::clone(job)
            } else {
                *last += 1;
                let progress = Mutex::new(Progress::new(decisions, PLAYOUTS));
                let (asked, runs) = (Mutex::new(Instant::now()), Mutex::new(false));
                let job = Arc::new(Job { number: *last, of, progress, asked, runs });
                jobs.truncate(KEPT - 1);
                jobs.push_front(Arc::clone(&job));
                job
            }
        };
        *locked(&job.asked) = Instant::now();
        let number = job.number;
        let is_due = !locked(&job.progress).over && !std::mem::replace(&mut *locked(&job.runs), true);
        if is_due {
            tokio::spawn(work(Arc::clone(&self.worker), job, Arc::new(record)));
        }
        Ok(number)
    }

    /// How far an appraisal is; `None` if there is none of this number.
    pub(crate) fn progress(&self, number: u64) -> Option<Progress> {
        let job = locked(&self.jobs).1.iter().find(|job| job.number == number).map(Arc::clone)?;
        *locked(&job.asked) = Instant::now();
        let progress = locked(&job.progress).clone();
        Some(progress)
    }
}

/// Works an appraisal out when its turn comes, as long as a page asks about it.
async fn work(worker: Arc<Semaphore>, job: Arc<Job>, record: Arc<Record>) {
    let Ok(_turn) = worker.acquire().await else { return };
    loop {
        let (own, record) = (Arc::clone(&job), Arc::clone(&record));
        let done = tokio::task::spawn_blocking(move || {
            let mut tell = |progress: &Progress| {
                locked(&own.progress).clone_from(progress);
                own.is_watched()
            };
            if own.is_watched() { appraise(&record, own.of.1, PLAYOUTS, &mut tell) } else { None }
        });
        match done.await {
            Ok(Some(progress)) => *locked(&job.progress) = progress,
            Ok(None) => {}
            Err(_) => {
                let progress = &mut *locked(&job.progress);
                progress.trouble = Some("the appraisal panicked; this is a bug in cambio".to_owned());
                progress.over = true;
            }
        }
        *locked(&job.runs) = false;
        // A page may have come back meanwhile.
        let is_due = !locked(&job.progress).over && job.is_watched();
        if !is_due || std::mem::replace(&mut *locked(&job.runs), true) {
            return;
        }
    }
}
