use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::time::Time;

/// The reason why certificates or a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file cannot be read.
    #[error("cannot read {}: {}; `kagetsu certs DIR` makes certificates and keys", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// The file holds something else.
    #[error("{} holds no {} in PEM, a text with -----BEGIN {}-----{}", .0.display(), .1, .2, .3)]
    Content(PathBuf, &'static str, &'static str, String),
    /// The key does not belong to the certificate.
    #[error("the key in {} is not that of the certificate in {}: give the two files that were made together", .1.display(), .0.display())]
    Pair(PathBuf, PathBuf),
    /// The TLS library refuses the file.
    #[error("cannot use the certificate in {}: {}", .0.display(), .1)]
    Refused(PathBuf, String),
}

/// Returns the cryptography library, ring.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Reads a file of certificates, the owner's first.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text =
        kagetsu_files::read_file(path).map_err(|error| TlsError::Read(path.into(), error))?;
    let no = |why: String| TlsError::Content(path.into(), "certificate", "CERTIFICATE", why);
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.map_err(|error| no(format!(" ({error})")))?;
    if all.is_empty() {
        Err(no(String::new()))
    } else {
        Ok(all)
    }
}

/// Reads the first and last second of a certificate's validity, in seconds since 1970.
///
/// # Errors
/// If the file cannot be read, or holds no certificate.
pub fn certificate_validity(path: &Path) -> Result<(i64, i64), TlsError> {
    let all = certificates(path)?;
    let first = all.first().ok_or_else(|| {
        TlsError::Content(path.into(), "certificate", "CERTIFICATE", String::new())
    })?;
    let parsed = Certificate::from_der(first);
    let parsed = parsed.map_err(|error| TlsError::Refused(path.into(), error.to_string()))?;
    let validity = parsed.tbs_certificate().validity();
    let seconds = |time: Time| time.to_unix_duration().as_secs() as i64;
    Ok((seconds(validity.not_before), seconds(validity.not_after)))
}

/// Reads a file with a private key.
pub(crate) fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text =
        kagetsu_files::read_file(path).map_err(|error| TlsError::Read(path.into(), error))?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let why = if matches!(error, PemError::NoItemsFound) {
            String::new()
        } else {
            format!(" ({error})")
        };
        TlsError::Content(path.into(), "private key", "PRIVATE KEY", why)
    })
}

/// Reads a file of authorities' certificates.
pub(crate) fn roots(path: &Path) -> Result<Arc<RootCertStore>, TlsError> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(certificate)
            .map_err(|error| TlsError::Refused(path.into(), error.to_string()))?;
    }
    Ok(Arc::new(store))
}

/// Converts an error of the TLS library about a certificate and its key.
pub(crate) fn refused(certificate: &Path, key: &Path, error: &rustls::Error) -> TlsError {
    match error {
        rustls::Error::InconsistentKeys(_) => TlsError::Pair(certificate.into(), key.into()),
        error => TlsError::Refused(certificate.into(), error.to_string()),
    }
}
