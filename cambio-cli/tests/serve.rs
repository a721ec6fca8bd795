//! `cambio serve` keeps its tables: a restart loses nothing, whatever ended the server.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use cambio_core::{Record, replay};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::command::command;

/// A server, which is killed if the test fails.
struct Served {
    child: Child,
    host: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Starts a server whose user has no other folders than this one.
    fn start(folder: &Path, words: &str) -> Served {
        let mut command = command(folder, &format!("serve {words}"));
        let mut child = command.env("HOME", folder).env("XDG_STATE_HOME", folder.join("state")).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let mut parts = address.trim().split('/').skip(2).map(str::to_owned);
        let [host, token] = [(); 2].map(|()| parts.next().unwrap_or_else(|| panic!("{:?}", child.wait())));
        Served { child, host, token }
    }

    /// Ends the server, and returns the text of its standard error.
    fn end(mut self, signal: Signal) -> String {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
        self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    /// Sends a request, and returns the beginning of the answer that ends with an event for which `is_last` returns true.
    fn request(&self, token: &str, path: &str, body: Option<Value>, is_last: impl Fn(&Value) -> bool) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map_or_else(String::new, |body| body.to_string());
        let head = format!("Host: {}\r\nContent-Type: application/json\r\nContent-Length: {}", self.host, body.len());
        write!(stream, "{method} /{token}/{path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
        let mut answer = BufReader::new(stream);
        let mut status = String::new();
        answer.read_line(&mut status).unwrap();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        // The data of an event, or the body, is one line of JSON. A stream without events has comments.
        let begun = Instant::now();
        let texts = answer.lines().map(|line| line.unwrap()).take_while(|_| begun.elapsed() < Duration::from_secs(60));
        let mut found =
            texts.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(&line)).ok());
        (status, found.find(|value: &Value| value.is_object() && is_last(value)).unwrap_or_default())
    }

    fn ask(&self, token: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.request(token, path, body, |_| true)
    }

    fn post(&self, token: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(token, path, Some(body));
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// The current step of a person, or the first later one that has a question or ends the round, after step `n`.
    fn step_after(&self, n: i64, token: &str, table: u64) -> Value {
        let of = |event: &Value| event.get("step").unwrap_or(event).clone();
        let is_due = |event: &Value| {
            let step = of(event);
            step["n"].as_i64().is_some_and(|number| number > n) && !(step["ask"].is_null() && step["end"].is_null())
        };
        of(&self.request(token, &format!("api/tables/{table}/events"), None, is_due).1)
    }

    fn step(&self, token: &str, table: u64) -> Value {
        self.step_after(-1, token, table)
    }

    /// Decides for a person, up to this number of decisions. Returns the last step.
    fn play(&self, token: &str, table: u64, decisions: usize) -> Value {
        let mut step = self.step(token, table);
        for _ in 0..decisions {
            let Some(choices) = step["ask"]["choices"].as_array() else { break };
            let liked = choices.iter().find(|choice| *choice == "pass" || *choice == "call").unwrap_or(&choices[0]);
            let request = json!({ "at": step["n"], "action": liked });
            // The time of a snap window may be up.
            let (status, answer) = self.ask(token, &format!("api/tables/{table}/act"), Some(request));
            assert!([200, 409].contains(&status), "{answer}");
            step = self.step_after(step["n"].as_i64().unwrap(), token, table);
        }
        step
    }

    fn open(&self, opponents: &[&str]) -> u64 {
        let request =
            json!({ "rules": "classic", "opponents": opponents, "name": "Ann", "seed": "3", "snap_time": 1000 });
        self.post(&self.token, "api/tables", request)["table"].as_u64().unwrap()
    }
}

/// What a person sees and is asked, without the number of the step.
fn shown(step: &Value) -> [Value; 3] {
    ["scene", "ask", "end"].map(|field| step[field].clone())
}

/// Waits until the file of a table has the given number of decisions at least.
fn wait_for_decisions(folder: &Path, table: u64, decisions: usize) {
    let begun = Instant::now();
    let path = folder.join(format!("kept/table-{table}.json"));
    let has_all = || {
        let saved: Value = serde_json::from_str(&fs::read_to_string(&path).ok()?).unwrap();
        (saved["session"]["decisions"].as_array().unwrap().len() >= decisions).then_some(())
    };
    while has_all().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} is not written", path.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

const KEPT: &str = "--port 0 --keep kept";

