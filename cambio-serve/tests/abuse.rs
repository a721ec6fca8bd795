//! Hostile clients, malformed requests and broken agents get a clear error and do not affect other matches.

use crate::asking::{HOST, Page, TOKEN, amount, get, links, post, read, run, sentence};
use axum::body::Body;
use axum::http::Request;
use cambio_agents::{Roster, roster};
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::{Action, Agent, AgentError, Observation, Seat};
use cambio_serve::{App, Settings};

fn app_with(roster: Roster) -> App {
    App::new(Settings { tables: 8, ..Settings::new(roster) }, TOKEN.to_owned(), 8417)
}

fn wish(rules: &str, opponent: &str) -> String {
    serde_json::json!({ "rules": rules, "opponents": [opponent], "practice": true, "seed": "5" }).to_string()
}

#[test]
fn requests_without_the_token_or_from_elsewhere_are_rejected() {
    let app = app_with(roster());
    let ask = |path: &str, headers: &[(&str, &str)], method: &str| {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        run(async { sentence_or_page(app.respond(request.body(Body::empty()).unwrap()).await).await })
    };
    let ours = &[("host", HOST)][..];
    let home = format!("/{TOKEN}/");
    assert_eq!(ask(&home, ours, "GET"), (200, String::new()));
    assert_eq!(ask(&home, &[("host", "localhost:8417"), ("origin", "http://localhost:8417")], "GET").0, 200);
    let no_token = "this address contains neither the token of this server nor a valid link to a table; open the address that `cambio serve` printed, or ask the host for a link";
    for path in
        ["/", "/play", "/0123456789abcdee/", "/0123456789abcdef0/", "/%30123456789abcdef/", "//0123456789abcdef/"]
    {
        assert_eq!(ask(path, ours, "GET"), (403, no_token.to_owned()), "{path}");
    }
    for headers in
        [&[][..], &[("host", "evil.example:8417")], &[("host", "127.0.0.1")], &[("host", HOST), ("host", HOST)]]
    {
        assert_eq!(ask(&home, headers, "GET").0, 421, "{headers:?}");
    }
    for origin in ["https://evil.example", "null", "http://127.0.0.1:8418", "https://127.0.0.1:8417"] {
        let (status, why) = ask(&home, &[("host", HOST), ("origin", origin)], "POST");
        assert_eq!((status, why.as_str()), (403, "the request comes from a page of another origin"), "{origin}");
    }
    assert_eq!(ask(&home, &[("host", HOST), ("sec-fetch-site", "cross-site")], "POST").0, 403);
    for method in ["DELETE", "PUT", "OPTIONS", "TRACE", "PATCH"] {
        assert_eq!(ask(&home, ours, method).0, 405, "{method}");
    }
}

async fn sentence_or_page(response: axum::http::Response<Body>) -> (u16, String) {
    for header in ["content-security-policy", "x-content-type-options", "referrer-policy"] {
        assert!(response.headers().contains_key(header), "{header}");
    }
    if response.status() == 200 { (200, String::new()) } else { sentence(response).await }
}

