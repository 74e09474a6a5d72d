use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_http::AccessPolicy;
use kagetsu_proto::{Listener, ServerFiles, ServerTls, on_hangup};
use tokio::net::TcpListener;

use super::authenticator::{Authenticator, DEFAULT_RATE};
use super::connections::Connections;

/// The heading of these options.
const HEADING: &str = "Protection";

/// TLS and authentication
#[derive(clap::Args, Clone, Debug)]
pub struct Protection {
    /// Use TLS with this certificate, such as coordinator.pem of `kagetsu certs`
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, such as coordinator.key
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Require client certificates of this authority, such as ca.pem; with --tokens, HTTP clients
    /// need a token instead
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,
    /// Require one of the tokens in this file; each token grants its roles. `kagetsu token new`
    /// makes tokens
    #[arg(help_heading = HEADING, long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Allow read-only access without a token; all anonymous clients share one token's rate limit
    #[arg(help_heading = HEADING, long, requires = "tokens")]
    pub public: bool,
    /// Requests a second of each token without a rate of its own; bursts may be twice as large
    #[arg(help_heading = HEADING, long, default_value_t = DEFAULT_RATE, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub token_rate: u32,
    /// Allow addresses other than loopback without TLS or without authentication
    #[arg(help_heading = HEADING, long)]
    pub insecure: bool,
}

/// A [`Protection`] with its files loaded.
#[derive(Clone)]
pub struct Protected {
    /// For gRPC and for HTTP; `None` for plain text.
    tls: Option<[Arc<ServerTls>; 2]>,
    /// Identifies the callers.
    pub authenticator: Arc<Authenticator>,
    is_insecure: bool,
    connections: Connections,
}

impl Protected {
    /// Returns whether the server speaks TLS.
    #[must_use]
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }
}

impl Protection {
    /// Loads the files.
    ///
    /// # Errors
    /// If one of them cannot be used.
    pub fn read(&self) -> Result<Protected> {
        let pair = self.tls_cert.clone().zip(self.tls_key.clone());
        let tls = pair.map(|(certificate, key)| -> Result<_> {
            let files = ServerFiles {
                certificate,
                key,
                client_authority: self.tls_client_ca.clone(),
            };
            // Browsers, probes and metrics collectors rarely have certificates: a token suffices.
            let of_http = self.tls_client_ca.clone().filter(|_| self.tokens.is_none());
            let of_http = ServerFiles {
                client_authority: of_http,
                ..files.clone()
            };
            Ok([
                ServerTls::new(files, &["h2"])?,
                ServerTls::new(of_http, &["http/1.1"])?,
            ]
            .map(Arc::new))
        });
        let authenticator = match &self.tokens {
            Some(file) => Authenticator::with_tokens(file, self.token_rate, self.public)?,
            None => Authenticator::open(),
        };
        let connections = Connections::of_system();
        Ok(Protected {
            tls: tls.transpose()?,
            authenticator,
            is_insecure: self.insecure,
            connections,
        })
    }
}

impl Protected {
    /// Whether clients must authenticate.
    #[must_use]
    pub fn knows_clients(&self) -> bool {
        !self.authenticator.is_open()
            || self
                .tls
                .as_ref()
                .is_some_and(|[grpc, _]| grpc.knows_clients())
    }

    /// Listens for gRPC. Without TLS or authentication only loopback addresses are allowed, unless
    /// `--insecure` is given. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// If the address cannot be bound or is not safe; the error says what to do.
    pub async fn listen(&self, address: SocketAddr) -> Result<Listener> {
        self.bind(
            address,
            self.tls.as_ref().map(|[grpc, _]| Arc::clone(grpc)),
            self.connections.grpc,
        )
        .await
    }

    /// Listens for HTTP. A loopback address uses plain text, because browsers do not know private
    /// authorities, except where client certificates are the only authentication.
    ///
    /// # Errors
    /// If the address cannot be bound or is not safe; the error says what to do.
    pub async fn listen_http(&self, address: SocketAddr) -> Result<Listener> {
        let is_plain = |http: &ServerTls| address.ip().is_loopback() && !http.knows_clients();
        let tls = self
            .tls
            .as_ref()
            .map(|[_, http]| Arc::clone(http))
            .filter(|http| !is_plain(http));
        self.bind(address, tls, self.connections.http).await
    }

    /// Returns the requests that HTTP accepts at an address: changes on loopback or of known
    /// clients, and reads by pages of `origins`.
    #[must_use]
    pub fn access(&self, address: SocketAddr, origins: &[String]) -> AccessPolicy {
        let access = AccessPolicy::at(address);
        AccessPolicy {
            may_change: access.may_change || self.knows_clients(),
            origins: origins.to_vec(),
            ..access
        }
    }

    async fn bind(
        &self,
        address: SocketAddr,
        tls: Option<Arc<ServerTls>>,
        max_connections: usize,
    ) -> Result<Listener> {
        self.check(address)?;
        let socket = TcpListener::bind(address).await.map_err(|error| {
            let why = match error.kind() {
                ErrorKind::AddrInUse => {
                    "another program listens there; stop it, or choose another port (0: any)"
                }
                ErrorKind::AddrNotAvailable => {
                    "this machine has no such address; 0.0.0.0 stands for all that it has"
                }
                ErrorKind::PermissionDenied => "ports below 1024 are the system's",
                _ => return anyhow!("cannot listen on {address}: {error}"),
            };
            anyhow!("cannot listen on {address}: {why}")
        })?;
        Listener::new(socket, tls, max_connections)
            .with_context(|| format!("cannot listen on {address}"))
    }

    fn check(&self, address: SocketAddr) -> Result<()> {
        let lacks = match (self.tls.is_some(), self.knows_clients()) {
            (true, true) => return Ok(()),
            _ if address.ip().is_loopback() => return Ok(()),
            (false, false) => {
                "give --tls-cert and --tls-key to encrypt (`kagetsu certs` makes them), and --tokens or \
                 --tls-client-ca to authenticate clients"
            }
            (false, true) => {
                "tokens would be sent in plain text: give --tls-cert and --tls-key (`kagetsu certs` makes them)"
            }
            (true, false) => "give --tokens or --tls-client-ca to authenticate clients",
        };
        if !self.is_insecure {
            bail!(
                "{address} can be reached from other machines: {lacks}; or give --insecure if that is meant"
            );
        }
        tracing::warn!(%address, "listening without protection, as --insecure says: {lacks}");
        Ok(())
    }

    /// Reloads changed certificates and tokens on every SIGHUP from now on.
    ///
    /// # Errors
    /// If the signal handler cannot be installed.
    pub fn reload_on_hangup(&self) -> std::io::Result<()> {
        let all = self.clone();
        on_hangup(move || {
            tracing::info!("SIGHUP: reloading changed certificates and tokens");
            all.authenticator.reload_and_log();
            for tls in all.tls.iter().flatten() {
                if let Err(error) = tls.reload() {
                    tracing::warn!("the previous certificates stay in use: {error}");
                }
            }
        })
    }
}
