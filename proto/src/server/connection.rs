use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::log_throttle::LogThrottle;
use super::per_ip_limiter::PerIpPermit;

/// How long a client may take for a TLS handshake, and between the first bytes that it sends.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may read nothing while there is something to write.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes after which a client may be silent: the length of the HTTP/2 preface (RFC 9113, section
/// 3.4). From then on the keepalive of HTTP/2 or the head timeout of HTTP/1 finds silent clients.
const PREFACE_BYTES: usize = 24;

/// A TCP stream with timeouts. They sit below TLS, because TLS buffers more than the client has
/// read.
pub(super) type TimedTcp = Pin<Box<TimeoutStream<TcpStream>>>;

/// Returns the stream with the timeouts of a client that has sent nothing yet.
pub(super) fn with_timeouts(stream: TcpStream) -> TimedTcp {
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT));
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    Box::pin(stream)
}

/// A connection to a client. Reading fails if the client sends nothing at first, writing fails if
/// the client reads nothing.
#[derive(Debug)]
pub struct Connection {
    stream: Transport,
    client: SocketAddr,
    /// Bytes received, as far as [`PREFACE_BYTES`] matter.
    received: usize,
    timeouts: Arc<LogThrottle>,
    _permit: PerIpPermit,
}

/// Without TLS, or with it.
pub(super) type Transport = Either<TimedTcp, Box<TlsStream<TimedTcp>>>;

impl Connection {
    pub(super) fn new(
        stream: Transport,
        client: SocketAddr,
        timeouts: Arc<LogThrottle>,
        permit: PerIpPermit,
    ) -> Self {
        Self {
            stream,
            client,
            received: 0,
            timeouts,
            _permit: permit,
        }
    }

    /// Logs a timeout.
    fn check(&self, error: io::Error, what: &str) -> io::Error {
        if error.kind() == io::ErrorKind::TimedOut
            && let Some(suppressed) = self.timeouts.allow(Instant::now())
        {
            tracing::warn!(client = %self.client, suppressed, "a client is refused: it {what}");
        }
        error
    }

    fn check_write<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.map_err(|error| {
            let what = format!("has read nothing for {} s", WRITE_TIMEOUT.as_secs());
            self.check(error, &what)
        })
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        let stream = match &self.stream {
            Either::Left(plain) => plain,
            Either::Right(secured) => secured.get_ref().0,
        };
        stream.get_ref().connect_info()
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
        let read = ready!(Pin::new(&mut this.stream).poll_read(context, buffer));
        if this.received < PREFACE_BYTES {
            this.received += buffer.filled().len() - before;
            if this.received >= PREFACE_BYTES {
                let tcp = match &mut this.stream {
                    Either::Left(plain) => plain,
                    Either::Right(secured) => secured.get_mut().0,
                };
                tcp.as_mut().set_read_timeout_pinned(None);
            }
        }
        Poll::Ready(read.map_err(|error| {
            let what = format!("sends nothing for {} s", HANDSHAKE_TIMEOUT.as_secs());
            this.check(error, &what)
        }))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, bytes));
        Poll::Ready(this.check_write(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, parts));
        Poll::Ready(this.check_write(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = ready!(Pin::new(&mut this.stream).poll_flush(context));
        Poll::Ready(this.check_write(flushed))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
