//! The search for matches of a run.

use std::path::Path;

use crate::asking::{TOKEN, get, read, run};
use axum::http::StatusCode;
use cambio_agents::roster;
use cambio_core::{Action, Record};
use cambio_serve::{App, Settings};
use cambio_sim::{Executor, Experiment, ReplayScope, RunFolder, Runner, StoredMatch, StoredRun, verify};
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

/// A server with the runs in this folder.
fn server(runs: &Path) -> App {
    App::new(Settings { runs: runs.to_owned(), ..Settings::new(roster()) }, TOKEN.to_owned(), 8417)
}

/// The record of a listed match.
fn record_of(path: &Path, listed: &Value) -> Record {
    let which: StoredMatch = serde_json::from_value(listed.clone()).unwrap();
    which.play(StoredRun::open(path).unwrap(), &roster()).unwrap()
}

/// The answer to a search. Repeats the request until all matches are searched.
fn list(app: &App, query: &str) -> Value {
    loop {
        let (status, text) = run(async { read(get(app, &format!("api/runs/matches?{query}")).await).await });
        assert_eq!(status, StatusCode::OK, "{text}");
        let found: Value = serde_json::from_str(&text).unwrap();
        if found["searched"] == found["of"] {
            return found;
        }
    }
}

#[test]
fn guesses_and_swings_are_found_and_lists_say_where() {
    let root = tempfile::tempdir().unwrap();
    play(&root.path().join("with"), true);
    play(&root.path().join("without"), false);
    let app = server(root.path());
    let list = |name: &str, kind: &str, agent: &str| list(&app, &format!("run={name}&kind={kind}&agent={agent}"));
    let path = root.path().join("with");
    let all = list("with", "all", "");
    let guesses = list("with", "guess", "");
    assert_eq!(guesses["searched"], all["searched"]);
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

#[test]
fn a_match_opens_at_the_decision_that_the_search_has_found() {
    let root = tempfile::tempdir().unwrap();
    play(&root.path().join("run"), false);
    let app = server(root.path());
    // The decisions with the property in a replay: round, decision.
    let fitting = |kind: &str, made: &Value| -> Vec<(usize, usize)> {
        let record = Record::read(made["record"].as_str().unwrap()).unwrap();
        let mut found = Vec::new();
        for (r, round) in record.rounds.iter().enumerate() {
            let frames = made["film"]["rounds"][r]["frames"].as_array().unwrap();
            for (d, frame) in frames.iter().enumerate().skip(1) {
                let (by, action) = (frame["by"].as_str().unwrap(), frame["action"].as_str().unwrap());
                // The result of a snap follows when all seats have decided.
                let result = format!("{by} {}: ", action.replace("snap", "snaps"));
                let mut lines = frames[d..].iter().flat_map(|frame| frame["lines"].as_array().unwrap());
                let snapped = lines.find_map(|line| line.as_str().filter(|line| line.starts_with(&result)));
                let points: Vec<i64> = serde_json::from_value(round.fields["points"].clone()).unwrap();
                let is_found = match kind {
                    // Both seats' points are counted, and equal points are not enough.
                    "failed" => action == "call" && points[usize::from(by == "b")] >= points[usize::from(by == "a")],
                    "wrong" => action.starts_with("snap ") && snapped.is_some_and(|line| line.ends_with(", wrong")),
                    _ => {
                        action.starts_with("snap ")
                            && !action[5..].starts_with(by)
                            && snapped.is_some_and(|line| line.ends_with(", right"))
                    }
                };
                found.extend(is_found.then_some((r + 1, d)));
            }
        }
        found
    };
    for (kind, agent) in [("failed", ""), ("wrong", ""), ("foreign", ""), ("failed", "random"), ("failed", "greedy")] {
        let found = list(&app, &format!("run=run&kind={kind}&agent={agent}"));
        let matches = found["matches"].as_array().unwrap();
        assert!(matches.len() > 2, "{kind}: {} matches", matches.len());
        let mut late = 0;
        for listed in matches {
            let which: StoredMatch = serde_json::from_value(listed.clone()).unwrap();
            let query = serde_urlencoded::to_string(&which).unwrap();
            let open = |query: &str| {
                let (status, text) = run(async { read(get(&app, &format!("api/runs/film?{query}")).await).await });
                assert_eq!(status, StatusCode::OK, "{text}");
                serde_json::from_str::<Value>(&text).unwrap()
            };
            let made = open(&format!("run=run&kind={kind}&agent={agent}&{query}"));
            let at: (usize, usize) = serde_json::from_value(made["at"].clone()).unwrap();
            let is_own = |&&(round, decision): &&(usize, usize)| {
                let by = &made["film"]["rounds"][round - 1]["frames"][decision]["by"];
                agent.is_empty() || listed["players"][usize::from(by == "b")] == agent
            };
            assert_eq!(Some(&at), fitting(kind, &made).iter().find(is_own), "{kind} {agent}: {listed}");
            late += usize::from(at.0 > 1);
            assert_eq!(open(&format!("run=run&{query}"))["at"], Value::Null);
        }
        assert!(late > 0, "{kind}: no decision is after the first round");
    }
}

#[test]
fn the_index_of_a_run_is_used_again_and_ignored_if_it_is_not_of_its_rows() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    play(&path, false);
    // A server that has not searched the run before.
    let list = |query: &str| list(&server(root.path()), &format!("run=run&{query}"));
    let [all, guesses] = ["kind=all", "kind=guess"].map(list);
    let index = path.join("matches.index");
    let text = std::fs::read_to_string(&index).unwrap();
    assert!(text.lines().next().unwrap().ends_with(" guesses"), "{text:.200}");
    let stored = StoredRun::open(&path).unwrap();
    let plan = stored.playable(&roster()).unwrap();
    let findings = verify(&stored, &plan, ReplayScope::Sample(2));
    assert_eq!((findings.wrong, findings.unfinished), (vec![], vec![]));

    // Changes a fact, so that an answer shows whether it comes from the file.
    let facts: Vec<&str> = text.lines().collect();
    let mut first: Vec<&str> = facts[2].split(',').collect();
    first[3] = "77777";
    let changed = text.replacen(facts[2], &first.join(","), 1);
    std::fs::write(&index, &changed).unwrap();
    assert_eq!(list("kind=long")["matches"][0]["turns"], 77777);

    let other_rows = changed.replacen(&stored.rows_hash(), &"0".repeat(64), 1);
    let beyond = changed.replacen(&first.join(","), &format!("99999,{}", first[1..].join(",")), 1);
    let cut = &changed[..changed.len() - 10];
    let hostile = [other_rows.as_str(), &beyond, cut, "", &changed.repeat(2), &"9".repeat(1 << 20)];
    for (number, wrong) in hostile.into_iter().enumerate() {
        std::fs::write(&index, wrong).unwrap();
        assert_eq!(list("kind=all"), all, "file {number}");
        std::fs::write(&index, wrong).unwrap();
        assert_eq!(list("kind=guess"), guesses, "file {number}");
        assert_eq!(std::fs::read_to_string(&index).unwrap(), text, "file {number} was replaced");
    }

    // The index cannot be written, because a folder has its name.
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!([list("kind=all"), list("kind=guess")], [all.clone(), guesses.clone()]);

    // Reading a named pipe would block.
    #[cfg(unix)]
    {
        std::fs::remove_dir(&index).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&index).status().unwrap().success());
        assert_eq!([list("kind=all"), list("kind=guess")], [all, guesses]);
    }
}

