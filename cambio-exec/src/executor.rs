//! Runs numbered work items in parallel and commits their results in order.
//!
//! Every command that plays matches uses an [`Executor`]. It guarantees, with any number of threads:
//!
//! - Results are committed in the order of their numbers, one at a time, on the caller's thread.
//! - No thread of the pool waits for a commit: it starts its next work item.
//! - Memory is bounded: work runs only a few numbers ahead of the last commit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

/// The maximum number of threads that [`Executor::new`] starts.
pub const MOST_THREADS: usize = 1024;

/// The interval between two calls of `look` in [`Executor::run_watched`].
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long an idle caller on a thread of the pool waits before it polls the pool for work again.
const IDLE: Duration = Duration::from_millis(1);

/// A switch that stops work. Clones share the same switch.
///
/// ```
/// use cambio_exec::CancelToken;
///
/// let token = CancelToken::new();
/// let other = token.clone();
/// assert!(other.cancel(), "the first to cancel");
/// assert!(token.is_cancelled() && !token.cancel());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels permanently. Returns whether this call was the first.
    pub fn cancel(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether the token has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The error if the threads of an [`Executor`] cannot be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {what}")]
pub struct ThreadsError {
    /// The requested number; 0 stands for the number of cores.
    pub threads: usize,
    /// The error of the operating system.
    pub what: String,
}

/// The reason why an [`Executor`] stopped before it had committed all results.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExecutorError<E> {
    /// The token of the executor was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// `commit` or `look` returned an error.
    #[error(transparent)]
    Failed(E),
}

impl<E> ExecutorError<E> {
    /// The error of `commit` or `look`, or `cancelled` if the token was cancelled.
    pub fn or(self, cancelled: E) -> E {
        match self {
            ExecutorError::Cancelled => cancelled,
            ExecutorError::Failed(error) => error,
        }
    }
}

/// Runs work items in parallel on a thread pool, and commits their results in order.
///
/// An executor is cheap to clone; clones share the pool and the token.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
/// use cambio_exec::Executor;
///
/// let executor = Executor::new(2)?;
/// let mut squares = Vec::new();
/// executor.run_ordered(
///     0..100,
///     |number| number * number,
///     |_, square| {
///         squares.push(square);
///         Ok::<(), Infallible>(())
///     },
/// )?;
/// assert!(squares.is_sorted() && squares.len() == 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A server can keep a token that stops the work of one request. Cancelling one executor does not affect other executors on
/// the same pool:
///
/// ```
/// use cambio_exec::{CancelToken, Executor, ExecutorError};
///
/// let server = Executor::new(2)?;
/// let request = CancelToken::new();
/// let executor = server.clone().with_cancel(request.clone());
///
/// let mut handled = 0;
/// let outcome = executor.run_ordered(0..1_000_000, |number| number, |number, _| {
///     handled += 1;
///     if number == 9 {
///         // In a server, another thread does this when the client disconnects.
///         request.cancel();
///     }
///     Ok::<(), std::convert::Infallible>(())
/// });
/// assert_eq!(outcome, Err(ExecutorError::Cancelled));
/// assert!(10 <= handled && handled < 1_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Executor {
    pool: Arc<ThreadPool>,
    cancel: CancelToken,
}

