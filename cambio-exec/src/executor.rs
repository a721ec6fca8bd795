//! Does many pieces of work at once and commits their results in order.
//!
//! Every command that plays goes through an [`Executor`]. It keeps three promises, whatever the number of threads:
//!
//! - Results are committed in the order of their numbers, one at a time.
//! - No thread waits for the one that commits. The thread that has the next result commits it, and then the later results
//!   that have arrived. All others go on with their next piece of work.
//! - Memory stays small: work runs only a few numbers ahead of what is committed.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder, Yield};

/// The most threads that [`Executor::new`] starts.
pub const MOST_THREADS: usize = 1024;

/// How often the caller of [`Executor::run_watched`] looks after the work.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long a caller that belongs to the pool waits before it looks for work again.
const IDLE: Duration = Duration::from_millis(1);

/// A switch that stops work. Clones are the same switch.
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
    /// A token that nobody has cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels for good. Returns whether this call was the first.
    pub fn cancel(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The threads of an [`Executor`] cannot be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {what}")]
pub struct ThreadsError {
    /// How many were asked for; 0 stands for the number of cores.
    pub threads: usize,
    /// What the operating system says.
    pub what: String,
}

/// Why an [`Executor`] stopped before everything was committed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stopped<E> {
    /// Its token was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A commit, or a look after the work, failed.
    #[error(transparent)]
    Failed(E),
}

/// Carries out many pieces of work at once on a pool of threads, and takes their results in order.
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
/// A server lends its own pool and keeps a token to stop the work of one request. Cancelling one executor leaves
/// the others on the same pool alone:
///
/// ```
/// use std::sync::Arc;
/// use cambio_exec::{CancelToken, Executor, Stopped};
///
/// let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
/// let request = CancelToken::new();
/// let executor = Executor::on(pool).with_cancel(request.clone());
///
/// let mut handled = 0;
/// let outcome = executor.run_ordered(0..1_000_000, |number| number, |number, _| {
///     handled += 1;
///     if number == 9 {
///         // As from another thread, when the client hangs up.
///         request.cancel();
///     }
///     Ok::<(), std::convert::Infallible>(())
/// });
/// assert_eq!(outcome, Err(Stopped::Cancelled));
/// assert!(10 <= handled && handled < 1_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Executor {
    pool: Arc<ThreadPool>,
    cancel: CancelToken,
}

impl Executor {
    /// An executor with a pool of its own: so many threads, at most [`MOST_THREADS`]; 0 takes as many as there are cores.
    ///
    /// # Errors
    /// If the operating system does not give so many threads.
    pub fn new(threads: usize) -> Result<Executor, ThreadsError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads.min(MOST_THREADS)).build();
        let pool = pool.map_err(|error| ThreadsError { threads, what: error.to_string() })?;
        Ok(Executor::on(Arc::new(pool)))
    }

    /// An executor on a pool that the caller shares with it. Its work may keep every thread of the pool busy until it
    /// is done.
    pub fn on(pool: Arc<ThreadPool>) -> Executor {
        Executor { pool, cancel: CancelToken::new() }
    }

    /// The same pool with another token.
    #[must_use]
    pub fn with_cancel(self, cancel: CancelToken) -> Executor {
        Executor { cancel, ..self }
    }

    /// The token that stops what this executor does, now and later.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// How many threads its pool has.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Does the work of each number and commits the results in order. `work` runs on many threads at once, `commit` on one
    /// at a time.
    ///
    /// # Errors
    /// The first error of `commit`, after which nothing more is committed; or that the token was cancelled.
    ///
    /// # Panics
    /// If `work` or `commit` panics: with that panic, once the threads have stopped.
    ///
    /// # Determinism
    /// What is committed, and in which order, does not depend on the number of threads.
    pub fn run_ordered<T: Send, E: Send>(
        &self,
        range: Range<u64>,
        work: impl Fn(u64) -> T + Sync,
        mut commit: impl FnMut(u64, T) -> Result<(), E> + Send,
    ) -> Result<(), Stopped<E>> {
        let work = |number, _: &Worker<'_>| Some(work(number));
        self.run_watched(range, &mut commit, work, |commit, number, result| commit(number, result), |_, _| Ok(()))
    }

    /// As [`Executor::run_ordered`], for long work that is watched while it goes on.
    ///
    /// `state` belongs to `commit` and `look`, which never run at the same time. `look` runs on the caller's thread: at the
    /// beginning, about ten times a second, and once at the end. It gets the sum of what the workers said with
    /// [`Worker::count`]. `work` asks [`Worker::is_stopped`] now and then, and gives up with `None`; a result that was
    /// finished is still committed if it is the next.
    ///
    /// A caller on a thread of the pool itself works as well, and looks only when it has nothing else to do.
    ///
    /// # Errors
    /// The first error of `commit` or `look`, after which nothing more is committed; or that the work was given up.
    ///
    /// # Panics
    /// If one of the three panics: with that panic, once the threads have stopped.
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
    ) -> Result<(), Stopped<E>> {
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
            End::Panicked(panic) => resume_unwind(panic),
            End::Failed(error) => Err(Stopped::Failed(error)),
            End::Done => look(state, done).map_err(Stopped::Failed),
            End::Cancelled => look(state, done).map_err(Stopped::Failed).and(Err(Stopped::Cancelled)),
        }
    }
}

