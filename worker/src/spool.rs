//! Reports on the worker's disk until the coordinator has acknowledged them. Writing one waits for
//! the disk; removing one does not.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kagetsu_files::{Readers, replace_file};
use kagetsu_proto::v1;
use prost::Message;

use crate::file_remover::FileRemover;

/// The first bytes of a file: its kind, and the version of its format.
const HEADER: &[u8; 8] = b"kagrep\x00\x01";
/// Reports that are read at a start; more wait for the next start.
const MAX_RESTORED: usize = 4_096;

/// A folder of reports, one file each, locked by one worker.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    // Dropped in this order: the lock is released after the files are removed.
    remover: FileRemover,
    _lock: File,
}

impl Spool {
    /// Opens or creates the folder, and returns the reports of an earlier worker by number. A
    /// damaged report is left out with a warning; its task is reassigned when its lease ends.
    ///
    /// # Errors
    /// If another worker has locked the folder, or for an error of the disk.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<(u64, v1::Spooled)>)> {
        let name = folder.display();
        fs::create_dir_all(folder).with_context(|| format!("cannot create the spool {name}"))?;
        let lock = folder.join("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock);
        let lock = lock.with_context(|| format!("cannot write in the spool {name}"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "the spool {name} belongs to another worker; give each worker a --spool of its own"
                )
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context(format!("cannot lock the spool {name}"));
            }
        }
        let mut left = Vec::new();
        for file in fs::read_dir(folder).with_context(|| format!("cannot read the spool {name}"))? {
            let path = file
                .with_context(|| format!("cannot read the spool {name}"))?
                .path();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("report") if left.len() < MAX_RESTORED => {}
                Some("new") if number(&path).is_some() => {
                    // It was never finished, so no report was sent from it.
                    let _ = fs::remove_file(&path);
                    continue;
                }
                _ => continue,
            }
            let Some(number) = number(&path) else {
                continue;
            };
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            match read(&bytes) {
                Some(report) => left.push((number, report)),
                None => tracing::warn!(file = %path.display(), "a damaged report is ignored"),
            }
        }
        left.sort_by_key(|(number, _)| *number);
        let remover = FileRemover::start(|file| {
            // A file that stays is reported again after the next start, which does no harm.
            let _ = fs::remove_file(file);
        });
        let remover = remover.context("cannot start a thread that removes reports")?;
        Ok((
            Self {
                folder: folder.to_path_buf(),
                remover,
                _lock: lock,
            },
            left,
        ))
    }

    /// Writes a report. If that fails, the report is in memory alone, with a warning.
    pub(crate) fn keep(&self, number: u64, report: &v1::Spooled) {
        if let Err(error) = self.write(number, report) {
            tracing::warn!(
                "cannot write to the spool {}: {error}; the result is kept in memory alone",
                self.folder.display()
            );
        }
    }

    /// Removes a report, without waiting for the disk.
    pub(crate) fn remove(&self, number: u64) {
        self.remover.remove(self.path(number));
    }

    fn write(&self, number: u64, report: &v1::Spooled) -> std::io::Result<()> {
        let mut bytes = HEADER.to_vec();
        bytes.extend(report.encode_to_vec());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let report = self.path(number);
        replace_file(&report, Readers::Usual, |file| file.write_all(&bytes))
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:016x}.report"))
    }
}

/// Returns the number in the name of a report's file, or of one that was never finished; `None` for
/// other files.
fn number(path: &Path) -> Option<u64> {
    let (number, _) = path.file_name()?.to_str()?.split_once('.')?;
    (number.len() == 16).then(|| u64::from_str_radix(number, 16).ok())?
}

/// Reads a report; `None` for damaged bytes.
fn read(bytes: &[u8]) -> Option<v1::Spooled> {
    let (body, sum) = bytes.split_last_chunk()?;
    let message = body.strip_prefix(HEADER)?;
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return None;
    }
    v1::Spooled::decode(message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(task: u64) -> v1::Spooled {
        let failed = v1::report::Outcome::Failed("no".into());
        v1::Spooled {
            epoch: 7,
            question: None,
            report: Some(v1::Report {
                task,
                attempt: 1,
                outcome: Some(failed),
                strategies: Vec::new(),
            }),
        }
    }

    #[test]
    fn reports_survive_a_crash_until_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new").join("spool");
        let (spool, left) = Spool::open(&path).expect("room");
        assert!(left.is_empty());
        (1..=4).for_each(|n| spool.keep(n, &report(n)));
        spool.remove(2);
        spool.remove(9);
        assert!(
            Spool::open(&path)
                .expect_err("one worker at a time")
                .to_string()
                .contains("--spool")
        );
        drop(spool);
        fs::write(path.join("0000000000000009.report.7-0.new"), "half").expect("room");
        fs::write(path.join("notes.new"), "another file").expect("room");
        let (_spool, left) = Spool::open(&path).expect("room");
        assert_eq!(left, [(1, report(1)), (3, report(3)), (4, report(4))]);
        assert!(
            !path.join("0000000000000009.report.7-0.new").exists()
                && path.join("notes.new").exists()
        );
    }

    #[test]
    fn damage_to_any_byte_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let (spool, _) = Spool::open(folder.path()).expect("room");
        spool.keep(1, &report(1));
        let file = spool.path(1);
        drop(spool);
        let whole = fs::read(&file).expect("written");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            assert_eq!(read(&bytes), None, "byte {at}");
            assert_eq!(read(&whole[..at]), None, "{at} bytes");
        }
        fs::write(&file, &whole[1..]).expect("room");
        assert!(
            Spool::open(folder.path())
                .expect("it is ignored")
                .1
                .is_empty()
        );
    }
}
