//! Faults of agents are attributed to their seat, with a record of the match up to the fault.

use std::path::Path;

use cambio_agents::{Guarded, roster};
use cambio_core::testing::{CheckScope, check_agent};
use cambio_core::{Action, Agent, AgentError, Observation, Seat, replay};
use cambio_exec::Executor;
use cambio_sim::{AgentFault, Experiment, FaultPolicy, RunFolder, Runner, StoredRun, play_block};

/// Passes and draws until its third turn, then calls `deed`.
struct Rogue {
    deed: fn() -> Action,
}

impl Agent for Rogue {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        if view.table().turns() >= 5 {
            return Ok((self.deed)());
        }
        let idle = [Action::Pass, Action::End, Action::Draw, Action::Drop, Action::Skip];
        let choices = view.choices();
        Ok(idle.into_iter().find(|&action| choices.contains(action)).or(choices.nth(0)).unwrap())
    }
}

/// Calls as soon as it may in seat a, and commits a fault in the others.
struct Halting;

impl Agent for Halting {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        assert!(view.seat() == Seat::A, "out of ideas");
        let choices = view.choices();
        Ok(if choices.contains(Action::Call) { Action::Call } else { choices.nth(0).unwrap() })
    }
}

/// One deal with the agent `rogue`.
fn experiment() -> Experiment {
    Experiment { seed: Some(1.into()), ..Experiment::at("original", 2, &["never-calls", "rogue"]) }
}

fn fault(deed: fn() -> Action) -> AgentFault {
    let roster = roster().with("rogue", "Commits a fault.", move || Rogue { deed });
    let plan = experiment().plan(&roster, Path::new(".")).unwrap();
    let block = plan.blocks().next().unwrap();
    *play_block(&plan, &block).unwrap_err()
}

#[test]
fn panics_are_faults_and_the_match_so_far_replays() {
    let fault = fault(|| panic!("out of ideas"));
    assert!(
        fault.what.starts_with("seat b cannot go on: it panicked: out of ideas (round 1, decision "),
        "{}",
        fault.what
    );
    assert_eq!(fault.place, "original, 2 seats, never-calls | rogue, deal 0, rotation 0");
    assert_eq!(fault.record.fields["x-fault"], fault.what);
    assert!(fault.record.rounds[0].decisions.len() > 5);
    replay(&fault.record, &mut ()).unwrap();
}

#[test]
fn illegal_decisions_end_the_record_of_a_fault() {
    let fault = fault(|| Action::End);
    assert!(fault.what.starts_with("seat b decided `end`, which is illegal (round 1, decision "), "{}", fault.what);
    let flaw = replay(&fault.record, &mut ()).unwrap_err();
    assert_eq!(flaw.decision, Some(fault.record.rounds[0].decisions.len()));
    assert!(flaw.what.starts_with("illegal decision `b end`; legal: b "), "{flaw}");
}

/// Regression test: the match of the next rotation was shown instead.
#[test]
fn a_forfeited_match_is_not_replayed_as_another() {
    let folder = std::env::temp_dir().join(format!("cambio-forfeits-{}", std::process::id()));
    let experiment = Experiment { faults: FaultPolicy::Forfeit, ..experiment() };
    let roster = roster().with("rogue", "Commits a fault in the second seat.", || Halting);
    let plan = experiment.plan(&roster, Path::new(".")).unwrap();
    let mut run = RunFolder::create(&folder, &plan).unwrap();
    Runner::new(&Executor::new(1).unwrap()).run(&plan, &mut run).unwrap();
    drop(run);
    let stored = StoredRun::open(&folder).unwrap();
    let forfeited = stored.replay(0, 0, &roster).unwrap_err();
    assert_eq!(forfeited, "an agent's fault ended this match, so it has no record");
    assert_eq!(stored.replay(0, 1, &roster).unwrap().fields["rotation"], 1);
    assert_eq!(stored.replay(0, 2, &roster).unwrap_err(), "the run has no such match");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn panics_of_agents_are_not_panics_of_the_check() {
    let effort = CheckScope { presets: vec!["classic"], seats: vec![2], matches: 1, ..CheckScope::default() };
    let error = check_agent(|| Guarded::new(Rogue { deed: || panic!("out of ideas") }), &effort).unwrap_err();
    assert!(error.to_string().contains("it panicked: out of ideas"), "{error}");
}
