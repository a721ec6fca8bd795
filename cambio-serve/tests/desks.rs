//! Each tab has its own desk, and waits for the steps of its table.

use std::time::{Duration, Instant};

use cambio_agents::roster;
use cambio_serve::Settings;
use serde_json::Value;

use crate::asking::{app_with, get_at, post_at, run, table};

#[test]
fn a_tab_waits_for_the_steps_of_its_table() {
    run(async {
        let app = app_with(Settings::new(roster()));
        assert_eq!(post_at(&app, "one", "api/tables/1/open", table("greedy")).await.0, 200);
        let (_, text) = get_at(&app, "one", "api/tables/1/events").await;
        let mut step = serde_json::from_str::<Value>(&text).unwrap()["hello"]["step"].clone();
        let begun = Instant::now();
        while step["ask"].is_null() {
            let path = format!("api/tables/1/events?from={}", step["n"].as_u64().unwrap() + 1);
            let (status, text) = get_at(&app, "one", &path).await;
            assert_eq!(status, 200, "{text}");
            let told: Value = serde_json::from_str(&text).unwrap();
            step = told["steps"].as_array().unwrap().last().unwrap().clone();
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "the agent decides in the background");
        assert_eq!(get_at(&app, "other", "api/tables/1/events").await.0, 404, "another tab has another desk");
    });
}

#[test]
fn a_request_without_news_ends_without_steps() {
    run(async {
        tokio::time::pause();
        let app = app_with(Settings::new(roster()));
        post_at(&app, "", "api/tables/1/open", table("greedy").replace("\"seat\":\"b\",", "")).await;
        assert_eq!(get_at(&app, "", "api/tables/1/events?from=1").await, (204, String::new()));
    });
}

#[test]
fn a_thousand_tabs_replace_the_oldest_desks() {
    run(async {
        let app = app_with(Settings { desks: 8, ..Settings::new(roster()) });
        for tab in 0..1000 {
            assert_eq!(post_at(&app, &tab.to_string(), "api/tables/1/open", table("random")).await.0, 200);
        }
        let is_open = async |tab: i32| get_at(&app, &tab.to_string(), "api/tables/1/events").await.0 == 200;
        assert!(is_open(999).await && is_open(992).await && !is_open(991).await);
    });
}

#[test]
fn a_review_goes_on_while_its_tab_asks() {
    run(async {
        let app = app_with(Settings::new(roster()));
        let wish = r#"{"rules":"mini-dpk","agents":["greedy","random"],"seed":"1"}"#;
        let (_, played) = post_at(&app, "", "api/matches", wish).await;
        let played: Value = serde_json::from_str(&played).unwrap();
        let body = format!(r#"{{"record":{},"round":1}}"#, played["record"].as_str().unwrap());
        assert_eq!(post_at(&app, "", "api/reviews", body).await, (200, r#"{"review":1}"#.to_owned()));
        let begun = Instant::now();
        loop {
            let (_, text) = get_at(&app, "", "api/reviews/1").await;
            if serde_json::from_str::<Value>(&text).unwrap()["over"] == true {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}
