//! Reviews of rounds over the API.

use std::time::Duration;

use crate::asking::{TOKEN, get, post, read, run, sentence};
use axum::http::StatusCode;
use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Recorder, Rules, play_match};
use cambio_serve::{App, Settings};
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
