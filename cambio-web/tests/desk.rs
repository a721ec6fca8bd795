//! The requests of pages, answered by the desk.

use std::path::Path;

use cambio_agents::roster;
use cambio_core::rng::read_seed;
use cambio_core::{Record, Seat, replay};
use cambio_sim::{Experiment, play_block};
use cambio_web::{Answer, Desk};
use serde_json::{Value, json};

fn post(desk: &mut Desk, path: &str, body: &Value) -> (u16, Value) {
    let Answer { status, body } = desk.request(path, Some(&body.to_string()));
    (status, serde_json::from_str(&body).unwrap())
}

fn get(desk: &mut Desk, path: &str) -> Value {
    let Answer { status, body } = desk.request(path, None);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Plays the person's part of a match until it is over, or until `decisions` decisions were made. Returns the number of the last
/// step, and whether the match is over.
fn play(desk: &mut Desk, table: u64, decisions: usize) -> (u64, bool) {
    let mut made = 0;
    loop {
        while desk.work(&mut |_| {}) {}
        let step = get(desk, &format!("api/tables/{table}/events"))["hello"]["step"].clone();
        let at = step["n"].as_u64().unwrap();
        if step["end"].is_object() {
            if step["end"]["ranks"].is_array() {
                return (at, true);
            }
            assert_eq!(post(desk, &format!("api/tables/{table}/next"), &json!({ "at": at })).0, 200);
            continue;
        }
        if made == decisions {
            return (at, false);
        }
        made += 1;
        let choices: Vec<&str> =
            step["ask"]["choices"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let wished = if made > 6 { "call" } else { "draw" };
        let choice = choices.iter().find(|choice| ["pass", wished].contains(choice)).unwrap_or(&choices[0]);
        let (status, body) = post(desk, &format!("api/tables/{table}/act"), &json!({ "at": at, "action": choice }));
        assert_eq!((status, body), (200, json!({})));
    }
}

#[test]
fn a_match_is_played_saved_replayed_and_explained() {
    let mut desk = Desk::new(roster(), 1);
    let request =
        json!({ "rules": "original", "opponents": ["greedy", "learned"], "seat": "b", "practice": true, "seed": "3" });
    assert_eq!(post(&mut desk, "api/tables", &request), (200, json!({ "table": 1 })));
    play(&mut desk, 1, 3);
    let refused = desk.request("api/tables/1/record", None);
    assert!(refused.status == 409 && refused.body.contains("in progress"), "{refused:?}");
    let (status, hint) = post(&mut desk, "api/tables/1/hint", &json!({ "agent": "learned" }));
    assert!(status == 200 && hint["action"].is_string(), "{hint}");
    play(&mut desk, 1, usize::MAX);
    let record = desk.request("api/tables/1/record", None).body;
    let read = Record::read(&record).unwrap();
    assert_eq!(read.fields["x-person"]["hints"], 1);
    assert_eq!(replay(&read, &mut ()).unwrap(), read);
    let film = get(&mut desk, "api/tables/1/film");
    assert_eq!(film["film"]["rounds"].as_array().unwrap().len(), read.rounds.len());
    assert_eq!(film["record"], record);
    let value: Value = serde_json::from_str(&record).unwrap();
    let question = json!({ "record": value, "round": 1, "decision": 1, "agent": "learned" });
    let (status, explained) = post(&mut desk, "api/explain", &question);
    assert!(status == 200 && explained["decided"].is_string(), "{explained}");
}

#[test]
fn a_review_reports_its_progress() {
    let mut desk = Desk::new(roster(), 1);
    let request = json!({ "rules": "classic", "agents": ["greedy", "sharp"], "one_round": true, "seed": "3" });
    let (_, film) = post(&mut desk, "api/matches", &request);
    let record: Value = serde_json::from_str(film["record"].as_str().unwrap()).unwrap();
    let decisions = record["rounds"][0]["decisions"].as_array().unwrap().len();
    for _ in 0..2 {
        let (_, begun) = post(&mut desk, "api/appraisals", &json!({ "record": record, "round": 1 }));
        assert_eq!(begun, json!({ "appraisal": 1 }), "the same review is not computed twice");
    }
    let mut told = Vec::new();
    while desk.work(&mut |text| told.push(serde_json::from_str::<Value>(text).unwrap())) {}
    assert_eq!(told.len(), decisions + 1, "once for each decision, and at the end");
    let found = get(&mut desk, "api/appraisals/1");
    assert_eq!((&found["over"], found["player"].as_str()), (&json!(true), Some("learned")));
    assert_eq!(told.last().unwrap()["progress"], found);
    assert_eq!(desk.request("api/appraisals/2", None).status, 404);
}

#[test]
fn a_restored_table_continues_as_if_it_had_not_been_closed() {
    for (preset, opponents) in
        [("classic", json!(["learned", "heuristic(decay=0.1)"])), ("original", json!(["rollout(n=20)"]))]
    {
        let request = json!({ "rules": preset, "opponents": opponents, "seed": "9", "reaction": 800 });
        let mut desk = Desk::new(roster(), 1);
        assert_eq!(post(&mut desk, "api/tables", &request), (200, json!({ "table": 1 })));
        let mut other = Desk::new(roster(), 2);
        for _ in 0..4 {
            play(&mut desk, 1, 2);
            let saved = get(&mut desk, "api/tables/1/saved");
            other = Desk::new(roster(), 2);
            assert_eq!(post(&mut other, "api/tables/5/restore", &saved), (200, json!({ "table": 5 })));
            assert_eq!(get(&mut other, "api/tables/5/saved"), saved);
        }
        assert!(play(&mut desk, 1, usize::MAX).1 && play(&mut other, 5, usize::MAX).1);
        let [one, again] =
            [(&mut desk, 1), (&mut other, 5)].map(|(desk, table)| get(desk, &format!("api/tables/{table}/record")));
        assert_eq!(one, again, "{preset}");
    }
}

#[test]
fn what_cannot_be_answered_is_refused_with_a_sentence() {
    let mut desk = Desk::new(roster(), 1);
    let table = |opponent: &str| json!({ "rules": "classic", "opponents": [opponent] });
    let damaged = json!({
        "request": { "rules": "classic", "opponents": ["greedy"], "seed": "1" },
        "session": { "decisions": [["draw", true, null], ["draw", true, null]], "hints": 0, "undone": 0 },
    });
    for (path, body, status, sentence) in [
        (
            "api/tables",
            table("rollout(time_ms=5)"),
            400,
            "agent `rollout(time_ms=5)` has a time budget, which does not work in a browser",
        ),
        ("api/tables", table("external(\"bot\")"), 400, "starts a program or reads a file, which a page cannot do"),
        ("api/tables", table("oracle"), 400, "sees hidden cards"),
        (
            "api/tables",
            table("person"),
            400,
            "people can play together only on a server; start one with `cambio serve`",
        ),
        ("api/tables", table("rollout(n=1000000)"), 400, "parameter `n` must be at most 100000 here"),
        ("api/tables", json!({ "rules": "classic" }), 400, "there must be 1 to 7 opponents, found 0"),
        (
            "api/matches",
            json!({ "rules": "classic", "agents": ["greedy"] }),
            400,
            "there must be 2 to 8 agents, found 1",
        ),
        ("api/tables/1/restore", damaged, 409, "the saved match has an error in decision 2"),
        ("api/tables/7/act", json!({ "at": 0 }), 404, "this table is not open"),
        ("api/runs", json!({}), 404, "there is no such page"),
        ("api/film", json!({ "format": "cambio-record/1" }), 400, "`rules` is missing"),
    ] {
        let (found, answer) = post(&mut desk, path, &body);
        let error = answer["error"].as_str().unwrap();
        assert!(found == status && error.contains(sentence), "{path}: {found} {error}");
    }
    assert_eq!(get(&mut desk, "api/options")["tables"], json!([]), "no table was opened");
}

#[test]
fn fresh_seeds_differ() {
    let mut desk = Desk::new(roster(), 1);
    let records: Vec<Value> = (0..3)
        .map(|_| {
            post(&mut desk, "api/matches", &json!({ "rules": "classic", "agents": ["greedy", "greedy"] })).1["record"]
                .clone()
        })
        .collect();
    assert!(records[0] != records[1] && records[1] != records[2] && records[0] != records[2]);
}

#[test]
fn a_changed_row_of_a_published_run_is_found() {
    let experiment = Experiment {
        seed: Some(7.into()),
        agent_seed: Some(read_seed("streams").unwrap()),
        deals: 2,
        rules: vec!["original".into(), "classic".into()],
        ..Experiment::at("classic", 3, &["random", "heuristic(decay=0.1)", "learned"])
    };
    let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
    let mut desk = Desk::new(roster(), 1);
    for block in plan.blocks() {
        for row in play_block(&plan, &block).unwrap().matches {
            let agents = plan.seated(&block, row.key.rotation);
            let (seed, streams) = (plan.seed.to_string(), plan.agent_seed.to_string());
            let key = json!({ "rules": row.key.rules, "agents": agents, "seed": seed, "agent_seed": streams, "deal": row.key.deal });
            let winners: String = row.winners.iter_from(Seat::A).map(Seat::letter).collect();
            let mut check = |winners: &str, fingerprint: &str| {
                let request = json!({ "match": key, "winners": winners, "fingerprint": fingerprint });
                let (status, answer) = post(&mut desk, "api/check", &request);
                assert_eq!(status, 200, "{answer}");
                answer["agrees"].as_bool().unwrap()
            };
            let fingerprint = row.fingerprint.to_string();
            assert!(check(&winners, &fingerprint));
            assert!(!check("abc", &fingerprint) || winners == "abc");
            let digit = if fingerprint.starts_with('0') { "1" } else { "0" };
            assert!(!check(&winners, &(digit.to_owned() + &fingerprint[1..])));
            let (_, film) = post(&mut desk, "api/matches", &key);
            let record = Record::read(film["record"].as_str().unwrap()).unwrap();
            assert_eq!((record.rounds.len(), &record.fields["deal"]), (row.rounds, &json!(row.key.deal)));
        }
    }
    let no_seed =
        json!({ "match": { "rules": "classic", "agents": ["greedy", "greedy"] }, "winners": "a", "fingerprint": "" });
    assert_eq!(post(&mut desk, "api/check", &no_seed).0, 400);
}
