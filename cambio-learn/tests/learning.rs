//! What is learned does not depend on threads or on where it was interrupted.

use std::path::{Path, PathBuf};

use cambio_agents::{Network, roster};
use cambio_core::Rules;
use cambio_learn::{Crew, Evaluation, LearnError, LearnFolder, Recipe, judge};
use cambio_sim::{CancelToken, Executor};

fn recipe() -> Recipe {
    Recipe {
        rules: "mini-m1".to_owned(),
        // Three checkpoints and a bit.
        matches: 4 * (3 * 64 + 10),
        generation: 4,
        seats: vec![2, 3],
        rivals: [("self".to_owned(), 3.0), ("past".to_owned(), 1.0), ("greedy".to_owned(), 1.0)].into(),
        evaluation: Evaluation { against: vec!["random".to_owned()], deals: 50, times: 4, ..Evaluation::default() },
        ..Recipe::default()
    }
}

fn rules() -> Rules {
    Rules::preset("mini-m1").unwrap()
}

fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("cambio-learning-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// The files of a folder with what is in them, in order.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// Learns in a folder for so many steps, or to the end.
fn learn(folder: &mut LearnFolder, threads: usize, steps: Option<usize>) {
    let crew = Crew::new(threads, &CancelToken::new()).unwrap();
    for _ in 0..steps.unwrap_or(usize::MAX) {
        if folder.step(&crew).unwrap().is_none() {
            return;
        }
    }
}

#[test]
fn two_threads_and_three_interruptions_change_no_byte() {
    let (one, two) = (fresh("one"), fresh("two"));
    let mut folder = LearnFolder::create(&one, recipe(), &rules(), &roster()).unwrap();
    learn(&mut folder, 1, None);
    drop(folder);
    let mut folder = LearnFolder::create(&two, recipe(), &rules(), &roster()).unwrap();
    for steps in [70, 3, 100] {
        learn(&mut folder, 2, Some(steps));
        // As a kill does: nothing is written that was not there already.
        drop(folder);
        folder = LearnFolder::resume(&two, None, &rules(), &roster()).unwrap();
    }
    learn(&mut folder, 2, None);
    drop(folder);
    let (one_files, two_files) = (files(&one), files(&two));
    assert_eq!(one_files.len(), 2 + 5 + 1, "{:?}", one_files.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for ((name, bytes), (other, expected)) in two_files.iter().zip(&one_files) {
        assert_eq!(name, other);
        assert!(bytes == expected, "{name} is another");
    }
    for path in [one, two] {
        std::fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn it_learns_to_beat_random_play() {
    let path = fresh("random");
    let recipe = Recipe { matches: 80_000, generation: 64, ..Recipe::exploiting("random", "mini-m1", 2) };
    let recipe = Recipe { evaluation: Evaluation { times: 0, deals: 2, ..recipe.evaluation.clone() }, ..recipe };
    let mut folder = LearnFolder::create(&path, recipe, &rules(), &roster()).unwrap();
    learn(&mut folder, 2, None);
    let (network, facts) = Network::from_bytes(&std::fs::read(path.join("network.net")).unwrap()).unwrap();
    assert_eq!(facts.made["matches"], 80_000);
    let random = roster().parse("random").unwrap();
    let judgement = judge(&network, &random, 2, 1 << 50, 1000, &Executor::new(2).unwrap()).unwrap();
    assert!(judgement.share.low().unwrap() > 0.6, "{judgement:?}");
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_lost() {
    let path = fresh("refused");
    let mut folder = LearnFolder::create(&path, recipe(), &rules(), &roster()).unwrap();
    learn(&mut folder, 1, Some(66));
    let held = LearnFolder::resume(&path, None, &rules(), &roster()).unwrap_err();
    assert!(matches!(held, LearnError::Disk(_)), "{held}");
    drop(folder);
    let before = files(&path);
    let said = |error: LearnError| error.to_string();
    let again = said(LearnFolder::create(&path, recipe(), &rules(), &roster()).unwrap_err());
    assert!(again.contains("exists; --resume goes on in it"), "{again}");
    let other = Recipe { seed: 2, ..recipe() };
    let other = said(LearnFolder::resume(&path, Some(&other), &rules(), &roster()).unwrap_err());
    assert!(other.contains("another recipe"), "{other}");
    assert_eq!(files(&path), before);
    let checkpoint = path.join("checkpoint");
    let mut bytes = std::fs::read(&checkpoint).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&checkpoint, bytes).unwrap();
    let damaged = said(LearnFolder::resume(&path, None, &rules(), &roster()).unwrap_err());
    assert!(damaged.contains("damaged"), "{damaged}");
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_recipe_says_what_is_wrong_with_it() {
    let refused = |text: &str| Recipe::from_toml(text).unwrap_err().to_string();
    assert_eq!(refused("seats = 9"), "`seats` is 9; allowed is a number from 2 to 8");
    assert_eq!(refused("[play]\nlambda = 2.0"), "`play.lambda` is 2; allowed is a number from 0 to 1");
    assert!(refused("[rivals]\nself = 0").starts_with("`rivals` is "));
    assert!(refused("lamda = 1").contains("unknown field `lamda`"));
    let unknown = Recipe { rivals: [("shark".to_owned(), 1.0)].into(), ..recipe() };
    let error = cambio_learn::Learner::new(unknown, &rules(), &roster(), None).unwrap_err().to_string();
    assert!(error.starts_with("`rivals`: there is no agent `shark`"), "{error}");
    assert_eq!(Recipe::from_toml(&recipe().to_toml()).unwrap(), recipe());
}

/// The networks that come with the library say how they were made, and the recipes of their names say the same.
#[test]
fn the_recipes_of_the_shipped_networks_are_theirs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut compared = 0;
    for entry in std::fs::read_dir(root.join("cambio-agents/nets")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (_, facts) = Network::from_bytes(&std::fs::read(&path).unwrap()).unwrap();
        let text = std::fs::read_to_string(root.join(format!("experiments/learn/{name}.toml"))).unwrap();
        let recipe = Recipe::from_toml(&text).unwrap();
        assert_eq!(facts.made["recipe"], serde_json::to_value(&recipe).unwrap(), "{name}");
        assert_eq!(facts.rules, Rules::preset(&recipe.rules).unwrap());
        assert_eq!(facts.made["matches"], recipe.matches);
        compared += 1;
    }
    assert_eq!(compared, 6);
}
