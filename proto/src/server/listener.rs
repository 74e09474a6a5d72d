use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use rustls::{AlertDescription, CertificateError, Error};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::handshake_limiter::Agreements;
use super::log_throttle::Seldom;
use super::per_ip_limiter::{Share, Shares};
use super::tls::ServerTls;
use super::write_timeout::{Paced, STALL};

/// How long a client may take to agree on secrets, and then to begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a client of HTTP/2 says first; and how many bytes at least, with its first frame, before it waits for an answer.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const WITH_FRAME: usize = PREFACE.len() + 9;
/// What ends the head of a request of HTTP/1, before which a client does not wait for an answer.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
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
    many: Seldom,
}

/// A connection to a client, secret or plain. Reading from it fails if the client takes too long to begin, writing to it if
/// the client does not read.
#[derive(Debug)]
pub struct Connection {
    line: Line,
    /// As long as the client has not begun.
    beginning: Option<Beginning>,
    client: SocketAddr,
    log: Arc<Log>,
    _share: Share,
}

#[derive(Debug)]
enum Line {
    /// Everybody on the way can read it.
    Plain(Paced),
    /// Nobody can.
    Secret(Box<TlsStream<Paced>>),
}

/// A client that has yet to say what every client says first.
#[derive(Debug)]
struct Beginning {
    until: Pin<Box<Sleep>>,
    words: Words,
}

/// What a client has said, as far as it tells whether it has begun.
#[derive(Debug, Default)]
struct Words {
    /// Bytes so far.
    said: usize,
    /// Whether all of them are those of [`PREFACE`].
    is_preface: Option<bool>,
    /// How much of [`END_OF_HEAD`] they end with.
    ended: usize,
}

impl Words {
    /// Takes in what was said next; whether the client has said all that it says before it waits for an answer.
    fn hear(&mut self, bytes: &[u8]) -> bool {
        let left = PREFACE.get(self.said..).unwrap_or_default();
        let both = left.len().min(bytes.len());
        self.is_preface = Some(self.is_preface.unwrap_or(true) && left[..both] == bytes[..both]);
        self.said = self.said.saturating_add(bytes.len());
        if self.is_preface == Some(true) {
            return self.said >= WITH_FRAME;
        }
        for byte in bytes {
            if self.ended < END_OF_HEAD.len() {
                let goes_on = END_OF_HEAD[self.ended] == *byte;
                self.ended = if goes_on {
                    self.ended + 1
                } else {
                    usize::from(*byte == END_OF_HEAD[0])
                };
            }
        }
        self.ended == END_OF_HEAD.len()
    }
}

impl Connection {
    /// None, if there are too many, of the same client or of all.
    fn new(line: Line, client: SocketAddr, log: &Arc<Log>, shares: &Arc<Shares>) -> Option<Self> {
        let share = match shares.take(client.ip()) {
            Ok(share) => share,
            Err(full) => {
                if let Some(others) = log.many.turn(Instant::now()) {
                    tracing::warn!(%client, others, "a client is refused: too many connections, {full}");
                }
                return None;
            }
        };
        let beginning = Beginning {
            until: Box::pin(tokio::time::sleep(PATIENCE)),
            words: Words::default(),
        };
        let log = Arc::clone(log);
        Some(Self {
            line,
            beginning: Some(beginning),
            client,
            log,
            _share: share,
        })
    }

    /// Ends it, and says why.
    fn late(&self, why: &str) -> io::Error {
        if let Some(others) = self.log.silent.turn(Instant::now()) {
            tracing::warn!(client = %self.client, others, "a client is refused: {why}");
        }
        io::ErrorKind::TimedOut.into()
    }

    /// Writes something, and says so where the client does not read.
    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(&mut Line, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = ready!(write(&mut self.line, context));
        Poll::Ready(written.map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => {
                self.late(&format!("it has read nothing for {} s", STALL.as_secs()))
            }
            _ => error,
        }))
    }
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
    /// Accepts from a socket, so many at a time, from one address at most half of them; without TLS the lines are plain.
    ///
    /// # Errors
    /// If the socket has no address.
    pub fn new(socket: TcpListener, tls: Option<Arc<ServerTls>>, most: usize) -> io::Result<Self> {
        let (address, shares) = (socket.local_addr()?, Shares::new(most));
        let (sender, lines) = mpsc::channel(1);
        let accepting = tokio::spawn(async move {
            let reloading = async {
                match &tls {
                    Some(tls) => reload(tls).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = accept(&socket, tls.as_ref(), &shares, &sender) => {}
                () = sender.closed() => {}
                () = reloading => {}
            }
        });
        Ok(Self {
            lines,
            address,
            accepting,
        })
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
        self.lines
            .poll_recv(context)
            .map(|line| line.map(|(line, _)| Ok(line)))
    }
}

