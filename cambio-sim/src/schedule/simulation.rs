//! A simulation of the queue on many workers, event by event.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};

use super::Queue;
use crate::plan::Plan;
use crate::store::LineupCost;

/// The machines of a simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cluster {
    /// The number of workers: cores that play one unit at a time.
    pub workers: u64,
    /// The share of workers that are slow, and how many times slower they are.
    pub stragglers: (f64, f64),
    /// The failures of a worker in an hour. Its unit is lost; another worker is there after `restart` seconds.
    pub failures: f64,
    /// The seconds until a lost worker is there again.
    pub restart: f64,
    /// The seconds that the driver is busy with one unit: handing it out and taking note of it. It does one at a time.
    pub dispatch: f64,
    /// The seconds of a commit that a worker waits for.
    pub commit: f64,
    /// The bytes that the merge reads, checks and writes in a second.
    pub merge_rate: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for Cluster {
    /// One worker on machines such as those that one rents: 2 % are three times slower, each fails every hundred hours.
    fn default() -> Cluster {
        Cluster {
            workers: 1,
            stragglers: (0.02, 3.0),
            failures: 0.01,
            restart: 60.0,
            dispatch: 0.002,
            commit: 0.05,
            merge_rate: 50e6,
            seed: 0,
        }
    }
}

/// What a simulation found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// The seconds until the last batch is committed.
    pub seconds: f64,
    /// The share of the workers' time that went into rows that count, at the speed that each worker has.
    pub utilisation: f64,
    /// The number of units that were committed.
    pub units: u64,
    /// The number of units that were lost with their worker.
    pub lost: u64,
    /// The number of units that were played a second time, because a worker was slow.
    pub copies: u64,
    /// The share of the time in which the driver was busy.
    pub driver: f64,
    /// The seconds that the merge takes afterwards.
    pub merge_seconds: f64,
}

/// What is simulated: a plan, what its lineups take, and the bytes of a match's rows.
#[derive(Clone, Debug)]
pub struct Task<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// What each lineup takes.
    pub costs: Vec<LineupCost>,
    /// The bytes of the rows of a match.
    pub bytes_a_match: f64,
}

/// Something that happens to a worker.
#[derive(Clone, Debug)]
struct Event {
    worker: usize,
    /// The number of the play that ends; `None` if a worker is there again.
    play: Option<usize>,
    is_lost: bool,
}

/// A unit that is being played.
struct Play {
    unit: Range<u64>,
    worker: usize,
    ends: f64,
    is_copied: bool,
    is_over: bool,
}

struct Dice(Stream);

impl Dice {
    /// A number between 0 and 1.
    fn share(&mut self) -> f64 {
        (f64::from(self.0.below(1 << 24)) + 0.5) / f64::from(1 << 24)
    }

    /// How many times longer than expected a worker takes.
    fn slowness(&mut self, cluster: &Cluster) -> f64 {
        let slow = if self.share() < cluster.stragglers.0 { cluster.stragglers.1 } else { 1.0 };
        slow * (0.9 + 0.2 * self.share())
    }

    /// The seconds until a worker fails.
    fn until_failure(&mut self, cluster: &Cluster) -> f64 {
        -self.share().ln() * 3600.0 / cluster.failures.max(1e-12)
    }
}

/// How many times longer than expected a unit takes before another worker plays it too.
const SLOW: f64 = 2.0;

/// What takes much longer than it should and ends last: another worker plays it too.
fn late(queue: &Queue, plays: &[Play], running: &BTreeSet<usize>, slowness: &[f64], now: f64) -> Option<usize> {
    let is_late = |&number: &usize| {
        let play = &plays[number];
        let expected = queue.seconds(&play.unit).unwrap_or(0.0);
        !play.is_copied && slowness[play.worker] > SLOW && play.ends > now + 1.1 * expected
    };
    let late = running.iter().copied().filter(is_late);
    late.max_by(|&one, &other| plays[one].ends.total_cmp(&plays[other].ends))
}

