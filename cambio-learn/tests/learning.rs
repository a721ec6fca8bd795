//! The result of training does not depend on threads or on interruptions.

use std::path::{Path, PathBuf};

use cambio_agents::{JointKnowledge, Network, NetworkMetadata, OutcomeModel, roster};
use cambio_core::{Action, Agent, AgentError, Observation, Rules};
use cambio_exec::{CancelToken, Executor};
use cambio_learn::{
    Bound, Evaluation, EvaluationResult, LearnError, LearnFolder, LearnThreads, Learner, Method, Recipe, Training,
    judge,
};
use serde_json::json;

#[path = "../examples/outcome.rs"]
#[allow(dead_code, reason = "its program")]
mod outcome;

use outcome::{OutcomeRecipe, train_outcome_model};

fn recipe() -> Recipe {
    Recipe {
        rules: "mini-m1".to_owned(),
        // Three checkpoints and part of a fourth.
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

/// The files of a folder with their content, in order.
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

/// Trains in a folder for this many steps, or to the end.
fn learn(folder: &mut LearnFolder, threads: usize, steps: Option<usize>) {
    let threads = LearnThreads::new(threads, &CancelToken::new()).unwrap();
    for _ in 0..steps.unwrap_or(usize::MAX) {
        if folder.step(&threads).unwrap().is_none() {
            return;
        }
    }
}

/// Trains by a recipe on one thread, and on two with interruptions; returns the files, which must be the same.
fn learned_twice(name: &str, recipe: &Recipe, rules: &Rules, interruptions: &[usize]) -> Vec<(String, Vec<u8>)> {
    let (one, two) = (fresh(&format!("{name}-one")), fresh(&format!("{name}-two")));
    let mut folder = LearnFolder::create(&one, recipe.clone(), rules, &roster()).unwrap();
    learn(&mut folder, 1, None);
    drop(folder);
    let mut folder = LearnFolder::create(&two, recipe.clone(), rules, &roster()).unwrap();
    for &steps in interruptions {
        learn(&mut folder, 2, Some(steps));
        // Dropping the folder is like killing the process: nothing more is written.
        drop(folder);
        folder = LearnFolder::resume(&two, Some(recipe), rules, &roster()).unwrap();
    }
    learn(&mut folder, 2, None);
    drop(folder);
    let (one_files, two_files) = (files(&one), files(&two));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&two_files), names(&one_files));
    for ((name, bytes), (_, expected)) in two_files.iter().zip(&one_files) {
        assert!(bytes == expected, "{name} differs");
    }
    for path in [one, two] {
        std::fs::remove_dir_all(path).unwrap();
    }
    one_files
}

#[test]
fn two_threads_and_three_interruptions_change_no_byte() {
    let files = learned_twice("self", &recipe(), &rules(), &[70, 3, 100]);
    assert_eq!(files.len(), 2 + 5 + 1, "{:?}", files.iter().map(|(name, _)| name).collect::<Vec<_>>());
}

#[test]
fn a_policy_does_not_depend_on_threads_or_interruptions() {
    let recipe = Recipe { method: Method::Policy, ..recipe() };
    let files = learned_twice("policy", &recipe, &rules(), &[70, 3, 100]);
    let network = &files.iter().find(|(name, _)| name == "network.net").unwrap().1;
    assert!(Network::from_bytes(network).unwrap().0.is_policy());
}

#[test]
fn a_general_network_does_not_depend_on_threads() {
    let evaluation = Evaluation { deals: 32, ..recipe().evaluation };
    let recipe = Recipe { systems: Some(3), matches: 4 * 66, evaluation, ..recipe() };
    let files = learned_twice("general", &recipe, &rules(), &[65]);
    let network = &files.iter().find(|(name, _)| name == "network.net").unwrap().1;
    let (network, _) = Network::from_bytes(network).unwrap();
    assert!(network.inputs().are_general());
    let classic = Rules::preset("classic").unwrap();
    assert_eq!(network.under(&classic).unwrap().inputs().rules(), &classic);
}

