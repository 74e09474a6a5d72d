//! Checks of a book and of certificates, by the code that opens them at the start of a program.

use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{Book, BookError, BookOptions, Journal, OpenError, without_password};
use kagetsu_files::others_may_read;
use kagetsu_postgres::{BookUrl, PostgresJournal};
use kagetsu_proto::certificate_validity;
use time::OffsetDateTime;

use super::{HealthFinding, Level};

/// Room below which a build may soon stop.
const MIN_ROOM_MIB: u64 = 256;
/// Days before its end from which a certificate is reported.
const EXPIRY_NOTICE_DAYS: i64 = 30;

/// Opens a book's folder to read it, and looks at the room on its disk.
pub(super) fn folder(path: &Path) -> Vec<HealthFinding> {
    let subject = path.display().to_string();
    let opened = match Book::open_to_read(path, &BookOptions::default()) {
        Ok((book, _)) => HealthFinding::new(
            Level::Ok,
            &subject,
            format!("{} positions, not open in another process", book.len()),
        ),
        Err(BookError::Open(OpenError::Held { holder, .. })) => {
            HealthFinding::new(Level::Ok, &subject, format!("open in process {holder}"))
        }
        // The messages name the way out.
        Err(error) => return vec![HealthFinding::new(Level::Fault, subject, error)],
    };
    let disk = format!("disk of {subject}");
    let room = match fs4::available_space(path).map(|bytes| bytes >> 20) {
        Ok(mib) if mib < MIN_ROOM_MIB => {
            HealthFinding::new(Level::Fault, disk, format!("{mib} MiB free"))
                .advise("make room: a build stops when the disk is full")
        }
        Ok(mib) => HealthFinding::new(Level::Ok, disk, format!("{mib} MiB free")),
        Err(error) => HealthFinding::new(Level::Warning, disk, error).advise("look with df"),
    };
    vec![opened, room]
}

/// Opens a book in a database, and asks about the server's durability.
pub(super) fn database(text: &str) -> Vec<HealthFinding> {
    let opened = BookUrl::parse(text)
        .map_err(|error| error.to_string())
        .and_then(|url| PostgresJournal::open(&url).map_err(|error| error.to_string()));
    let subject = without_password(text);
    let advice = "docs/cluster/replication.md describes books in a database";
    match opened {
        Err(found) => vec![HealthFinding::new(Level::Fault, subject, found).advise(advice)],
        Ok(journal) => {
            let found = format!("answers; the journal has {} entries", journal.entries());
            let warnings = journal.warnings().into_iter().map(|found| {
                HealthFinding::new(Level::Warning, "durability", found).advise(advice)
            });
            let answers = HealthFinding::new(Level::Ok, subject, found);
            std::iter::once(answers).chain(warnings).collect()
        }
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
