//! Who is in quarantine, in a file beside the book: a coordinator that is started again believes nobody whom it did not.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kagetsu_schedule::WorkerId;
use serde::{Deserialize, Serialize};

/// Its name in the book's folder.
const FILE: &str = "quarantine.toml";
/// What stands at its head.
const HEAD: &str = "# Workers in quarantine; `kagetsu workers release NAME` ends it.\n\n";
/// Most that are kept: the last.
const MOST: usize = 1_000;

/// A worker in quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confined {
    pub(crate) worker: WorkerId,
    pub(crate) name: String,
    /// Name and version of its engine.
    pub(crate) engine: String,
    /// What it was wrong about.
    pub(crate) reason: String,
    /// Seconds since 1970.
    pub(crate) since: u64,
    /// It failed in the exam: nothing that it said was believed, and whoever comes next under its name is examined.
    pub(crate) is_of_exam: bool,
    /// The name of the token under which it came.
    pub(crate) token: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileBody {
    #[serde(default, rename = "worker")]
    workers: Vec<FileEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    /// Sixteen hex digits: what the worker calls itself.
    instance: String,
    name: String,
    engine: String,
    reason: String,
    since: u64,
    #[serde(default, rename = "exam", skip_serializing_if = "std::ops::Not::not")]
    is_of_exam: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// Who was in quarantine when the coordinator was there last.
///
/// # Errors
/// If the file is there and cannot be read, or is not what [`write`] wrote.
pub(crate) fn read(book: &Path) -> Result<Vec<Confined>> {
    let path = book.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    parse(&text)
        .map_err(|why| anyhow::anyhow!(why))
        .with_context(|| {
            format!(
                "{} is damaged; mend it, or move it away: then nobody is in quarantine any more",
                path.display()
            )
        })
}

fn parse(text: &str) -> Result<Vec<Confined>, String> {
    let body: FileBody =
        toml::from_str(text).map_err(|error| error.to_string().trim().to_string())?;
    let confined = |FileEntry {
                        instance,
                        name,
                        engine,
                        reason,
                        since,
                        is_of_exam,
                        token,
                    }| {
        let worker = u64::from_str_radix(&instance, 16).map(WorkerId);
        let worker = worker
            .map_err(|_| format!("the instance '{instance}' of '{name}' is not 16 hex digits"))?;
        Ok(Confined {
            worker,
            name,
            engine,
            reason,
            since,
            is_of_exam,
            token,
        })
    };
    body.workers.into_iter().map(confined).collect()
}

/// Writes the file anew, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(book: &Path, all: &[Confined]) -> io::Result<()> {
    let entry = |Confined {
                     worker,
                     name,
                     engine,
                     reason,
                     since,
                     is_of_exam,
                     token,
                 }: &Confined| FileEntry {
        instance: format!("{:016x}", worker.0),
        name: name.clone(),
        engine: engine.clone(),
        reason: reason.clone(),
        since: *since,
        is_of_exam: *is_of_exam,
        token: token.clone(),
    };
    let mut last: Vec<_> = all.iter().collect();
    last.sort_by_key(|confined| (confined.since, confined.worker));
    let workers = last[last.len().saturating_sub(MOST)..]
        .iter()
        .map(|confined| entry(confined))
        .collect();
    let text = toml::to_string(&FileBody { workers }).map_err(io::Error::other)?;
    let path = book.join(FILE);
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(HEAD.as_bytes())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, &path)?;
    File::open(book)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined(n: u64) -> Confined {
        let reason = "wrong about \"freestyle-15\" h8:\n 34, and not 12".into();
        let token = (n.is_multiple_of(3)).then(|| format!("t{n}"));
        let (worker, name, engine) = (WorkerId(u64::MAX - n), format!("w{n}"), "e".into());
        Confined {
            worker,
            name,
            engine,
            reason,
            since: 7 + n,
            is_of_exam: n.is_multiple_of(2),
            token,
        }
    }

    #[test]
    fn what_is_written_is_read_and_of_too_many_the_last() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(folder.path()).expect("none"), []);
        let all: Vec<_> = (0..3).map(confined).collect();
        write(folder.path(), &all).expect("room");
        assert_eq!(read(folder.path()).expect("three"), all);
        let all: Vec<_> = (0..MOST as u64 + 5).map(confined).collect();
        write(folder.path(), &all).expect("room");
        assert_eq!(read(folder.path()).expect("many"), all[5..]);
    }

    #[test]
    fn a_damaged_file_is_named_with_the_way_out() {
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