#[test]
fn a_search_of_a_run_that_has_grown_gives_the_same_list_as_a_new_search() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    play(&path, false);
    let (app, query) = (server(root.path()), "run=run&kind=guess");
    let (ledger, index) = (path.join("ledger.jsonl"), path.join("matches.index"));
    let whole = std::fs::read_to_string(&ledger).unwrap();
    // The run when it had two batches.
    std::fs::write(&ledger, whole.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    let part = list(&app, query);
    assert!(part["of"] == 32 && part["fitting"].as_u64() > Some(0) && !index.exists(), "{part}");
    std::fs::write(&ledger, &whole).unwrap();
    let grown = list(&app, query);
    assert!(grown["of"] == 72 && index.exists(), "{grown}");
    std::fs::remove_file(&index).unwrap();
    assert_eq!(list(&server(root.path()), query), grown);
}

#[test]
fn the_pages_of_a_list_contain_each_match_once() {
    let root = tempfile::tempdir().unwrap();
    play(&root.path().join("run"), false);
    let app = server(root.path());
    for kind in ["all", "swing", "long"] {
        let mut matches = Vec::new();
        for page in 0.. {
            let found = list(&app, &format!("run=run&kind={kind}&page={page}"));
            assert_eq!((&found["fitting"], &found["first"]), (&Value::from(72), &Value::from(50 * page)));
            let on_page = found["matches"].as_array().unwrap();
            if on_page.is_empty() {
                break;
            }
            assert!(on_page.len() == 50 || (page, on_page.len()) == (1, 22));
            matches.extend(on_page.iter().map(|listed| (listed.clone(), listed["turns"].as_u64().unwrap())));
        }
        assert!(kind != "long" || matches.is_sorted_by_key(|(_, turns)| std::cmp::Reverse(*turns)));
        let mut keys: Vec<String> = matches
            .iter()
            .map(|(listed, _)| {
                serde_json::to_string(&serde_json::from_value::<StoredMatch>(listed.clone()).unwrap()).unwrap()
            })
            .collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 72, "{kind}");
    }
    let beyond = list(&app, &format!("run=run&kind=all&page={}", usize::MAX));
    assert_eq!(beyond["matches"], serde_json::json!([]));
}

#[test]
fn a_report_on_the_server_links_to_the_lists_of_its_matches() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a&b");
    play(&path, false);
    let app = server(root.path());
    let report = || run(async { read(get(&app, "runs/report?run=a%26b").await).await }).1;
    let file = path.join("report.html");
    std::fs::write(&file, "<html><main><p>the results</p></main></html>").unwrap();
    let page = report();
    assert!(page.contains("<p>the results</p>"), "{page}");
    let links: Vec<&str> =
        page.split("href=\"../runs.html?").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 4 * 7, "for any agent and for each of three agents: {page}");
    assert!(links.contains(&"run=a%26b&amp;kind=failed&amp;agent=greedy"), "{links:?}");
    for link in links {
        let found = list(&app, &link.replace("&amp;", "&"));
        assert_eq!(found["of"], 72, "{link}");
    }
    std::fs::write(&file, "another page").unwrap();
    assert_eq!(report(), "another page");
}
