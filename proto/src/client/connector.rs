//! Connections to a coordinator.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use kagetsu_game::quote;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use super::credentials::Credentials;
use super::http2_preface::{OtherProtocol, PrefaceError, exchange};
use super::proxy;
use super::tls;
use crate::tls_files::TlsError;

/// The longest message, in bytes.
pub const MESSAGE_LIMIT: usize = 4 << 20;
/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns how often a silent connection is probed, and how long the answer may take. A lost
/// connection is found after both, sooner than a lease ends; a machine that is suspended for some
/// seconds keeps its connection.
#[must_use]
pub const fn keepalive() -> (Duration, Duration) {
    (Duration::from_secs(2), Duration::from_secs(8))
}

/// A connection that adds credentials to every request.
pub type AuthenticatedChannel = InterceptedService<Channel, Credentials>;

type Connecting = Pin<Box<dyn Future<Output = Result<Channel, ConnectError>> + Send>>;

/// A way to reach a coordinator, over the network or inside this process.
#[derive(Clone)]
pub struct Connector {
    name: Arc<str>,
    credentials: Credentials,
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text is no address.
    #[error(
        "'{}' is no address of a coordinator; write it as in http://127.0.0.1:7615 or https://HOST:7615",
        quote(.0)
    )]
    Url(String),
    /// No coordinator answers yet, or its address is not known yet.
    #[error("{0}")]
    Unreachable(String),
    /// The settings here or at the server are wrong.
    #[error("{0}")]
    Refused(String),
}

impl ConnectError {
    /// Returns the error for an address that gives no answer, and the failure of the network.
    pub fn unreachable(url: &str, cause: impl Display) -> Self {
        Self::Unreachable(format!(
            "no coordinator answers at {url}; start one with `kagetsu-coordinator --book DIR`, or \
             check the address ({cause})"
        ))
    }

    /// Whether a retry fails in the same way until the settings change here or at the coordinator.
    #[must_use]
    pub const fn is_permanent(&self) -> bool {
        !matches!(self, Self::Unreachable(_))
    }
}

impl From<TlsError> for ConnectError {
    fn from(error: TlsError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl Connector {
    /// Connects to a URL as in `http://127.0.0.1:7615`, in plain text and without a token.
    /// [`Access`](crate::Access) offers TLS and tokens.
    ///
    /// # Errors
    /// [`ConnectError::Url`] for other text.
    pub fn to_url(url: &str) -> Result<Self, ConnectError> {
        Self::to_address(url, || Err(ConnectError::Url(url.to_string())))
    }

    /// Connects to a URL. For `https` it takes the client's side of TLS from `tls`.
    ///
    /// # Errors
    /// [`ConnectError::Url`] for text that is no URL, and the errors of `tls`.
    pub(super) fn to_address(
        url: &str,
        tls: impl FnOnce() -> Result<tls::Client, ConnectError>,
    ) -> Result<Self, ConnectError> {
        let no_url = || ConnectError::Url(url.to_string());
        let channel = Endpoint::from_shared(url.to_string()).map_err(|_| no_url())?;
        let host: Arc<str> = channel.uri().host().ok_or_else(no_url)?.into();
        let tls = match channel.uri().scheme_str() {
            Some("http") => None,
            Some("https") => Some(tls()?),
            _ => return Err(no_url()),
        };
        let named_port = channel.uri().port_u16();
        // The library ignores the text of a port that is out of range.
        let authority = channel.uri().authority();
        let after_host = authority.and_then(|authority| authority.as_str().rsplit_once(':'));
        if named_port.is_none()
            && after_host.is_some_and(|(_, port)| !port.is_empty() && !port.ends_with(']'))
        {
            return Err(no_url());
        }
        let (interval, timeout) = keepalive();
        let channel = channel
            .http2_keep_alive_interval(interval)
            .keep_alive_timeout(timeout)
            .keep_alive_while_idle(true);
        let endpoint = CoordinatorEndpoint {
            url: url.into(),
            host,
            port: named_port.unwrap_or(if tls.is_some() { 443 } else { 80 }),
            has_port: named_port.is_some(),
            tls,
        };
        let endpoint = Arc::new(endpoint);
        Ok(Self::by(url, move || {
            open(channel.clone(), Arc::clone(&endpoint))
        }))
    }

    /// Connects by a function of the caller, under a name for messages.
    pub fn by<F>(name: impl Into<Arc<str>>, connect: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Channel, ConnectError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            credentials: Credentials::default(),
            connect: Arc::new(move || Box::pin(connect())),
        }
    }

    /// Adds credentials to every request.
    #[must_use]
    pub(super) fn with(self, credentials: Credentials) -> Self {
        Self {
            credentials,
            ..self
        }
    }

    /// Returns its name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects.
    ///
    /// # Errors
    /// Every [`ConnectError`] but [`ConnectError::Url`].
    pub async fn connect(&self) -> Result<AuthenticatedChannel, ConnectError> {
        let channel = self.channel().await?;
        Ok(InterceptedService::new(channel, self.credentials.clone()))
    }

    /// Connects without credentials.
    pub(super) async fn channel(&self) -> Result<Channel, ConnectError> {
        (self.connect)().await
    }
}

/// Opens a channel whose first connection stands already; when that is lost, requests make another.
async fn open(
    channel: Endpoint,
    endpoint: Arc<CoordinatorEndpoint>,
) -> Result<Channel, ConnectError> {
    let mut first = Some(endpoint.connect().await?);
    let connect = service_fn(move |_: Uri| {
        let (first, endpoint) = (first.take(), Arc::clone(&endpoint));
        async move {
            match first {
                Some(stream) => Ok(TokioIo::new(stream)),
                None => endpoint.connect().await.map(TokioIo::new),
            }
        }
    });
    channel
        .connect_with_connector(connect)
        .await
        .map_err(|error| ConnectError::unreachable(&channel.uri().to_string(), root_cause(&error)))
}

/// A coordinator's address.
struct CoordinatorEndpoint {
    url: String,
    host: Arc<str>,
    port: u16,
    /// Whether the URL has a port.
    has_port: bool,
    tls: Option<tls::Client>,
}

trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

impl CoordinatorEndpoint {
    async fn connect(&self) -> Result<Box<dyn ByteStream>, ConnectError> {
        let timed_out = |_| {
            let error = io::Error::new(io::ErrorKind::TimedOut, "it does not answer in time");
            self.unreachable(&error)
        };
        tokio::time::timeout(CONNECT_TIMEOUT, self.handshake())
            .await
            .map_err(timed_out)?
    }

