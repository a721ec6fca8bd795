//! `cambio serve` keeps only its address: a page opens its table again when the server has started again.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

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
    fn start(folder: &Path, port: u16) -> Served {
        let mut command = command(folder, &format!("serve --port {port}"));
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

    /// Sends a request, and returns the status and the JSON of the answer.
    fn ask(&self, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map_or_else(String::new, |body| body.to_string());
        let head = format!("Host: {}\r\nContent-Type: application/json\r\nContent-Length: {}", self.host, body.len());
        write!(stream, "{method} /{}/{path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n{body}", self.token)
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What the person sees and is asked, without the number of the step.
fn shown(state: &Value) -> [Value; 2] {
    ["scene", "ask"].map(|field| state["hello"]["step"][field].clone())
}

#[test]
fn a_page_goes_on_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, port) = (folder.path(), free_port());
    let served = Served::start(folder, port);
    let token = served.token.clone();
    let request = json!({ "request": { "rules": "classic", "opponents": ["heuristic", "greedy"], "seed": "3" } });
    assert_eq!(served.ask("api/tables/1/open", Some(request)).0, 200);
    assert_eq!(served.ask("api/tables/1/act", Some(json!({ "at": 0, "action": "draw" }))).0, 200);
    let before = served.ask("api/tables/1/events", None).1;
    served.end(Signal::SIGKILL);

    let served = Served::start(folder, port);
    assert_eq!(served.token, token, "the address stays the same");
    assert_eq!(served.ask("api/tables/1/events", None).0, 404);
    let kept: Value = serde_json::from_str(before["kept"]["saved"].as_str().unwrap()).unwrap();
    assert_eq!(served.ask("api/tables/1/open", Some(kept)).0, 200);
    assert_eq!(shown(&served.ask("api/tables/1/events", None).1), shown(&before));
}

#[test]
fn the_token_belongs_to_the_user_and_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, port) = (folder.path(), free_port());
    Served::start(folder, 0).end(Signal::SIGTERM);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "a free port has a new token");
    let served = Served::start(folder, port);
    let path = folder.join(format!("state/cambio/serve-{port}.token"));
    assert_eq!(fs::read_to_string(&path).unwrap(), served.token);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&path), mode(path.parent().unwrap())], [0o600, 0o700]);
    served.end(Signal::SIGTERM);
    // A server whose token cannot be read has a new one.
    fs::write(&path, "../..").unwrap();
    let served = Served::start(folder, port);
    assert_eq!(served.ask("api/options", None).0, 200);
    let said = served.end(Signal::SIGTERM);
    assert!(said.starts_with("warning: the address of this server is new, and open pages must be"), "{said}");
    assert!(said.contains("is not a token; remove it"), "{said}");
}