/// Regression test: a responder that began with the general network could not be resumed, and other inputs in its recipe were a panic.
#[test]
fn a_general_network_learns_under_one_rule_system() {
    let own = Recipe { from: Some(Recipe::SHIPPED.to_owned()), matches: 4 * 66, ..recipe() };
    let files = learned_twice("one-system", &own, &rules(), &[65]);
    assert!(text(&files, "recipe.toml").contains("inputs = [\"general\"]"));
    let other = Recipe { inputs: Some(vec!["witnesses".to_owned()]), ..own };
    let refused = LearnFolder::create(&fresh("inputs"), other, &rules(), &roster()).unwrap_err().to_string();
    assert!(refused.contains("`from` must be a network with the inputs of the recipe"), "{refused}");
}

/// Trains a network in this folder, which is removed, and evaluates it against random play.
fn against_random(path: &Path, recipe: Recipe) -> (EvaluationResult, NetworkMetadata) {
    let mut folder = LearnFolder::create(path, recipe, &rules(), &roster()).unwrap();
    learn(&mut folder, 2, None);
    let (network, facts) = Network::from_bytes(&std::fs::read(path.join("network.net")).unwrap()).unwrap();
    std::fs::remove_dir_all(path).unwrap();
    let random = roster().parse("random").unwrap();
    (judge(std::slice::from_ref(&network), &random, 2, 1 << 50, 1000, &Executor::new(2).unwrap()).unwrap(), facts)
}

#[test]
fn a_policy_learns_to_beat_random_play() {
    let path = fresh("policy-random");
    let recipe = Recipe { method: Method::Policy, matches: 12_000, generation: 64, ..recipe() };
    let rivals = [("self".to_owned(), 1.0)].into();
    let evaluation = Evaluation { times: 0, deals: 2, ..recipe.evaluation.clone() };
    let training = Training { batch: 64, ..Training::default() };
    let recipe = Recipe { seats: vec![2], rivals, evaluation, training, ..recipe };
    let (judgement, _) = against_random(&path, recipe);
    assert!(judgement.share.low().unwrap() > 0.53, "{judgement:?}");
}

/// A seat that sees every card can have a single choice where the seat itself has several.
#[test]
fn a_policy_learns_under_all_rules() {
    let threads = LearnThreads::new(1, &CancelToken::new()).unwrap();
    for (name, seats) in
        [("classic", 2), ("classic", 4), ("original", 2), ("faessler", 2), ("mini-s", 2), ("mini-dpk", 2)]
    {
        let recipe = Recipe {
            rules: name.to_owned(),
            seats: vec![seats],
            method: Method::Policy,
            matches: 32,
            generation: 16,
            ..Recipe::default()
        };
        let mut learner = Learner::new(recipe, &Rules::preset(name).unwrap(), &roster(), None).unwrap();
        while learner.step(&threads).unwrap().is_some() {}
        assert_eq!(learner.matches(), 32, "{name}");
        assert!(learner.network().is_policy());
    }
}

#[test]
fn networks_keep_the_inputs_of_their_recipe() {
    let learner = |inputs: Option<&str>, from: Option<&Network>| {
        let recipe = Recipe { inputs: inputs.map(|name| vec![name.to_owned()]), ..recipe() };
        Learner::new(recipe, &rules(), &roster(), from)
    };
    let present = learner(None, None).unwrap();
    assert_eq!(present.recipe().inputs, None);
    let early = learner(Some("witnesses"), None).unwrap().network();
    assert!(early.inputs().are_early());
    let again = learner(None, Some(&early)).unwrap();
    assert_eq!(
        again.recipe().inputs,
        Some(vec!["witnesses".to_owned()]),
        "a recipe takes the inputs of its starting network"
    );
    let error = learner(Some("witnesses"), Some(&present.network())).unwrap_err().to_string();
    assert_eq!(error, "`from` must be a network with the inputs of the recipe, found a network with other inputs");
    let error = learner(Some("colours"), None).unwrap_err().to_string();
    assert_eq!(error, r#"`inputs` must be ["general"], ["witnesses"] or absent, found ["colours"]"#);
}

/// The text of one of the files.
fn text<'f>(files: &'f [(String, Vec<u8>)], name: &str) -> &'f str {
    let (_, bytes) = files.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("there is no {name}"));
    std::str::from_utf8(bytes).unwrap()
}

