use std::path::Path;

use super::*;
use crate::plan::Experiment;

#[test]
fn what_takes_longest_comes_first_and_units_shrink_towards_the_end() {
    let rules = vec!["classic".into(), "original".into()];
    let experiment = Experiment { deals: 40_000, rules, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let mut queue = UnitQueue::new(&plan);
    let cost = |cell, seconds| LineupCost { cell, lineup: 0, blocks: 100, matches: 200, seconds };
    queue.learn(&[cost(0, 1.0), cost(1, 4.0)]);
    let whole = queue.seconds_left();
    assert!((whole - 2000.0).abs() < 1.0, "{whole}");
    let (mut units, mut covered) = (Vec::new(), vec![0; plan.batch_count() as usize]);
    while let Some(unit) = queue.take(8) {
        units.push(queue.seconds(&unit).unwrap());
        unit.clone().for_each(|batch| covered[batch as usize] += 1);
    }
    assert!(covered.iter().all(|&times| times == 1));
    assert!(units.iter().all(|&seconds| seconds < 1.25 * SECONDS.1));
    assert!(units[0] > 30.0 && *units.last().unwrap() < 5.0, "{units:?}");
}
