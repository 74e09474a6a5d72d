use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::client::book_url::BookUrl;
use crate::client::error::RequestError;

/// Returns the TLS settings of connections to a database. The certificate of the server is always
/// compared with its name.
pub(crate) fn connector(url: &BookUrl) -> Result<MakeRustlsConnect, RequestError> {
    let mut roots = RootCertStore::empty();
    match &url.root_certificates {
        Some(path) => {
            let fail = |error: String| {
                RequestError::fatal(format!(
                    "cannot read the certificates in {}: {error}",
                    path.display()
                ))
            };
            let found = CertificateDer::pem_file_iter(path).map_err(|e| fail(e.to_string()))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| fail(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| fail(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(fail("the file has none".into()));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| RequestError::fatal(format!("TLS cannot be set up: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
