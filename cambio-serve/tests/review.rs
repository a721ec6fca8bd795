//! Reviews of rounds over the API.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::asking::socket::ask_until;
use crate::asking::{TOKEN, get, post, read, run, sentence};
use axum::http::StatusCode;
use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Recorder, Rules, play_match};
use cambio_serve::{App, Server, Settings, TableFolder};
use serde_json::{Value, json};

fn record(deal: u64) -> Value {
    let match_setup = MatchSetup { rules: Rules::preset("mini-dpk").unwrap(), seats: 2, key: Key::new(1, deal) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = ["greedy", "random"].map(|spec| roster().parse(spec).unwrap().make());
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    serde_json::from_str(&recorder.finish(match_setup.key, 0, &["greedy", "random"], &result).to_json()).unwrap()
}

#[test]
fn a_round_is_reviewed_in_the_background_once() {
    run(async {
        let app = App::new(Settings::new(roster()), TOKEN.to_owned(), 8417);
        let begin = async |deal: u64, round: u64| {
            let body = json!({ "record": record(deal), "round": round }).to_string();
            post(&app, "api/appraisals", body).await
        };
        let number = async |deal| {
            let (status, text) = read(begin(deal, 1).await).await;
            assert_eq!(status, StatusCode::OK, "{text}");
            serde_json::from_str::<Value>(&text).unwrap()["appraisal"].as_u64().unwrap()
        };
        let (one, other) = (number(0).await, number(1).await);
        assert_ne!(one, other);
        for number in [one, other] {
            let path = format!("api/appraisals/{number}");
            let told = loop {
                let told: Value = serde_json::from_str(&read(get(&app, &path).await).await.1).unwrap();
                if told["over"] == true {
                    break told;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            };
            assert_eq!((&told["player"], &told["trouble"]), (&json!("heuristic"), &Value::Null));
            assert_eq!(told["chances"].as_array().unwrap().len(), told["decisions"].as_array().unwrap().len() + 1);
        }
        assert_eq!(number(0).await, one, "the review is kept");
        let (status, what) = sentence(begin(0, 2).await).await;
        assert_eq!((status, what.as_str()), (409, "the match has no round 2"));
        assert_eq!(sentence(begin(0, 0).await).await.0, 409);
        assert_eq!(sentence(get(&app, "api/appraisals/77").await).await.0, 404);
        // With more reviews than are kept, the first review is dropped. It can be requested again.
        for deal in 2..70 {
            number(deal).await;
        }
        assert_eq!(sentence(get(&app, &format!("api/appraisals/{one}")).await).await.0, 404);
        assert!(number(0).await > one);
    });
}

/// Runs a server with this folder until it has reviewed the first round of a match. Returns the first answer about the progress, and
/// the finished review.
fn reviewed(folder: &Path) -> [Value; 2] {
    let kept = TableFolder::open(folder, |warning| panic!("{warning}")).unwrap();
    let server = Server::bind(0, Settings::new(roster()), Some(kept)).unwrap();
    let address = server.address().to_owned();
    let mut parts = address.split('/').skip(2);
    let [host, token] = [(); 2].map(|()| parts.next().unwrap());
    let ask = |request: &str| -> Value {
        let answer = ask_until(host, request, "}\n\n\n");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_else(|_| panic!("{answer}"))
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(|| stop.load(Ordering::Relaxed)));
        let body = json!({ "record": record(0), "round": 1 });
        let number = ask(&format!("POST /{token}/api/appraisals|{body}"))["appraisal"].clone();
        let progress = || ask(&format!("GET /{token}/api/appraisals/{number}"));
        let first = progress();
        let mut last = first.clone();
        while last["over"] != true {
            std::thread::sleep(Duration::from_millis(20));
            last = progress();
        }
        stop.store(true, Ordering::Relaxed);
        [first, last]
    })
}

#[test]
fn a_finished_review_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let [first, whole] = reviewed(folder.path());
    assert_eq!((&first["over"], &whole["trouble"]), (&json!(false), &Value::Null));
    assert_eq!(reviewed(folder.path()), [&whole, &whole].map(Clone::clone));
    // A damaged file is replaced.
    let files = || std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let file = files().find(|file| file.file_name().unwrap().to_str().unwrap().starts_with("review-")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    let [first, again] = reviewed(folder.path());
    assert_eq!((&first["over"], &again), (&json!(false), &whole));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}