impl Executor {
    /// An executor with its own pool of `threads` threads, at most [`MOST_THREADS`]; 0 means one thread per core.
    ///
    /// # Errors
    /// If the operating system cannot start the threads.
    pub fn new(threads: usize) -> Result<Executor, ThreadsError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads.min(MOST_THREADS)).build();
        let pool = pool.map_err(|error| ThreadsError { threads, what: error.to_string() })?;
        Ok(Executor::on(Arc::new(pool)))
    }

    /// An executor on an existing pool. A run may occupy all threads of the pool until it ends.
    fn on(pool: Arc<ThreadPool>) -> Executor {
        Executor { pool, cancel: CancelToken::new() }
    }

    /// An executor on the same pool with another token.
    #[must_use]
    pub fn with_cancel(self, cancel: CancelToken) -> Executor {
        Executor { cancel, ..self }
    }

    /// The token that stops all current and later work of this executor.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// The number of threads in the pool.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs a function on a thread of the pool. If the pool has one thread, all work of this executor that the function starts
    /// is done on the same thread, so that [`thread_cpu_time`] measures it.
    ///
    /// ```
    /// use cambio_exec::Executor;
    ///
    /// let executor = Executor::new(1)?;
    /// let here = || std::thread::current().id();
    /// executor.install(|| {
    ///     let caller = here();
    ///     executor.run_ordered(0..9, |_| here(), |_, thread| Ok::<(), ()>(assert_eq!(thread, caller)))
    /// }).unwrap();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Calls `work` with each number of the range and commits the results in order. `work` runs on many threads at
    /// once, `commit` on the caller's thread.
    ///
    /// # Errors
    /// The first error of `commit`, after which nothing more is committed; or [`ExecutorError::Cancelled`].
    ///
    /// # Panics
    /// If `work` or `commit` panics: the panic is resumed after all tasks have stopped.
    ///
    /// # Determinism
    /// The committed results and their order do not depend on the number of threads.
    pub fn run_ordered<T: Send, E>(
        &self,
        range: Range<u64>,
        work: impl Fn(u64) -> T + Sync,
        mut commit: impl FnMut(u64, T) -> Result<(), E>,
    ) -> Result<(), ExecutorError<E>> {
        let work = |number, _: &Worker<'_>| Some(work(number));
        self.run_watched(range, &mut (), work, |(), number, result| commit(number, result), |(), _| Ok(()))
    }

    /// Like [`Executor::run_ordered`], but reports progress while the work is running.
    ///
    /// `commit` and `look` share `state` and run on the caller's thread. `look` runs at the start, about ten times a second,
    /// and once at the end. The second argument of `look` is the sum of all
    /// [`Worker::count`] calls. `work` should check [`Worker::is_stopped`] regularly, and return `None` if it is true.
    /// After a cancellation, a returned result is still committed if it is the next one.
    ///
    /// If the caller runs on a thread of the pool, this thread also runs work items, and commits and calls `look` between them.
    ///
    /// # Errors
    /// The first error of `commit` or `look`, after which nothing more is committed; or [`ExecutorError::Cancelled`].
    ///
    /// # Panics
    /// If one of the three closures panics: the panic is resumed after all tasks have stopped.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use cambio_exec::Executor;
    ///
    /// let executor = Executor::new(2)?;
    /// assert_eq!(executor.threads(), 2);
    /// let (mut sum, mut counted) = (0, 0);
    /// executor.run_watched(
    ///     0..100,
    ///     &mut sum,
    ///     |number, worker| {
    ///         worker.count(1);
    ///         (!worker.is_stopped()).then_some(number)
    ///     },
    ///     |sum, _, number| {
    ///         *sum += number;
    ///         Ok::<(), Infallible>(())
    ///     },
    ///     |_, units| {
    ///         counted = units;
    ///         Ok(())
    ///     },
    /// )?;
    /// assert_eq!((sum, counted), (4950, 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_watched<S, T: Send, E>(
        &self,
        range: Range<u64>,
        state: &mut S,
        work: impl Fn(u64, &Worker<'_>) -> Option<T> + Sync,
        mut commit: impl FnMut(&mut S, u64, T) -> Result<(), E>,
        mut look: impl FnMut(&mut S, u64) -> Result<(), E>,
    ) -> Result<(), ExecutorError<E>> {
        if range.is_empty() {
            return Ok(());
        }
        // Large enough for work items that take a few times as long as others.
        let window = 4 * self.threads() as u64 + 4;
        let worker = Worker { counter: &AtomicU64::new(0), is_over: &AtomicBool::new(false), cancel: &self.cancel };
        // A task takes the lowest number, because the pool may run the tasks in another order.
        let next = AtomicU64::new(range.start);
        let (sender, finished) = mpsc::channel();
        let (mut spawned, mut received, mut committed) = (range.start, range.start, range.start);
        let ended = self.pool.in_place_scope(|scope| {
            // If `commit` or `look` fails or panics, the tasks must stop too.
            let _end = EndOnDrop(worker.is_over);
            let mut early = BTreeMap::new();
            let mut looked: Option<Instant> = None;
            loop {
                while spawned < range.end.min(committed + window) && !worker.is_stopped() {
                    spawned += 1;
                    scope.spawn(|_| {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let run = || if worker.is_stopped() { None } else { work(number, &worker) };
                        // Sending fails only if the caller has stopped.
                        let _ = sender.send((number, catch_unwind(AssertUnwindSafe(run))));
                    });
                }
                if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
                    look(state, worker.counted())?;
                    looked = Some(Instant::now());
                }
                if received == spawned {
                    return Ok(());
                }
                let wait = match self.pool.yield_now() {
                    Some(Yield::Executed) => Duration::ZERO,
                    Some(Yield::Idle) => IDLE,
                    None => LOOK_EVERY,
                };
                for (number, result) in finished.recv_timeout(wait).into_iter().chain(finished.try_iter()) {
                    received += 1;
                    early.extend(result.unwrap_or_else(|panic| resume_unwind(panic)).map(|result| (number, result)));
                }
                while let Some(result) = early.remove(&committed) {
                    commit(state, committed, result)?;
                    committed += 1;
                }
            }
        });
        ended.and_then(|()| look(state, worker.counted())).map_err(ExecutorError::Failed)?;
        if committed == range.end { Ok(()) } else { Err(ExecutorError::Cancelled) }
    }
}

/// The CPU time that this thread has used; `None` if the system does not measure it. Unlike wall time, it does not pass while
/// other programs use the CPU.
///
/// ```
/// use std::time::Duration;
/// use cambio_exec::thread_cpu_time;
///
/// let before = thread_cpu_time().expect("Unix measures the CPU time");
/// std::thread::sleep(Duration::from_millis(50));
/// assert!(thread_cpu_time().unwrap() - before < Duration::from_millis(50));
/// ```
#[cfg(unix)]
pub fn thread_cpu_time() -> Option<Duration> {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

/// The CPU time that this thread has used; `None`, because only Unix measures it here.
#[cfg(not(unix))]
pub fn thread_cpu_time() -> Option<Duration> {
    None
}

/// The handle that a work item uses to check for cancellation and to report progress.
#[derive(Debug)]
pub struct Worker<'r> {
    counter: &'r AtomicU64,
    /// Set when the run ends.
    is_over: &'r AtomicBool,
    cancel: &'r CancelToken,
}

impl Worker<'_> {
    /// Whether the work item should stop, because its result is no longer needed.
    pub fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Adds to the progress of the run, in units of the caller's choice.
    pub fn count(&self, units: u64) {
        self.counter.fetch_add(units, Ordering::Relaxed);
    }

    fn counted(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }
}

struct EndOnDrop<'r>(&'r AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