/// The cells of a table by row, without its header.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn a_responder_ends_with_its_best_level_on_fresh_deals() {
    let recipe = Recipe {
        generation: 4,
        from: Some(Recipe::SHIPPED.to_owned()),
        evaluation: Evaluation { against: vec!["greedy".to_owned()], deals: 30, times: 3, ..Evaluation::default() },
        bound: Some(Bound { deals: 40, ..Bound::default() }),
        ..Recipe::exploiting("greedy", "classic", 2).lasting(4 * (64 + 10))
    };
    let files = learned_twice("responder", &recipe, &Rules::preset("classic").unwrap(), &[0, 1, 70]);
    let judged = cells(text(&files, "judged.csv"));
    assert_eq!(judged.iter().map(|row| row[1]).collect::<Vec<_>>(), ["0", "1", "2", "3"], "{judged:?}");
    let share = |row: &&Vec<&str>| (row[4].parse::<f64>().unwrap() * 1e9) as u64;
    // `max_by_key` returns the last of equal rows, so in reversed order the first of equally good levels.
    let best = judged.iter().rev().max_by_key(share).unwrap();
    let bound = cells(text(&files, "bound.csv"));
    assert_eq!((bound.len(), &bound[0][..2], bound[0][8]), (1, &best[..2], "40"));
    assert_ne!(bound[0][4], best[4], "the deals differ");
    let level = files.iter().find(|(name, _)| *name == format!("{}.net", best[1])).unwrap();
    let network = files.iter().find(|(name, _)| name == "network.net").unwrap();
    assert!(network.1 == level.1, "the network is the best level");
    // Level 0 is the starting network.
    let beginning = files.iter().find(|(name, _)| name == "0.net").unwrap();
    let own = Network::from_bytes(&beginning.1).unwrap().0.to_bytes(&serde_json::Value::Null);
    let shipped = Network::shipped(&Rules::preset("classic").unwrap(), 2).unwrap();
    assert!(own == shipped.to_bytes(&serde_json::Value::Null));
}

#[test]
fn a_responder_learns_to_beat_random_play() {
    let path = fresh("random");
    let recipe = Recipe { matches: 40_000, generation: 64, ..Recipe::exploiting("random", "mini-m1", 2) };
    let recipe = Recipe { evaluation: Evaluation { times: 0, deals: 2, ..recipe.evaluation.clone() }, ..recipe };
    let (judgement, facts) = against_random(&path, recipe);
    assert_eq!(facts.made["matches"], 40_000);
    assert!(judgement.share.low().unwrap() > 0.6, "{judgement:?}");
}

