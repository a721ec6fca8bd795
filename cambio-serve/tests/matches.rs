//! The search for matches of a run.

use std::path::Path;

use crate::asking::{TOKEN, get, read, run};
use axum::http::StatusCode;
use cambio_agents::roster;
use cambio_core::{Action, Record};
use cambio_serve::{App, Settings};
use cambio_sim::{Executor, Experiment, RunFolder, Runner, StoredMatch, StoredRun};
use serde_json::Value;

fn play(path: &Path, records: bool) {
    let experiment = Experiment {
        seed: Some(42.into()),
        deals: 6,
        rules: vec!["original".into(), "classic".into()],
        seats: vec![2],
        agents: ["random", "greedy", "heuristic"].map(Into::into).into(),
        records,
        ..Experiment::default()
    };
    let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
    let mut folder = RunFolder::create(path, &plan).unwrap();
    Runner::new(&Executor::new(1).unwrap()).run(&plan, &mut folder).unwrap();
}

/// The record of a listed match.
fn record_of(path: &Path, listed: &Value) -> Record {
    let which: StoredMatch = serde_json::from_value(listed.clone()).unwrap();
    which.play(StoredRun::open(path).unwrap(), &roster()).unwrap()
}

#[test]
fn guesses_and_swings_are_found_and_lists_say_where() {
    let root = tempfile::tempdir().unwrap();
    play(&root.path().join("with"), true);
    play(&root.path().join("without"), false);
    let settings = Settings { runs: root.path().to_owned(), ..Settings::new(roster()) };
    let app = App::new(settings, TOKEN.to_owned(), 8417);
    let list = |name: &str, kind: &str, agent: &str| {
        let path = format!("api/runs/matches?run={name}&kind={kind}&agent={agent}");
        let (status, text) = run(async { read(get(&app, &path).await).await });
        assert_eq!(status, StatusCode::OK, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let path = root.path().join("with");
    let all = list("with", "all", "");
    let guesses = list("with", "guess", "");
    assert_eq!(guesses["scanned"], all["scanned"]);
    let number = |told: &Value| told["fitting"].as_u64().unwrap();
    assert!(number(&guesses) > 5 && number(&guesses) < number(&all), "{} of {}", guesses["fitting"], all["fitting"]);
    for listed in guesses["matches"].as_array().unwrap() {
        let (round, decision) = (listed["at"][0].as_u64().unwrap(), listed["at"][1].as_u64().unwrap());
        let record = record_of(&path, listed);
        let (seat, action) =
            record.rounds[round as usize - 1].decisions[decision as usize - 1].split_once(' ').unwrap();
        assert!(matches!(action.parse(), Ok(Action::Snap(_))), "{seat} {action}");
        let agents = record.fields["agents"].as_array().unwrap();
        assert!(agents.iter().any(|agent| agent == "random"), "only random guesses: {agents:?}");
    }
    assert_eq!(list("without", "guess", ""), guesses, "replayed and stored records give the same list");

    let swings = list("with", "swing", "greedy");
    let swings = swings["matches"].as_array().unwrap();
    assert!(swings.len() > 5 && swings.windows(2).all(|pair| pair[0]["swing"].as_f64() >= pair[1]["swing"].as_f64()));
    for listed in swings {
        let scores = |round: &cambio_core::record::RoundRecord| {
            let scores = round.fields["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap());
            let scores: Vec<f64> = scores.collect();
            (scores[0] - scores[1]).abs()
        };
        let rounds = record_of(&path, listed).rounds;
        let widest = rounds.iter().map(scores).fold(0.0, f64::max);
        assert_eq!(listed["swing"], widest, "{listed}");
        let at = listed["at"][0].as_u64().unwrap() as usize;
        assert_eq!(listed["swing"], scores(&rounds[at - 1]), "{listed}");
        assert_eq!(listed["players"].as_array().unwrap().iter().filter(|agent| *agent == "greedy").count(), 1);
    }
}
