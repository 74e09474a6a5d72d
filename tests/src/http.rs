use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long a server may be silent that has something to say; only bounds a test that has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a server answered over HTTP.
#[derive(Debug)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The head, as it came.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answered {
    /// The body as JSON.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// A request that closes its connection. `at` is an address or a URL; the body is JSON, if it is not empty.
///
/// # Panics
/// If nobody answers.
#[must_use]
pub fn http(at: &str, method: &str, path: &str, body: &str) -> Answered {
    let (status, head, mut reader) = open(at, method, path, body);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("a body");
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = String::from_utf8(if is_chunked { whole(&bytes) } else { bytes }).expect("text");
    Answered { status, head, body }
}

/// The data of a stream of server-sent events, each as JSON with its name, until `is_enough` or the end of the stream.
///
/// # Panics
/// If the stream is refused.
pub fn events(
    at: &str,
    method: &str,
    path: &str,
    body: &str,
    mut is_enough: impl FnMut(&str, &Value) -> bool,
) {
    let (status, head, reader) = open(at, method, path, body);
    assert_eq!(status, 200, "{head}");
    let mut name = String::new();
    for line in reader.lines().map_while(Result::ok) {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_string();
        } else if let Some(data) = line.strip_prefix("data: ") {
            let data =
                serde_json::from_str(data).unwrap_or_else(|error| panic!("{error} in {data}"));
            if is_enough(&name, &data) {
                return;
            }
        }
    }
}

fn open(at: &str, method: &str, path: &str, body: &str) -> (u16, String, BufReader<TcpStream>) {
    let address = at.trim_start_matches("http://");
    let mut stream =
        TcpStream::connect(address).unwrap_or_else(|error| panic!("{error} at {address}"));
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    let kind = if body.is_empty() && method == "GET" {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{kind}Content-Length: {length}\r\n\r\n"
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .expect("it listens");
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(
            reader.read_line(&mut head).expect("a head"),
            0,
            "no head: {head}"
        );
    }
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .expect("a status");
    (status, head, reader)
}

/// The chunks of a body, joined.
fn whole(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = bytes
            .windows(2)
            .position(|two| two == b"\r\n")
            .expect("a chunk's length");
        let length = std::str::from_utf8(&bytes[..end]).expect("text");
        let length = usize::from_str_radix(length, 16).expect("a number");
        if length == 0 {
            return body;
        }
        body.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
}
