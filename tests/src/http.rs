use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Bounds a test that has failed.
const READ_TIMEOUT: Duration = Duration::from_secs(300);

/// An HTTP response.
#[derive(Debug)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The head as received.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answered {
    /// The body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// Makes one request on a connection of its own. `at` is an address or a URL; a body is JSON.
///
/// # Panics
/// If no response arrives.
#[must_use]
pub fn http(at: &str, method: &str, path: &str, body: &str) -> Answered {
    let (status, head, mut reader) = open(at, method, path, body);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("a body");
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = String::from_utf8(if is_chunked {
        join_chunks(&bytes)
    } else {
        bytes
    })
    .expect("text");
    Answered { status, head, body }
}

/// Reads server-sent events until `is_enough` accepts one or the stream ends.
///
/// # Panics
/// If the server rejects the request.
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
    stream.set_read_timeout(Some(READ_TIMEOUT)).expect("a time");
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

/// Joins the chunks of a body.
fn join_chunks(mut bytes: &[u8]) -> Vec<u8> {
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