    /// Connects and performs the handshakes of TLS, if wanted, and of HTTP/2.
    async fn handshake(&self) -> Result<Box<dyn ByteStream>, ConnectError> {
        let stream = self.dial().await;
        let stream = stream.map_err(|error| self.unreachable(&error))?;
        stream
            .set_nodelay(true)
            .map_err(|error| self.unreachable(&error))?;
        let stream: Box<dyn ByteStream> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let secured = tls.handshake(&self.host, stream).await;
                Box::new(secured.map_err(|error| self.tls_error(&error))?)
            }
        };
        let stream = exchange(stream)
            .await
            .map_err(|error| self.preface_error(error))?;
        Ok(Box::new(stream))
    }

    /// Connects, through a proxy where the environment names one for the host.
    async fn dial(&self) -> io::Result<TcpStream> {
        let bare_host = self.host.trim_start_matches('[').trim_end_matches(']');
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match proxy::of(scheme, &self.host, self.port).filter(|_| !is_loopback(&self.url)) {
            Some(proxy) => proxy.connect(&format!("{}:{}", self.host, self.port)).await,
            None => TcpStream::connect((bare_host, self.port)).await,
        }
    }

    fn unreachable(&self, error: &io::Error) -> ConnectError {
        let mut cause = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it ended the connection at once".into(),
            _ => error.to_string(),
        };
        if !self.has_port {
            cause += &format!(
                "; the URL names no port, which means {}; a coordinator's is usually 7615",
                self.port
            );
        }
        ConnectError::unreachable(&self.url, cause)
    }

    fn refused(&self, cause: &str) -> ConnectError {
        let url = &self.url;
        ConnectError::Refused(format!(
            "no connection to the coordinator at {url}: {cause}"
        ))
    }

    fn tls_error(&self, error: &io::Error) -> ConnectError {
        let cause = self
            .tls
            .as_ref()
            .and_then(|tls| tls.explain(&self.host, error));
        match cause {
            Some(cause) => self.refused(&cause),
            None => self.unreachable(error),
        }
    }

    fn preface_error(&self, error: PrefaceError) -> ConnectError {
        match error {
            PrefaceError::OtherProtocol(OtherProtocol::Tls) => self.refused(
                "it speaks TLS: write https:// instead of http://, and give its authority as --tls-ca",
            ),
            PrefaceError::OtherProtocol(OtherProtocol::Http1) => self.refused(
                "it speaks HTTP/1: this is no coordinator's gRPC port, which it prints as `listening on`; it is usually 7615",
            ),
            PrefaceError::OtherProtocol(OtherProtocol::Unknown) => {
                self.refused("the server at this address is no coordinator")
            }
            PrefaceError::Io(error) => self.tls_error(&error),
        }
    }
}

/// Whether a URL names this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(|uri| uri.host()).unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Returns the last cause of the chain, which says most.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_port_is_refused() {
        for url in [
            "http://127.0.0.1:99999",
            "http://[::1]:65536",
            "http://there:x",
        ] {
            assert!(
                matches!(Connector::to_url(url), Err(ConnectError::Url(_))),
                "{url}"
            );
        }
        for url in [
            "http://127.0.0.1:7615",
            "http://there",
            "http://[::1]",
            "http://[::1]:7615",
            "http://there:",
        ] {
            assert!(Connector::to_url(url).is_ok(), "{url}");
        }
    }
}
