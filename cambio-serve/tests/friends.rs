//! Several people at one table: their links reach one seat each, and nothing else.

use std::net::SocketAddr;

use crate::asking::{HOST, Page, TOKEN, get, get_as, links, post, post_as, read, run, sentence};
use axum::body::Body;
use axum::http::Request;
use cambio_agents::roster;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::{Record, Seat, replay};
use cambio_serve::{App, Settings};
use serde_json::{Value, json};

fn app() -> App {
    App::new(Settings::new(roster()), TOKEN.to_owned(), 8417)
}

/// Opens a table and returns its number.
async fn open(app: &App, rules: &str, opponents: &[&str], fields: Value) -> u64 {
    let mut request = json!({ "rules": rules, "opponents": opponents, "name": "Ann", "notes": true, "seed": "3" });
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, text) = read(post(app, "api/tables", request.to_string()).await).await;
    assert_eq!(status.as_u16(), 200, "{text}");
    serde_json::from_str::<Value>(&text).unwrap()["table"].as_u64().unwrap()
}

async fn sit(app: &App, token: &str, table: u64, name: &str) {
    let (status, text) =
        read(post_as(app, token, &format!("api/tables/{table}/sit"), json!({ "name": name }).to_string()).await).await;
    assert_eq!(status.as_u16(), 200, "{text}");
}

/// A person who decides at random until the match is over. Returns the last step.
async fn person(app: App, token: String, table: u64, mut stream: Stream) -> Value {
    let mut page = Page::linked(&app, &token, table).await;
    let mut decisions = 0;
    loop {
        let step = page.next().await.expect("the table is open");
        let (at, ask) = (&step["n"], &step["ask"]["choices"]);
        let path = |what: &str| format!("api/tables/{table}/{what}");
        if step["end"]["ranks"].is_array() {
            return step;
        } else if step["end"].is_object() {
            post_as(&app, &token, &path("next"), json!({ "at": at }).to_string()).await;
        } else if let Some(choices) = ask.as_array() {
            let mut pick = || &choices[stream.below(choices.len() as u32) as usize];
            let first = pick();
            let choice = if first == "call" || first.as_str().unwrap().starts_with("snap") { pick() } else { first };
            // Connections break sometimes, and some people do not decide in time.
            decisions += 1;
            if decisions % 7 == 0 {
                page = Page::linked(&app, &token, table).await;
                continue;
            }
            post_as(&app, &token, &path("act"), json!({ "at": at, "action": choice }).to_string()).await;
        }
    }
}

#[test]
fn people_finish_matches_on_all_presets_and_get_the_result_and_the_replay() {
    for (number, preset) in cambio_core::rules::PRESETS.into_iter().enumerate() {
        let opponents = [&["person"][..], &["greedy", "person"], &["person", "person", "random"]][number % 3];
        run(async {
            tokio::time::pause();
            let app = app();
            let table = open(&app, preset, opponents, json!({})).await;
            let mut people = vec![(String::from(TOKEN), 'a')];
            for (seat, token) in links(&app, table).await {
                sit(&app, &token, table, &format!("Guest {seat}")).await;
                people.push((token, seat));
            }
            let play = |(token, seat): &(String, char)| {
                let stream = Key::new(9, number as u64).agent(Seat::from_letter(*seat).unwrap());
                tokio::spawn(person(app.clone(), token.clone(), table, stream))
            };
            let tasks: Vec<_> = people.iter().map(play).collect();
            let mut ends = Vec::new();
            for task in tasks {
                ends.push(task.await.unwrap());
            }
            assert!(ends.iter().all(|end| end["end"] == ends[0]["end"]), "{preset}");
            for (token, _) in &people {
                let (status, text) = read(get_as(&app, token, "api/tables/1/record").await).await;
                assert_eq!(status.as_u16(), 200, "{text}");
                let record = Record::read(text.trim()).unwrap();
                assert_eq!(replay(&record, &mut ()).unwrap(), record, "{preset}");
                let named = record.fields["x-person"]["people"].as_array().unwrap();
                assert_eq!((named.len(), &named[0]), (people.len(), &json!({ "seat": "a", "name": "Ann" })));
                let (status, text) = read(get_as(&app, token, "api/tables/1/film").await).await;
                assert!(status.as_u16() == 200 && text.contains("Guest"), "{text}");
            }
        });
    }
}