#[test]
fn another_recipe_or_damage_is_refused() {
    let path = fresh("refused");
    let mut folder = LearnFolder::create(&path, recipe(), &rules(), &roster()).unwrap();
    learn(&mut folder, 1, Some(66));
    let held = LearnFolder::resume(&path, None, &rules(), &roster()).unwrap_err();
    assert!(matches!(held, LearnError::Disk(_)), "{held}");
    drop(folder);
    let before = files(&path);
    let said = |error: LearnError| error.to_string();
    let again = said(LearnFolder::create(&path, recipe(), &rules(), &roster()).unwrap_err());
    assert!(again.contains("exists: add --resume to continue it"), "{again}");
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
fn errors_in_a_recipe_name_the_field() {
    let refused = |text: &str| Recipe::from_toml(text).unwrap_err().to_string();
    assert_eq!(refused("seats = 9"), "`seats` must be a number from 2 to 8, found 9");
    assert_eq!(refused("[play]\nlambda = 2.0"), "`play.lambda` must be a number from 0 to 1, found 2.0");
    assert!(refused("[rivals]\nself = 0").starts_with("`rivals` must be "));
    assert!(refused("lamda = 1").contains("unknown field `lamda`"));
    let unknown = Recipe { rivals: [("shark".to_owned(), 1.0)].into(), ..recipe() };
    let error = |recipe| Learner::new(recipe, &rules(), &roster(), None).unwrap_err().to_string();
    let unknown = error(unknown);
    assert!(unknown.starts_with("`rivals`: there is no agent `shark`"), "{unknown}");
    let exploiting = |agent| error(Recipe::exploiting(agent, "mini-m1", 2));
    assert!(exploiting("oracle").contains("`rivals`: `oracle` sees hidden cards"), "{}", exploiting("oracle"));
    let bot = exploiting("external(\"python3 bot.py\")");
    assert!(bot.contains("is a bot, which may not be reproducible"), "{bot}");
    assert!(exploiting("rollout(time_ms=5)").contains("decides by the clock"));
    let same = Recipe { seed: 1 << 41, ..Recipe::exploiting("greedy", "mini-m1", 2) };
    assert!(error(same).starts_with("`bound.seed` must be different from `seed` and `evaluation.seed`"));
    assert_eq!(Recipe::from_toml(&recipe().to_toml()).unwrap(), recipe());
}

/// The bundled networks and outcome models contain their recipes, which equal the recipe files of the same names.
#[test]
fn the_recipes_of_the_shipped_networks_are_theirs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut compared, mut models) = (0, 0);
    for entry in std::fs::read_dir(root.join("cambio-agents/nets")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let text = std::fs::read_to_string(root.join(format!("experiments/learn/{name}.toml"))).unwrap();
        if path.extension().is_some_and(|extension| extension == "model") {
            let recipe = serde_json::to_value(OutcomeRecipe::from_toml(&text).unwrap()).unwrap();
            assert_eq!(OutcomeModel::from_bytes(&bytes).unwrap().1["recipe"], recipe, "{name}");
            models += 1;
            continue;
        }
        let (_, facts) = Network::from_bytes(&bytes).unwrap();
        let recipe = Recipe::from_toml(&text).unwrap();
        let mut due = serde_json::to_value(&recipe).unwrap();
        // Recipes in network files name all inputs, or none if the network is older than the field.
        let mut made = facts.made["recipe"].clone();
        made.as_object_mut().unwrap().remove("inputs");
        let inputs = due.as_object_mut().unwrap().remove("inputs");
        assert_eq!(inputs, (name == "classic").then(|| json!(["witnesses"])), "{name}");
        assert_eq!(made, due, "{name}");
        assert_eq!(facts.rules, Rules::preset(&recipe.rules).unwrap());
        assert_eq!(facts.made["matches"], recipe.matches);
        compared += 1;
    }
    assert_eq!((compared, models), (7, 6));
}

/// A model of few matches is the same for one and two threads, and says who wins better than equal shares.
#[test]
fn outcome_models_predict_and_do_not_depend_on_threads() {
    let text = "rules = 'classic'\nseats = [2, 3]\nagents = ['greedy', 'random']\nmatches = 1500\npasses = 2";
    let recipe = OutcomeRecipe::from_toml(text).unwrap();
    let classic = Rules::preset("classic").unwrap();
    let train = |threads| {
        train_outcome_model(&recipe, &classic, &roster(), &Executor::new(threads).unwrap(), &mut |_| {}).unwrap()
    };
    let model = train(1);
    assert!(model == train(2));
    let knowledge = JointKnowledge::new(&classic, 3);
    let shares = model.shares(&knowledge);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares[..3].iter().all(|share| *share > 0.05));
    assert_eq!(OutcomeModel::from_bytes(&model.to_bytes(&serde_json::Value::Null)).unwrap().0, model);
    let error = OutcomeRecipe::from_toml(&text.replace("1500", "0")).unwrap_err().to_string();
    assert_eq!(error, "`matches` must be a number from 1 to 100000000, found 0");
}

#[test]
fn a_rival_that_fails_stops_learning_with_its_reason() {
    struct Unfinished;

    impl Agent for Unfinished {
        fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
            panic!("out of ideas")
        }
    }

    let roster = roster().with("unfinished", "Panics.", || Unfinished);
    let recipe = Recipe { rivals: [("unfinished".to_owned(), 1.0)].into(), ..recipe() };
    let mut learner = Learner::new(recipe, &rules(), &roster, None).unwrap();
    let error = learner.step(&LearnThreads::new(1, &CancelToken::new()).unwrap()).unwrap_err().to_string();
    let start = "match 0 against `unfinished`: seat ";
    assert!(error.starts_with(start) && error.contains(" cannot go on: it panicked: out of ideas (round 1"), "{error}");
}
