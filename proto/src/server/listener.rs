use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use rustls::{AlertDescription, CertificateError, Error};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_stream::Stream;
use tokio_util::either::Either;

use super::connection::{Connection, HANDSHAKE_TIMEOUT, Transport, with_timeouts};
use super::log_throttle::LogThrottle;
use super::per_ip_limiter::PerIpLimiter;
use super::tls::ServerTls;

/// TLS handshakes at the same time, where many connections are allowed; else half as many as those.
/// One more ends the oldest, so that silent clients exclude no others.
const MAX_HANDSHAKES: usize = 512;
/// How often the certificate files are checked for changes.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);
/// The delay after the system could not accept a connection, as when no file handles are left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Throttles for the log lines on refused clients. Each kind has its own, so that a flood of one
/// kind hides no other.
#[derive(Debug, Default)]
struct Throttles {
    accept_errors: LogThrottle,
    tls_errors: LogThrottle,
    evictions: LogThrottle,
    limits: LogThrottle,
    timeouts: Arc<LogThrottle>,
}

/// Accepts connections with their TLS handshakes, and reloads changed certificates. It stops when
/// it is dropped.
#[derive(Debug)]
pub struct Listener {
    connections: mpsc::Receiver<(Connection, SocketAddr)>,
    address: SocketAddr,
    accepting: tokio::task::JoinHandle<()>,
}