async fn accept(
    socket: &TcpListener,
    tls: Option<&Arc<ServerTls>>,
    shares: &Arc<Shares>,
    out: &mpsc::Sender<(Connection, SocketAddr)>,
) {
    let (mut agreements, log) = (Agreements::beside(shares.most()), Arc::new(Log::default()));
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
                let Some(line) =
                    Connection::new(Line::Plain(Paced::new(stream)), client, &log, shares)
                else {
                    continue;
                };
                if out.send((line, client)).await.is_err() {
                    return;
                }
            }
            Some(tls) => {
                if agreements.make_room().await
                    && let Some(others) = log.silent.turn(Instant::now())
                {
                    tracing::warn!(
                        others,
                        "a client is refused: too many begin at once, and it was the slowest"
                    );
                }
                agreements.begin(|has_spoken| {
                    let (tls, shares) = (Arc::clone(tls), Arc::clone(shares));
                    agree(
                        tls,
                        (stream, client),
                        shares,
                        out.clone(),
                        has_spoken,
                        Arc::clone(&log),
                    )
                });
            }
        }
    }
}

async fn agree(
    tls: Arc<ServerTls>,
    (stream, client): (TcpStream, SocketAddr),
    shares: Arc<Shares>,
    out: mpsc::Sender<(Connection, SocketAddr)>,
    has_spoken: Arc<AtomicBool>,
    log: Arc<Log>,
) {
    let agreed = tokio::time::timeout(PATIENCE, async {
        stream.readable().await?;
        has_spoken.store(true, Relaxed);
        tls.secure(Paced::new(stream)).await
    });
    match agreed.await {
        // Who listens no more has ended.
        Ok(Ok(stream)) => {
            if let Some(line) =
                Connection::new(Line::Secret(Box::new(stream)), client, &log, &shares)
            {
                drop(out.send((line, client)).await);
            }
        }
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
    let mut told = None;
    loop {
        let fault = tls.fault(SystemTime::now());
        if let Some(fault) = fault.as_ref().filter(|_| told.is_none()) {
            tracing::error!("{fault}");
        }
        told = fault;
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
        match &self.line {
            Line::Plain(line) => line.stream.connect_info(),
            Line::Secret(stream) => stream.get_ref().0.stream.connect_info(),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = match &mut this.line {
            Line::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Line::Secret(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        let Some(begins) = &mut this.beginning else {
            return read;
        };
        if read.is_pending() {
            ready!(begins.until.as_mut().poll(context));
            return Poll::Ready(Err(this.late(&format!(
                "it does not begin within {} s",
                PATIENCE.as_secs()
            ))));
        }
        if begins.words.hear(&buffer.filled()[before..]) {
            this.beginning = None;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |line, context| match line {
            Line::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Line::Secret(stream) => Pin::new(stream).poll_write(context, bytes),
        })
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |line, context| match line {
            Line::Plain(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Line::Secret(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        })
    }

    fn is_write_vectored(&self) -> bool {
        match &self.line {
            Line::Plain(stream) => stream.is_write_vectored(),
            Line::Secret(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(context, |line, context| match line {
            Line::Plain(stream) => Pin::new(stream).poll_flush(context),
            Line::Secret(stream) => Pin::new(stream).poll_flush(context),
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(context, |line, context| match line {
            Line::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Line::Secret(stream) => Pin::new(stream).poll_shutdown(context),
        })
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::client::TlsClient;
    use crate::server::ServerFiles;

    /// A client that has said this, and the server's side of its line.
    async fn client(said: &[u8]) -> (TcpStream, Connection) {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, None, 8).expect("an address");
        let mut near = TcpStream::connect(listener.address())
            .await
            .expect("it listens");
        near.write_all(said).await.expect("room");
        (near, listener.accept().await.0)
    }

    fn paced(line: &mut Connection) -> &mut Paced {
        match &mut line.line {
            Line::Plain(line) => line,
            Line::Secret(line) => line.get_mut().0,
        }
    }

    /// What a client of HTTP/2 says before it waits: settings, none of them.
    fn of_http_2() -> Vec<u8> {
        [PREFACE, &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat()
    }

    #[tokio::test]
    async fn who_does_not_begin_is_not_waited_for() {
        for said in [
            &b""[..],
            b"PRI ",
            &PREFACE[..16],
            PREFACE,
            b"GET /healthz HTTP/1.1\r\nHost: h\r\n",
            b"POST",
        ] {
            let (_near, mut line) = client(said).await;
            // Its time is up, and not before what it said was read.
            let beginning = line.beginning.as_mut().expect("it has not begun");
            beginning.until.as_mut().reset(tokio::time::Instant::now());
            let late = line.read_exact(&mut [0; 64]).await.expect_err("it is late");
            assert_eq!(
                late.kind(),
                io::ErrorKind::TimedOut,
                "{}",
                String::from_utf8_lossy(said)
            );
        }
    }

    #[tokio::test]
    async fn who_has_begun_may_be_silent() {
        for said in [
            &of_http_2()[..],
            b"GET / HTTP/1.1\r\n\r\n",
            b"PUT /a HTTP/1.1\r\nHost: h\r\n\r\n",
        ] {
            let (mut near, mut line) = client(said).await;
            line.read_exact(&mut vec![0; said.len()])
                .await
                .expect("said");
            assert!(
                line.beginning.is_none(),
                "{}",
                String::from_utf8_lossy(said)
            );
            near.write_all(b"later").await.expect("room");
            line.read_exact(&mut [0; 5]).await.expect("said");
        }
    }

    #[tokio::test]
    async fn who_reads_nothing_is_not_written_to_for_ever() {
        let (mut near, mut line) = client(b"GET / HTTP/1.1\r\n\r\n").await;
        let much = vec![7; 1 << 16];
        let full = async {
            loop {
                line.write_all(&much).await.expect("there is room");
            }
        };
        assert!(
            tokio::time::timeout(Duration::from_millis(500), full)
                .await
                .is_err(),
            "nobody reads"
        );
        // It reads once, and has its time again.
        near.read_exact(&mut vec![0; 1 << 20])
            .await
            .expect("much waits");
        line.write_all(&much).await.expect("room again");
        assert!(paced(&mut line).stalled.is_none());
        let late = async {
            loop {
                if let Some(stalled) = &mut paced(&mut line).stalled {
                    stalled.as_mut().reset(tokio::time::Instant::now());
                }
                let written =
                    tokio::time::timeout(Duration::from_millis(100), line.write_all(&much)).await;
                if let Ok(Err(error)) = written {
                    return error;
                }
            }
        };
        assert_eq!(late.await.kind(), io::ErrorKind::TimedOut);
    }

    /// A secret line, from both sides.
    async fn secret() -> (tokio_rustls::client::TlsStream<TcpStream>, Connection) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut ours = CertificateParams::default();
        ours.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(ours, KeyPair::generate().expect("chance"))
            .expect("sound");
        let key = KeyPair::generate().expect("chance");
        let certificate = CertificateParams::new(["localhost".to_string()]).expect("a name");
        let certificate = certificate.signed_by(&key, &authority).expect("sound");
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
        let tls = Arc::new(ServerTls::new(files, &["h2"]).expect("sound"));
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, Some(tls), 8).expect("an address");
        let near = TcpStream::connect(listener.address())
            .await
            .expect("it listens");
        let near = TlsClient::new(&path("ca"), None)
            .expect("sound")
            .secure("localhost", near)
            .await
            .expect("agreed");
        (near, listener.accept().await.0)
    }

    #[tokio::test]
    async fn who_reads_nothing_of_a_secret_line_has_no_more_time_with_each_word() {
        let (_near, mut line) = secret().await;
        let words = [7; 1 << 10];
        loop {
            line.write_all(&words).await.expect("TLS takes it");
            if tokio::time::timeout(Duration::from_millis(500), line.flush())
                .await
                .is_err()
            {
                break;
            }
        }
        let until = |line: &mut Connection| {
            paced(line)
                .stalled
                .as_ref()
                .map(|stalled| stalled.deadline())
        };
        let first = until(&mut line);
        assert!(first.is_some());
        line.write_all(b"a word").await.expect("TLS takes it");
        assert_eq!(until(&mut line), first);
        let stalled = paced(&mut line).stalled.as_mut().expect("nobody reads");
        stalled.as_mut().reset(tokio::time::Instant::now());
        assert_eq!(
            line.flush().await.expect_err("it is late").kind(),
            io::ErrorKind::TimedOut
        );
    }

    #[tokio::test]
    async fn one_address_has_at_most_half_of_the_connections() {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut listener = Listener::new(socket, None, 4).expect("an address");
        let address = listener.address;
        let connect = async || TcpStream::connect(address).await.expect("it listens");
        let mut near = vec![connect().await, connect().await];
        let (first, _second) = (listener.accept().await, listener.accept().await);
        let mut third = connect().await;
        assert_eq!(
            third.read(&mut [0]).await.expect("an end"),
            0,
            "it is closed"
        );
        drop(first);
        near.push(connect().await);
        near[2].write_all(b"GET").await.expect("room");
        listener
            .accept()
            .await
            .0
            .read_exact(&mut [0; 3])
            .await
            .expect("one has left");
    }

    #[test]
    fn it_does_not_matter_in_what_pieces_a_client_speaks() {
        for said in [
            &of_http_2()[..],
            b"GET / HTTP/1.1\r\nA: \r\r\n\r\n",
            b"P\r\n\r\r\n\r\n",
        ] {
            for size in 1..=said.len() {
                let mut words = Words::default();
                let begun: Vec<bool> = said.chunks(size).map(|piece| words.hear(piece)).collect();
                let (last, before) = begun.split_last().expect("something");
                assert!(
                    *last && !before.contains(&true),
                    "{} by {size}",
                    String::from_utf8_lossy(said)
                );
            }
        }
    }
}
