//! Reviews of rounds, computed in the background, once for each round.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use cambio_core::Record;
use cambio_exec::{FileError, read_text, write_private};
use cambio_view::{ReviewProgress, ReviewRequest, review};
use serde_json::{Value, json};

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
    /// The [`ReviewProgress`] as JSON.
    progress: Mutex<Value>,
    /// The time of the last request for the progress.
    asked: Mutex<Instant>,
    /// Whether the review is running or scheduled.
    runs: Mutex<bool>,
}

impl ReviewJob {
    fn is_over(&self) -> bool {
        locked(&self.progress)["over"] == true
    }

    fn is_watched(&self) -> bool {
        locked(&self.asked).elapsed() < UNWATCHED
    }
}

/// The folder in which a server keeps its finished reviews: one file for each of the most recent ones.
#[derive(Debug)]
struct ReviewFolder {
    path: PathBuf,
    warn: fn(&str),
}

impl ReviewFolder {
    /// The file of a review. Another build of the program can come to other results, so it has other files.
    fn file(&self, (record, round): RoundKey) -> PathBuf {
        let key = format!("{} {record} {round}", cambio_sim::BUILD);
        self.path.join(format!("review-{}.json", &blake3::hash(key.as_bytes()).to_hex()[..32]))
    }

    /// A finished review; `None` if the folder does not have it, or if its file is damaged.
    fn read(&self, of: RoundKey) -> Option<Value> {
        let json: Value = serde_json::from_str(&read_text(&self.file(of)).ok()?).ok()?;
        (json["over"] == true && json["decisions"].is_array()).then_some(json)
    }

    /// Writes a finished review, and removes the oldest files if there are too many.
    fn keep(&self, of: RoundKey, progress: &Value) {
        let write = || {
            write_private(&self.file(of), progress.to_string().as_bytes())?;
            let mut files = Vec::new();
            for entry in std::fs::read_dir(&self.path).map_err(FileError::unreadable(&self.path))?.flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                if name.to_string_lossy().starts_with("review-") && path.extension().is_some_and(|end| end == "json") {
                    files.extend(entry.metadata().and_then(|about| about.modified()).map(|time| (time, path)));
                }
            }
            files.sort();
            for (_, old) in &files[..files.len().saturating_sub(KEPT)] {
                std::fs::remove_file(old).map_err(FileError::unwritable(old))?;
            }
            Ok::<(), FileError>(())
        };
        if let Err(error) = write() {
            (self.warn)(&format!("cannot keep an analysis: {error}; the next server repeats it"));
        }
    }
}

/// The most recent reviews, of which one is computed at a time.
#[derive(Debug)]
pub(crate) struct Reviews {
    jobs: Mutex<(u64, VecDeque<Arc<ReviewJob>>)>,
    slots: SearchSlots,
    folder: Arc<OnceLock<ReviewFolder>>,
}

impl Reviews {
    pub(crate) fn new() -> Reviews {
        // A page that waits for a review of an earlier server must not receive another one with the same number.
        let first = getrandom::u32().unwrap_or_default().into();
        let jobs = Mutex::new((first, VecDeque::new()));
        Reviews { jobs, slots: SearchSlots::new(1, 2 * KEPT), folder: Arc::default() }
    }

    /// Keeps finished reviews in a folder, and uses the reviews that earlier servers kept there. `warn` receives each warning.
    pub(crate) fn keep_in(&self, path: PathBuf, warn: fn(&str)) {
        let is_first = self.folder.set(ReviewFolder { path, warn }).is_ok();
        assert!(is_first, "a server has one folder");
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
                let kept = self.folder.get().and_then(|folder| folder.read(of));
                let progress = kept.unwrap_or_else(|| json!(ReviewProgress::new(decisions, ReviewRequest::PLAYOUTS)));
                let progress = Mutex::new(progress);
                let (asked, runs) = (Mutex::new(Instant::now()), Mutex::new(false));
                let job = Arc::new(ReviewJob { number: *last, of, progress, asked, runs });
                jobs.truncate(KEPT - 1);
                jobs.push_front(Arc::clone(&job));
                job
            }
        };
        *locked(&job.asked) = Instant::now();
        let number = job.number;
        if !job.is_over() && !*locked(&job.runs) {
            let place = self.slots.enter()?;
            if !std::mem::replace(&mut *locked(&job.runs), true) {
                tokio::spawn(work(place, job, Arc::new(record), Arc::clone(&self.folder)));
            }
        }
        Ok(number)
    }

    /// The progress of a review; `None` if no review has this number.
    pub(crate) fn progress(&self, number: u64) -> Option<Value> {
        let job = locked(&self.jobs).1.iter().find(|job| job.number == number).map(Arc::clone)?;
        *locked(&job.asked) = Instant::now();
        let progress = locked(&job.progress).clone();
        Some(progress)
    }
}

/// Computes a review when the worker is free, as long as a page requests its progress.
async fn work(place: SearchPlace, job: Arc<ReviewJob>, record: Arc<Record>, folder: Arc<OnceLock<ReviewFolder>>) {
    let _turn = place.turn().await;
    loop {
        let (own, record, folder) = (Arc::clone(&job), Arc::clone(&record), Arc::clone(&folder));
        let done = tokio::task::spawn_blocking(move || {
            let mut tell = |progress: &ReviewProgress| {
                *locked(&own.progress) = json!(progress);
                own.is_watched()
            };
            if !own.is_watched() {
                return;
            }
            if let Some(found) = review(&record, own.of.1, ReviewRequest::PLAYOUTS, &mut tell) {
                // A page that sees the end of the review also finds its file.
                let whole = json!(found);
                if let (None, Some(folder)) = (&found.trouble, folder.get()) {
                    folder.keep(own.of, &whole);
                }
                *locked(&own.progress) = whole;
            }
        });
        if done.await.is_err() {
            let progress = &mut *locked(&job.progress);
            progress["trouble"] = "the analysis panicked; this is a bug in cambio".into();
            progress["over"] = true.into();
        }
        *locked(&job.runs) = false;
        // A page may have requested the progress since the review stopped.
        let is_due = !job.is_over() && job.is_watched();
        if !is_due || std::mem::replace(&mut *locked(&job.runs), true) {
            return;
        }
    }
}
