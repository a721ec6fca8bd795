//! Runs numbered work items in parallel and commits their results in order.
//!
//! Every command that plays matches uses an [`Executor`]. It guarantees, with any number of threads:
//!
//! - Results are committed in the order of their numbers, one at a time.
//! - No thread waits for a commit. The thread that finishes the next result commits it, followed by the later results
//!   that are already finished. The other threads start their next work item.
//! - Memory is bounded: work runs only a few numbers ahead of the last commit.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder, Yield};

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
/// A server can share its own pool and keep a token that stops the work of one request. Cancelling one executor does
/// not affect other executors on the same pool:
///
/// ```
/// use std::sync::Arc;
/// use cambio_exec::{CancelToken, Executor, ExecutorError};
///
/// let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
/// let request = CancelToken::new();
/// let executor = Executor::on(pool).with_cancel(request.clone());
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
    pub fn on(pool: Arc<ThreadPool>) -> Executor {
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
    /// once, `commit` on one thread at a time.
    ///
    /// # Errors
    /// The first error of `commit`, after which nothing more is committed; or [`ExecutorError::Cancelled`].
    ///
    /// # Panics
    /// If `work` or `commit` panics: the panic is resumed after all tasks have stopped.
    ///
    /// # Determinism
    /// The committed results and their order do not depend on the number of threads.
    pub fn run_ordered<T: Send, E: Send>(
        &self,
        range: Range<u64>,
        work: impl Fn(u64) -> T + Sync,
        mut commit: impl FnMut(u64, T) -> Result<(), E> + Send,
    ) -> Result<(), ExecutorError<E>> {
        let work = |number, _: &Worker<'_>| Some(work(number));
        self.run_watched(range, &mut commit, work, |commit, number, result| commit(number, result), |_, _| Ok(()))
    }

    /// Like [`Executor::run_ordered`], but reports progress while the work is running.
    ///
    /// `commit` and `look` share `state` and never run at the same time. `look` runs on the caller's thread: at the
    /// start, about ten times a second, and once at the end. The second argument of `look` is the sum of all
    /// [`Worker::count`] calls. `work` should check [`Worker::is_stopped`] regularly, and return `None` if it is true.
    /// After a cancellation, a returned result is still committed if it is the next one.
    ///
    /// If the caller runs on a thread of the pool, this thread also runs work items and calls `look` between them.
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
    pub fn run_watched<S: Send, T: Send, E: Send>(
        &self,
        range: Range<u64>,
        state: &mut S,
        work: impl Fn(u64, &Worker<'_>) -> Option<T> + Sync,
        commit: impl Fn(&mut S, u64, T) -> Result<(), E> + Sync,
        mut look: impl FnMut(&mut S, u64) -> Result<(), E>,
    ) -> Result<(), ExecutorError<E>> {
        if range.is_empty() {
            return Ok(());
        }
        let run = Ordered::new(self, range, &mut *state, work, commit);
        self.pool.in_place_scope(|scope| {
            run.add_tasks(&mut run.queue(), scope);
            run.watch(&self.pool, &mut look);
        });
        let (end, done) = run.finish();
        match end {
            RunEnd::Panicked(panic) => resume_unwind(panic),
            RunEnd::Failed(error) => Err(ExecutorError::Failed(error)),
            RunEnd::Done => look(state, done).map_err(ExecutorError::Failed),
            RunEnd::Cancelled => look(state, done).map_err(ExecutorError::Failed).and(Err(ExecutorError::Cancelled)),
        }
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
    counter: &'r Counter,
    is_over: &'r AtomicBool,
    cancel: &'r CancelToken,
}

impl Worker<'_> {
    /// Whether the work item should stop, because its result is no longer needed.
    pub fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Adds to the progress of the run, in units of the caller's choice. Frequent calls are cheap, because each thread
    /// has its own counter.
    pub fn count(&self, units: u64) {
        self.counter.0.fetch_add(units, Ordering::Relaxed);
    }
}

/// A counter padded to its own cache lines, to avoid false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

enum RunEnd<E> {
    Done,
    Cancelled,
    Failed(E),
    Panicked(Box<dyn Any + Send>),
}

/// The progress of a run: started numbers, finished results, and active tasks.
struct TaskQueue<T, E> {
    /// The first number that has not been started.
    begun: u64,
    /// The first number that is not committed.
    committed: u64,
    /// Whether a thread is committing results. Before this thread stops committing, it checks for further results.
    is_committing: bool,
    /// Finished results that can be committed only after earlier results.
    early: BTreeMap<u64, T>,
    /// The number of active tasks in the pool.
    tasks: usize,
    end: Option<RunEnd<E>>,
}

/// One call of [`Executor::run_watched`].
///
/// No task waits for another task, so the pool can be shared and used by work items: a task ends when it is too far
/// ahead of the last commit, and the committing thread starts new tasks.
struct Ordered<'r, S, T, E, W, C> {
    queue: Mutex<TaskQueue<T, E>>,
    /// Lock order: a thread must not lock the queue while it has locked the state.
    state: Mutex<&'r mut S>,
    /// Signalled when the run ends.
    ended: Condvar,
    /// Set when the run ends.
    is_over: AtomicBool,
    cancel: &'r CancelToken,
    /// The exclusive end of the range.
    last: u64,
    /// The maximum number of tasks.
    most_tasks: usize,
    /// Work starts only on numbers below `committed + window`.
    window: u64,
    counters: Box<[Counter]>,
    work: W,
    commit: C,
}

