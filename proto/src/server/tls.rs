use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::TimedTcp;
use crate::tls_files::{
    TlsError, certificate_validity, certificates, key, provider, refused, roots,
};

/// The files of the server's side of TLS.
#[derive(Clone, Debug)]
pub struct ServerFiles {
    /// The certificate, followed by intermediate certificates.
    pub certificate: PathBuf,
    /// The certificate's key.
    pub key: PathBuf,
    /// The authority of the clients' certificates; `None` admits clients without a certificate.
    pub client_authority: Option<PathBuf>,
}

/// The server's side of TLS, which can reload its files while it serves.
pub struct ServerTls {
    files: ServerFiles,
    protocols: Vec<Vec<u8>>,
    state: Mutex<AcceptorState>,
}

struct AcceptorState {
    acceptor: TlsAcceptor,
    /// The first and last second of the certificate's validity, in seconds since 1970.
    validity: (i64, i64),
    /// A hash of the files. Their times are too coarse for two writes in a row.
    sum: u64,
}

impl ServerTls {
    /// Reads the files. `protocols` are ALPN names, as in `h2`.
    ///
    /// # Errors
    /// For unusable files.
    pub fn new(files: ServerFiles, protocols: &[&str]) -> Result<Self, TlsError> {
        let protocols: Vec<_> = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let state = AcceptorState {
            sum: files.sum(),
            validity: certificate_validity(&files.certificate)?,
            acceptor: files.acceptor(&protocols)?,
        };
        Ok(Self {
            files,
            protocols,
            state: Mutex::new(state),
        })
    }

    /// Reloads the files if one has changed, and returns whether it did. Open connections continue.
    /// An unusable file is reported once, and the previous files stay in use.
    ///
    /// # Errors
    /// For unusable files.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let sum = self.files.sum();
        {
            let mut state = self.state.lock();
            if state.sum == sum {
                return Ok(false);
            }
            state.sum = sum;
        }
        let (acceptor, validity) = (
            self.files.acceptor(&self.protocols)?,
            certificate_validity(&self.files.certificate)?,
        );
        let mut state = self.state.lock();
        (state.acceptor, state.validity) = (acceptor, validity);
        Ok(true)
    }

    /// Explains why the certificate is not valid at this time, with the way out; `None` if it is
    /// valid.
    #[must_use]
    pub fn validity_fault(&self, now: SystemTime) -> Option<String> {
        let (from, until) = self.state.lock().validity;
        let now = now
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs().cast_signed());
        let (certificate, days) = (self.files.certificate.display(), |seconds: i64| {
            seconds / 86_400
        });
        if now > until {
            let ago = days(now - until);
            return Some(format!(
                "the certificate in {certificate} expired {ago} days ago: no client believes it; `kagetsu certs DIR --renew` \
                 makes another, which is read at once"
            ));
        }
        (now < from).then(|| {
            let ahead = days(from - now);
            format!(
                "the certificate in {certificate} is not valid before {ahead} days from now: no client believes it; set the clock, \
                 or give another"
            )
        })
    }

    /// Whether clients need a certificate.
    #[must_use]
    pub const fn knows_clients(&self) -> bool {
        self.files.client_authority.is_some()
    }

    /// Performs the TLS handshake.
    ///
    /// # Errors
    /// An I/O error, which holds the error of rustls if that is the cause.
    pub(super) async fn handshake(&self, stream: TimedTcp) -> std::io::Result<TlsStream<TimedTcp>> {
        let acceptor = self.state.lock().acceptor.clone();
        acceptor.accept(stream).await
    }
}

impl ServerFiles {
    fn sum(&self) -> u64 {
        let files = [
            Some(&self.certificate),
            Some(&self.key),
            self.client_authority.as_ref(),
        ];
        let mut sum = DefaultHasher::new();
        files
            .into_iter()
            .flatten()
            .for_each(|file| kagetsu_files::read_file(file).ok().hash(&mut sum));
        sum.finish()
    }

    fn acceptor(&self, protocols: &[Vec<u8>]) -> Result<TlsAcceptor, TlsError> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| TlsError::Refused(self.certificate.clone(), error.to_string()))?;
        let builder = match &self.client_authority {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(roots(authority)?, provider())
                        .build();
                let verifier = verifier
                    .map_err(|error| TlsError::Refused(authority.clone(), error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder
            .with_single_cert(certificates(&self.certificate)?, key(&self.key)?)
            .map_err(|error| refused(&self.certificate, &self.key, &error))?;
        config.alpn_protocols = protocols.to_vec();
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
