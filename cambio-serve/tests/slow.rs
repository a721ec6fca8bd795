//! Connections over a network: slow clients are disconnected and do not delay other clients.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cambio_serve::{Server, Settings, fresh_token};

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

/// Runs a server during the test.
fn serving(patience: Duration, test: impl FnOnce(&Address)) {
    let settings = Settings { patience, ..Settings::new(cambio_agents::roster()) };
    let server = Server::bind(0, settings, fresh_token().unwrap()).unwrap();
    let (host, path) = server.address().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let address = Address { host: host.to_owned(), path: format!("/{path}") };
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let serving = std::thread::spawn(move || server.run(|| told.load(Ordering::Relaxed)));
    test(&address);
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
    let head = format!("POST {path}api/tables/1/open HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
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
