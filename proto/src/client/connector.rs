//! How connections are made.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use super::bearer::Bearer;
use super::http2_preface::{Stranger, Ungreeted, greet};
use super::tls;

/// Longest message, in bytes.
pub const MESSAGE_LIMIT: usize = 4 << 20;
/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a silent connection is tried, and how long the answer may take: a lost one is found after both, sooner than a
/// lease ends, and a machine that stands still for some seconds is not taken for one.
#[must_use]
pub const fn keepalive() -> (Duration, Duration) {
    (Duration::from_secs(2), Duration::from_secs(8))
}

/// A connection, with the token that goes with every request.
pub type Caller = InterceptedService<Channel, Bearer>;

type Connecting = Pin<Box<dyn Future<Output = Result<Channel, ConnectError>> + Send>>;

/// A way to a coordinator: over the network, or inside this process.
#[derive(Clone)]
pub struct Connector {
    name: Arc<str>,
    bearer: Bearer,
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
}

/// No connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text is no address.
    #[error(
        "'{0}' is no address of a coordinator; write it as in http://127.0.0.1:7615 or https://HOST:7615"
    )]
    Url(String),
    /// Nobody answers.
    #[error(
        "no coordinator answers at {url}; start one with `kagetsu-coordinator --book DIR`, or check the address ({cause})"
    )]
    Nobody {
        /// Where.
        url: String,
        /// Why not.
        cause: String,
    },
    /// The file with the address is not there, or holds nothing.
    #[error("no coordinator has written its address to {0} yet: that file {1}")]
    NoFile(String, &'static str),
    /// The file with the address cannot be used.
    #[error("{file}, whose first line is to be a coordinator's URL, {cause}")]
    File {
        /// Which.
        file: String,
        /// Why not, and the way out.
        cause: String,
    },
    /// Somebody answers, and it cannot be talked to.
    #[error("no connection to the coordinator at {url}: {cause}")]
    Refused {
        /// Where.
        url: String,
        /// Why not, and the way out.
        cause: String,
    },
}

impl ConnectError {
    /// Whether it will be the same the next time, unless a person changes something. Who was connected before need not
    /// believe it: that person may be about to, at the other end.
    #[must_use]
    pub const fn is_lasting(&self) -> bool {
        match self {
            Self::Url(_) | Self::File { .. } | Self::Refused { .. } => true,
            Self::Nobody { .. } | Self::NoFile(..) => false,
        }
    }
}

impl Connector {
    /// To a URL as in `http://127.0.0.1:7615`, in plain text and without a token; [`Access`](crate::Access) knows more ways.
    ///
    /// # Errors
    /// [`ConnectError::Url`] for text that is none.
    pub fn to_url(url: &str) -> Result<Self, ConnectError> {
        Self::to_address(url, || Err(ConnectError::Url(url.to_string())))
    }

    /// To a URL; `https` needs `secure`.
    ///
    /// # Errors
    /// [`ConnectError::Url`] for text that is none, and those of `secure`.
    pub(crate) fn to_address<E: From<ConnectError>>(
        url: &str,
        secure: impl FnOnce() -> Result<tls::Client, E>,
    ) -> Result<Self, E> {
        let no_url = || ConnectError::Url(url.to_string());
        let endpoint = Endpoint::from_shared(url.to_string()).map_err(|_| no_url())?;
        let host: Arc<str> = endpoint.uri().host().ok_or_else(no_url)?.into();
        let tls = match endpoint.uri().scheme_str() {
            Some("http") => None,
            Some("https") => Some(secure()?),
            _ => return Err(no_url().into()),
        };
        let named = endpoint.uri().port_u16();
        // Of a port that cannot be there is but the text.
        let after_host = endpoint
            .uri()
            .authority()
            .and_then(|authority| authority.as_str().rsplit_once(':'));
        if named.is_none()
            && after_host.is_some_and(|(_, port)| !port.is_empty() && !port.ends_with(']'))
        {
            return Err(no_url().into());
        }
        let port = named.unwrap_or(if tls.is_some() { 443 } else { 80 });
        let (every, patience) = keepalive();
        let endpoint = endpoint
            .http2_keep_alive_interval(every)
            .keep_alive_timeout(patience)
            .keep_alive_while_idle(true);
        let place = Arc::new(Place {
            url: url.into(),
            host,
            port,
            has_port: named.is_some(),
            tls,
        });
        Ok(Self::by(url, move || {
            let (endpoint, place) = (endpoint.clone(), Arc::clone(&place));
            async move {
                let first = place.connect().await?;
                // The line that stands is the first; if it is lost, requests make another.
                let mut first = Some(first);
                let dial = service_fn(move |_: Uri| {
                    let (first, place) = (first.take(), Arc::clone(&place));
                    async move {
                        match first {
                            Some(line) => Ok(TokioIo::new(line)),
                            None => place.connect().await.map(TokioIo::new),
                        }
                    }
                });
                let channel = endpoint.connect_with_connector(dial).await;
                channel.map_err(|error| ConnectError::Nobody {
                    url: endpoint.uri().to_string(),
                    cause: innermost(&error),
                })
            }
        }))
    }

