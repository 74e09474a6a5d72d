//! More clients than a server has open files.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use kagetsu_tests::{Program, Running, Scratch, words};
use nix::sys::signal::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The preface of an HTTP/2 client and an empty SETTINGS frame.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const ASKS: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// Open files that the server may have.
const MAX_OPEN_FILES: usize = 240;

/// Connects from an address of this machine and sends `says`. Returns whether the server answers.
async fn client(from: Ipv4Addr, to: SocketAddr, says: &[u8]) -> (TcpStream, bool) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind((from, 0).into())
        .expect("an address of this machine");
    let mut line = socket.connect(to).await.expect("it listens");
    let response = async {
        line.write_all(says).await?;
        line.read_exact(&mut [0; 9]).await
    };
    let response = tokio::time::timeout(Duration::from_secs(60), response)
        .await
        .expect("an answer or an end");
    (line, response.is_ok())
}

#[tokio::test]
async fn one_address_cannot_take_all_connections() {
    let scratch = Scratch::new();
    let (book, log) = (scratch.path("book"), scratch.path("log"));
    let mut plain = Program::Coordinator.command(&[]);
    plain.args(words!(
        "--listen 127.0.0.1:0 --http 127.0.0.1:0
        --book"
    ));
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -n {MAX_OPEN_FILES}; exec \"$0\" \"$@\""));
    command
        .arg(plain.get_program())
        .args(plain.get_args())
        .arg(&book);
    command.stderr(std::fs::File::create(&log).expect("room"));
    let mut coordinator = Running::of(command);
    let url = coordinator.address();
    let grpc: SocketAddr = url
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    let http: SocketAddr = coordinator
        .line()
        .trim_start_matches("http on ")
        .parse()
        .expect("an address");

    let (one, other) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3));
    for (at, says, most) in [
        (grpc, HTTP2_PREFACE, MAX_OPEN_FILES / 3),
        (http, ASKS, MAX_OPEN_FILES / 12),
    ] {
        let mut held = Vec::new();
        for _ in 0..MAX_OPEN_FILES {
            held.push(client(one, at, says).await);
        }
        let served = held.iter().filter(|(_, is_served)| *is_served).count();
        assert_eq!(served, most / 2, "half for one address");
        assert!(
            held[..served].iter().all(|(_, is_served)| *is_served),
            "the first connections stay"
        );
        assert!(client(other, at, says).await.1, "others are served");
        drop(held.remove(0));
        let again = async { while !client(one, at, says).await.1 {} };
        tokio::time::timeout(Duration::from_secs(60), again)
            .await
            .expect("one has left");
        // Meanwhile a connected client still reads the book.
        Program::Kagetsu
            .run(&["jobs", "list", "--coordinator", &url, "--json"])
            .ok();
    }
    coordinator.signal(Signal::SIGTERM);
    assert!(coordinator.wait().success());
    let text = std::fs::read_to_string(log).expect("text");
    assert!(
        text.contains(
            "too many connections, its address has 40 places, the maximum for one address"
        ),
        "{text}"
    );
}
