//! A network that can be cut: a relay between workers and their coordinator, at one address wherever that lives.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Passes connections on to a server until it is cut.
pub(crate) struct Relay {
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    target: Mutex<Option<SocketAddr>>,
    is_cut: AtomicBool,
    is_slow: AtomicBool,
    ends: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// A relay to `target`, as in `http://127.0.0.1:7615`.
    pub(crate) fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let line = Arc::new(Line::default());
        let shared = Arc::clone(&line);
        // Ends with the process of the tests: nothing more is accepted once the relay is dropped.
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

    /// Passes new connections on to another server: one that was started again has another port, for its own may be taken.
    pub(crate) fn turn(&self, target: &str) {
        let target = target
            .trim_start_matches("http://")
            .parse()
            .expect("an address");
        *self.line.target.lock().expect("no panic in it") = Some(target);
    }

    /// Where to connect instead.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends every connection, and ends new ones at once.
    pub(crate) fn cut(&self) {
        self.line.is_cut.store(true, Ordering::SeqCst);
        for end in self.line.ends.lock().expect("no panic in it").drain(..) {
            // It may have ended by itself.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Holds every piece back for a while, or no more.
    pub(crate) fn slow(&self, is_slow: bool) {
        self.line.is_slow.store(is_slow, Ordering::SeqCst);
    }

    /// Lets new connections through again.
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
    fn join(self: &Arc<Self>, near: TcpStream) {
        let target = *self.target.lock().expect("no panic in it");
        let Some(Ok(far)) = target.map(TcpStream::connect) else {
            return;
        };
        let copy = |stream: &TcpStream| stream.try_clone().expect("a handle");
        self.ends
            .lock()
            .expect("no panic in it")
            .extend([copy(&near), copy(&far)]);
        pump(copy(&near), copy(&far), Arc::clone(self));
        pump(far, near, Arc::clone(self));
    }
}

/// What a slow line holds every piece back.
const SLOW: Duration = Duration::from_millis(30);

fn pump(mut from: TcpStream, mut to: TcpStream, line: Arc<Line>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if line.is_slow.load(Ordering::SeqCst) {
                thread::sleep(SLOW);
            }
            if to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