#[test]
fn a_link_reaches_one_seat_of_one_table_and_nothing_else() {
    run(async {
        let app = app();
        let table = open(&app, "classic", &["person", "person"], json!({})).await;
        let other = open(&app, "classic", &["person"], json!({})).await;
        let [(_, bob), (_, eve)] = &links(&app, table).await[..] else { panic!("two links") };
        assert_ne!(bob, eve);
        assert!(bob.len() == 32 && bob.chars().all(|digit| digit.is_ascii_hexdigit()));
        for path in [
            "",
            "runs.html",
            "home.html",
            "api/options",
            "api/tables",
            "api/runs",
            "api/matches",
            "api/explain",
            "api/appraisals",
            "api/appraisals/1",
            "api/film",
            "api/tables/1/begin",
            "api/tables/1/close",
            "api/tables/1/hint",
            "api/tables/1/undo",
            "api/tables/1/replace",
            "api/runs/film?run=x&block=0",
            "api/runs/report?run=x",
            "api/runs/matches?run=x&kind=all",
        ] {
            for response in [get_as(&app, bob, path).await, post_as(&app, bob, path, "{}").await] {
                let (status, text) = read(response).await;
                assert!([404, 405].contains(&status.as_u16()), "{path}: {status} {text}");
            }
        }
        for path in ["play.html", "watch.html", "assets/play.js", "assets/viewer.css"] {
            assert_eq!(get_as(&app, bob, path).await.status().as_u16(), 200, "{path}");
        }
        let (_, page) = read(get_as(&app, bob, "play.html").await).await;
        assert!(page.contains(r#"<meta name="access" content="guest">"#));
        assert!(!read(get(&app, "play.html").await).await.1.contains(r#"name="access""#));
        for what in ["events", "record", "film"] {
            let (status, why) = sentence(get_as(&app, bob, &format!("api/tables/{other}/{what}")).await).await;
            assert_eq!((status, why.as_str()), (403, "this link is for a seat at another table"), "{what}");
            assert_eq!(get_as(&app, bob, &format!("api/tables/99/{what}")).await.status().as_u16(), 403, "{what}");
        }
        // Only the host sees links.
        let room = Page::linked(&app, bob, table).await.next().await.unwrap();
        assert_eq!((&room["seat"], &room["host"], &room["has_begun"]), (&json!("b"), &json!("a"), &json!(false)));
        assert!(!room.to_string().contains(bob.as_str()) && !room.to_string().contains(eve.as_str()), "{room}");
        // Before the match, no person can act; a request acts for the seat of its link.
        let act = async |token: &str| {
            sentence(post_as(&app, token, "api/tables/1/act", r#"{"at":0,"action":"draw"}"#).await).await
        };
        assert_eq!(act(bob).await, (409, "the match has not begun".to_owned()));
        sit(&app, bob, table, "Bob").await;
        sit(&app, eve, table, "Eve").await;
        assert_eq!(act(bob).await, (409, "it is not your turn to decide".to_owned()));
        assert_eq!(act(TOKEN).await.0, 200);
        assert_eq!(post_as(&app, bob, "api/tables/1/act", " ".repeat(5000)).await.status().as_u16(), 413);
        let late = sentence(post_as(&app, bob, "api/tables/1/sit", r#"{"name":"x"}"#).await).await;
        assert_eq!(late, (409, "the match has begun".to_owned()));
        // A closed table has no links.
        read(post(&app, "api/tables/1/close", "{}").await).await;
        assert_eq!(get_as(&app, bob, "play.html").await.status().as_u16(), 403);
    });
}

#[test]
fn an_address_in_a_local_network_accepts_only_links() {
    run(async {
        let app = app();
        let address: SocketAddr = "192.168.1.5:8417".parse().unwrap();
        let outside = app.in_network(address);
        let table = open(&app, "classic", &["person"], json!({})).await;
        let room = Page::of(&app, table).await.next().await.unwrap();
        let link = room["players"][1]["link"].as_str().unwrap();
        let path = link.strip_prefix("http://192.168.1.5:8417").unwrap();
        let ask = async |app: &App, path: &str, host: &str| {
            let request = Request::get(path).header("host", host).body(Body::empty()).unwrap();
            app.respond(request).await.status().as_u16()
        };
        assert_eq!(ask(&outside, path, "192.168.1.5:8417").await, 200);
        // The address in the network is not an address of this machine's pages, and the token of the server opens nothing there.
        for (app, path, host, status) in [
            (&outside, path, HOST, 421),
            (&outside, path, "evil.example:8417", 421),
            (&app, path, "192.168.1.5:8417", 421),
            (&outside, &format!("/{TOKEN}/"), "192.168.1.5:8417", 403),
            (&outside, &format!("/{TOKEN}/api/options"), "192.168.1.5:8417", 403),
            (&outside, "/", "192.168.1.5:8417", 403),
            (&app, path, HOST, 200),
        ] {
            assert_eq!(ask(app, path, host).await, status, "{path} at {host}");
        }
    });
}

#[test]
fn the_host_begins_the_match_and_bots_take_the_empty_seats() {
    run(async {
        let app = app();
        let table = open(&app, "classic", &["person", "person"], json!({ "seat": "b" })).await;
        let [(first, bob), (_, eve)] = &links(&app, table).await[..] else { panic!("two links") };
        assert_eq!(*first, 'a', "the host sits in seat b");
        let mut page = Page::of(&app, table).await;
        let room = page.next().await.unwrap();
        assert_eq!(
            room["players"][0],
            json!({ "agent": null, "name": null, "is_here": false, "link": room["players"][0]["link"] })
        );
        sit(&app, bob, table, " Bob ").await;
        for (name, why) in [
            ("x".repeat(25), "the name must have at most 24 characters, found 25"),
            ("<b>".to_owned(), "the name must consist of letters, digits, spaces and . - ' _, found `\\u{3c}`"),
            (
                "a\u{202e}b".to_owned(),
                "the name must consist of letters, digits, spaces and . - ' _, found `\\u{202e}`",
            ),
        ] {
            let refused =
                sentence(post_as(&app, eve, "api/tables/1/sit", json!({ "name": name }).to_string()).await).await;
            assert_eq!(refused, (400, why.to_owned()));
        }
        assert_eq!(read(post(&app, "api/tables/1/begin", "{}").await).await.0.as_u16(), 200);
        while page.next().await.unwrap()["scene"].is_null() {}
        assert!(
            page.all.contains(r#""names":["person","person","learned"],"people":["Bob","Ann",null]"#),
            "{}",
            page.all
        );
        let again = sentence(post(&app, "api/tables/1/begin", "{}").await).await;
        assert_eq!(again, (409, "the match is in progress".to_owned()));
        // The link to the seat of a bot is no longer valid.
        assert_eq!(get_as(&app, eve, "play.html").await.status().as_u16(), 403);
    });
}

#[test]
fn a_bot_plays_on_for_a_person_who_leaves_or_whom_the_host_replaces() {
    run(async {
        tokio::time::pause();
        let app = app();
        let table = open(&app, "classic", &["person", "person"], json!({})).await;
        let links = links(&app, table).await;
        for (_, token) in &links {
            sit(&app, token, table, "").await;
        }
        let [(_, bob), (_, eve)] = &links[..] else { panic!("two links") };
        let mut pages = [Page::linked(&app, bob, table).await, Page::linked(&app, eve, table).await];
        assert_eq!(read(post_as(&app, bob, "api/tables/1/leave", "{}").await).await.0.as_u16(), 200);
        let wrong = sentence(post(&app, "api/tables/1/replace", r#"{"seat":"a"}"#).await).await;
        assert_eq!(wrong, (409, "no guest is in seat a".to_owned()));
        assert_eq!(read(post(&app, "api/tables/1/replace", r#"{"seat":"c"}"#).await).await.0.as_u16(), 200);
        for (page, token) in pages.iter_mut().zip([bob, eve]) {
            while page.next().await.is_some() {}
            assert_eq!(get_as(&app, token, "play.html").await.status().as_u16(), 403, "the link is no longer valid");
        }
        let end = person(app.clone(), TOKEN.to_owned(), table, Key::new(4, 0).agent(Seat::A)).await;
        assert!(end["end"]["ranks"].is_array());
        let record = Record::read(read(get(&app, "api/tables/1/record").await).await.1.trim()).unwrap();
        assert_eq!(record.fields["x-person"]["people"][2], json!({ "seat": "c", "name": "", "left": true }));
        // The people who are left can play another match.
        assert_eq!(read(post(&app, "api/tables/1/begin", "{}").await).await.0.as_u16(), 200);
        let mut page = Page::of(&app, table).await;
        assert_eq!(page.next().await.unwrap()["end"], Value::Null);
        assert!(page.all.contains(r#""names":["person","learned","learned"]"#), "{}", page.all);
    });
}

#[test]
fn hints_undo_and_races_by_speed_are_for_one_person() {
    run(async {
        let app = app();
        for (fields, why) in [
            (json!({ "practice": true }), "`practice` must be off if several people play"),
            (json!({ "reaction": 900 }), "`reaction` must be missing if several people play"),
            (json!({ "snap_time": 5 }), "the time for snaps must be 1000 to 60000 ms, found 5 ms"),
            (json!({ "name": "x".repeat(25) }), "the name must have at most 24 characters"),
        ] {
            let mut request = json!({ "rules": "classic", "opponents": ["person"] });
            request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let (status, found) = sentence(post(&app, "api/tables", request.to_string()).await).await;
            assert!(status == 400 && found.starts_with(why), "{found}");
        }
        open(&app, "classic", &["person"], json!({})).await;
        let (status, why) = sentence(post(&app, "api/tables/1/hint", r#"{"agent":"greedy"}"#).await).await;
        assert_eq!((status, why.as_str()), (409, "hints are available only at a practice table"));
    });
}

#[test]
fn a_guest_can_open_eight_pages() {
    run(async {
        let app = app();
        let table = open(&app, "classic", &["person"], json!({})).await;
        let links = links(&app, table).await;
        let mut pages = Vec::new();
        for _ in 0..8 {
            pages.push(Page::linked(&app, &links[0].1, table).await);
        }
        let refused = sentence(get_as(&app, &links[0].1, "api/tables/1/events").await).await;
        assert_eq!(refused, (429, "at most 8 pages of a seat can be open".to_owned()));
        drop(pages);
        Page::linked(&app, &links[0].1, table).await;
    });
}
