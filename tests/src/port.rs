//! Ports for servers of others, which take a port and do not choose one.

use tokio::net::TcpSocket;

/// A free port on 127.0.0.1 that no other server or client takes while this value lives, as long as
/// its server starts or is down. A server that may share addresses, as most may, can listen there.
#[derive(Debug)]
pub struct ReservedPort(TcpSocket);

impl ReservedPort {
    /// Returns the port.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.0.local_addr().expect("bound").port()
    }
}

impl Default for ReservedPort {
    fn default() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("not bound yet");
        let bound = socket.bind(([127, 0, 0, 1], 0).into());
        bound.expect("a free port");
        Self(socket)
    }
}
