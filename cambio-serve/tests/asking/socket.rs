//! Requests to a server over a socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Sends a request to a host, and returns the beginning of the answer up to a text that it contains. The request is its line and,
/// after `|`, its body.
pub(crate) fn ask_until(host: &str, request: &str, until: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (line, body) = request.split_once('|').unwrap_or((request, ""));
    let length = body.len();
    let head =
        format!("Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close");
    write!(stream, "{line} HTTP/1.1\r\n{head}\r\n\r\n{body}").unwrap();
    let (mut answer, mut bytes) = (String::new(), [0; 4096]);
    while !answer.contains(until) {
        match stream.read(&mut bytes).unwrap() {
            0 => break,
            read => answer += &String::from_utf8_lossy(&bytes[..read]),
        }
    }
    answer
}