#[test]
fn invalid_requests_for_a_table_get_a_clear_error() {
    run(async {
        let app = app_with(roster());
        let ask = async |path: &str, body: String| sentence(post(&app, path, body).await).await;
        for (wish, status, what) in [
            (wish("clasic", "greedy"), 400, "there is no preset `clasic`"),
            (wish("base = 'classic'\nlate = 'never'", "greedy"), 400, "field `late` must be"),
            (wish("classic", "gready"), 400, "there is no agent `gready`"),
            (wish("classic", "oracle"), 400, "sees hidden cards"),
            (
                wish("classic", r#"external("touch /tmp/pwned")"#),
                400,
                "is not allowed here; start `cambio serve` with `--with`",
            ),
            (wish("classic", r#"learned("/etc/passwd")"#), 400, "is not allowed here"),
            (r#"{"rules":"classic","opponents":[]}"#.to_owned(), 400, "there must be 1 to 7 opponents, found 0"),
            (r#"{"rules":"classic","opponents":["greedy"],"seat":"c"}"#.to_owned(), 400, "the seat must be a to b"),
            (r#"{"rules":"classic","opponents":["greedy"],"cards":1}"#.to_owned(), 400, "unknown field `cards`"),
            (
                r#"{"rules":"classic","opponents":["greedy"],"reaction":3}"#.to_owned(),
                400,
                "the reaction time must be 200 to 5000 ms, found 3 ms",
            ),
            ("[".to_owned(), 400, "the request is not valid"),
            // A match that is continued comes with its record, which may be long.
            (" ".repeat(70_000), 400, "the request is not valid"),
            (" ".repeat(3_000_000), 413, "length limit exceeded"),
        ] {
            let response = post(&app, "api/tables", wish.clone()).await;
            let found = read(response).await;
            assert_eq!(found.0, status, "{}…: {}", &wish[..wish.len().min(200)], found.1);
            assert!(found.1.replace("\\\"", "\"").contains(what), "{}…: {}", &wish[..wish.len().min(200)], found.1);
        }
        assert_eq!(ask("api/tables/7/act", r#"{"at":0,"action":"draw"}"#.to_owned()).await.0, 404);
        let plain =
            Request::post(format!("/{TOKEN}/api/tables")).header("host", HOST).header("content-type", "text/plain");
        let refused = sentence(app.respond(plain.body(Body::from(wish("classic", "greedy"))).unwrap()).await).await;
        assert_eq!(refused, (415, "the content type must be `application/json`, found `text/plain`".to_owned()));
    });
}

#[test]
fn every_error_is_a_sentence_in_json() {
    run(async {
        let app = app_with(roster());
        for (path, status, what) in [
            ("api/tables/null/events", 400, "Cannot parse `null` to a `u64`"),
            ("api/runs/matches", 400, "missing field `run`"),
            ("api/runs/matches?run=x&kind=best", 400, "unknown variant `best`"),
            ("api/explain", 405, "the method must be one of POST"),
            ("no/such/page", 404, "there is no such page"),
        ] {
            let (found, why) = sentence(get(&app, path).await).await;
            assert!(found == status && why.contains(what), "{path}: {found} {why}");
        }
    });
}

#[test]
fn after_an_undo_at_the_end_of_a_match_no_other_match_begins() {
    run(async {
        let app = app_with(roster());
        read(post(&app, "api/tables", wish("classic", "greedy")).await).await;
        let mut page = Page::of(&app, 1).await;
        let end = loop {
            let step = page.next().await.unwrap();
            if step["end"].is_object() {
                break step["n"].clone();
            }
            if let Some(choices) = step["ask"]["choices"].as_array() {
                let choice = choices.iter().find(|choice| **choice == "call").unwrap_or(&choices[0]);
                let deed = serde_json::json!({ "at": step["n"], "action": choice });
                read(post(&app, "api/tables/1/act", deed.to_string()).await).await;
            }
        };
        assert_eq!(read(get(&app, "api/tables/1/record").await).await.0, 200);
        let undone = serde_json::json!({ "at": end }).to_string();
        assert_eq!(read(post(&app, "api/tables/1/undo", undone).await).await.0, 200);
        let refused = sentence(post(&app, "api/tables/1/begin", "{}").await).await;
        assert_eq!(refused, (409, "the match is in progress".to_owned()));
    });
}

#[test]
fn a_decision_is_carried_out_once_and_only_for_the_seat_to_act() {
    run(async {
        let app = app_with(roster());
        read(post(&app, "api/tables", wish("classic", "greedy")).await).await;
        let mut page = Page::of(&app, 1).await;
        let step = page.next().await.unwrap();
        assert_eq!(step["ask"]["choices"], serde_json::json!(["draw"]));
        let act = async |at: u64, action: &str| {
            sentence(post(&app, "api/tables/1/act", format!(r#"{{"at":{at},"action":"{action}"}}"#)).await).await
        };
        assert_eq!(act(0, "call").await, (409, "`call` is not possible now; choose one of: draw".to_owned()));
        assert!(act(0, "fly").await.1.starts_with("`fly` is not a decision"));
        assert_eq!(act(0, "draw").await.0, 200);
        // A request from another tab, which had not seen that decision, is rejected.
        assert_eq!(act(0, "draw").await, (409, "the table has changed since then; look at it again".to_owned()));
        let step = page.next().await.unwrap();
        assert!(step["ask"]["question"].as_str().unwrap().starts_with("you hold "), "{step}");
        let (status, why) = sentence(get(&app, "api/tables/1/record").await).await;
        assert_eq!((status, why.starts_with("the match is in progress")), (409, true));
        // After an undo the same card is drawn again.
        let undone = format!(r#"{{"at":{}}}"#, step["n"]);
        assert_eq!(read(post(&app, "api/tables/1/undo", undone).await).await.0, 200);
        let back = page.next().await.unwrap();
        assert_eq!(back["ask"]["choices"], serde_json::json!(["draw"]), "{back}");
        assert_eq!(act(back["n"].as_u64().unwrap(), "draw").await.0, 200);
        let again = page.next().await.unwrap();
        assert_eq!(again["scene"]["held"], step["scene"]["held"]);
        // Closing a table ends the event streams of its pages.
        read(post(&app, "api/tables/1/close", "{}").await).await;
        while page.next().await.is_some() {}
        assert_eq!(act(9, "drop").await.0, 404);
    });
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
    run(async {
        let app = app_with(roster);
        for (number, agent, what) in [
            (1, "bomb", "bomb in seat b failed: it panicked: the bomb has gone off"),
            (2, "cheat", "cheat in seat b decided `keep h9`, which is illegal"),
        ] {
            read(post(&app, "api/tables", wish("classic", agent)).await).await;
            let mut page = Page::of(&app, number).await;
            let trouble = loop {
                let step = page.next().await.unwrap();
                if let Some(trouble) = step["trouble"].as_str() {
                    break trouble.to_owned();
                }
                if let Some(first) = step["ask"]["choices"][0].as_str() {
                    let deed = format!(r#"{{"at":{},"action":"{first}"}}"#, step["n"]);
                    read(post(&app, &format!("api/tables/{number}/act"), deed).await).await;
                }
            };
            assert_eq!(trouble, what);
            let record = read(get(&app, &format!("api/tables/{number}/record")).await).await;
            assert_eq!(record.0, 200, "{}", record.1);
        }
        assert_eq!(read(post(&app, "api/tables", wish("classic", "greedy")).await).await.0, 200);
    });
}

#[test]
fn a_thousand_tables_are_refused_beyond_the_bound() {
    run(async {
        let app = app_with(roster());
        let (mut opened, mut refused) = (0, 0);
        for _ in 0..1000 {
            let (status, told) = read(post(&app, "api/tables", wish("classic", "random")).await).await;
            if status == 200 {
                opened += 1;
            } else {
                assert!(told.contains("all 8 tables are in use: leave one, or wait until one is idle"), "{told}");
                assert_eq!(status, 429);
                refused += 1;
            }
        }
        assert_eq!((opened, refused), (8, 992));
        read(post(&app, "api/tables/3/close", "{}").await).await;
        assert_eq!(read(post(&app, "api/tables", wish("classic", "random")).await).await.0, 200);
    });
}

/// A random request that combines valid and invalid parts.
fn fuzzed(stream: &mut Stream, link: &str) -> Request<Body> {
    let mut pick = |list: &[&str]| list[stream.below(list.len() as u32) as usize].to_owned();
    let method = pick(&["GET", "GET", "POST", "POST", "POST", "HEAD", "PUT"]);
    let token = pick(&[TOKEN, TOKEN, TOKEN, TOKEN, link, link, "x", ""]);
    let path = pick(&[
        "",
        "play.html",
        "watch.html",
        "runs.html",
        "assets/play.js",
        "assets/../x",
        "api/options",
        "api/tables",
        "api/tables/1/act",
        "api/tables/1/undo",
        "api/tables/1/next",
        "api/tables/1/hint",
        "api/tables/2/act",
        "api/tables/2/sit",
        "api/tables/2/begin",
        "api/tables/2/next",
        "api/tables/2/replace",
        "api/tables/2/leave",
        "api/tables/-1/act",
        "api/tables/99999999999999999999/act",
        "api/tables/1/record",
        "api/tables/1/film",
        "api/film",
        "api/matches",
        "api/runs",
        "api/runs/film?run=..%2F..&block=0",
        "api/runs/film?run=x",
        "api/runs/report?run=%2Fetc",
        "%ff%00",
        "..%2f..%2f",
    ]);
    let kind = pick(&["application/json", "application/json", "text/plain", "é"]);
    let mut body = pick(&[
        r#"{"at":0,"action":"draw"}"#,
        r#"{"at":1,"action":"drop"}"#,
        r#"{"at":2,"action":"pass"}"#,
        r#"{"at":3,"action":"swap a1 b1"}"#,
        r#"{"at":-1}"#,
        r#"{"name":"x"}"#,
        r#"{"seat":"b"}"#,
        "{}",
        r#"{"agent":"greedy"}"#,
        r#"{"agent":"learned(\"x\")"}"#,
        r#"{"rules":"mini-m0","opponents":["random"]}"#,
        r#"{"rules":"x = 1","opponents":["random"]}"#,
        r#"{"format":"cambio-record/1","rules":"classic","seats":2,"rounds":[{}]}"#,
        "",
        "[[[[",
    ])
    .into_bytes();
    for _ in 0..stream.below(3) {
        if !body.is_empty() {
            let place = stream.below(body.len() as u32) as usize;
            body[place] = stream.below(256) as u8;
        }
    }
    let request = Request::builder().method(method.as_str()).uri(format!("/{token}/{path}")).header("host", HOST);
    request.header("content-type", kind.as_bytes()).body(Body::from(body)).unwrap()
}

#[test]
fn fuzzed_requests_get_an_answer_and_no_server_error() {
    let requests = amount(3_000, 100_000);
    run(async {
        let app = app_with(roster());
        read(post(&app, "api/tables", wish("classic", "greedy")).await).await;
        read(post(&app, "api/tables", r#"{"rules":"classic","opponents":["person"]}"#).await).await;
        let (_, link) = links(&app, 2).await.remove(0);
        let mut stream = Key::new(7, 0).agent(Seat::A);
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..requests {
            let request = fuzzed(&mut stream, &link);
            let shown = format!("{} {}", request.method(), request.uri());
            let response = app.respond(request).await;
            let status = response.status().as_u16();
            let (_, text) = read(response).await;
            assert!(status < 500, "request {number}, {shown}: {status} {text}");
            *counts.entry(status).or_insert(0u64) += 1;
        }
        assert!(counts.len() >= 7 && counts[&200] > requests / 20, "{counts:?}");
    });
}
