//! Units in an object store give the same bytes as one run, also if requests fail. One server is the Python package moto, which the test
//! installs from the public registry into a separate virtual environment. If that is not possible, this test is skipped with a message.
//! The other server is part of the test, and has faults.

#![cfg(feature = "cloud")]

use crate::command::said;
use crate::folder::folder;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The path of a Python that has the package moto. `CAMBIO_MOTO` can give the path of an existing Python.
fn python() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CAMBIO_MOTO") {
        return Some(named.into());
    }
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moto-venv");
    let python = home.join("bin/python");
    let has_moto = || succeeds(Command::new(&python).args(["-c", "import moto.server"]));
    if !has_moto() {
        let install = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30", "moto[server]>=5"];
        let is_made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&home))
            && succeeds(Command::new(&python).args(install));
        (is_made && has_moto()).then_some(())?;
    }
    Some(python)
}

/// Runs the command with a bucket at this address.
fn command(folder: &Path, endpoint: &str, words: &str) -> Output {
    crate::command::command(folder, words)
        .envs([("AWS_ENDPOINT", endpoint), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1")])
        .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")])
        .output()
        .unwrap()
}

/// Runs a command that must succeed, and returns its output.
fn cambio(folder: &Path, endpoint: &str, words: &str) -> String {
    let output = command(folder, endpoint, words);
    assert!(output.status.success(), "{words}: {}", said(&output));
    said(&output)
}

#[test]
fn units_in_a_bucket_give_the_bytes_of_one_run() {
    let Some(python) = python() else {
        println!("skipped: cannot create a Python environment with moto");
        return;
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let program = format!("from moto.server import main; main(['-p', '{port}'])");
    let server = Command::new(&python).args(["-c", &program]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _server = Server(server.unwrap());
    let is_up = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    assert!(is_up, "moto does not start");
    let endpoint = format!("http://127.0.0.1:{port}");
    let bucket = format!("import urllib.request as u; u.urlopen(u.Request('{endpoint}/cambio', method='PUT'))");
    assert!(succeeds(Command::new(&python).args(["-c", &bucket])));
    let folder = folder("s3");
    let spec = "seed = 8\ndeals = 120\nrules = ['classic', 'faessler']\nseats = [2, 3]\n\
                agents = ['random', 'random(pass=0.9)', 'greedy']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let cambio = |words: &str| cambio(&folder, &endpoint, words);
    cambio("run spec.toml --out one --quiet");
    cambio("units begin spec.toml --store s3://cambio/runs/shared");
    for index in [2, 0, 1] {
        cambio(&format!("units play --store s3://cambio/runs/shared --index {index} --of 3 --quiet"));
    }
    cambio("units play --store s3://cambio/runs/shared --index 0 --of 3 --again --quiet");
    assert!(cambio("units show --store s3://cambio/runs/shared").contains("3 units with "));
    cambio("units merge --store s3://cambio/runs/shared --out many --quiet");
    for name in ["matches.csv", "rounds.csv", "players.csv", "ledger.jsonl", "summary.csv", "manifest.json"] {
        let read = |run: &str| fs::read(folder.join(run).join(name)).unwrap();
        assert!(read("one") == read("many"), "{name} differs");
    }
}

/// What an object store does to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    InternalError,
    SlowDown,
    /// The object is stored or read, but the answer is an error.
    LateError,
    Delay,
    /// The connection ends without an answer.
    HangUp,
    /// The connection ends in the middle of the body.
    Cut,
}

const FAULTS: [Fault; 6] =
    [Fault::InternalError, Fault::SlowDown, Fault::LateError, Fault::Delay, Fault::HangUp, Fault::Cut];

/// A small object store: objects, which never change, lists, and writes that fail if the object exists. `fault` returns the fault of a request by its
/// number.
struct Objects {
    stored: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: AtomicU64,
    faults: Mutex<BTreeMap<String, u64>>,
    fault: fn(u64) -> Option<Fault>,
}

impl Objects {
    /// Serves connections until the process ends. Returns the address.
    fn serve(fault: fn(u64) -> Option<Fault>) -> (Arc<Objects>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (stored, requests, faults) = (Mutex::default(), AtomicU64::new(0), Mutex::default());
        let store = Arc::new(Objects { stored, requests, faults, fault });
        let served = Arc::clone(&store);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let store = Arc::clone(&served);
                // A client that hangs up is part of the test.
                std::thread::spawn(move || drop(store.answer(stream)));
            }
        });
        (store, address)
    }

    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut input = BufReader::new(stream.try_clone()?);
        let mut line = String::new();
        input.read_line(&mut line)?;
        let [method, target, ..] = line.split(' ').collect::<Vec<_>>()[..] else { return Ok(()) };
        let (mut length, mut range, mut is_new_only) = (0, None, false);
        let mut header = String::new();
        while input.read_line(&mut header)? > 2 {
            let (name, value) = header.trim_end().split_once(": ").unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "range" => range = Some(value.to_owned()),
                "if-none-match" => is_new_only = true,
                _ => {}
            }
            header.clear();
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let fault = (self.fault)(self.requests.fetch_add(1, Ordering::Relaxed));
        if let Some(fault) = fault {
            *self.faults.lock().unwrap().entry(format!("{fault:?} of {method}")).or_default() += 1;
        }
        let error =
            |status: &str, code: &str| (status.to_owned(), format!("<Error><Code>{code}</Code></Error>").into_bytes());
        let (status, sent) = match fault {
            Some(Fault::InternalError) => error("500 Internal Server Error", "InternalError"),
            Some(Fault::SlowDown) => error("503 Slow Down", "SlowDown"),
            Some(Fault::HangUp) => return Ok(()),
            _ => {
                let done = self.carry_out(method, target, body, range, is_new_only);
                if fault == Some(Fault::LateError) { error("500 Internal Server Error", "InternalError") } else { done }
            }
        };
        if fault == Some(Fault::Delay) {
            std::thread::sleep(Duration::from_millis(400));
        }
        let mut stream = stream;
        let length = sent.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"1\"\r\nConnection: close\r\n\
             Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n"
        )?;
        stream.write_all(if fault == Some(Fault::Cut) { &sent[..length / 2] } else { &sent })
    }

    fn carry_out(
        &self,
        method: &str,
        target: &str,
        body: Vec<u8>,
        range: Option<String>,
        is_new_only: bool,
    ) -> (String, Vec<u8>) {
        let mut objects = self.stored.lock().unwrap();
        let ok = |bytes| ("200 OK".to_owned(), bytes);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let key = path.trim_start_matches("/cambio").trim_start_matches('/').to_owned();
        if method == "PUT" {
            if is_new_only && objects.contains_key(&key) {
                return ("412 Precondition Failed".to_owned(), Vec::new());
            }
            objects.insert(key, body);
            return ok(Vec::new());
        }
        if query.contains("list-type=2") {
            let prefix = query.split('&').find_map(|field| field.strip_prefix("prefix=")).unwrap_or_default();
            let prefix = prefix.replace("%2F", "/");
            let found = objects.iter().filter(|(key, _)| key.starts_with(&prefix)).map(|(key, bytes)| {
                let (size, time) = (bytes.len(), "2026-01-01T00:00:00.000Z");
                format!("<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>{time}</LastModified></Contents>")
            });
            let found = found.collect::<String>();
            return ok(format!("<ListBucketResult>{found}</ListBucketResult>").into_bytes());
        }
        let Some(bytes) = objects.get(&key) else {
            return ("404 Not Found".to_owned(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec());
        };
        let first = range.and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse::<usize>().ok());
        match first {
            Some(first) => {
                let (last, all) = (bytes.len() - 1, bytes.len());
                (format!("206 Partial Content\r\nContent-Range: bytes {first}-{last}/{all}"), bytes[first..].to_vec())
            }
            None => ok(bytes.clone()),
        }
    }
}

