use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_proto::{Listener, ServerFiles, ServerTls};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::authenticator::{Authenticator, DEFAULT_RATE};
use super::connections::Connections;

/// Who may come, and whether others can listen
#[derive(clap::Args, Clone, Debug)]
pub struct Protection {
    /// Speaks TLS with this certificate, as coordinator.pem of `kagetsu certs`
    #[arg(
        help_heading = "Protection",
        long,
        value_name = "FILE",
        requires = "tls_key"
    )]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key, as coordinator.key
    #[arg(
        help_heading = "Protection",
        long,
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub tls_key: Option<PathBuf>,
    /// Only clients with a certificate of this authority may come, as ca.pem; over HTTP one of --tokens will do instead
    #[arg(
        help_heading = "Protection",
        long,
        value_name = "FILE",
        requires = "tls_cert"
    )]
    pub tls_client_ca: Option<PathBuf>,
    /// Only clients with one of these tokens may come, each for its roles; `kagetsu token new` makes them
    #[arg(help_heading = "Protection", long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Who shows no token may look at the book, at jobs and at workers, all together as often as one token
    #[arg(help_heading = "Protection", long, requires = "tokens")]
    pub public: bool,
    /// Requests a second that each token may make which has no rate of its own; twice as many at once
    #[arg(help_heading = "Protection", long, default_value_t = DEFAULT_RATE, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub token_rate: u32,
    /// Listens beyond this machine although others may listen in, or come without being known
    #[arg(help_heading = "Protection", long)]
    pub insecure: bool,
}

/// Protection whose files are read.
#[derive(Clone)]
pub struct Protected {
    /// For gRPC and for HTTP; none: in plain text.
    tls: Option<[Arc<ServerTls>; 2]>,
    /// Decides who may ask what.
    pub authenticator: Arc<Authenticator>,
    is_insecure: bool,
    connections: Connections,
}

impl Protection {
    /// Reads the files.
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
            // Browsers, probes and collectors of metrics show no certificates; a token will do.
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
    /// Whether clients must show who they are.
    #[must_use]
    pub fn knows_clients(&self) -> bool {
        !self.authenticator.is_open()
            || self
                .tls
                .as_ref()
                .is_some_and(|[grpc, _]| grpc.knows_clients())
    }

    /// Listens for gRPC at an address. In plain text, or where nobody needs to be known, other machines can reach it only with
    /// `--insecure`. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// If the address is not to be had, or not safe; with the way out.
    pub async fn listen(&self, address: SocketAddr) -> Result<Listener> {
        self.bind(
            address,
            self.tls.as_ref().map(|[grpc, _]| Arc::clone(grpc)),
            self.connections.grpc,
        )
        .await
    }

    /// The same for HTTP. On this machine alone it is plain, as browsers know no private authorities; but not where
    /// certificates are all by which clients are known.
    ///
    /// # Errors
    /// If the address is not to be had, or not safe; with the way out.
    pub async fn listen_http(&self, address: SocketAddr) -> Result<Listener> {
        let is_plain = |http: &ServerTls| address.ip().is_loopback() && !http.knows_clients();
        let tls = self
            .tls
            .as_ref()
            .map(|[_, http]| Arc::clone(http))
            .filter(|http| !is_plain(http));
        self.bind(address, tls, self.connections.http).await
    }

    async fn bind(
        &self,
        address: SocketAddr,
        tls: Option<Arc<ServerTls>>,
        most: usize,
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
        Listener::new(socket, tls, most).with_context(|| format!("cannot listen on {address}"))
    }

    fn check(&self, address: SocketAddr) -> Result<()> {
        let lacks = match (self.tls.is_some(), self.knows_clients()) {
            (true, true) => return Ok(()),
            _ if address.ip().is_loopback() => return Ok(()),
            (false, false) => {
                "give --tls-cert and --tls-key so that nobody listens in (`kagetsu certs` makes them), and --tokens or \
                 --tls-client-ca so that clients are known"
            }
            (false, true) => {
                "tokens would go there in plain text; give --tls-cert and --tls-key (`kagetsu certs` makes them)"
            }
            (true, false) => "give --tokens or --tls-client-ca so that clients are known",
        };
        if !self.is_insecure {
            bail!(
                "{address} can be reached from other machines: {lacks}; or give --insecure if that is meant"
            );
        }
        tracing::warn!(%address, "listening without protection, as --insecure says: {lacks}");
        Ok(())
    }

    /// Reads what has changed of certificates and tokens; from now on on every SIGHUP as well.
    ///
    /// # Errors
    /// If the system has no room for another signal.
    pub fn reload_on_hangup(&self) -> std::io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        let all = self.clone();
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                tracing::info!(
                    "SIGHUP: certificates and tokens are read again if they have changed"
                );
                all.authenticator.reload_and_log();
                for tls in all.tls.iter().flatten() {
                    if let Err(error) = tls.reload() {
                        tracing::warn!("the certificates of before are still used: {error}");
                    }
                }
            }
        });
        Ok(())
    }
}
