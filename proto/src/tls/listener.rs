use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustls::{AlertDescription, CertificateError, Error};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::ServerTls;
use super::agreements::Agreements;
use super::seldom::Seldom;

/// How long a client may take to agree on secrets.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often changed certificates are looked for.
const RELOAD: Duration = Duration::from_secs(10);
/// The wait after the system could not accept a connection, as when there are no more file handles.
const PAUSE: Duration = Duration::from_millis(100);

/// What is said about clients that do not get through, each kind apart: who only floods does not hide the others.
#[derive(Debug, Default)]
struct Log {
    faults: Seldom,
    refusals: Seldom,
    silent: Seldom,
}

/// A connection to a client, secret or plain.
#[derive(Debug)]
pub enum Connection {
    /// Everybody on the way can read it.
    Plain(TcpStream),
    /// Nobody can.
    Secret(Box<TlsStream<TcpStream>>),
}

/// Accepts connections, and agrees on secrets with each, so that a slow client holds up nobody. It also reads changed
/// certificates. Stops when it is dropped.
#[derive(Debug)]
pub struct Listener {
    lines: mpsc::Receiver<(Connection, SocketAddr)>,
    address: SocketAddr,
    accepting: tokio::task::JoinHandle<()>,
}

impl Listener {
    /// Accepts from a socket; without TLS its lines are plain.
    ///
    /// # Errors
    /// If the socket has no address.
    pub fn new(socket: TcpListener, tls: Option<Arc<ServerTls>>) -> io::Result<Self> {
        let address = socket.local_addr()?;
        let (sender, lines) = mpsc::channel(1);
        let accepting = tokio::spawn(async move {
            let reloading = async {
                match &tls {
                    Some(tls) => reload(tls).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = accept(&socket, tls.as_ref(), &sender) => {}
                () = sender.closed() => {}
                () = reloading => {}
            }
        });
        Ok(Self { lines, address, accepting })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection; never ends.
    pub async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self.lines.recv().await {
            Some(line) => line,
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
        self.lines.poll_recv(context).map(|line| line.map(|(line, _)| Ok(line)))
    }
}

async fn accept(socket: &TcpListener, tls: Option<&Arc<ServerTls>>, out: &mpsc::Sender<(Connection, SocketAddr)>) {
    let (mut agreements, log) = (Agreements::default(), Arc::new(Log::default()));
    loop {
        let (stream, client) = match socket.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                if let Some(others) = log.faults.turn(Instant::now()) {
                    tracing::warn!(others, "cannot accept a connection: {error}");
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Without it small messages wait for one another; that it fails is seen at the first message.
        let _ = stream.set_nodelay(true);
        match tls {
            None => {
                if out.send((Connection::Plain(stream), client)).await.is_err() {
                    return;
                }
            }
            Some(tls) => {
                if agreements.make_room().await
                    && let Some(others) = log.silent.turn(Instant::now())
                {
                    tracing::warn!(others, "a client is refused: too many begin at once, and it was the slowest");
                }
                agreements.begin(|has_spoken| {
                    agree(Arc::clone(tls), stream, client, out.clone(), has_spoken, Arc::clone(&log))
                });
            }
        }
    }
}

async fn agree(
    tls: Arc<ServerTls>,
    stream: TcpStream,
    client: SocketAddr,
    out: mpsc::Sender<(Connection, SocketAddr)>,
    has_spoken: Arc<AtomicBool>,
    log: Arc<Log>,
) {
    let agreed = tokio::time::timeout(PATIENCE, async {
        stream.readable().await?;
        has_spoken.store(true, Relaxed);
        tls.secure(stream).await
    });
    match agreed.await {
        // Who listens no more has ended.
        Ok(Ok(stream)) => drop(out.send((Connection::Secret(Box::new(stream)), client)).await),
        Ok(Err(error)) => match refusal(&error) {
            Some(reason) => {
                if let Some(others) = log.refusals.turn(Instant::now()) {
                    tracing::warn!(%client, others, "a client is refused: {reason}");
                }
            }
            // A port scan, or a probe that only connects.
            None => tracing::debug!(%client, "a client went away before TLS was agreed: {error}"),
        },
        Err(_) => {
            if let Some(others) = log.silent.turn(Instant::now()) {
                tracing::warn!(%client, others, "a client is refused: no TLS within {} s", PATIENCE.as_secs());
            }
        }
    }
}

/// What a failure means to the person who reads the server's log.
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

async fn reload(tls: &ServerTls) {
    loop {
        tokio::time::sleep(RELOAD).await;
        match tls.reload() {
            Ok(true) => tracing::info!("the certificates were read again"),
            Ok(false) => {}
            Err(error) => tracing::warn!("the certificates of before are still used: {error}"),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        match self {
            Self::Plain(stream) => stream.connect_info(),
            Self::Secret(stream) => stream.get_ref().0.connect_info(),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Secret(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Secret(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Self::Secret(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Secret(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Secret(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Secret(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
