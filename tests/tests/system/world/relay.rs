//! A network that can fail: a relay at a fixed address between workers and their coordinator.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Forwards connections to a server until it is cut.
pub(crate) struct Relay {
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    target: Mutex<Option<SocketAddr>>,
    is_cut: AtomicBool,
    is_slow: AtomicBool,
    /// The host that a proxy's clients must name; none for a relay that is no proxy.
    host: Option<&'static str>,
    /// Whether the server sends its first bytes without being asked, as one without TLS does.
    speaks_first: bool,
    ends: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// Starts a relay to `target`, for example `http://127.0.0.1:7615`.
    pub(crate) fn to(target: &str) -> Self {
        Self::start(target, None)
    }

    /// Starts a proxy whose clients ask by CONNECT for `host`, as in `a.example:7615`, and reach
    /// `target`.
    pub(crate) fn proxy_to(target: &str, host: &'static str) -> Self {
        Self::start(target, Some(host))
    }

    fn start(target: &str, host: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let line = Arc::new(Line {
            host,
            speaks_first: target.starts_with("http:"),
            ..Line::default()
        });
        let shared = Arc::clone(&line);
        // The thread ends with the test process; after the relay is dropped it accepts nothing.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if !shared.is_cut.load(Ordering::SeqCst) {
                    shared.join(near);
                }
            }
        });
        let relay = Self { address, line };
        relay.turn(target);
        relay
    }

    /// Forwards new connections to another server: a restarted server has another port.
    pub(crate) fn turn(&self, target: &str) {
        let (_, address) = target.split_once("://").expect("a URL");
        let target = address.parse().expect("an address");
        *self.line.target.lock().expect("no panic in it") = Some(target);
    }

    /// Returns the URL to connect to.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Closes every connection, and closes new ones at once.
    pub(crate) fn cut(&self) {
        self.line.is_cut.store(true, Ordering::SeqCst);
        for end in self.line.ends.lock().expect("no panic in it").drain(..) {
            // The connection may have ended by itself.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Switches the delay of every piece of data on or off.
    pub(crate) fn slow(&self, is_slow: bool) {
        self.line.is_slow.store(is_slow, Ordering::SeqCst);
    }

    /// Forwards new connections again.
    pub(crate) fn mend(&self) {
        self.line.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Line {
    fn join(self: &Arc<Self>, mut near: TcpStream) {
        let target = *self.target.lock().expect("no panic in it");
        let Some(Ok(mut far)) = target.map(TcpStream::connect) else {
            return;
        };
        if let Some(host) = self.host {
            let lines = BufReader::new(&near).lines();
            let head = lines.map_while(|line| line.ok().filter(|line| !line.is_empty()));
            let is_right = head.collect::<Vec<_>>()[0].starts_with(&format!("CONNECT {host} "));
            // The server's first bytes come with the answer.
            let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
            let mut first = vec![0; if self.speaks_first { 9 } else { 0 }];
            if !is_right || far.read_exact(&mut first).is_err() {
                return;
            }
            answer.extend(first);
            near.write_all(&answer).expect("it is open");
        }
        let copy = |stream: &TcpStream| stream.try_clone().expect("a handle");
        self.ends
            .lock()
            .expect("no panic in it")
            .extend([copy(&near), copy(&far)]);
        pump(copy(&near), copy(&far), Arc::clone(self));
        pump(far, near, Arc::clone(self));
    }
}

/// Delay of every piece of data on a slow connection.
const DELAY: Duration = Duration::from_millis(30);

fn pump(mut from: TcpStream, mut to: TcpStream, line: Arc<Line>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if line.is_slow.load(Ordering::SeqCst) {
                thread::sleep(DELAY);
            }
            if to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
