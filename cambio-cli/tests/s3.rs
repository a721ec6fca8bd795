//! Units in an S3 bucket give the same bytes as one run. The server is the Python package moto, which the test installs
//! from the public registry into a separate virtual environment. If that is not possible, the test is skipped with a
//! message.

#![cfg(feature = "cloud")]

use crate::folder::folder;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
    let cambio = |words: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_cambio"))
            .current_dir(&folder)
            .args(words.split(' '))
            .envs([("AWS_ENDPOINT", endpoint.as_str()), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1")])
            .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{words}: {said}");
        said
    };
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