impl Listener {
    /// Accepts at most `max_connections` at a time from a socket, at most half of them from one
    /// address. Without `tls` the connections are plain. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// If the socket has no address.
    pub fn new(
        socket: TcpListener,
        tls: Option<Arc<ServerTls>>,
        max_connections: usize,
    ) -> io::Result<Self> {
        let address = socket.local_addr()?;
        let (sender, connections) = mpsc::channel(1);
        let acceptor = Acceptor {
            tls,
            limiter: PerIpLimiter::new(max_connections),
            throttles: Throttles::default(),
            accepted: sender.clone(),
        };
        let acceptor = Arc::new(acceptor);
        let accepting = tokio::spawn(async move {
            tokio::select! {
                () = acceptor.accept_all(&socket) => {}
                () = acceptor.reload_certificates() => {}
                () = sender.closed() => {}
            }
        });
        Ok(Self {
            connections,
            address,
            accepting,
        })
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next connection.
    pub async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self.connections.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Stream for Listener {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let connection = self.connections.poll_recv(context);
        connection.map(|connection| connection.map(|(connection, _)| Ok(connection)))
    }
}

/// The task behind a [`Listener`].
struct Acceptor {
    tls: Option<Arc<ServerTls>>,
    limiter: Arc<PerIpLimiter>,
    throttles: Throttles,
    accepted: mpsc::Sender<(Connection, SocketAddr)>,
}

impl Acceptor {
    /// Accepts until the listener is dropped.
    async fn accept_all(self: &Arc<Self>, socket: &TcpListener) {
        let max_handshakes = MAX_HANDSHAKES.min(self.limiter.max().div_ceil(2));
        let mut handshakes = VecDeque::<AbortHandle>::new();
        loop {
            let (stream, client) = match socket.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    if let Some(suppressed) = self.throttles.accept_errors.allow(Instant::now()) {
                        tracing::warn!(suppressed, "cannot accept a connection: {error}");
                    }
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    continue;
                }
            };
            // An error shows at the first message; without the option small messages are delayed.
            let _ = stream.set_nodelay(true);
            let Some(tls) = &self.tls else {
                self.admit(Either::Left(with_timeouts(stream)), client)
                    .await;
                continue;
            };
            handshakes.retain(|handshake| !handshake.is_finished());
            if handshakes.len() >= max_handshakes
                && let Some(oldest) = handshakes.pop_front()
            {
                oldest.abort();
                if let Some(suppressed) = self.throttles.evictions.allow(Instant::now()) {
                    tracing::warn!(
                        suppressed,
                        "a client is refused: {max_handshakes} others began a TLS handshake after it"
                    );
                }
            }
            let (acceptor, tls) = (Arc::clone(self), Arc::clone(tls));
            let handshake = async move { acceptor.secure(&tls, stream, client).await };
            handshakes.push_back(tokio::spawn(handshake).abort_handle());
        }
    }

    /// Hands a connection to the server, if the limits allow it.
    async fn admit(&self, stream: Transport, client: SocketAddr) {
        match self.limiter.acquire(client.ip()) {
            Ok(permit) => {
                let timeouts = Arc::clone(&self.throttles.timeouts);
                let connection = Connection::new(stream, client, timeouts, permit);
                // An error means that the server has stopped.
                let _ = self.accepted.send((connection, client)).await;
            }
            Err(limit) => {
                if let Some(suppressed) = self.throttles.limits.allow(Instant::now()) {
                    tracing::warn!(%client, suppressed, "a client is refused: too many connections, {limit}");
                }
            }
        }
    }

    /// Performs a TLS handshake.
    async fn secure(&self, tls: &ServerTls, stream: TcpStream, client: SocketAddr) {
        let handshake = tls.handshake(with_timeouts(stream));
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(Ok(stream)) => self.admit(Either::Right(Box::new(stream)), client).await,
            Ok(Err(error)) => match refusal(&error) {
                Some(reason) => {
                    if let Some(suppressed) = self.throttles.tls_errors.allow(Instant::now()) {
                        tracing::warn!(%client, suppressed, "a client is refused: {reason}");
                    }
                }
                // A port scan, or a probe that only connects.
                None => tracing::debug!(%client, "a client left before the TLS handshake: {error}"),
            },
            Err(_) => {
                if let Some(suppressed) = self.throttles.timeouts.allow(Instant::now()) {
                    let seconds = HANDSHAKE_TIMEOUT.as_secs();
                    tracing::warn!(%client, suppressed, "a client is refused: no TLS within {seconds} s");
                }
            }
        }
    }

    /// Reloads changed certificate files, and logs an error when the certificate is not valid now.
    async fn reload_certificates(&self) {
        let Some(tls) = &self.tls else {
            return std::future::pending().await;
        };
        let mut is_reported = false;
        loop {
            let fault = tls.validity_fault(SystemTime::now());
            if let Some(fault) = fault.as_ref().filter(|_| !is_reported) {
                tracing::error!("{fault}");
            }
            is_reported = fault.is_some();
            tokio::time::sleep(RELOAD_INTERVAL).await;
            match tls.reload() {
                Ok(true) => tracing::info!("the certificates were reloaded"),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!("the previous certificates stay in use: {error}");
                }
            }
        }
    }
}

