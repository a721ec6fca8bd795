//! Connections over a network: slow clients are disconnected and do not delay other clients, and the local network reaches only links.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cambio_serve::{Server, Settings};
use socket::ask_until;

#[path = "asking/socket.rs"]
mod socket;

/// The number of slow clients, below the server's connection limit.
const SLOW: usize = 200;

struct Address {
    host: String,
    path: String,
}

impl Address {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// Requests the home page, and returns the status line and the time that the response took.
    fn ask(&self) -> (String, Duration) {
        let (begun, mut stream) = (Instant::now(), self.connect());
        let Address { host, path } = self;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.lines().next().unwrap_or_default().to_owned(), begun.elapsed())
    }
}

/// Opens a table for two guests, and returns the path of the first guest's link.
fn open_table(address: &Address) -> String {
    let Address { host, path } = address;
    let wish = r#"{"rules":"classic","opponents":["person","person"]}"#;
    let opened = ask_until(host, &format!("POST {path}api/tables|{wish}"), r#"{"table":1}"#);
    assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
    let room = ask_until(host, &format!("GET {path}api/tables/1/events"), "play.html?table=1");
    let link = room.split("http://").nth(1).unwrap().split("play.html").next().unwrap();
    link.strip_prefix(host.as_str()).unwrap().to_owned()
}

#[test]
fn a_guest_cannot_take_all_connections() {
    serving(Duration::from_secs(60), |address| {
        let path = open_table(address);
        let host = &address.host;
        let begun = format!(
            "POST {path}api/tables/1/sit HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        );
        let mut slow: Vec<TcpStream> = (0..300).map(|_| address.connect()).collect();
        for stream in &mut slow {
            // The server may have closed this connection already.
            let _ = write!(stream, "{begun}");
        }
        let (status, took) = address.ask();
        assert_eq!(status, "HTTP/1.1 200 OK");
        assert!(took < Duration::from_secs(5), "it took {took:?}");
        let guest = Address { host: host.clone(), path: format!("{path}play.html") };
        assert_eq!(guest.ask().0, "HTTP/1.1 429 Too Many Requests");
        // When the connections are closed, the guest is served again.
        drop(slow);
        let begun = Instant::now();
        while guest.ask().0 != "HTTP/1.1 200 OK" {
            assert!(begun.elapsed() < Duration::from_secs(10), "the places stay taken");
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}

/// Runs a server during the test.
fn serving(patience: Duration, test: impl FnOnce(&Address)) {
    let settings = Settings { patience, ..Settings::new(cambio_agents::roster()) };
    let server = Server::bind(0, settings, None).unwrap();
    let (host, path) = server.address().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let address = Address { host: host.to_owned(), path: format!("/{path}") };
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let serving = std::thread::spawn(move || server.run(|| told.load(Ordering::Relaxed)));
    test(&address);
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

// On Linux, every address that begins with 127 is an address of this machine, so this one stands for a local network.
#[cfg(target_os = "linux")]
#[test]
fn the_local_network_reaches_links_and_not_the_pages_of_the_server() {
    let network = Some("127.0.0.2".parse().unwrap());
    let server = Server::bind(0, Settings { network, ..Settings::new(cambio_agents::roster()) }, None).unwrap();
    let (own, token) = server.address().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let (own, token) = (own.to_owned(), token.trim_end_matches('/').to_owned());
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let serving = std::thread::spawn(move || server.run(|| told.load(Ordering::Relaxed)));
    let opened = ask_until(
        &own,
        &format!(r#"POST /{token}/api/tables|{{"rules":"classic","opponents":["person"]}}"#),
        r#"{"table":1}"#,
    );
    assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
    let room = ask_until(&own, &format!("GET /{token}/api/tables/1/events"), "play.html?table=1");
    let link = room.split("http://").nth(1).unwrap().split("play.html").next().unwrap();
    let (network, path) = link.split_once('/').unwrap();
    assert_eq!(network, own.replace("127.0.0.1", "127.0.0.2"));
    for (host, path, status) in [
        (network, format!("/{path}play.html"), "200"),
        (network, format!("/{path}api/options"), "404"),
        (network, format!("/{token}/"), "403"),
        (&own, format!("/{path}play.html"), "200"),
        (&own, format!("/{token}/"), "200"),
    ] {
        let answer = ask_until(host, &format!("GET {path}"), "\r\n");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}{path}: {answer}");
    }
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap();
}

#[test]
fn connections_without_the_token_give_way_to_others() {
    serving(Duration::from_secs(60), |address| {
        let Address { host, path } = address;
        for head in [
            "GET / HTTP/1.1\r\nHo".to_owned(),
            format!("GET /x/ HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            format!("POST /x/ HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n"),
        ] {
            // A connection with the token is kept.
            let mut kept = address.connect();
            let mut ask = || {
                write!(kept, "HEAD {path}play.html HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
                let mut answer = Vec::new();
                while !answer.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    kept.read_exact(&mut byte).unwrap();
                    answer.extend(byte);
                }
                assert!(answer.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer));
            };
            ask();
            // More connections than the server has places.
            let mut others: Vec<TcpStream> = (0..300).map(|_| address.connect()).collect();
            for other in &mut others {
                // The server may have closed this connection already.
                let _ = write!(other, "{head}");
            }
            let (status, took) = address.ask();
            assert_eq!(status, "HTTP/1.1 200 OK");
            assert!(took < Duration::from_secs(5), "{head:?}: it took {took:?}");
            ask();
        }
    });
}

#[test]
fn slow_clients_are_disconnected_and_do_not_delay_others() {
    serving(Duration::from_secs(2), slow_clients);
}

fn slow_clients(address: &Address) {
    let full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let Address { host, path } = address;
    let head = format!("POST {path}api/tables HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    let mut slow: Vec<TcpStream> = (0..SLOW).map(|_| address.connect()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        // These clients never finish the head of the request. In the full test, which takes a minute, half of the
        // clients send a complete head and only a part of the body.
        let body = if number % 2 == 0 || !full { "" } else { "Content-Length: 100\r\n\r\n{" };
        write!(stream, "{head}{body}").unwrap();
    }
    let (status, took) = address.ask();
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(took < Duration::from_secs(5), "it took {took:?} among slow clients");

    // The server responds to or disconnects every slow client.
    for (number, stream) in slow.iter_mut().enumerate() {
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            // A reset also ends the connection.
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "client {number}");
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.starts_with("HTTP/1.1 200"), "client {number}: {answer}");
    }
    assert_eq!(address.ask().0, "HTTP/1.1 200 OK");
}
