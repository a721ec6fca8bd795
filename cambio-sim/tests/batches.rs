//! Batches that other machines play give the run folder of one machine.

use std::collections::BTreeMap;
use std::path::Path;

use cambio_agents::roster;
use cambio_core::{Action, Agent, AgentError, Observation};
use cambio_sim::{Experiment, FaultPolicy, Plan, PlanPlayer, PlayError, PlayablePlan, RunError, RunFolder};

/// Two tables, with a batch that contains deals of both.
fn experiment() -> Experiment {
    Experiment {
        seats: vec![2, 3],
        deals: 30,
        records: true,
        ..Experiment::at("classic", 2, &["random", "greedy", "heuristic"])
    }
}

fn planned(experiment: &Experiment) -> PlayablePlan {
    experiment.plan(&roster(), Path::new(".")).unwrap()
}

/// A player on another machine, which has only the lock.
fn elsewhere(folder: &RunFolder) -> PlanPlayer {
    PlanPlayer::new(Plan::unlock(&folder.plan().lock()).unwrap().with_agents(&roster()).unwrap())
}

/// The files of a folder, without the times.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    named.filter(|(name, _)| name != "timing.csv").map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

#[test]
fn batches_of_other_machines_give_the_same_folder() {
    let root = tempfile::tempdir().unwrap();
    let (one, many) = (root.path().join("one"), root.path().join("many"));
    let plan = planned(&experiment());
    crate::play(&one, &plan);
    let mut folder = RunFolder::create(&many, &plan).unwrap();
    let batches = folder.batches_left();
    let half = batches.end / 2;
    for batch in 0..half {
        folder.commit(&elsewhere(&folder).play(batch).unwrap()).unwrap();
    }
    // The driver stops, and another continues.
    folder.finish(None).unwrap();
    drop(folder);
    let mut folder = RunFolder::reopen(&many, &plan).unwrap();
    assert_eq!(folder.batches_left(), half..batches.end);
    for batch in half..batches.end {
        folder.commit(&elsewhere(&folder).play(batch).unwrap()).unwrap();
    }
    let derived = folder.finish(None).unwrap();
    assert_eq!(files(&one), files(&many));
    assert_eq!(derived.files(), cambio_sim::derive(&cambio_sim::StoredRun::open(&one).unwrap()).unwrap().files());
}

#[test]
fn batches_of_other_plans_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::create(&root.path().join("run"), &planned(&experiment())).unwrap();
    let refused = |folder: &mut RunFolder, bytes: &[u8]| folder.commit(bytes).unwrap_err().to_string();
    let other = PlanPlayer::new(planned(&Experiment { seed: Some(9.into()), ..experiment() }));
    let error = refused(&mut folder, &other.play(0).unwrap());
    assert!(error.contains("run: the batch is of another plan: its run id is "), "{error}");
    // The revision follows the run id, and the hash follows everything.
    let own = elsewhere(&folder);
    let mut bytes = own.play(0).unwrap();
    bytes.truncate(bytes.len() - 32);
    bytes[70] ^= 1;
    let hash = blake3::hash(&bytes);
    bytes.extend(hash.as_bytes());
    let error = refused(&mut folder, &bytes);
    assert!(error.contains("the batch is of another program: its revision is "), "{error}");
    let error = refused(&mut folder, &own.play(1).unwrap());
    assert!(error.ends_with("the batch must be number 0, found 1"), "{error}");
    let bytes = own.play(0).unwrap();
    let flipped: Vec<u8> = bytes.iter().enumerate().map(|(place, byte)| byte ^ u8::from(place == 200)).collect();
    for damaged in [&bytes[..bytes.len() - 1], &[&bytes[..], b"x"].concat(), &[], &flipped] {
        assert!(refused(&mut folder, damaged).contains("the batch is damaged"));
    }
    folder.commit(&bytes).unwrap();
    assert!(matches!(own.play(u64::MAX), Err(PlayError::Plan(_))));
}

/// Claims to be reproducible, but is not.
struct Dice;

impl Agent for Dice {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        use std::hash::{BuildHasher as _, RandomState};
        let choices = view.choices();
        let number = RandomState::new().hash_one(0) as usize % choices.len();
        Ok(choices.nth(number).expect("a choice"))
    }
}

#[test]
fn a_second_play_with_other_rows_is_a_conflict() {
    let root = tempfile::tempdir().unwrap();
    let roster = roster().with("dice", "Decides at random.", || Dice);
    let play_twice = |agent: &str| {
        let experiment = Experiment { deals: 30, ..Experiment::at("classic", 2, &[agent, "greedy"]) };
        let plan = experiment.plan(&roster, Path::new(".")).unwrap();
        let mut folder = RunFolder::create(&root.path().join(agent), &plan).unwrap();
        let player = PlanPlayer::new(plan);
        folder.commit(&player.play(0).unwrap()).unwrap();
        folder.commit(&player.play(0).unwrap())
    };
    play_twice("random").unwrap();
    let error = play_twice("dice").unwrap_err();
    assert!(
        matches!(error, RunError::Conflict(_)) && error.to_string().contains("batch 0 (classic, 2 seats, deals 0 to ")
    );
}

/// Decides illegally in every match.
struct Faulty;

impl Agent for Faulty {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        Ok(if view.choices().contains(Action::Pass) { Action::Draw } else { Action::Pass })
    }
}

#[test]
fn faults_travel_with_their_batch() {
    let root = tempfile::tempdir().unwrap();
    let roster = roster().with("faulty", "Decides illegally.", || Faulty);
    let experiment = Experiment { deals: 20, ..Experiment::at("classic", 2, &["faulty", "greedy"]) };
    let plan = experiment.plan(&roster, Path::new(".")).unwrap();
    assert!(matches!(PlanPlayer::new(plan).play(0), Err(PlayError::Fault(_))));
    let plan = Experiment { faults: FaultPolicy::Void, ..experiment }.plan(&roster, Path::new(".")).unwrap();
    let mut folder = RunFolder::create(&root.path().join("run"), &plan).unwrap();
    let player = PlanPlayer::new(plan);
    for batch in folder.batches_left() {
        folder.commit(&player.play(batch).unwrap()).unwrap();
    }
    assert!(!folder.finish(None).unwrap().faults.is_empty());
}
