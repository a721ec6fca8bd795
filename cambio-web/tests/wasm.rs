//! The program in WebAssembly makes the same decisions as on this machine: the records of matches have the same bytes.
//!
//! The test needs Node, and the module in the variable `CAMBIO_WASM`; `.ci/run web` sets it. `CAMBIO_FULL=1` plays a thousand matches
//! of each fast agent.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use cambio_agents::roster;
use cambio_view::{Catalogue, Desk};
use serde_json::{Value, json};

/// The agents without a search, and with one.
const FAST: [&str; 7] =
    ["random", "greedy", "heuristic", "sharp", "heuristic(decay=0.1)", "learned", "learned(level=4)"];
const SLOW: [&str; 6] = [
    "lookahead",
    "rollout",
    "rollout(n=40,blueprint=learned)",
    "ismcts(iterations=60)",
    "ismcts(iterations=60,blueprint=learned)",
    "lookahead(worlds=8)",
];

fn desk() -> Desk {
    Desk::new(Arc::new(Catalogue::of_browser(roster())), 0)
}

/// The body of an answer.
fn answered(desk: &mut Desk, path: &str, body: Option<&Value>) -> String {
    desk.answer(path, body.map(Value::to_string).as_deref()).unwrap().body
}

/// Answers requests, each a path and a body, with the module in WebAssembly; `None` without a module.
fn answers_in_wasm(requests: &[(&str, Value)]) -> Option<Vec<Value>> {
    let Some(module) = std::env::var_os("CAMBIO_WASM") else {
        eprintln!("skipped: the variable CAMBIO_WASM does not contain the path of the module");
        return None;
    };
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node")
        .arg(home.join("tests/play.mjs"))
        .arg(module)
        .arg(home.join("../cambio-agents/nets"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node is installed");
    let lines = requests.iter().map(|(path, body)| format!("{path} {body}")).collect::<Vec<_>>().join("\n");
    let mut input = node.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), requests.len());
    Some(answers.lines().map(|answer| serde_json::from_str(answer).unwrap()).collect())
}

#[test]
fn webassembly_plays_the_same_matches_byte_for_byte() {
    let is_full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let (fast, slow) = if is_full { (1000, 20) } else { (30, 2) };
    let mut requests = Vec::new();
    for (agents, matches) in [(&FAST[..], fast), (&SLOW[..], slow)] {
        for (number, agent) in agents.iter().enumerate() {
            for deal in 0..matches {
                let rules = ["classic", "original", "faessler"][(number + deal) % 3];
                let rival = agents[(number + 1 + deal / 3) % agents.len()];
                // Mostly two seats; three seats use other networks.
                let mut seated = vec![*agent, rival];
                seated.extend((deal % 5 == 4).then_some("greedy"));
                let body = json!({
                    "rules": rules, "agents": seated, "seed": format!("{number}-{deal}"), "one_round": agents == SLOW,
                });
                requests.push(("api/matches", body));
            }
        }
    }
    let Some(answers) = answers_in_wasm(&requests) else { return };
    let mut desk = desk();
    let mut decisions: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for ((_, body), answer) in requests.iter().zip(answers) {
        let native: Value = serde_json::from_str(&answered(&mut desk, "api/matches", Some(body))).unwrap();
        let record = native["record"].as_str().unwrap_or_else(|| panic!("{body}: {native}"));
        assert_eq!(answer["found"].as_str(), Some(record), "{body}");
        let record: Value = serde_json::from_str(record).unwrap();
        let made: usize =
            record["rounds"].as_array().unwrap().iter().map(|it| it["decisions"].as_array().unwrap().len()).sum();
        let (sum, time) = decisions.entry(body["agents"][0].to_string()).or_default();
        (*sum, *time) = (*sum + made, *time + answer["time"].as_f64().unwrap());
    }
    for (agent, (made, time)) in decisions {
        println!("{agent}: {made} decisions, {:.2} ms each, with the replay", time / made as f64);
    }
}

#[test]
fn webassembly_reviews_with_the_same_numbers() {
    let mut desk = desk();
    let mut requests = Vec::new();
    for (rules, agents) in
        [("classic", json!(["greedy", "heuristic"])), ("original", json!(["learned", "greedy", "sharp"]))]
    {
        let body = json!({ "rules": rules, "agents": agents, "seed": "5", "one_round": rules == "classic" });
        let played: Value = serde_json::from_str(&answered(&mut desk, "api/matches", Some(&body))).unwrap();
        let record: Value = serde_json::from_str(played["record"].as_str().unwrap()).unwrap();
        requests.push(("api/reviews", json!({ "record": record, "round": 1 })));
    }
    let Some(answers) = answers_in_wasm(&requests) else { return };
    for (number, ((path, body), answer)) in requests.iter().zip(answers).enumerate() {
        answered(&mut desk, path, Some(body));
        while let Some(work) = desk.work() {
            (work.task)(&|| true);
        }
        let native = answered(&mut desk, &format!("api/reviews/{}", number + 1), None);
        assert!(native.contains(r#""parts":{"before""#), "{native}");
        assert_eq!(answer["found"].as_str(), Some(&native[..]));
        println!("review {number}: {:.1} s", answer["time"].as_f64().unwrap() / 1000.0);
    }
}
