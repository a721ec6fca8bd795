//! Estimates how long a run of 100 million matches takes on up to 10,000 workers, with a discrete-event simulation of
//! the unit queue that includes slow and failing workers. Prints the table for the book's page on many machines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_sim::units::{LineupCost, UnitQueue};
use cambio_sim::{Experiment, Plan};

/// Seconds per match.
const MATCH: f64 = 0.05;
/// The fraction of slow workers, and the factor by which they are slower.
const SLOW: (f64, f64) = (0.02, 3.0);
/// Mean seconds until a worker fails and loses its unit, and seconds until it is replaced.
const LOST: (f64, f64) = (100.0 * 3600.0, 60.0);
/// Seconds for the driver to assign a unit (one at a time), and for a worker to commit it.
const DISPATCH: f64 = 0.002;
const COMMIT: f64 = 0.05;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let experiment =
        Experiment { seed: Some(1.into()), deals: 50_000_000, ..Experiment::at("classic", 2, &["rollout", "sharp"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
    println!(
        "| workers | hours | at work | driver busy | units | lost | played twice |\n|---:|---:|---:|---:|---:|---:|---:|"
    );
    for workers in [1, 10, 100, 1000, 10_000] {
        simulate(&plan, workers);
    }
    Ok(())
}

/// Prints the row for this number of workers.
fn simulate(plan: &Plan, workers: usize) {
    let mut queue = UnitQueue::new(plan);
    queue.learn(&[LineupCost { cell: 0, lineup: 0, blocks: 1, matches: 2, seconds: 2.0 * MATCH }]);
    let mut stream = Key::new(1, 0).stream(Purpose::Race, 0);
    let mut share = || (f64::from(stream.below(1 << 24)) + 0.5) / f64::from(1 << 24);
    let slowness: Vec<f64> =
        (0..workers).map(|_| (0.9 + 0.2 * share()) * if share() < SLOW.0 { SLOW.1 } else { 1.0 }).collect();
    // The events, ordered by time in microseconds: a worker, and the unit that it has finished or lost.
    let at = |seconds: f64| (1e6 * seconds) as u64;
    let mut events: BinaryHeap<_> = (0..workers).map(|worker| Reverse((0, worker, None::<(u64, bool)>))).collect();
    // The running units by first batch: the end of the unit, its finishing time, and the number of its workers.
    let mut running: BTreeMap<u64, (u64, f64, u32)> = BTreeMap::new();
    let (mut end, mut driver, mut useful, mut left) = (0.0, 0.0_f64, 0.0, plan.batch_count());
    let (mut units, mut lost, mut copies) = (0, 0, 0);
    while let Some(Reverse((micros, worker, ended))) = events.pop() {
        let now = micros as f64 / 1e6;
        // If two workers play a unit, the second result is ignored.
        if let Some((from, is_lost)) = ended
            && let Some((to, _, players)) = running.get_mut(&from)
        {
            let unit = from..*to;
            *players -= 1;
            if !is_lost {
                (end, units, left) = (now, units + 1, left - (unit.end - from));
                useful += queue.seconds(&unit).unwrap_or(0.0) * slowness[worker];
                running.remove(&from);
            } else if *players == 0 {
                running.remove(&from);
                queue.put_back(unit);
            }
        }
        if left == 0 {
            break;
        }
        if ended.is_some_and(|(_, is_lost)| is_lost) {
            lost += 1;
            events.push(Reverse((at(now + LOST.1), worker, None)));
            continue;
        }
        let unit = queue.take(workers as u64).or_else(|| {
            // Speculative execution: repeat the unit that would finish last, if the copy may finish earlier.
            let (from, (to, ends, _)) = running.iter().max_by(|one, other| one.1.1.total_cmp(&other.1.1))?;
            let is_late = *ends > now + 1.1 * queue.seconds(&(*from..*to))?;
            copies += u64::from(is_late);
            is_late.then_some(*from..*to)
        });
        let Some(unit) = unit else {
            // The worker polls again in a second.
            events.push(Reverse((at(now + 1.0), worker, None)));
            continue;
        };
        driver = driver.max(now) + DISPATCH;
        let takes = queue.seconds(&unit).unwrap_or(0.0) * slowness[worker] + COMMIT;
        let fails = -libm::log(share()) * LOST.0;
        let ends = driver + takes;
        let entry = running.entry(unit.start).or_insert((unit.end, ends, 0));
        (entry.1, entry.2) = (entry.1.min(ends), entry.2 + 1);
        events.push(Reverse((at(driver + takes.min(fails)), worker, Some((unit.start, fails < takes)))));
    }
    let (used, busy) =
        (100.0 * useful / (end * workers as f64), 100.0 * (units + lost + copies) as f64 * DISPATCH / end);
    println!("| {workers} | {:.2} | {used:.1} % | {busy:.1} % | {units} | {lost} | {copies} |", end / 3600.0);
}