/// Plays a task on a cluster, in thought. Nothing in it depends on a clock; the same seed gives the same forecast.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Experiment, LineupCost};
/// use cambio_sim::schedule::{Cluster, Task, simulate};
///
/// let (experiment, _) = Experiment::read(Path::new("../experiments/quickstart.toml"))?;
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let cost = |cell, lineup| LineupCost { cell, lineup, blocks: 1, matches: 2, seconds: 1.0 };
/// let of_cell = |cell: usize| (0..plan.cells[cell].lineups.len()).map(move |lineup| cost(cell, lineup));
/// let costs = (0..plan.cells.len()).flat_map(of_cell).collect();
/// let task = Task { plan: &plan, costs, bytes_a_match: 1000.0 };
/// let one = simulate(&task, &Cluster { workers: 10, ..Cluster::default() });
/// assert_eq!(one, simulate(&task, &Cluster { workers: 10, ..Cluster::default() }));
/// assert!(one.utilisation > 0.9 && one.utilisation <= 1.0);
/// assert!(one.seconds > 0.9 * plan.block_count() as f64 / 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(task: &Task<'_>, cluster: &Cluster) -> Forecast {
    let mut queue = Queue::new(task.plan);
    queue.learn(&task.costs);
    let mut dice = Dice(Key::new(cluster.seed, 0).stream(Purpose::Race, 0));
    let workers = cluster.workers as usize;
    let slowness: Vec<f64> = (0..workers).map(|_| dice.slowness(cluster)).collect();
    let mut events = BinaryHeap::new();
    let mut count = 0_u64;
    let at = |events: &mut BinaryHeap<Reverse<(Time, u64, Held)>>, time: f64, event: Event, count: &mut u64| {
        *count += 1;
        events.push(Reverse((Time(time), *count, Held(event))));
    };
    for worker in 0..workers {
        at(&mut events, 0.0, Event { worker, play: None, is_lost: false }, &mut count);
    }
    let mut plays: Vec<Play> = Vec::new();
    let mut running: BTreeSet<usize> = BTreeSet::new();
    let mut idle: Vec<usize> = Vec::new();
    let (mut driver_free, mut driver_busy) = (0.0_f64, 0.0);
    let (mut done, mut useful, mut end) = (vec![false; task.plan.batch_count() as usize], 0.0, 0.0_f64);
    let (mut units, mut lost, mut copies) = (0, 0, 0);
    while let Some(Reverse((Time(now), _, Held(event)))) = events.pop() {
        let mut free = vec![event.worker];
        if let Some(number) = event.play {
            running.remove(&number);
            let play = &mut plays[number];
            if play.is_over {
                continue;
            }
            play.is_over = true;
            if event.is_lost {
                lost += 1;
                let unit = plays[number].unit.clone();
                let is_elsewhere = running.iter().any(|&other| plays[other].unit == unit);
                if !is_elsewhere && !done[unit.start as usize] {
                    queue.put_back(unit);
                }
                let back = Event { worker: event.worker, play: None, is_lost: false };
                at(&mut events, now + cluster.restart, back, &mut count);
                free = std::mem::take(&mut idle);
            } else {
                let unit = plays[number].unit.clone();
                if !done[unit.start as usize] {
                    units += 1;
                    useful += queue.seconds(&unit).unwrap_or(0.0) * slowness[event.worker];
                    unit.clone().for_each(|batch| done[batch as usize] = true);
                    end = now;
                }
                // A copy that runs elsewhere is told to stop.
                if let Some(other) = running.iter().copied().find(|&other| plays[other].unit == unit) {
                    plays[other].is_over = true;
                    running.remove(&other);
                    free.push(plays[other].worker);
                }
            }
        }
        for worker in free {
            let unit = queue.take(cluster.workers).map(|unit| (unit, false)).or_else(|| {
                let number = late(&queue, &plays, &running, &slowness, now)?;
                plays[number].is_copied = true;
                copies += 1;
                Some((plays[number].unit.clone(), true))
            });
            let Some((unit, is_copied)) = unit else {
                idle.push(worker);
                continue;
            };
            let begun = driver_free.max(now);
            driver_free = begun + cluster.dispatch;
            driver_busy += cluster.dispatch;
            let takes = queue.seconds(&unit).unwrap_or(0.0) * slowness[worker] + cluster.commit;
            let fails = dice.until_failure(cluster);
            let (ends, is_lost) =
                if fails < takes { (driver_free + fails, true) } else { (driver_free + takes, false) };
            running.insert(plays.len());
            at(&mut events, ends, Event { worker, play: Some(plays.len()), is_lost }, &mut count);
            plays.push(Play { unit, worker, ends, is_copied, is_over: false });
        }
    }
    debug_assert!(done.iter().all(|&is_done| is_done));
    let bytes = task.bytes_a_match * task.plan.matches() as f64;
    Forecast {
        seconds: end,
        utilisation: useful / (end * cluster.workers as f64),
        units,
        lost,
        copies,
        driver: driver_busy / end,
        merge_seconds: bytes / cluster.merge_rate,
    }
}

/// A time that can be sorted; it is never NaN.
#[derive(PartialEq, PartialOrd)]
struct Time(f64);

impl Eq for Time {}

#[expect(clippy::derive_ord_xor_partial_ord, reason = "times are never NaN, and both orders are then the same")]
impl Ord for Time {
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// An event in the heap, whose place its time and number decide.
struct Held(Event);

impl PartialEq for Held {
    fn eq(&self, _: &Held) -> bool {
        true
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, _: &Held) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}
