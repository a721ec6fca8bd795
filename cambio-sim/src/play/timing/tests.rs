use std::path::Path;

use super::*;
use crate::Runner;
use crate::plan::Experiment;
use cambio_exec::Executor;

#[test]
fn times_beyond_the_ledger_are_ignored() {
    let agents = ["greedy", "sharp(decay=0.1,threshold=0.7)"];
    let plan = Experiment::at("classic", 2, &agents).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let mut timing = Timing::default();
    let spent = TimeSpent { blocks: 3, matches: 6, decisions: 41, time: Duration::from_nanos(123_456_789) };
    for agent in [None, Some(0), Some(1)] {
        timing.add(0, agent, &spent);
    }
    let header = Timing::default().to_csv(&plan, 5);
    let text = |batches: u64| timing.to_csv(&plan, batches)[header.len()..].to_owned();
    let read = |text: &str| {
        let mut found = Timing::default();
        found.read(&format!("{header}{text}"), &plan, 5);
        found
    };
    assert_eq!(read(&text(5)), timing);
    assert_eq!(text(5).lines().next(), Some("5,classic,2,,3,6,41,0.123456789"));
    let mut twice = timing.clone();
    twice.extend(&timing);
    assert_eq!((read(&(text(2) + &text(5) + &text(6))), twice.times[&(0, None)].blocks), (twice.clone(), 6));
    assert_eq!(read(&(text(5) + "5,classic,2,greedy,1,2,3,0.1")), timing, "the last line is torn");
    let mut none = Timing::default();
    none.read("threads,matches,seconds\n1,80000,0.463\n", &plan, 5);
    assert_eq!(none, Timing::default());
}

#[test]
fn blocks_matches_and_decisions_are_counted_once() {
    let experiment = Experiment { deals: 3, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let timing = Runner::new(&Executor::new(1).unwrap()).play(&plan).timing;
    let all = timing.times[&(0, None)];
    let decisions = [0, 1].map(|agent| timing.agent(0, agent).unwrap().decisions);
    assert_eq!((all.blocks, all.matches, all.decisions), (3, 6, decisions.iter().sum()));
}