/// Explains a failed TLS handshake to the reader of the server's log.
fn refusal(error: &io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidMessage(_) => "it does not speak TLS; clients write https:// instead of http://".into(),
        Error::NoCertificatesPresented => "it shows no certificate; clients need --tls-cert and --tls-key".into(),
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "its certificate is not signed by the authority of --tls-client-ca".into()
        }
        Error::InvalidCertificate(CertificateError::ExpiredContext { .. }) => "its certificate has expired".into(),
        Error::InvalidCertificate(CertificateError::InvalidPurposeContext { .. }) => {
            "its certificate is not a client's".into()
        }
        Error::AlertReceived(
            AlertDescription::UnknownCA | AlertDescription::BadCertificate | AlertDescription::CertificateUnknown,
        ) => "it does not believe this server's certificate; give it the authority as --tls-ca".into(),
        Error::AlertReceived(AlertDescription::CertificateExpired) => {
            "it says that this server's certificate has expired; renew it with `kagetsu certs DIR --renew`".into()
        }
        error => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::client::TlsClient;
    use crate::server::ServerFiles;

    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    /// A client that has sent some bytes, and the server's side of the connection.
    async fn client(sent: &[u8]) -> (TcpStream, Connection) {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, None, 8).expect("an address");
        let mut near = TcpStream::connect(listener.address())
            .await
            .expect("it listens");
        near.write_all(sent).await.expect("room");
        (near, listener.accept().await.0)
    }

    #[tokio::test(start_paused = true)]
    async fn silent_client_times_out() {
        for sent in [
            &b""[..],
            b"PRI ",
            &PREFACE[..16],
            b"GET / HTTP/1.1\r\n",
            b"POST",
        ] {
            let (_near, mut connection) = client(sent).await;
            let late = connection
                .read_exact(&mut [0; 64])
                .await
                .expect_err("silent");
            assert_eq!(
                late.kind(),
                io::ErrorKind::TimedOut,
                "{}",
                sent.escape_ascii()
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn client_may_be_silent_after_the_preface() {
        for sent in [PREFACE, b"GET / HTTP/1.1\r\nHost: host\r\n\r\n"] {
            let (mut near, mut connection) = client(sent).await;
            connection
                .read_exact(&mut vec![0; sent.len()])
                .await
                .expect("sent");
            let silence = connection.read_u8();
            let waited = tokio::time::timeout(10 * HANDSHAKE_TIMEOUT, silence).await;
            assert!(
                waited.is_err(),
                "the client sends nothing and stays connected"
            );
            near.write_all(b"later").await.expect("room");
            connection.read_exact(&mut [0; 5]).await.expect("sent");
        }
    }

    /// Writes until the connection fails.
    async fn write_until_error(connection: &mut Connection) -> io::ErrorKind {
        let bytes = vec![7; 1 << 16];
        loop {
            let written = async {
                connection.write_all(&bytes).await?;
                connection.flush().await
            };
            if let Err(error) = written.await {
                return error.kind();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_does_not_read_times_out() {
        let (_near, mut connection) = client(b"GET / HTTP/1.1\r\n\r\n").await;
        assert_eq!(
            write_until_error(&mut connection).await,
            io::ErrorKind::TimedOut
        );
    }

    /// A TLS connection, from both sides.
    async fn tls_connection() -> (tokio_rustls::client::TlsStream<TcpStream>, Connection) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"))
            .expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(["localhost".to_string()]).expect("a name");
        let certificate = certificate
            .signed_by(&key, &authority)
            .expect("a certificate");
        for (name, text) in [
            ("ca", authority.pem()),
            ("pem", certificate.pem()),
            ("key", key.serialize_pem()),
        ] {
            std::fs::write(path(name), text).expect("room");
        }
        let files = ServerFiles {
            certificate: path("pem"),
            key: path("key"),
            client_authority: None,
        };
        let tls = Arc::new(ServerTls::new(files, &["h2"]).expect("usable files"));
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, Some(tls), 8).expect("an address");
        let near = TcpStream::connect(listener.address())
            .await
            .expect("it listens");
        let client = TlsClient::new(&path("ca"), None).expect("usable files");
        let near = client
            .handshake("localhost", near)
            .await
            .expect("a handshake");
        (near, listener.accept().await.0)
    }

    #[tokio::test]
    async fn tls_client_that_does_not_read_times_out() {
        let (_near, mut connection) = tls_connection().await;
        tokio::time::pause();
        assert_eq!(
            write_until_error(&mut connection).await,
            io::ErrorKind::TimedOut
        );
    }

    #[tokio::test]
    async fn one_address_gets_half_of_the_connections() {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, None, 4).expect("an address");
        let address = listener.address;
        let connect = async || TcpStream::connect(address).await.expect("it listens");
        let mut near = vec![connect().await, connect().await];
        let first = listener.accept().await;
        let _second = listener.accept().await;
        let mut third = connect().await;
        assert_eq!(
            third.read(&mut [0]).await.expect("an end"),
            0,
            "it is closed"
        );
        drop(first);
        near.push(connect().await);
        near[2].write_all(b"GET").await.expect("room");
        let (mut connection, _) = listener.accept().await;
        connection
            .read_exact(&mut [0; 3])
            .await
            .expect("one has left");
    }
}
