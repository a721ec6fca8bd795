//! Files of tables that no server has written: the next server starts, answers, and changes none that it cannot restore.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cambio_core::Seat;
use cambio_core::rng::{Bounded as _, Key};
use cambio_serve::{Server, Settings, TableFolder};
use serde_json::{Value, json};

use crate::asking::amount;
use crate::asking::socket::ask_until;

/// The files of two tables: a match in progress, and one of two people with a substitute.
fn tables() -> [Value; 2] {
    let alone = json!({
        "request": { "rules": "classic", "opponents": ["greedy"], "seed": "3", "practice": true },
        "room": { "host": "a", "edition": 1, "seed": null, "people": [{ "seat": "a", "token": null, "name": "" }],
            "players": [{ "person": "" }, "agent"] },
        "session": { "decisions": [["draw", true, 900], ["drop", true, null], ["pass", true, null], ["pass", false, null]],
            "hints": 1, "undone": 0 }
    });
    let shared = json!({
        "request": { "rules": "original", "opponents": ["person", "person", "greedy"], "seed": "3", "name": "Ann" },
        "room": { "host": "a", "edition": 4, "seed": "next",
            "people": [{ "seat": "a", "token": null, "name": "Ann" },
                { "seat": "c", "token": "4ac22decd77071c0d3e667de3cb0fca2", "name": "Eve" }],
            "players": [{ "person": "Ann" }, { "left": "Bob" }, { "person": "Eve" }, "agent"] },
        "session": { "decisions": [["draw", true, null], ["keep a1", true, null]], "declared": [["c", "pass", null]],
            "hints": 0, "undone": 0 }
    });
    [alone, shared]
}

/// Replaces a random part of a value.
fn damage(value: &mut Value, pick: &mut dyn FnMut(usize) -> usize) {
    let inner = match value {
        Value::Object(fields) if !fields.is_empty() && pick(8) > 0 => {
            let at = pick(fields.len());
            fields.values_mut().nth(at)
        }
        Value::Array(items) if !items.is_empty() && pick(8) > 0 => {
            let at = pick(items.len());
            if pick(8) == 0 {
                let copy = items[at].clone();
                items.insert(at, copy);
            }
            items.get_mut(at)
        }
        _ => None,
    };
    if let Some(inner) = inner {
        return damage(inner, pick);
    }
    let others = [
        json!(null),
        json!(""),
        json!("a"),
        json!("h"),
        json!("person"),
        json!("pass"),
        json!("snap b1"),
        json!("learned"),
        json!(0),
        json!(1),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(-1),
        json!([]),
        json!({}),
        json!(true),
        json!("agent"),
        json!({ "left": "x" }),
        json!({ "person": "\u{1b}[31m" }),
        json!("omega"),
        json!("ismcts(iterations=4)"),
        json!("x".repeat(5000)),
    ];
    *value = others[pick(others.len())].clone();
}

#[test]
fn files_from_others_do_not_prevent_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut stream = Key::new(21, 0).agent(Seat::A);
    let mut pick = |n: usize| stream.below(n as u32) as usize;
    let (mut restored, mut refused) = (0, 0);
    for _ in 0..amount(8, 200) {
        let mut files = BTreeMap::new();
        for number in 1..=40 {
            let mut table = tables()[number % 2].clone();
            (0..pick(3)).for_each(|_| damage(&mut table, &mut pick));
            let mut text = table.to_string().into_bytes();
            if pick(10) == 0 {
                text.truncate(pick(text.len()));
            }
            let path: PathBuf = folder.path().join(format!("table-{number}.json"));
            fs::write(&path, &text).unwrap();
            files.insert(number as u64, (path, text));
        }
        let kept = TableFolder::open(folder.path(), |_| {}).unwrap();
        let server = Server::bind(0, Settings::new(cambio_agents::roster()), Some(kept)).unwrap();
        let address = server.address().to_owned();
        let mut parts = address.split('/').skip(2);
        let [host, token] = [(); 2].map(|()| parts.next().unwrap());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| server.run(|| stop.load(Ordering::Relaxed)));
            for (&number, (path, text)) in &files {
                let answer = ask_until(host, &format!("GET /{token}/api/tables/{number}/events"), "data: ");
                if answer.starts_with("HTTP/1.1 200") {
                    restored += 1;
                } else {
                    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
                    assert!(fs::read(path).unwrap() == *text, "a file that cannot be restored is changed");
                    refused += 1;
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
    assert!(restored > 60 && refused > 60, "{restored} {refused}");
}