    /// By whatever `connect` does, under a name for people.
    pub fn by<F>(name: impl Into<Arc<str>>, connect: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Channel, ConnectError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            bearer: Bearer::default(),
            connect: Arc::new(move || Box::pin(connect())),
        }
    }

    /// The same way, with a token.
    #[must_use]
    pub(crate) fn with(self, bearer: Bearer) -> Self {
        Self { bearer, ..self }
    }

    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection.
    ///
    /// # Errors
    /// [`ConnectError::Nobody`] and [`ConnectError::Refused`] if there is none to be had now.
    pub async fn connect(&self) -> Result<Caller, ConnectError> {
        Ok(InterceptedService::new(
            self.channel().await?,
            self.bearer.clone(),
        ))
    }

    /// A connection without the token.
    pub(crate) async fn channel(&self) -> Result<Channel, ConnectError> {
        (self.connect)().await
    }
}

/// Where a coordinator is, and how to speak there.
struct Place {
    url: String,
    host: Arc<str>,
    port: u16,
    /// Whether the URL names it.
    has_port: bool,
    tls: Option<tls::Client>,
}

trait Line: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Line for S {}

impl Place {
    async fn connect(&self) -> Result<Box<dyn Line>, ConnectError> {
        let late = |_| {
            self.nobody(&io::Error::new(
                io::ErrorKind::TimedOut,
                "it does not answer in time",
            ))
        };
        tokio::time::timeout(PATIENCE, self.talk())
            .await
            .map_err(late)?
    }

    /// A line on which both sides have agreed on TLS, if that is wanted, and on HTTP/2.
    async fn talk(&self) -> Result<Box<dyn Line>, ConnectError> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare, self.port))
            .await
            .map_err(|error| self.nobody(&error))?;
        stream
            .set_nodelay(true)
            .map_err(|error| self.nobody(&error))?;
        match &self.tls {
            None => Ok(Box::new(
                greet(stream)
                    .await
                    .map_err(|failure| self.ungreeted(failure))?,
            )),
            Some(tls) => {
                let stream = tls
                    .secure(&self.host, stream)
                    .await
                    .map_err(|error| self.unsafe_line(&error))?;
                Ok(Box::new(
                    greet(stream)
                        .await
                        .map_err(|failure| self.ungreeted(failure))?,
                ))
            }
        }
    }

    fn nobody(&self, error: &io::Error) -> ConnectError {
        let cause = match error.kind() {
            io::ErrorKind::UnexpectedEof => "it ended the connection at once".into(),
            _ => error.to_string(),
        };
        let cause = if self.has_port {
            cause
        } else {
            format!(
                "{cause}; it names no port, and so means {}: a coordinator's is usually 7615",
                self.port
            )
        };
        ConnectError::Nobody {
            url: self.url.clone(),
            cause,
        }
    }

    fn refused(&self, cause: impl Into<String>) -> ConnectError {
        ConnectError::Refused {
            url: self.url.clone(),
            cause: cause.into(),
        }
    }

    fn unsafe_line(&self, error: &io::Error) -> ConnectError {
        match self
            .tls
            .as_ref()
            .and_then(|tls| tls.explain(&self.host, error))
        {
            Some(cause) => self.refused(cause),
            None => self.nobody(error),
        }
    }

    fn ungreeted(&self, failure: Ungreeted) -> ConnectError {
        match failure {
            Ungreeted::Stranger(Stranger::Tls) => {
                self.refused("it speaks TLS: write https:// instead of http://, and give its authority as --tls-ca")
            }
            Ungreeted::Stranger(Stranger::Http1) => {
                let port = "which it prints as `listening on`; it is usually 7615";
                self.refused(format!("it speaks HTTP/1: this is no coordinator's gRPC port, {port}"))
            }
            Ungreeted::Stranger(Stranger::Other) => self.refused("what answers there is no coordinator"),
            Ungreeted::Lost(error) => self.unsafe_line(&error),
        }
    }
}

/// The cause that says most: the last of the chain.
fn innermost(error: &dyn std::error::Error) -> String {
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
    fn a_port_that_cannot_be_is_refused() {
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
