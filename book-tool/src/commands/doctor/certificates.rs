//! Checks of a folder of certificates, as `kagetsu certs` makes it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::parse_x509_pem;

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
    let Ok((_, pem)) = parse_x509_pem(&bytes) else {
        return HealthFinding::fault(subject, "holds no PEM", advice);
    };
    let Ok(certificate) = pem.parse_x509() else {
        return HealthFinding::fault(subject, "holds no certificate", advice);
    };
    let validity = certificate.validity();
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let days = (validity.not_after.timestamp() - now).div_euclid(86_400);
    if validity.not_before.timestamp() > now {
        let advice = "set the clock of this machine (chrony, systemd-timesyncd)";
        return HealthFinding::fault(subject, "is not valid yet", advice);
    }
    if days < 0 {
        return HealthFinding::fault(subject, format!("expired {} days ago", -days), advice);
    }
    let mut found = format!("valid for {days} days");
    if let Ok(Some(names)) = certificate.subject_alternative_name() {
        let names: Vec<_> = names.value.general_names.iter().filter_map(name).collect();
        found = format!("{found}, for {}", names.join(", "));
    }
    if days < EXPIRY_NOTICE_DAYS {
        return HealthFinding::warning(subject, found, advice);
    }
    HealthFinding::ok(subject, found)
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_string()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes)
                .ok()
                .map(|bytes| std::net::Ipv4Addr::from(bytes).to_string()),
            _ => <[u8; 16]>::try_from(*bytes)
                .ok()
                .map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
        },
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
