//! Checks of a book and of certificates, by the code that opens them at the start of a program.

use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{Book, BookError, BookOptions, OpenError};
use kagetsu_files::others_may_read;
use kagetsu_proto::certificate_validity;
use time::OffsetDateTime;

use super::{HealthFinding, Level};

/// Days before its end from which a certificate is reported.
const EXPIRY_NOTICE_DAYS: i64 = 30;

/// Opens a book's folder to read it.
pub(super) fn folder(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    match Book::open_to_read(path, &BookOptions::default()) {
        Ok((book, _)) => HealthFinding::new(
            Level::Ok,
            &subject,
            format!("{} positions, not open in another process", book.len()),
        ),
        Err(BookError::Open(OpenError::Held { holder, .. })) => {
            HealthFinding::new(Level::Ok, &subject, format!("open in process {holder}"))
        }
        // The messages name the way out.
        Err(error) => HealthFinding::new(Level::Fault, subject, error),
    }
}

/// Looks at the certificates and keys of a folder, as `kagetsu certs` makes it.
pub(super) fn certificates(folder: &Path) -> Vec<HealthFinding> {
    let subject = folder.display().to_string();
    let advice = "`kagetsu certs DIR --host NAME` makes certificates";
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![HealthFinding::new(Level::Fault, subject, error).advise(advice)],
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let finding = |path: &PathBuf| match path.extension()?.to_str()? {
        "pem" => Some(certificate(path)),
        "key" => Some(key(path)),
        _ => None,
    };
    let findings: Vec<_> = paths.iter().filter_map(finding).collect();
    if findings.is_empty() {
        return vec![HealthFinding::new(Level::Fault, subject, "has no *.pem").advise(advice)];
    }
    findings
}

fn certificate(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    let (begin, end) = match certificate_validity(path) {
        Ok(validity) => validity,
        Err(error) => return HealthFinding::new(Level::Fault, subject, error),
    };
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let days = (end - now).div_euclid(86_400);
    if begin > now {
        return HealthFinding::new(Level::Fault, subject, "is not valid yet")
            .advise("set the clock of this machine (chrony, systemd-timesyncd)");
    }
    let (level, found) = match days {
        ..0 => (Level::Fault, format!("expired {} days ago", -days)),
        0..EXPIRY_NOTICE_DAYS => (Level::Warning, format!("valid for {days} days")),
        _ => return HealthFinding::new(Level::Ok, subject, format!("valid for {days} days")),
    };
    HealthFinding::new(level, subject, found).advise("`kagetsu certs DIR --renew` makes it anew")
}

fn key(path: &Path) -> HealthFinding {
    let subject = path.display().to_string();
    match fs::metadata(path).map(|about| others_may_read(&about)) {
        Err(error) => {
            HealthFinding::new(Level::Fault, subject, error).advise("give this user access to it")
        }
        Ok(Some(true)) => {
            let advice = format!("chmod 600 {subject}");
            HealthFinding::new(Level::Fault, subject, "other users may read it").advise(advice)
        }
        Ok(Some(false)) => HealthFinding::new(Level::Ok, subject, "only its owner may read it"),
        Ok(None) => HealthFinding::new(Level::Warning, subject, "has the rights of its folder")
            .advise("look with icacls that no other user may read it"),
    }
}