impl<'r, S, T, E, W, C> Ordered<'r, S, T, E, W, C>
where
    S: Send,
    T: Send,
    E: Send,
    W: Fn(u64, &Worker<'_>) -> Option<T> + Sync,
    C: Fn(&mut S, u64, T) -> Result<(), E> + Sync,
{
    fn new(executor: &'r Executor, range: Range<u64>, state: &'r mut S, work: W, commit: C) -> Self {
        let threads = executor.threads();
        let most_tasks = usize::try_from(range.end - range.start).map_or(threads, |length| length.min(threads));
        let queue = TaskQueue {
            begun: range.start,
            committed: range.start,
            is_committing: false,
            early: BTreeMap::new(),
            tasks: 0,
            end: None,
        };
        Ordered {
            queue: Mutex::new(queue),
            state: Mutex::new(state),
            ended: Condvar::new(),
            is_over: AtomicBool::new(false),
            cancel: &executor.cancel,
            last: range.end,
            most_tasks,
            // Large enough for work items that take a few times as long as others.
            window: 4 * most_tasks as u64 + 4,
            counters: (0..threads).map(|_| Counter::default()).collect(),
            work,
            commit,
        }
    }

    fn queue(&self) -> MutexGuard<'_, TaskQueue<T, E>> {
        self.queue.lock().expect("nothing panics while the queue is locked")
    }

    /// Ends the run with this outcome, unless the run has already ended.
    fn end(&self, queue: &mut TaskQueue<T, E>, end: RunEnd<E>) {
        queue.end.get_or_insert(end);
        self.is_over.store(true, Ordering::Relaxed);
        self.ended.notify_all();
    }

    /// Starts tasks for the numbers in the window, up to the maximum number of tasks.
    fn add_tasks<'s>(&'s self, queue: &mut TaskQueue<T, E>, scope: &Scope<'s>) {
        let end = self.last.min(queue.committed + self.window);
        for _ in queue.begun..end {
            if queue.tasks == self.most_tasks {
                break;
            }
            queue.tasks += 1;
            scope.spawn(move |scope| self.task(scope));
        }
    }

    /// Runs one work item after another until no further item can be started.
    fn task<'s>(&'s self, scope: &Scope<'s>) {
        let counter = rayon::current_thread_index().unwrap_or(0) % self.counters.len();
        let worker = Worker { counter: &self.counters[counter], is_over: &self.is_over, cancel: self.cancel };
        let result = catch_unwind(AssertUnwindSafe(|| {
            while let Some(number) = self.begin(&worker) {
                let Some(result) = (self.work)(number, &worker) else {
                    return self.leave(&mut self.queue());
                };
                self.hand_in(number, result, scope);
            }
        }));
        if let Err(panic) = result {
            let mut queue = self.queue();
            self.end(&mut queue, RunEnd::Panicked(panic));
            self.leave(&mut queue);
        }
    }

    /// Takes the next number, if it is in the window. Otherwise removes the task from the count of active tasks.
    fn begin(&self, worker: &Worker<'_>) -> Option<u64> {
        let mut queue = self.queue();
        let number = queue.begun;
        if number == self.last || number >= queue.committed + self.window || worker.is_stopped() {
            self.leave(&mut queue);
            return None;
        }
        queue.begun += 1;
        Some(number)
    }

    /// Removes a task from the count of active tasks. When the last task leaves, the run ends.
    fn leave(&self, queue: &mut TaskQueue<T, E>) {
        queue.tasks -= 1;
        if queue.tasks == 0 {
            self.end(queue, RunEnd::Cancelled);
        }
    }

    /// Stores a result. If it is the next result and no thread is committing, commits it together with the finished
    /// results that follow it.
    fn hand_in<'s>(&'s self, number: u64, result: T, scope: &Scope<'s>) {
        let mut queue = self.queue();
        queue.early.insert(number, result);
        if queue.is_committing {
            return;
        }
        while !self.is_over.load(Ordering::Relaxed) {
            let next = queue.committed;
            let Some(result) = queue.early.remove(&next) else { break };
            queue.is_committing = true;
            drop(queue);
            let committed = {
                let mut state = self.state.lock().expect("a panic while the state is locked ends the run");
                (self.commit)(&mut state, next, result)
            };
            queue = self.queue();
            queue.is_committing = false;
            if let Err(error) = committed {
                return self.end(&mut queue, RunEnd::Failed(error));
            }
            queue.committed += 1;
            self.add_tasks(&mut queue, scope);
        }
        if queue.committed == self.last {
            self.end(&mut queue, RunEnd::Done);
        }
    }

    /// Calls `look` regularly until the run ends.
    fn watch(&self, pool: &ThreadPool, look: &mut impl FnMut(&mut S, u64) -> Result<(), E>) {
        // If `look` fails or panics, the tasks must stop too.
        let _end = EndOnDrop(&self.is_over);
        let mut looked: Option<Instant> = None;
        loop {
            if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
                // If the mutex is poisoned, a panic has already ended the run.
                let Ok(mut state) = self.state.lock() else { return };
                let seen = look(&mut state, self.counted());
                drop(state);
                looked = Some(Instant::now());
                if let Err(error) = seen {
                    return self.end(&mut self.queue(), RunEnd::Failed(error));
                }
            }
            let wait = match pool.yield_now() {
                Some(Yield::Executed) => Duration::ZERO,
                Some(Yield::Idle) => IDLE,
                None => LOOK_EVERY,
            };
            let queue = self.queue();
            if queue.end.is_some() {
                return;
            }
            if !wait.is_zero() {
                drop(self.ended.wait_timeout(queue, wait).expect("nothing panics while the queue is locked"));
            }
        }
    }

    fn counted(&self) -> u64 {
        self.counters.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }

    /// Returns how the run ended, and the sum of the counters. Must be called after all tasks have ended.
    fn finish(self) -> (RunEnd<E>, u64) {
        let counted = self.counted();
        let queue = self.queue.into_inner().expect("nothing panics while the queue is locked");
        (queue.end.unwrap_or(RunEnd::Cancelled), counted)
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