#[test]
fn an_object_store_with_faults_loses_nothing() {
    let (store, endpoint) = Objects::serve(|number| {
        // Three requests in five have a fault, but not two in a row.
        let is_faulty = number % 2 == 1 || number % 10 == 4;
        is_faulty.then_some(FAULTS[(number / 2) as usize % FAULTS.len()])
    });
    let folder = folder("s3-faults");
    let spec = "seed = 8\ndeals = 60\nrules = ['classic']\nseats = [2, 3]\nagents = ['random', 'greedy']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    cambio(&folder, &endpoint, "run spec.toml --out one --quiet");
    cambio(&folder, &endpoint, "units begin spec.toml --store s3://cambio/runs/shared");
    let parts = crate::amount(4, 40);
    for index in 0..parts {
        cambio(
            &folder,
            &endpoint,
            &format!("units play --store s3://cambio/runs/shared --index {index} --of {parts} --quiet"),
        );
    }
    cambio(&folder, &endpoint, "units merge --store s3://cambio/runs/shared --out many --quiet");
    let read = |run: &str, name: &str| fs::read(folder.join(run).join(name)).unwrap();
    for name in ["matches.csv", "rounds.csv", "players.csv", "ledger.jsonl", "summary.csv", "manifest.json"] {
        assert!(read("one", name) == read("many", name), "{name} differs");
    }
    let faults = store.faults.lock().unwrap().clone();
    println!("{} requests, faults: {faults:?}", store.requests.load(Ordering::Relaxed));
    assert!(faults.len() > 8 && faults.values().sum::<u64>() > 15, "{faults:?}");
}

#[test]
fn an_object_store_that_only_fails_is_reported() {
    let (_, endpoint) = Objects::serve(|_| Some(Fault::InternalError));
    let folder = folder("s3-down");
    let begun = std::time::Instant::now();
    let output = command(&folder, &endpoint, "units show --store s3://cambio/runs/shared");
    let said = String::from_utf8_lossy(&output.stderr);
    println!("{:?}: {said}", begun.elapsed());
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: cannot read s3://cambio/runs/shared/plan.json: "), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
}