/// The thread that does a piece of work, as the work sees it.
#[derive(Debug)]
pub struct Worker<'r> {
    counter: &'r Counter,
    is_over: &'r AtomicBool,
    cancel: &'r CancelToken,
}

impl Worker<'_> {
    /// Whether the result is no longer wanted.
    pub fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Adds to the progress that is shown, in units of the caller's choice. Each thread has a counter of its own: to count
    /// often does not slow the others down.
    pub fn count(&self, units: u64) {
        self.counter.0.fetch_add(units, Ordering::Relaxed);
    }
}

/// Alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

enum End<E> {
    Done,
    Cancelled,
    Failed(E),
    Panicked(Box<dyn Any + Send>),
}

/// What has been begun, what waits, and who works.
struct Queue<T, E> {
    /// The first number that nobody has begun.
    begun: u64,
    /// The first number that is not committed.
    committed: u64,
    /// Whether a thread commits. It looks for more before it stops.
    is_committing: bool,
    /// Results that wait for those before them.
    early: BTreeMap<u64, T>,
    /// How many tasks there are in the pool.
    tasks: usize,
    end: Option<End<E>>,
}

/// One call of [`Executor::run_watched`].
///
/// No task waits for another, so the pool may be shared, and work may use the pool itself: a task that has run far enough
/// ahead ends, and whoever commits starts new ones.
struct Ordered<'r, S, T, E, W, C> {
    queue: Mutex<Queue<T, E>>,
    /// Lock order: nobody who has the state locked waits for the queue.
    state: Mutex<&'r mut S>,
    /// Signalled when there is an end.
    ended: Condvar,
    /// Set when there is an end.
    is_over: AtomicBool,
    cancel: &'r CancelToken,
    /// The number behind the last.
    last: u64,
    /// How many tasks there may be.
    most_tasks: usize,
    /// How far work may run ahead of what is committed.
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
        let queue = Queue {
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
            // Enough for pieces of work that take a few times as long as others.
            window: 4 * most_tasks as u64 + 4,
            counters: (0..threads).map(|_| Counter::default()).collect(),
            work,
            commit,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T, E>> {
        self.queue.lock().expect("nothing panics while the queue is locked")
    }

    fn is_stopped(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Ends the run. The first end counts.
    fn end(&self, queue: &mut Queue<T, E>, end: End<E>) {
        queue.end.get_or_insert(end);
        self.is_over.store(true, Ordering::Relaxed);
        self.ended.notify_all();
    }

    /// Starts tasks for what may be begun, as many as there may be.
    fn add_tasks<'s>(&'s self, queue: &mut Queue<T, E>, scope: &Scope<'s>) {
        let end = self.last.min(queue.committed + self.window);
        for _ in queue.begun..end {
            if queue.tasks == self.most_tasks {
                break;
            }
            queue.tasks += 1;
            scope.spawn(move |scope| self.task(scope));
        }
    }

    /// Works on one number after the other until there is none to begin.
    fn task<'s>(&'s self, scope: &Scope<'s>) {
        let counter = rayon::current_thread_index().unwrap_or(0) % self.counters.len();
        let worker = Worker { counter: &self.counters[counter], is_over: &self.is_over, cancel: self.cancel };
        let result = catch_unwind(AssertUnwindSafe(|| {
            while let Some(number) = self.begin() {
                let Some(result) = (self.work)(number, &worker) else {
                    return self.leave(&mut self.queue());
                };
                self.hand_in(number, result, scope);
            }
        }));
        if let Err(panic) = result {
            let mut queue = self.queue();
            self.end(&mut queue, End::Panicked(panic));
            self.leave(&mut queue);
        }
    }

    /// The next number to work on, not too far ahead of what is committed. Where there is none, the task has left.
    fn begin(&self) -> Option<u64> {
        let mut queue = self.queue();
        let number = queue.begun;
        if number == self.last || number >= queue.committed + self.window || self.is_stopped() {
            self.leave(&mut queue);
            return None;
        }
        queue.begun += 1;
        Some(number)
    }

    /// A task ends. The last one to do so ends the run.
    fn leave(&self, queue: &mut Queue<T, E>) {
        queue.tasks -= 1;
        if queue.tasks == 0 {
            self.end(queue, End::Cancelled);
        }
    }

    /// Takes a result. If it is the next, and nobody commits, commits it and those behind it that are there.
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
                let mut state = self.state.lock().expect("who panics with the state ends the run");
                (self.commit)(&mut state, next, result)
            };
            queue = self.queue();
            queue.is_committing = false;
            if let Err(error) = committed {
                return self.end(&mut queue, End::Failed(error));
            }
            queue.committed += 1;
            self.add_tasks(&mut queue, scope);
        }
        if queue.committed == self.last {
            self.end(&mut queue, End::Done);
        }
    }

    /// Looks after the run until it has an end.
    fn watch(&self, pool: &ThreadPool, look: &mut impl FnMut(&mut S, u64) -> Result<(), E>) {
        // Whatever happens here, also a panic, the tasks end.
        let _end = EndOnDrop(&self.is_over);
        let mut looked: Option<Instant> = None;
        loop {
            if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
                // Somebody panicked with the state: the run has an end.
                let Ok(mut state) = self.state.lock() else { return };
                let seen = look(&mut state, self.counted());
                drop(state);
                looked = Some(Instant::now());
                if let Err(error) = seen {
                    return self.end(&mut self.queue(), End::Failed(error));
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

    /// How the run ended and what was counted, once all tasks are over.
    fn finish(self) -> (End<E>, u64) {
        let counted = self.counted();
        let queue = self.queue.into_inner().expect("nothing panics while the queue is locked");
        (queue.end.unwrap_or(End::Cancelled), counted)
    }
}

struct EndOnDrop<'r>(&'r AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

    use super::*;

    /// Takes longer for some numbers than for others, so that results come out of order.
    fn uneven(number: u64) -> u64 {
        if number.is_multiple_of(7) {
            std::thread::sleep(Duration::from_micros(300));
        }
        number * 3
    }

    fn committed(executor: &Executor, range: Range<u64>) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        let commit = |number, result| {
            all.push((number, result));
            Ok::<(), Infallible>(())
        };
        executor.run_ordered(range, uneven, commit).unwrap();
        all
    }

    #[test]
    fn results_are_committed_once_each_and_in_order() {
        let expected: Vec<(u64, u64)> = (5..505).map(|number| (number, number * 3)).collect();
        for threads in [1, 2, 8] {
            let executor = Executor::new(threads).unwrap();
            assert_eq!(executor.threads(), threads);
            assert_eq!(committed(&executor, 5..505), expected, "{threads} threads");
            assert_eq!(committed(&executor, 7..7), []);
            assert_eq!(committed(&executor, 7..8), [(7, 21)]);
        }
    }

    #[test]
    fn nothing_is_committed_behind_an_error_and_little_is_begun() {
        for threads in [1, 2, 8] {
            let executor = Executor::new(threads).unwrap();
            let begun = AtomicU64::new(0);
            let mut last = 0;
            let work = |number| {
                begun.fetch_add(1, Ordering::Relaxed);
                uneven(number)
            };
            let commit = |number, _| {
                last = number;
                if number == 40 { Err("full") } else { Ok(()) }
            };
            assert_eq!(executor.run_ordered(0..100_000, work, commit), Err(Stopped::Failed("full")));
            assert_eq!(last, 40);
            assert!(begun.into_inner() <= 41 + 4 * threads as u64 + 4);
        }
    }

    #[test]
    fn work_runs_only_a_window_ahead_of_what_is_committed() {
        let executor = Executor::new(3).unwrap();
        let done = AtomicU64::new(0);
        let (mut most, window) = (0, 4 * 3 + 4);
        let work = |number| {
            // The first holds up all others.
            while number == 0 && done.load(Ordering::Relaxed) < window - 1 {
                std::thread::yield_now();
            }
            done.fetch_add(1, Ordering::Relaxed);
        };
        let commit = |number, ()| {
            most = most.max(done.load(Ordering::Relaxed) - number);
            Ok::<(), Infallible>(())
        };
        executor.run_ordered(0..1000, work, commit).unwrap();
        assert_eq!(most, window);
    }

    #[test]
    fn cancelling_ends_work_that_asks_and_keeps_what_is_finished() {
        let executor = Executor::new(2).unwrap();
        let token = executor.cancel_token();
        let mut all = Vec::new();
        let work = |number, worker: &Worker<'_>| {
            if number == 3 {
                token.cancel();
            }
            if number >= 3 {
                while !worker.is_stopped() {
                    std::thread::yield_now();
                }
                return None;
            }
            worker.count(10);
            Some(number)
        };
        let commit = |all: &mut Vec<u64>, number, _| {
            all.push(number);
            Ok::<(), Infallible>(())
        };
        let mut told = 0;
        let look = |_: &mut Vec<u64>, counted| {
            told = counted;
            Ok(())
        };
        assert_eq!(executor.run_watched(0..1000, &mut all, work, commit, look), Err(Stopped::Cancelled));
        assert_eq!((all, told), (vec![0, 1, 2], 30));
        assert_eq!(executor.run_ordered(0..9, uneven, |_, _| Ok::<(), Infallible>(())), Err(Stopped::Cancelled));
        // Another token on the same pool.
        committed(&executor.with_cancel(CancelToken::new()), 0..9);
    }

    #[test]
    fn a_look_that_fails_ends_the_run() {
        let executor = Executor::new(2).unwrap();
        let work = |_, worker: &Worker<'_>| {
            while !worker.is_stopped() {
                std::thread::yield_now();
            }
            None::<()>
        };
        let mut looks = 0;
        let look = |(): &mut (), _| {
            looks += 1;
            if looks == 2 { Err("no") } else { Ok(()) }
        };
        let ended = executor.run_watched(0..9, &mut (), work, |(), _, ()| Ok(()), look);
        assert_eq!(ended, Err(Stopped::Failed("no")));
    }

    #[test]
    fn panics_reach_the_caller_wherever_they_are() {
        let executor = Executor::new(2).unwrap();
        let fails = |at: &'static str| {
            let work = |number, _: &Worker<'_>| {
                assert!(at != "work" || number != 20, "in work");
                Some(number)
            };
            let commit = |(): &mut (), number, _| {
                assert!(at != "commit" || number != 20, "in commit");
                Ok::<(), Infallible>(())
            };
            let look = |(): &mut (), _| {
                assert!(at != "look", "in look");
                Ok(())
            };
            let run = || executor.run_watched(0..1000, &mut (), work, commit, look);
            catch_unwind(AssertUnwindSafe(run)).map_err(|panic| *panic.downcast::<&str>().unwrap())
        };
        for at in ["work", "commit", "look"] {
            assert_eq!(fails(at), Err(["in ", at].concat().as_str()));
        }
        assert_eq!(fails("nowhere"), Ok(Ok(())));
    }

    #[test]
    fn a_pool_can_be_shared_and_called_from_itself() {
        let expected: Vec<(u64, u64)> = (0..100).map(|number| (number, number * 3)).collect();
        for threads in [1, 2] {
            let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
            let executor = Executor::on(Arc::clone(&pool));
            assert_eq!(pool.install(|| committed(&executor, 0..100)), expected);
            let both = pool.join(|| committed(&executor, 0..100), || committed(&executor, 0..100));
            assert_eq!(both, (expected.clone(), expected.clone()));
            // Work that uses the pool may be given other work of this run while it waits.
            let nested = |number: u64| (0..50).into_par_iter().map(|term: u64| uneven(term + number)).sum::<u64>();
            let mut sums = Vec::new();
            let commit = |_, sum| {
                sums.push(sum);
                Ok::<(), Infallible>(())
            };
            executor.run_ordered(0..60, nested, commit).unwrap();
            assert!(sums.len() == 60 && sums.is_sorted());
        }
    }
}
