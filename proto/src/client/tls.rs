use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::tls_files::{TlsError, certificates, key, provider, refused, roots};

/// The client's side of TLS: a trusted authority, and a certificate of its own if there is one.
#[derive(Clone)]
pub(crate) struct Client {
    connector: TlsConnector,
    authority: PathBuf,
    certificate: Option<PathBuf>,
}

impl Client {
    /// Trusts the certificates that `authority` has signed; `own` is a certificate and its key.
    ///
    /// # Errors
    /// For unusable files.
    pub(crate) fn new(authority: &Path, own: Option<(&Path, &Path)>) -> Result<Self, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| TlsError::Refused(authority.into(), error.to_string()))?
            .with_root_certificates(roots(authority)?);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some((certificate, private)) => builder
                .with_client_auth_cert(certificates(certificate)?, key(private)?)
                .map_err(|error| refused(certificate, private, &error))?,
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            authority: authority.into(),
            certificate: own.map(|(certificate, _)| certificate.into()),
        })
    }

    /// Performs the TLS handshake.
    ///
    /// # Errors
    /// An I/O error, which holds the error of rustls if that is the cause.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_string()).map_err(std::io::Error::other)?;
        self.connector.connect(name, stream).await
    }

    /// Explains a failed handshake with the way out; `None` if TLS is not the cause.
    pub(crate) fn explain(&self, host: &str, error: &std::io::Error) -> Option<String> {
        let error = error.get_ref()?.downcast_ref::<Error>()?;
        Some(match error {
            Error::InvalidCertificate(error) => self.explain_distrust(host, error),
            Error::AlertReceived(alert) => self.explain_rejection(*alert),
            Error::InvalidMessage(_) => {
                "it does not speak TLS: write http:// instead of https://".into()
            }
            Error::PeerIncompatible(_) => "it does not speak TLS 1.3, which is needed".into(),
            error => error.to_string(),
        })
    }

    /// Explains why the server's certificate is not trusted.
    fn explain_distrust(&self, host: &str, error: &CertificateError) -> String {
        let authority = self.authority.display();
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "its certificate is not signed by the authority of --tls-ca {authority}: give the ca.pem of its cluster"
            ),
            CertificateError::ExpiredContext { time, not_after } => {
                let days = time.as_secs().saturating_sub(not_after.as_secs()) / 86_400;
                format!(
                    "its certificate, or the authority of --tls-ca {authority}, expired {days} days ago: renew it \
                     there with `kagetsu certs DIR --renew`"
                )
            }
            CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet: compare the clocks of the two machines".into()
            }
            CertificateError::NotValidForNameContext { presented, .. } => format!(
                "its certificate is not for {host} but for {}: use one of these names, or add this one there with \
                 `kagetsu certs DIR --renew --host {host}`",
                presented.iter().map(|name| plain_name(name)).collect::<Vec<_>>().join(", ")
            ),
            CertificateError::InvalidPurposeContext { .. } => {
                "its certificate is not a server's: it needs the coordinator's own, as in coordinator.pem".into()
            }
            error => format!("its certificate cannot be believed: {error}"),
        }
    }

    /// Explains why the server does not trust this client.
    fn explain_rejection(&self, alert: AlertDescription) -> String {
        let Some(certificate) = &self.certificate else {
            return "it wants a certificate: give --tls-cert and --tls-key, as in client.pem and client.key".into();
        };
        let certificate = certificate.display();
        match alert {
            AlertDescription::CertificateExpired => format!(
                "the certificate of --tls-cert {certificate} has expired: renew it with `kagetsu certs DIR --renew`"
            ),
            alert => format!(
                "it does not believe the certificate of --tls-cert {certificate} ({alert:?}): give one that the \
                 authority of its --tls-client-ca has signed for clients, as in client.pem"
            ),
        }
    }
}

/// Returns the name inside `DnsName("a.example")` or `IpAddress(10.0.0.1)`.
fn plain_name(shown: &str) -> String {
    let inner = shown
        .split_once('(')
        .map_or(shown, |(_, rest)| rest.trim_end_matches(')'));
    inner.trim_matches('"').to_string()
}
