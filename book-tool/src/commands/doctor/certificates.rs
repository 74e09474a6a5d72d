//! Checks of a folder of certificates, as `kagetsu certs` makes it.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use x509_cert::Certificate;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::time::Time;

use super::finding::HealthFinding;

/// Days before its end from which a certificate is reported.
const EXPIRY_NOTICE_DAYS: i64 = 30;

pub(super) fn check(folder: &Path) -> Vec<HealthFinding> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            let advice = "`kagetsu certs DIR --host NAME` makes certificates";
            let subject = folder.display().to_string();
            return vec![HealthFinding::fault(subject, error.to_string(), advice)];
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let has_end = |path: &&PathBuf, end: &str| path.extension().is_some_and(|found| found == end);
    let certificates = paths.iter().filter(|path| has_end(path, "pem"));
    let keys = paths.iter().filter(|path| has_end(path, "key"));
    let findings: Vec<_> = certificates
        .map(|path| certificate(path))
        .chain(keys.map(|path| key(path)))
        .collect();
    if findings.is_empty() {
        let advice = "`kagetsu certs DIR --host NAME` makes certificates";
        return vec![HealthFinding::fault(
            folder.display().to_string(),
            "has no *.pem",
            advice,
        )];
    }
    findings
}

fn certificate(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            return HealthFinding::fault(subject, error.to_string(), "give this user access to it");
        }
    };
    let advice = "`kagetsu certs DIR --renew` makes it anew";
    let chain = Certificate::load_pem_chain(&bytes).unwrap_or_default();
    let Some(certificate) = chain.first() else {
        return HealthFinding::fault(subject, "holds no certificate in PEM", advice);
    };
    let seconds = |time: Time| time.to_unix_duration().as_secs() as i64;
    let certificate = certificate.tbs_certificate();
    let validity = certificate.validity();
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let days = (seconds(validity.not_after) - now).div_euclid(86_400);
    if seconds(validity.not_before) > now {
        let advice = "set the clock of this machine (chrony, systemd-timesyncd)";
        return HealthFinding::fault(subject, "is not valid yet", advice);
    }
    if days < 0 {
        return HealthFinding::fault(subject, format!("expired {} days ago", -days), advice);
    }
    let mut found = format!("valid for {days} days");
    if let Ok(Some((_, names))) = certificate.get_extension::<SubjectAltName>() {
        let names: Vec<_> = names.0.iter().filter_map(name).collect();
        found = format!("{found}, for {}", names.join(", "));
    }
    if days < EXPIRY_NOTICE_DAYS {
        return HealthFinding::warning(subject, found, advice);
    }
    HealthFinding::ok(subject, found)
}

fn name(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            let short = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            let long = <[u8; 16]>::try_from(bytes).map(IpAddr::from);
            short.or(long).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

fn key(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    match fs::metadata(path) {
        Err(error) => {
            HealthFinding::fault(subject, error.to_string(), "give this user access to it")
        }
        Ok(about) if about.permissions().mode() & 0o077 != 0 => {
            let found = format!(
                "other users may read it (mode {:o})",
                about.permissions().mode() & 0o777
            );
            let advice = format!("chmod 600 {}", path.display());
            HealthFinding::fault(subject, found, advice)
        }
        Ok(_) => HealthFinding::ok(subject, "only its owner may read it"),
    }
}
