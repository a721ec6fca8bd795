use std::path::Path;

use super::*;
use crate::plan::{Experiment, LuckChoice, Unit};
use crate::run::Runner;
use crate::store::RunFolder;
use crate::study::{SettingOptions, StudyDriver, TableOptions};
use cambio_exec::Executor;
use cambio_stats::Support;
use tempfile::TempDir;

/// Plays an experiment into a temporary folder, which is removed when it is dropped.
fn run(experiment: &Experiment) -> (TempDir, StoredRun) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    Runner::new(&Executor::new(2).unwrap()).run(&plan, &mut folder).unwrap();
    (root, StoredRun::open(&path).unwrap())
}

fn experiment(seats: &[usize], agents: &[&str]) -> Experiment {
    let (seed, seats) = (Some(6.into()), seats.to_vec());
    Experiment { seed, deals: 120, seats, unit: Unit::Rounds, ..Experiment::at("original", 2, agents) }
}

fn setting(seats: usize, luck: LuckChoice) -> SettingOptions {
    let table = TableOptions { rules: Some("original".into()), seats: Some(seats), seed: Some(6.into()) };
    SettingOptions { table, rounds: true, luck }
}

fn played(options: &SprtOptions) -> SprtResult {
    let executor = Executor::new(1).unwrap();
    options.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ())).unwrap()
}

#[test]
fn stored_runs_answer_as_tests_that_play_do() {
    let roster = cambio_agents::roster();
    // Lineups with other agents are ignored. At two seats, each pair has its own lineup.
    let (_root, two) = run(&experiment(&[2], &["random", "greedy", "sharp"]));
    let (_root, more) = run(&experiment(&[3, 4], &["sharp", "greedy"]));
    let mut ends = Vec::new();
    for (stored, seats) in [(&two, 2), (&more, 3), (&more, 4)] {
        for (elo0, elo1, normalized) in [(0.0, 60.0, false), (0.0, 5.0, true), (-80.0, 0.0, true)] {
            for agents in [["greedy", "sharp"], ["sharp", "greedy"]] {
                let [agent, other] = agents.map(String::from);
                let setting = setting(seats, LuckChoice::Auto);
                let options =
                    SprtOptions { agent, other, setting, elo0, elo1, normalized, deals: 120, ..SprtOptions::default() };
                let played = played(&options);
                let duel = StoredDuel::find(stored, &roster, agents, Some("original"), Some(seats)).unwrap();
                let read = options.read(&duel).unwrap();
                // The rules of a stored run are those of single rounds.
                let answer = SprtResult { rules: played.rules.clone(), ..read.answer };
                assert_eq!(answer, played, "{seats} seats, {agents:?}, {elo1}");
                assert_eq!((read.last_deal, read.of_deals, read.void_deals), (Some(played.deals - 1), 120, 0));
                ends.push(played.deals);
            }
        }
    }
    assert!(ends.contains(&120) && ends.iter().any(|deals| *deals < 100), "all or none are decided: {ends:?}");
}

/// At two seats, a pairwise score is the win share, and its luck is the luck of the agent.
#[test]
fn a_test_subtracts_the_mean_luck_of_the_agent() {
    let roster = cambio_agents::roster();
    let (_root, stored) = run(&Experiment { luck: LuckChoice::On, ..experiment(&[2], &["sharp", "greedy"]) });
    let duel = StoredDuel::find(&stored, &roster, ["sharp", "greedy"], None, None).unwrap();
    let (agent, other, setting) = ("sharp".into(), "greedy".into(), setting(2, LuckChoice::On));
    let options = SprtOptions { agent, other, setting, elo0: -1.0, elo1: 1.0, ..SprtOptions::default() };
    let options = SprtOptions { alpha: 1e-9, beta: 1e-9, deals: 120, ..options };
    let played = played(&options);
    let answer = SprtResult { rules: played.rules.clone(), ..options.read(&duel).unwrap().answer };
    let normalized = SprtOptions { normalized: true, ..options }.read(&duel).unwrap().answer;
    assert_eq!(played, answer);
    let derived = crate::derive(&stored).unwrap();
    let row = derived.summary.iter().find(|row| row.agent == "sharp").unwrap();
    let (raw, adjusted) = (answer.scores.interval(2.0, Support::Share).unwrap(), answer.mean().unwrap());
    assert!((raw.mean - row.win_share.mean).abs() < 1e-12);
    let luck = row.luck.unwrap().mean;
    assert!((raw.mean - adjusted.mean - luck).abs() < 1e-9 && luck != 0.0);
    assert!(adjusted.error < raw.error && normalized.adjusted.is_none());
}

#[test]
fn runs_without_the_duel_are_refused() {
    let roster = cambio_agents::roster();
    let mut three = experiment(&[2, 3], &["random", "greedy", "sharp"]);
    three.deals = 2;
    let (_root, stored) = run(&three);
    let refused = |agents, rules, seats| {
        StoredDuel::find(&stored, &roster, agents, rules, seats)
            .map(|duel| duel.index)
            .map_err(|error| error.to_string())
    };
    // At three seats all three agents sit at one table, so the only duel is at two seats.
    assert_eq!(refused(["greedy", "sharp"], None, None), Ok(0));
    for (agents, rules, seats, expected) in [
        (
            ["greedy", "sharp"],
            None,
            Some(3),
            "no lineup has only the agents `greedy` and `sharp` at original (one round), 3 seats",
        ),
        (["greedy", "blind"], None, None, "the run has no agent `blind`; it has random, greedy, sharp"),
        (["greedy", "greedy"], None, None, "`greedy` is compared with itself; choose two different agents"),
        (
            ["greedy", "sharp"],
            Some("classic"),
            None,
            "the run has no table with these rules and seats; it has original (one round), 2 seats; original (one round), 3 seats",
        ),
    ] {
        assert_eq!(refused(agents, rules, seats), Err(expected.to_owned()));
    }
    let mut two = experiment(&[2, 4], &["greedy", "sharp"]);
    two.deals = 2;
    let (_root, stored) = run(&two);
    let error = StoredDuel::find(&stored, &roster, ["sharp", "greedy"], None, None).unwrap_err();
    assert!(
        error.to_string().ends_with("2 seats; original (one round), 4 seats; choose one table by its rules and seats"),
        "{error}"
    );
    // Remove the last batch of the run.
    let ledger = std::fs::read_to_string(stored.path.join("ledger.jsonl")).unwrap();
    let cut = ledger.trim_end().rfind('\n').map_or(0, |at| at + 1);
    std::fs::write(stored.path.join("ledger.jsonl"), &ledger[..cut]).unwrap();
    let cut = StoredRun::open(&stored.path).unwrap();
    let error = StoredDuel::find(&cut, &roster, ["sharp", "greedy"], None, Some(2)).unwrap_err();
    assert!(error.to_string().contains("is not complete: it has "), "{error}");
}
