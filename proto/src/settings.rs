//! How connections are made.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

/// Longest message, in bytes.
pub const MESSAGE_LIMIT: usize = 4 << 20;

/// How often a silent connection is tried, and how long the answer may take: a lost one is found after both.
#[must_use]
pub const fn keepalive() -> (Duration, Duration) {
    (Duration::from_secs(2), Duration::from_secs(2))
}

type Connecting = Pin<Box<dyn Future<Output = Result<Channel, ConnectError>> + Send>>;

/// A way to a coordinator: over the network, or inside this process.
#[derive(Clone)]
pub struct Connector {
    name: Arc<str>,
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
}

/// No connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The text is no address.
    #[error("'{0}' is no address of a coordinator; write it as in http://127.0.0.1:7615")]
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
}

impl Connector {
    /// To a URL as in `http://127.0.0.1:7615`.
    ///
    /// # Errors
    /// [`ConnectError::Url`] for text that is none.
    pub fn to_url(url: &str) -> Result<Self, ConnectError> {
        let no_url = || ConnectError::Url(url.to_string());
        let endpoint = Endpoint::from_shared(url.to_string()).map_err(|_| no_url())?;
        if endpoint.uri().scheme_str() != Some("http") || endpoint.uri().host().is_none() {
            return Err(no_url());
        }
        let (every, patience) = keepalive();
        let endpoint = endpoint
            .connect_timeout(Duration::from_secs(5))
            .tcp_nodelay(true)
            .http2_keep_alive_interval(every)
            .keep_alive_timeout(patience)
            .keep_alive_while_idle(true);
        let name: Arc<str> = url.into();
        let shown = Arc::clone(&name);
        Ok(Self::by(name, move || {
            let (endpoint, url) = (endpoint.clone(), shown.to_string());
            async move { endpoint.connect().await.map_err(|error| ConnectError::Nobody { url, cause: innermost(&error) }) }
        }))
    }

    /// By whatever `connect` does, under a name for people.
    pub fn by<F>(name: impl Into<Arc<str>>, connect: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Channel, ConnectError>> + Send + 'static,
    {
        Self { name: name.into(), connect: Arc::new(move || Box::pin(connect())) }
    }

    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection.
    ///
    /// # Errors
    /// [`ConnectError::Nobody`] if there is none to be had now.
    pub async fn connect(&self) -> Result<Channel, ConnectError> {
        (self.connect)().await
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

/// What a coordinator's refusal means to a person.
#[must_use]
pub fn explain(url: &str, status: &Status) -> String {
    match status.code() {
        Code::Unavailable | Code::Unknown if status.message().is_empty() || is_of_the_line(status.message()) => {
            format!("the connection to the coordinator at {url} was lost; see whether it still runs")
        }
        Code::Unimplemented => format!("the server at {url} is not a coordinator of this version"),
        _ => format!("the coordinator at {url} says: {}", status.message()),
    }
}

/// Whether our own end of a connection says it, and nobody at the other.
fn is_of_the_line(message: &str) -> bool {
    ["transport", "h2 protocol error"].iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_is_not_the_coordinators_word() {
        let lost = ["", "transport error", "h2 protocol error: error reading a body from connection"];
        for words in lost {
            assert!(explain("http://there", &Status::unknown(words)).contains("was lost"), "{words}");
        }
        let said = explain("http://there", &Status::unknown("no such job"));
        assert_eq!(said, "the coordinator at http://there says: no such job");
    }
}
