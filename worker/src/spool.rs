//! What is found out and not acknowledged, on the worker's disk. Who keeps a report waits until it is there; who forgets one
//! waits for nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kagetsu_proto::v1;
use prost::Message;

use crate::sweeper::Sweeper;

/// The first bytes of a file: what it is, and the version of its format.
const HEAD: &[u8; 8] = b"kagrep\x00\x01";
/// Most reports that are read at a start; others wait for the next.
const MOST: usize = 4_096;

/// A folder of reports, one file each, held by one worker.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    // In this order they are dropped: the folder is another's when what is forgotten is gone.
    sweeper: Sweeper,
    _lock: File,
}

impl Spool {
    /// Takes the folder, which is made where there is none; with what an earlier worker left in it, by number. A damaged
    /// report is told of and left out: its task is given to others when its lease ends.
    ///
    /// # Errors
    /// If another worker has it, or the disk says no.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<(u64, v1::Spooled)>)> {
        let name = folder.display();
        fs::create_dir_all(folder).with_context(|| format!("cannot make the spool {name}"))?;
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
                bail!("the spool {name} is another worker's; give each worker a --spool of its own")
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
                Some("report") if left.len() < MOST => {}
                Some("new") if number(&path).is_some() => {
                    // Never finished, and so never counted on.
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
                None => tracing::warn!(file = %path.display(), "a damaged report is left out"),
            }
        }
        left.sort_by_key(|(number, _)| *number);
        let sweeper = Sweeper::start(|file| {
            // What is left behind is said again after the next start, and does no harm.
            let _ = fs::remove_file(file);
        });
        let sweeper = sweeper.context("cannot start a thread that empties the spool")?;
        Ok((
            Self {
                folder: folder.to_path_buf(),
                sweeper,
                _lock: lock,
            },
            left,
        ))
    }

    /// Writes a report. One that cannot be written is kept in memory alone, which is said.
    pub(crate) fn keep(&self, number: u64, report: &v1::Spooled) {
        if let Err(error) = self.write(number, report) {
            tracing::warn!(
                "cannot write to the spool {}: {error}; the result is in memory alone",
                self.folder.display()
            );
            let _ = fs::remove_file(self.path(number, "new"));
        }
    }

    /// A report is safe elsewhere, or wanted no more. It goes by and by.
    pub(crate) fn forget(&self, number: u64) {
        self.sweeper.remove(self.path(number, "report"));
    }

    fn write(&self, number: u64, report: &v1::Spooled) -> std::io::Result<()> {
        let mut bytes = HEAD.to_vec();
        bytes.extend(report.encode_to_vec());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let new = self.path(number, "new");
        let mut file = File::create(&new)?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        fs::rename(&new, self.path(number, "report"))?;
        File::open(&self.folder)?.sync_data()
    }

    fn path(&self, number: u64, extension: &str) -> PathBuf {
        self.folder.join(format!("{number:016x}.{extension}"))
    }
}

/// The number of a report, as its file has it; `None` for a file of somebody else's.
fn number(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str().filter(|stem| stem.len() == 16)?;
    u64::from_str_radix(stem, 16).ok()
}

/// `None` for bytes that nobody wrote.
fn read(bytes: &[u8]) -> Option<v1::Spooled> {
    let (body, sum) = bytes.split_last_chunk()?;
    let message = body.strip_prefix(HEAD)?;
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
            }),
        }
    }

    #[test]
    fn what_is_kept_is_there_after_a_crash_and_what_is_forgotten_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new").join("spool");
        let (spool, left) = Spool::open(&path).expect("room");
        assert!(left.is_empty());
        (1..=4).for_each(|n| spool.keep(n, &report(n)));
        spool.forget(2);
        spool.forget(9);
        assert!(
            Spool::open(&path)
                .expect_err("one worker at a time")
                .to_string()
                .contains("--spool")
        );
        drop(spool);
        fs::write(path.join("0000000000000009.new"), "half").expect("room");
        fs::write(path.join("notes.new"), "somebody's").expect("room");
        let (_spool, left) = Spool::open(&path).expect("room");
        assert_eq!(left, [(1, report(1)), (3, report(3)), (4, report(4))]);
        assert!(!path.join("0000000000000009.new").exists() && path.join("notes.new").exists());
    }

    #[test]
    fn damaged_bytes_are_left_out_whichever_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let (spool, _) = Spool::open(folder.path()).expect("room");
        spool.keep(1, &report(1));
        let file = spool.path(1, "report");
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
                .expect("it is left out")
                .1
                .is_empty()
        );
    }
}
