//! The file of quarantined workers beside the book, by which a restarted coordinator knows them.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use kagetsu_files::{Readers, replace_file};
use kagetsu_schedule::WorkerId;
use kagetsu_verification::{Quarantine, QuarantinedWorker, Scope};
use serde::{Deserialize, Serialize};

/// Name of the file in the book's folder.
const FILE: &str = "quarantine.toml";
/// First lines of the file.
const HEAD: &str = "# Workers in quarantine; `kagetsu workers release NAME` ends it.\n\n";
/// Workers that are kept: the last.
const MAX_WORKERS: usize = 1_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileBody {
    #[serde(default, rename = "worker")]
    workers: Vec<FileEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    /// Instance number of the process, as 16 hex digits.
    instance: String,
    name: String,
    engine: String,
    reason: String,
    /// Unix time in seconds.
    since: u64,
    /// Whether the quarantine ends with the process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    process_only: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    volunteer: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl From<&QuarantinedWorker> for FileEntry {
    fn from(worker: &QuarantinedWorker) -> Self {
        Self {
            instance: format!("{:016x}", worker.worker.0),
            name: worker.name.clone(),
            engine: worker.engine.clone(),
            reason: worker.quarantine.reason.clone(),
            since: worker.quarantine.since.as_secs(),
            process_only: worker.quarantine.scope == Scope::Process,
            volunteer: worker.is_volunteer,
            token: worker.token.clone(),
        }
    }
}

impl TryFrom<FileEntry> for QuarantinedWorker {
    type Error = String;

    fn try_from(entry: FileEntry) -> Result<Self, String> {
        let FileEntry { instance, name, .. } = &entry;
        let worker = u64::from_str_radix(instance, 16)
            .map_err(|_| format!("the instance '{instance}' of '{name}' is not 16 hex digits"))?;
        let scope = if entry.process_only {
            Scope::Process
        } else {
            Scope::Principal
        };
        Ok(Self {
            worker: WorkerId(worker),
            name: entry.name,
            engine: entry.engine,
            token: entry.token,
            is_volunteer: entry.volunteer,
            quarantine: Quarantine {
                reason: entry.reason,
                since: Duration::from_secs(entry.since),
                scope,
            },
        })
    }
}

/// Reads the workers that were in quarantine when the coordinator last ran.
///
/// # Errors
/// If the file is there and cannot be read, or is not what [`write`] wrote.
pub(crate) fn read(book: &Path) -> Result<Vec<QuarantinedWorker>> {
    let path = book.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    parse(&text)
        .map_err(|reason| anyhow::anyhow!(reason))
        .with_context(|| {
            format!(
                "{} is damaged; mend it, or move it away: then no worker is in quarantine any more",
                path.display()
            )
        })
}

/// Reads the text of the file.
///
/// # Errors
/// If it is not what [`text`] returned.
pub(crate) fn parse(text: &str) -> Result<Vec<QuarantinedWorker>, String> {
    let body: FileBody =
        toml::from_str(text).map_err(|error| error.to_string().trim().to_string())?;
    body.workers.into_iter().map(TryInto::try_into).collect()
}

/// Returns the text of the file.
///
/// # Errors
/// If a name cannot be written as TOML.
pub(crate) fn text(all: &[QuarantinedWorker]) -> io::Result<String> {
    let mut last: Vec<_> = all.iter().collect();
    last.sort_by_key(|worker| (worker.quarantine.since, worker.worker));
    let workers = last[last.len().saturating_sub(MAX_WORKERS)..]
        .iter()
        .map(|worker| FileEntry::from(*worker))
        .collect();
    let text = toml::to_string(&FileBody { workers }).map_err(io::Error::other)?;
    Ok([HEAD, &text].concat())
}

/// Writes the file anew, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(book: &Path, all: &[QuarantinedWorker]) -> io::Result<()> {
    let text = text(all)?;
    let path = book.join(FILE);
    replace_file(&path, Readers::Usual, |file| {
        file.write_all(text.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quarantined(n: u64) -> QuarantinedWorker {
        QuarantinedWorker {
            worker: WorkerId(u64::MAX - n),
            name: format!("w{n}"),
            engine: "e".into(),
            token: n.is_multiple_of(3).then(|| format!("t{n}")),
            is_volunteer: n.is_multiple_of(5),
            quarantine: Quarantine {
                reason: "wrong about \"freestyle-15\" h8:\n 34, and not 12".into(),
                since: Duration::from_secs(7 + n),
                scope: if n.is_multiple_of(2) {
                    Scope::Process
                } else {
                    Scope::Principal
                },
            },
        }
    }

    #[test]
    fn last_workers_written_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(folder.path()).expect("none"), []);
        let all: Vec<_> = (0..3).map(quarantined).collect();
        write(folder.path(), &all).expect("room");
        assert_eq!(read(folder.path()).expect("three"), all);
        let all: Vec<_> = (0..MAX_WORKERS as u64 + 5).map(quarantined).collect();
        write(folder.path(), &all).expect("room");
        assert_eq!(read(folder.path()).expect("many"), all[5..]);
    }

    #[test]
    fn damaged_file_is_named_with_the_way_out() {
        for text in [
            "[[worker]]\nname = 3",
            "[[worker]]\nunknown = 3",
            "what",
            "[[worker]]\ninstance = \"x\"\nname = \"w\"\nengine = \"e\"\nreason = \"r\"\nsince = 1",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join(FILE), text).expect("room");
            let error = format!("{:#}", read(folder.path()).expect_err("damaged"));
            assert!(
                error.contains("quarantine.toml is damaged; mend it, or move it away"),
                "{error}"
            );
        }
    }
}