#[test]
fn matches_in_progress_and_finished_matches_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = Served::start(folder, KEPT);
    let token = served.token.clone();
    let (going, over) = (served.open(&["heuristic", "greedy"]), served.open(&["greedy"]));
    let before = served.play(&token, going, 2);
    assert!(served.play(&token, over, 100)["end"].is_object());
    let (_, record) = served.ask(&token, "api/tables/2/record", None);
    let decisions = Record::read(&record.to_string()).unwrap().rounds[0].decisions.len();
    wait_for_decisions(folder, over, decisions);
    wait_for_decisions(folder, going, 2);
    served.end(Signal::SIGKILL);
    for name in ["token", "table-1.json", "table-2.json"] {
        assert_eq!(fs::metadata(folder.join("kept").join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(fs::metadata(folder.join("kept")).unwrap().permissions().mode() & 0o777, 0o700);

    let served = Served::start(folder, KEPT);
    assert_eq!(served.token, token, "the address stays the same");
    let (_, options) = served.ask(&token, "api/options", None);
    assert_eq!([&options["tables"][0]["over"], &options["tables"][1]["over"]], [false, true]);
    assert_eq!(served.ask(&token, "api/tables/2/record", None).1, record);
    assert_eq!(served.ask(&token, "api/tables/2/film", None).0, 200);
    assert_eq!(shown(&served.step(&token, going)), shown(&before));
    assert!(served.play(&token, going, 100)["end"].is_object());
    let played = Record::read(&served.ask(&token, "api/tables/1/record", None).1.to_string()).unwrap();
    assert_eq!(replay(&played, &mut ()).unwrap(), played);
    // A closed table has no file, and a new table gets a new number.
    served.post(&token, "api/tables/1/close", json!({}));
    assert_eq!(served.open(&["greedy"]), 3);
    served.end(Signal::SIGTERM);
    let mut names: Vec<_> = fs::read_dir(folder.join("kept")).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["table-2.json", "table-3.json", "token"]);
}

#[test]
fn friends_play_on_with_the_same_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = Served::start(folder, KEPT);
    let table = served.open(&["person", "person", "greedy"]);
    let host = served.token.clone();
    let (_, room) = served.ask(&host, "api/tables/1/events", None);
    let link = |seat: usize| room["players"][seat]["link"].as_str().unwrap().split('/').nth(3).unwrap().to_owned();
    let (bob, eve) = (link(1), link(2));
    served.post(&bob, "api/tables/1/sit", json!({ "name": "Bob" }));
    // Before the match.
    served.end(Signal::SIGTERM);
    let served = Served::start(folder, KEPT);
    let (_, room) = served.ask(&eve, "api/tables/1/events", None);
    assert_eq!([&room["players"][0]["name"], &room["players"][1]["name"]], ["Ann", "Bob"]);
    assert_eq!([&room["seat"], &room["has_begun"]], [&json!("c"), &json!(false)]);
    served.post(&eve, "api/tables/1/sit", json!({ "name": "Eve" }));
    // In the match.
    served.post(&host, "api/tables/1/act", json!({ "at": served.step(&host, table)["n"], "action": "draw" }));
    let before = served.step(&host, table);
    served.end(Signal::SIGTERM);
    let served = Served::start(folder, KEPT);
    assert_eq!(shown(&served.step(&host, table)), shown(&before));
    for guest in [&bob, &eve] {
        let (_, room) = served.ask(guest, "api/tables/1/events", None);
        let names: Vec<_> = room["players"].as_array().unwrap().iter().map(|player| player["name"].clone()).collect();
        assert_eq!(json!([names, room["has_begun"]]), json!([["Ann", "Bob", "Eve", null], true]));
    }
    // After a person has left.
    served.post(&bob, "api/tables/1/leave", json!({}));
    served.end(Signal::SIGTERM);
    let served = Served::start(folder, KEPT);
    assert_eq!(served.ask(&bob, "play.html", None).0, 403);
    assert_eq!(served.ask(&eve, "api/tables/1/act", Some(json!({ "at": 0, "action": "?" }))).0, 409);
    std::thread::scope(|people| {
        for token in [&host, &eve] {
            people.spawn(|| while !served.play(token, table, 1)["end"].is_object() {});
        }
    });
    let (status, record) = served.ask(&eve, "api/tables/1/record", None);
    assert_eq!(status, 200, "{record}");
    let people = json!([{ "seat": "a", "name": "Ann" }, { "seat": "b", "name": "Bob", "left": true }, { "seat": "c", "name": "Eve" }]);
    assert_eq!(record["x-person"]["people"], people);
    // Another match with other cards.
    served.post(&host, "api/tables/1/begin", json!({}));
    let before = served.step(&host, table);
    served.end(Signal::SIGTERM);
    let served = Served::start(folder, KEPT);
    assert_eq!(shown(&served.step(&host, table)), shown(&before));
    let saved: Value = serde_json::from_str(&fs::read_to_string(folder.join("kept/table-1.json")).unwrap()).unwrap();
    assert!(saved["room"]["seed"].is_string(), "the seed of the request was for the first match");
}

