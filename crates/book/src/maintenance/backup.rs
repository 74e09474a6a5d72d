//! Backup: a copy of the journal, which is all that a book needs, made while the book may be open.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::{BookError, JournalError, OpenError};
use crate::journal::file::FileJournal;
use crate::journal::manifest::JournalManifest;
use crate::journal::reader;
use crate::lock::Lock;
use crate::opening::{check_is_no_url, room_for_a_book};

/// Bytes that are copied and compared at a time.
const PIECE: usize = 1 << 20;

/// A file in a book's folder whose time is that of the last backup.
pub const BACKUP_MARK: &str = "last-backup";

/// The result of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// Entries of the copied journal.
    pub entries: u64,
    /// Bytes of the copied journal.
    pub bytes: u64,
    /// Bytes that the copy did not have before.
    pub copied: u64,
}

/// Copies the journal of the book in `from` into the folder `to`, which is empty, new, or has an
/// earlier copy; then only new entries are copied. The copy is a book without a store, which the
/// first opening makes.
///
/// The book may be open meanwhile. The copy has all entries that were acknowledged when it began.
///
/// # Errors
/// If either folder is not a book or both are the same, the journal is damaged, the copy is one of
/// another book or open in a process, or the disk refuses.
pub fn backup(from: &Path, to: &Path) -> Result<BackupReport, BookError> {
    check_is_no_url(from)?;
    check_is_no_url(to)?;
    let [source, target] = [from, to].map(|folder| folder.join("journal"));
    if !source.exists() {
        room_for_a_book(from, false)?;
    }
    // The same folder may have two names. A new folder lies where its first existing parent does.
    let there = to
        .ancestors()
        .find_map(|folder| fs::canonicalize(folder).ok());
    if fs::canonicalize(from).is_ok_and(|from| there.is_some_and(|to| to.starts_with(from))) {
        return Err(OpenError::Itself {
            from: from.into(),
            to: to.into(),
        }
        .into());
    }
    // Read the manifest before the journal: entries that are acknowledged later are not expected.
    let acknowledged = JournalManifest::read(from)?;
    let scan = reader::scan(&source, acknowledged, &mut |_, _, _| Ok(()))?;
    if let Some(expected) = acknowledged.filter(|expected| *expected > scan.entries) {
        return Err(JournalError::Short {
            path: source,
            found: scan.entries,
            expected,
        }
        .into());
    }
    if !target.exists() {
        room_for_a_book(to, true)?;
    }
    let _lock = Lock::take(to)?;
    let is_new = !target.exists();
    if is_new {
        FileJournal::create(&target)?;
    }
    let (source, target) = (reader::file_of(&source), reader::file_of(&target));
    let length = fs::metadata(&target)
        .map_err(BookError::io("cannot read", &target))?
        .len();
    // An interrupted copy may end within an entry, but it is a beginning of the journal all the
    // same.
    if length > scan.length || !is_same(&source, &target, length)? {
        return Err(OpenError::OtherBook {
            from: from.into(),
            to: to.into(),
        }
        .into());
    }
    append(&source, &target, length, scan.length)?;
    JournalManifest::open(to)?.write_durably(scan.entries)?;
    Ok(BackupReport {
        entries: scan.entries,
        bytes: scan.length,
        copied: scan.length - if is_new { 0 } else { length },
    })
}

/// Returns whether two files begin with the same bytes.
fn is_same(one: &Path, other: &Path, length: u64) -> Result<bool, BookError> {
    let open = |path: &Path| File::open(path).map_err(BookError::io("cannot read", path));
    let mut files = [open(one)?.take(length), open(other)?.take(length)];
    let mut pieces = [vec![0; PIECE], vec![0; PIECE]];
    let mut left = length;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        for ((file, bytes), path) in files.iter_mut().zip(&mut pieces).zip([one, other]) {
            file.read_exact(&mut bytes[..piece])
                .map_err(BookError::io("cannot read", path))?;
        }
        if pieces[0][..piece] != pieces[1][..piece] {
            return Ok(false);
        }
        left -= piece as u64;
    }
    Ok(true)
}

/// Copies a range of bytes of one file to the end of another, durably.
fn append(source: &Path, target: &Path, from: u64, to: u64) -> Result<(), BookError> {
    let mut file = File::open(source).map_err(BookError::io("cannot read", source))?;
    file.seek(SeekFrom::Start(from))
        .map_err(BookError::io("cannot read", source))?;
    let mut end = OpenOptions::new()
        .append(true)
        .open(target)
        .map_err(BookError::io("cannot write to", target))?;
    let (mut left, mut piece) = (to - from, vec![0; PIECE]);
    while left > 0 {
        let bytes = &mut piece[..usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        file.read_exact(bytes)
            .map_err(BookError::io("cannot read", source))?;
        end.write_all(bytes)
            .map_err(BookError::io("cannot write to", target))?;
        left -= bytes.len() as u64;
    }
    end.sync_all()
        .map_err(BookError::io("cannot write to", target))
}
