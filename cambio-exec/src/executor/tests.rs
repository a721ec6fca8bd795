use std::convert::Infallible;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::*;

/// Takes longer for some numbers than for others, so that results finish out of order.
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
        assert_eq!(executor.run_ordered(0..100_000, work, commit), Err(ExecutorError::Failed("full")));
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
        // The first work item delays all commits.
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
    assert_eq!(executor.run_watched(0..1000, &mut all, work, commit, look), Err(ExecutorError::Cancelled));
    assert_eq!((all, told), (vec![0, 1, 2], 30));
    assert_eq!(executor.run_ordered(0..9, uneven, |_, _| Ok::<(), Infallible>(())), Err(ExecutorError::Cancelled));
    // With another token, the same pool still runs work.
    committed(&executor.with_cancel(CancelToken::new()), 0..9);
}

#[test]
fn an_error_while_watching_ends_the_run() {
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
    assert_eq!(ended, Err(ExecutorError::Failed("no")));
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
        // While a work item waits for the pool, its thread may run another item of this run.
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
