//! Hostile clients and malformed requests get a clear error.

use cambio_agents::roster;
use cambio_core::Seat;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_serve::Settings;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response};

use crate::asking::{HOST, TOKEN, amount, app_with, get, post, read, run, sentence, table};

#[test]
fn requests_without_the_token_or_from_elsewhere_are_rejected() {
    let app = app_with(Settings::new(roster()));
    let ask = |path: &str, headers: &[(&str, &str)], method: &str| {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        run(async { sentence_or_page(app.respond(request.body(Full::default()).unwrap()).await).await })
    };
    let ours = &[("host", HOST)][..];
    let home = format!("/{TOKEN}/");
    assert_eq!(ask(&home, ours, "GET"), (200, String::new()));
    assert_eq!(ask(&home, &[("host", "localhost:8417"), ("origin", "http://localhost:8417")], "GET").0, 200);
    let no_token =
        "this address does not contain the token of this server; open the address that `cambio serve` printed";
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

async fn sentence_or_page(response: Response<Full<Bytes>>) -> (u16, String) {
    for header in ["content-security-policy", "x-content-type-options", "referrer-policy"] {
        assert!(response.headers().contains_key(header), "{header}");
    }
    let (status, text) = read(response).await;
    (status, if status == 200 { String::new() } else { sentence(&text) })
}

#[test]
fn every_error_is_a_sentence_in_json() {
    run(async {
        let app = app_with(Settings::new(roster()));
        let open = "api/tables/1/open";
        for (path, body, status, what) in [
            (open, table(r#"external("touch /tmp/pwned")"#), 400, "start `cambio serve` with `--with`"),
            (open, table(r#"learned("/etc/passwd")"#), 400, "is not allowed here"),
            (open, "[".to_owned(), 400, "the request is not valid"),
            // A match that is continued comes with its record, which may be long.
            (open, " ".repeat(70_000), 400, "the request is not valid"),
            (open, " ".repeat(3_000_000), 413, "which may have up to 2097152 bytes: length limit exceeded"),
            ("api/tables/7/act", r#"{"at":0,"action":"draw"}"#.to_owned(), 404, "this table is not open"),
            ("runs.html", String::new(), 405, "the method must be GET"),
        ] {
            let (found, text) = post(&app, path, body).await;
            assert!(found == status && sentence(&text).contains(what), "{path}: {found} {text}");
        }
        for (path, status, what) in [
            ("api/tables/null/events", 404, "there is no such page"),
            ("api/runs/replay", 400, "missing field `run`"),
            ("api/runs/replay?run=x&match=1", 404, "there is no run folder `x`"),
            ("api/runs/search", 404, "there is no such page"),
            ("runs/report?run=x", 404, "there is no run folder `x`"),
            ("api/replay", 404, "there is no such page"),
            ("no/such/page", 404, "there is no such page"),
        ] {
            let (found, text) = get(&app, path).await;
            assert!(found == status && sentence(&text).contains(what), "{path}: {found} {text}");
        }
        let plain = Request::post(format!("/{TOKEN}/{open}")).header("host", HOST).header("content-type", "text/plain");
        let (status, text) = read(app.respond(plain.body(Full::from(table("greedy"))).unwrap()).await).await;
        assert_eq!(status, 415);
        assert_eq!(sentence(&text), "the content type must be `application/json`, found `text/plain`");
    });
}

/// A random request that combines valid and invalid parts.
fn fuzzed(stream: &mut Stream) -> Request<Full<Bytes>> {
    let mut pick = |list: &[&str]| list[stream.below(list.len() as u32) as usize].to_owned();
    let method = pick(&["GET", "GET", "POST", "POST", "POST", "HEAD", "PUT"]);
    let token = pick(&[TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, "x", ""]);
    let path = pick(&[
        "",
        "play.html",
        "watch.html",
        "runs.html",
        "analyse.html",
        "api/position",
        "api/advise",
        "assets/play.js",
        "assets/../x",
        "api/options",
        "api/tables/1/open",
        "api/tables/2/open",
        "api/tables/1/act",
        "api/tables/1/undo",
        "api/tables/1/next",
        "api/tables/1/hint",
        "api/tables/1/events",
        "api/tables/-1/act",
        "api/tables/99999999999999999999/act",
        "api/tables/1/record",
        "api/tables/1/replay",
        "api/replay",
        "api/matches",
        "api/reviews",
        "api/reviews/1",
        "api/runs",
        "api/runs/replay?run=..%2F..&match=0",
        "api/runs/replay?run=x",
        "runs/report?run=%2Fetc",
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
        "{}",
        r#"{"agent":"greedy"}"#,
        r#"{"agent":"learned(\"x\")"}"#,
        r#"{"request":{"rules":"mini-m0","opponents":["random"]}}"#,
        r#"{"request":{"rules":"x = 1","opponents":["random"]}}"#,
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
    request.header("content-type", kind.as_bytes()).body(Full::from(body)).unwrap()
}

#[test]
fn fuzzed_requests_get_an_answer_and_no_server_error() {
    let requests = amount(3_000, 100_000);
    run(async {
        let app = app_with(Settings::new(roster()));
        assert_eq!(post(&app, "api/tables/1/open", table("greedy")).await.0, 200);
        let mut stream = Key::new(7, 0).agent(Seat::A);
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..requests {
            let request = fuzzed(&mut stream);
            let shown = format!("{} {}", request.method(), request.uri());
            let (status, text) = read(app.respond(request).await).await;
            assert!(status < 500, "request {number}, {shown}: {status} {text}");
            *counts.entry(status).or_insert(0u64) += 1;
        }
        assert!(counts.len() >= 7 && counts[&200] > requests / 20, "{counts:?}");
    });
}
