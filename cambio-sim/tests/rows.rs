//! Rows round-trip through run folders.

use std::path::Path;

use cambio_agents::roster;
use cambio_core::{Action, Agent, AgentError, Observation};
use cambio_sim::{Experiment, FaultPolicy, StoredRun, play_block};

/// Makes the first legal decision. From the seventh turn of the round on, its decision is illegal.
struct Faulty;

impl Agent for Faulty {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        Ok(if view.table().turns() >= 7 { Action::End } else { view.choices().nth(0).unwrap() })
    }
}

#[test]
fn the_rows_of_a_stored_run_are_those_that_were_played() {
    let agents = ["random(pass=0.9)", "greedy", "heuristic(decay=0.3)", "faulty"];
    let presets = ["classic", "original", "original-b", "original-c", "original-d", "faessler"];
    let (mut rows, mut forfeits, mut voided) = (0, 0, 0);
    for (rules, seats, agents, faults) in [
        (&presets[..], vec![2, 3], &agents[..3], FaultPolicy::Stop),
        (&presets[..2], vec![4, 5, 6, 7, 8], &agents[..2], FaultPolicy::Stop),
        (&presets[..2], vec![2, 4], &agents[1..], FaultPolicy::Forfeit),
        (&presets[..2], vec![2, 4], &agents[1..], FaultPolicy::Void),
    ] {
        let experiment = Experiment {
            seed: Some(3.into()),
            deals: 3,
            rules: rules.iter().map(|name| (*name).into()).collect(),
            seats,
            agents: agents.iter().map(|spec| (*spec).into()).collect(),
            faults,
            ..Experiment::default()
        };
        let roster = roster().with("faulty", "Decides illegally.", || Faulty);
        let plan = experiment.plan(&roster, Path::new(".")).unwrap();
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run");
        crate::play(&path, &plan);
        let stored = StoredRun::open(&path).unwrap();
        let mut blocks = stored.blocks().unwrap();
        for block in plan.blocks() {
            let (found, read) = blocks.next().unwrap().unwrap();
            let played = play_block(&plan, &block).unwrap();
            assert_eq!(found.number, block.number);
            assert_eq!(
                (&read.matches, &read.rounds, &read.players),
                (&played.matches, &played.rounds, &played.players)
            );
            rows += read.matches.len() + read.rounds.len() + read.players.len();
            forfeits += read.players.iter().filter(|row| row.forfeit).count();
            voided += usize::from(read.matches.is_empty());
        }
        assert!(blocks.next().is_none());
    }
    assert!(rows > 3000 && forfeits > 20 && voided > 10, "{rows} rows, {forfeits} forfeits, {voided} void blocks");
}