#[test]
fn files_that_cannot_be_restored_stay_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = Served::start(folder, &format!("{KEPT} --with lookahead(worlds=20000)"));
    served.open(&["lookahead(worlds=20000)"]);
    for _ in 0..4 {
        served.open(&["greedy"]);
    }
    let token = served.token.clone();
    served.end(Signal::SIGTERM);
    let path = |table: u64| folder.join(format!("kept/table-{table}.json"));
    let text = fs::read_to_string(path(2)).unwrap();
    fs::write(path(2), &text[..text.len() / 2]).unwrap();
    fs::write(path(3), text.replace("\"classic\"", "\"nonsense\"")).unwrap();
    fs::write(path(4), text.replace("\"decisions\":[]", "\"decisions\":[[\"keep a1\",true,null]]")).unwrap();
    fs::write(folder.join("kept/table-01.json"), "not a table of the server").unwrap();
    fs::write(path(7), vec![b' '; 17 << 20]).unwrap();
    fs::write(folder.join("kept/token"), "../..").unwrap();
    let contents = || [1, 2, 3, 4, 7].map(|table| fs::read(path(table)).unwrap());
    let before = contents();
    let served = Served::start(folder, KEPT);
    assert_ne!(served.token, token);
    let (_, options) = served.ask(&served.token, "api/options", None);
    let open: Vec<&Value> = options["tables"].as_array().unwrap().iter().map(|table| &table["table"]).collect();
    assert_eq!(open, [5]);
    assert_eq!(served.open(&["greedy"]), 8, "the numbers of the files are in use");
    let said = served.end(Signal::SIGTERM);
    for (what, why) in [
        ("table-1", "start `cambio serve` with `--with` to allow this agent; the file stays as it is"),
        ("table-2", "EOF while parsing"),
        ("table-3", "nonsense"),
        ("table-4", "the saved match has an error in decision 1; the file stays as it is"),
        ("table-7", "the file is too large: expected at most 16777216 bytes"),
        ("the token in", "expected 32 hexadecimal digits; the address of this server is new"),
    ] {
        let said: Vec<&str> = said.lines().filter(|line| line.contains(what)).collect();
        assert!(said.len() == 1 && said[0].starts_with("warning: cannot re") && said[0].contains(why), "{said:?}");
    }
    assert_eq!(contents(), before);
    // With the option, nothing is lost.
    let served = Served::start(folder, &format!("{KEPT} --with lookahead(worlds=20000)"));
    assert_eq!(served.ask(&served.token, "api/tables/1/record", None).0, 409, "the match is in progress");
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = Served::start(folder, KEPT);
    let second = crate::command::cambio(folder, &format!("serve {KEPT}"));
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(
        said,
        format!(
            "error: another `cambio serve` keeps its tables in {}; stop it first, or choose another folder with --keep\n",
            fs::canonicalize(folder.join("kept")).unwrap().display()
        )
    );
    assert_eq!(first.ask(&first.token, "api/options", None).0, 200);
}

#[test]
fn the_default_folder_belongs_to_the_user_and_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for words in ["--port 0", "--port 0 --keep none"] {
        Served::start(folder, words).end(Signal::SIGTERM);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{words}: nothing is kept");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let served = Served::start(folder, &format!("--port {port}"));
    let token = fs::read_to_string(folder.join(format!("state/cambio/serve-{port}/token"))).unwrap();
    assert_eq!(token.trim(), served.token);
    served.end(Signal::SIGTERM);
    // A server whose default folder cannot be used plays without it.
    fs::remove_dir_all(folder.join("state")).unwrap();
    fs::write(folder.join("state"), "").unwrap();
    let served = Served::start(folder, &format!("--port {port}"));
    assert_eq!(served.open(&["greedy"]), 1);
    let said = served.end(Signal::SIGTERM);
    assert!(said.starts_with("warning: the tables are lost when this server stops: cannot write "), "{said}");
    assert!(said.contains("or choose another folder with --keep"), "{said}");
}
