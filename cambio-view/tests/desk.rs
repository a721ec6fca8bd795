//! The requests of pages, answered by the desk.

use std::path::Path;
use std::sync::Arc;

use cambio_agents::{Roster, roster};
use cambio_core::rng::read_seed;
use cambio_core::{Action, Agent, AgentError, Observation, Record, Seat, replay};
use cambio_sim::{Experiment, play_block};
use cambio_view::{Answer, Catalogue, Desk, Reply};
use serde_json::{Value, json};

fn desk(entropy: u128) -> Desk {
    desk_with(roster(), entropy)
}

fn desk_with(roster: Roster, entropy: u128) -> Desk {
    Desk::new(Arc::new(Catalogue::of_browser(roster)), entropy)
}

fn post(desk: &mut Desk, path: &str, body: &Value) -> (u16, Value) {
    let Answer { status, body } = desk.answer(path, Some(&body.to_string())).unwrap();
    (status, serde_json::from_str(&body).unwrap())
}

/// Sends a request that succeeds.
fn posted(desk: &mut Desk, path: &str, body: &Value) -> Value {
    let (status, answer) = post(desk, path, body);
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn get(desk: &mut Desk, path: &str) -> Value {
    let Answer { status, body } = desk.answer(path, None).unwrap();
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

fn refused(desk: &mut Desk, path: &str, body: &Value) -> (u16, String) {
    let (status, answer) = post(desk, path, body);
    (status, answer["error"].as_str().unwrap().to_owned())
}

fn open(desk: &mut Desk, table: u64, request: &Value) -> Value {
    posted(desk, &format!("api/tables/{table}/open"), &json!({ "request": request }))
}

/// Does all work, and returns the current step of a table.
fn step(desk: &mut Desk, table: u64) -> Value {
    work(desk);
    get(desk, &format!("api/tables/{table}/events"))["hello"]["step"].clone()
}

fn work(desk: &mut Desk) {
    while let Some(work) = desk.work() {
        (work.task)(&|| true);
    }
}

/// Plays the person's part of a match until it is over, or until `decisions` decisions were made. Returns the number of the last
/// step, and whether the match is over.
fn play(desk: &mut Desk, table: u64, decisions: usize) -> (u64, bool) {
    let mut made = 0;
    loop {
        let step = step(desk, table);
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
fn a_match_is_played_saved_and_replayed() {
    let mut desk = desk(1);
    let request =
        json!({ "rules": "original", "opponents": ["greedy", "learned"], "seat": "b", "practice": true, "seed": "3" });
    open(&mut desk, 1, &request);
    play(&mut desk, 1, 3);
    let refused = desk.answer("api/tables/1/record", None).unwrap();
    assert!(refused.status == 409 && refused.body.contains("in progress"), "{refused:?}");
    let (status, hint) = post(&mut desk, "api/tables/1/hint", &json!({ "agent": "learned" }));
    assert!(status == 200 && hint["action"].is_string(), "{hint}");
    play(&mut desk, 1, usize::MAX);
    let record = desk.answer("api/tables/1/record", None).unwrap().body;
    let read = Record::read(&record).unwrap();
    assert_eq!(read.fields["x-person"]["hints"], 1);
    assert_eq!(replay(&read, &mut ()).unwrap(), read);
    let film = get(&mut desk, "api/tables/1/replay");
    assert_eq!(film["replay"]["rounds"].as_array().unwrap().len(), read.rounds.len());
    assert_eq!(film["record"], record);
}

#[test]
fn a_review_reports_its_progress() {
    let mut desk = desk(1);
    let request = json!({ "rules": "classic", "agents": ["greedy", "sharp"], "one_round": true, "seed": "3" });
    let (_, film) = post(&mut desk, "api/matches", &request);
    let record: Value = serde_json::from_str(film["record"].as_str().unwrap()).unwrap();
    let decisions = record["rounds"][0]["decisions"].as_array().unwrap().len();
    for _ in 0..2 {
        let begun = posted(&mut desk, "api/reviews", &json!({ "record": record, "round": 1 }));
        assert_eq!(begun, json!({ "review": 1 }), "the same review is not computed twice");
    }
    let review = desk.work().unwrap();
    assert!(review.is_review);
    // Nobody asks any more.
    (review.task)(&|| false);
    assert!(desk.work().is_none());
    assert_eq!(get(&mut desk, "api/reviews/1")["decisions"].as_array().unwrap().len(), 1);
    // The page asks again.
    work(&mut desk);
    let found = get(&mut desk, "api/reviews/1");
    assert_eq!((&found["over"], &found["trouble"]), (&json!(true), &json!(null)));
    assert_eq!(found["decisions"].as_array().unwrap().len(), decisions);
    assert_eq!(desk.answer("api/reviews/2", None).unwrap().status, 404);
}

#[test]
fn a_restored_table_continues_as_if_it_had_not_been_closed() {
    for (preset, opponents) in
        [("classic", json!(["learned", "heuristic(decay=0.1)"])), ("original", json!(["rollout(n=20)"]))]
    {
        let request = json!({ "rules": preset, "opponents": opponents, "seed": "9", "reaction": 800 });
        let mut desk = desk(1);
        open(&mut desk, 1, &request);
        let mut other = self::desk(2);
        for _ in 0..4 {
            let (_, is_over) = play(&mut desk, 1, 2);
            let kept = get(&mut desk, "api/tables/1/events")["kept"]["saved"].clone();
            other = self::desk(2);
            let saved = serde_json::from_str(kept.as_str().unwrap()).unwrap();
            assert_eq!(posted(&mut other, "api/tables/5/open", &saved)["kept"]["saved"], kept);
            let is_ready = !matches!(other.request("api/tables/5/events", None), Reply::Wait);
            assert_eq!(is_ready, is_over, "the agents get ready first");
        }
        assert!(play(&mut desk, 1, usize::MAX).1 && play(&mut other, 5, usize::MAX).1);
        let [one, again] =
            [(&mut desk, 1), (&mut other, 5)].map(|(desk, table)| get(desk, &format!("api/tables/{table}/record")));
        assert_eq!(one, again, "{preset}");
    }
}

#[test]
fn invalid_requests_are_refused_with_a_sentence() {
    let mut desk = desk(1);
    let table = |request: Value| json!({ "request": request });
    let against = |opponent: &str| table(json!({ "rules": "classic", "opponents": [opponent] }));
    let damaged = json!({
        "request": { "rules": "classic", "opponents": ["greedy"], "seed": "1" },
        "session": { "decisions": [["draw", true, null], ["draw", true, null]], "hints": 0, "undone": 0 },
    });
    let open = "api/tables/1/open";
    for (path, body, status, sentence) in [
        (open, against("rollout(time_ms=5)"), 400, "has a time budget, which does not work in a browser"),
        (open, against("external(\"bot\")"), 400, "starts a program or reads a file, which a page cannot do"),
        (open, against("oracle"), 400, "sees hidden cards"),
        (open, against("gready"), 400, "there is no agent `gready`"),
        (open, against("rollout(n=1000000)"), 400, "parameter `n` must be at most 100000 here"),
        (open, table(json!({ "rules": "classic" })), 400, "there must be 1 to 7 opponents, found 0"),
        (open, table(json!({ "rules": "clasic", "opponents": ["greedy"] })), 400, "there is no preset `clasic`"),
        (open, table(json!({ "rules": "classic", "opponents": ["greedy"], "seat": "c" })), 400, "must be a to b"),
        (open, table(json!({ "rules": "classic", "cards": 1 })), 400, "unknown field `cards`"),
        (open, table(json!({ "rules": "classic", "opponents": ["greedy"], "reaction": 3 })), 400, "200 to 5000 ms"),
        (open, damaged, 409, "the saved match has an error in decision 2"),
        ("api/matches", json!({ "rules": "classic", "agents": ["greedy"] }), 400, "2 to 8 agents, found 1"),
        ("api/tables/7/act", json!({ "at": 0 }), 404, "this table is not open"),
        ("api/tables/-1/act", json!({ "at": 0 }), 404, "there is no such page"),
        ("api/runs", json!({}), 404, "there is no such page"),
        ("api/replay", json!({ "format": "cambio-record/1" }), 400, "`rules` is missing"),
    ] {
        let (found, error) = refused(&mut desk, path, &body);
        assert!(found == status && error.contains(sentence), "{path}: {found} {error}");
    }
    assert_eq!(desk.answer("api/tables/1/events", None).unwrap().status, 404, "no table was opened");
}

#[test]
fn a_decision_counts_once_and_can_be_undone() {
    let mut desk = desk(1);
    let request = json!({ "rules": "classic", "opponents": ["greedy"], "practice": true, "seed": "5" });
    open(&mut desk, 1, &request);
    let act = |desk: &mut Desk, at: &Value, action: &str| {
        post(desk, "api/tables/1/act", &json!({ "at": at, "action": action }))
    };
    let first = step(&mut desk, 1)["n"].clone();
    let illegal = act(&mut desk, &first, "call").1["error"].clone();
    assert_eq!(illegal, "`call` is not possible now; choose one of: draw");
    assert_eq!(act(&mut desk, &first, "draw").0, 200);
    let stale = act(&mut desk, &first, "draw");
    assert_eq!(stale, (409, json!({ "error": "the table has changed since then; look at it again" })));
    let drawn = step(&mut desk, 1);
    posted(&mut desk, "api/tables/1/undo", &json!({ "at": drawn["n"] }));
    let back = step(&mut desk, 1);
    assert_eq!(back["ask"]["choices"], json!(["draw"]));
    assert_eq!(act(&mut desk, &back["n"], "draw").0, 200);
    assert_eq!(step(&mut desk, 1)["scene"]["held"], drawn["scene"]["held"]);
    posted(&mut desk, "api/tables/1/close", &json!({}));
    assert_eq!(act(&mut desk, &back["n"], "drop").0, 404);
}

#[test]
fn a_page_continues_from_its_saved_table() {
    let mut desk = desk(1);
    open(&mut desk, 1, &json!({ "rules": "classic", "opponents": ["greedy"], "seat": "b", "seed": "5" }));
    let before = step(&mut desk, 1);
    let kept = get(&mut desk, "api/tables/1/events")["kept"]["saved"].clone();
    posted(&mut desk, "api/tables/1/open", &serde_json::from_str(kept.as_str().unwrap()).unwrap());
    assert!(desk.work().is_none(), "the agents are ready");
    assert_eq!(step(&mut desk, 1), before);
    // More tables than a desk keeps.
    for table in 2..7 {
        open(&mut desk, table, &json!({ "rules": "classic", "opponents": ["greedy"] }));
    }
    assert_eq!(desk.answer("api/tables/1/events", None).unwrap().status, 404);
}

/// An agent that panics if the field is true, and otherwise decides illegally.
struct Broken(bool);

impl Agent for Broken {
    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        assert!(!self.0, "the bomb has gone off");
        Ok(Action::Keep("h9".parse().unwrap()))
    }
}

#[test]
fn a_broken_agent_stops_its_match_and_no_other() {
    let roster = roster().with("bomb", "Panics.", || Broken(true)).with("cheat", "Cheats.", || Broken(false));
    let mut desk = desk_with(roster, 1);
    for (table, agent, what) in [
        (1, "bomb", "bomb in seat a failed: it panicked: the bomb has gone off"),
        (2, "cheat", "cheat in seat a decided `keep h9`, which is illegal"),
        (3, "greedy", ""),
    ] {
        open(&mut desk, table, &json!({ "rules": "classic", "opponents": [agent], "seat": "b", "seed": "5" }));
        assert_eq!(step(&mut desk, table)["trouble"].as_str().unwrap_or_default(), what);
        let kept = get(&mut desk, &format!("api/tables/{table}/events"))["kept"]["record"].clone();
        assert_eq!(kept.is_string(), !what.is_empty(), "{agent}: the match is over");
    }
}

#[test]
fn fresh_seeds_differ() {
    let mut desk = desk(1);
    let records: Vec<Value> = (0..3)
        .map(|_| {
            post(&mut desk, "api/matches", &json!({ "rules": "classic", "agents": ["greedy", "greedy"] })).1["record"]
                .clone()
        })
        .collect();
    assert!(records[0] != records[1] && records[1] != records[2] && records[0] != records[2]);
}

#[test]
fn a_match_of_a_published_run_is_played_again() {
    let experiment = Experiment {
        seed: Some(7.into()),
        agent_seed: Some(read_seed("streams").unwrap()),
        deals: 2,
        rules: vec!["original".into(), "classic".into()],
        ..Experiment::at("classic", 3, &["random", "heuristic(decay=0.1)", "learned"])
    };
    let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
    let mut desk = desk(1);
    for block in plan.blocks() {
        for row in play_block(&plan, &block).unwrap().matches {
            let agents = plan.seated(&block, row.key.rotation);
            let (seed, streams) = (plan.seed.to_string(), plan.agent_seed.to_string());
            let key = json!({ "rules": row.key.rules, "agents": agents, "seed": seed, "agent_seed": streams, "deal": row.key.deal });
            let winners: String = row.winners.iter_from(Seat::A).map(Seat::letter).collect();
            let (status, film) = post(&mut desk, "api/matches", &key);
            assert_eq!((status, &film["fingerprint"]), (200, &json!(row.fingerprint.to_string())));
            let ranks = film["replay"]["ranks"].as_array().unwrap();
            let first: String = ('a'..).zip(ranks).filter(|(_, rank)| **rank == 1).map(|(seat, _)| seat).collect();
            assert_eq!(first, winners);
            let record = Record::read(film["record"].as_str().unwrap()).unwrap();
            assert_eq!((record.rounds.len(), &record.fields["deal"]), (row.rounds, &json!(row.key.deal)));
        }
    }
}
