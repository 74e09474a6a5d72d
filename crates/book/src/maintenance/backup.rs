//! A book's journal somewhere else: all that a book is, in fewer bytes, and copied while the book is open.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::BookError;
use crate::journal::file::{self, Journal};
use crate::journal::manifest::Manifest;
use crate::lock::Lock;
use crate::opening::{check_is_no_url, room_for_a_book};

/// Bytes copied and compared at a time.
const PIECE: usize = 1 << 20;

/// What a copy of a book's journal took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Entries of the journal that the copy now has.
    pub entries: u64,
    /// Bytes that it has.
    pub bytes: u64,
    /// Bytes that it did not have before.
    pub copied: u64,
}

/// Brings the journal of the book in `from` into the folder `to`, which is empty, new, or has an earlier copy of it: then only
/// what came since is copied. The copy is a book, which lacks nothing but its store; the first opening makes that.
///
/// The book may be open meanwhile: the copy then has what was whole when it began, and so all that was acknowledged by then.
///
/// # Errors
/// If either is no book, or both are one, the journal is damaged, the copy is one of another book, somebody has it open, or the
/// disk says no.
pub fn backup(from: &Path, to: &Path) -> Result<BackupReport, BookError> {
    check_is_no_url(from)?;
    check_is_no_url(to)?;
    let [source, target] = [from, to].map(|folder| folder.join("journal"));
    if !source.exists() {
        room_for_a_book(from, false)?;
    }
    // Under one name or two: what is there has nothing to be copied, and no second copy.
    if fs::canonicalize(from).is_ok_and(|from| fs::canonicalize(to).is_ok_and(|to| from == to)) {
        return Err(BookError::Itself {
            from: from.into(),
            to: to.into(),
        });
    }
    // In this order: of what is acknowledged later nothing is asked.
    let acknowledged = Manifest::read(from)?;
    let scan = Journal::scan(&source, acknowledged, &mut |_, _| Ok(()))?;
    if let Some(expected) = acknowledged.filter(|expected| *expected > scan.entries) {
        return Err(BookError::JournalShort {
            path: source,
            found: scan.entries,
            expected,
        });
    }
    if !target.exists() {
        room_for_a_book(to, true)?;
    }
    let _lock = Lock::take(to)?;
    let is_new = !target.exists();
    if is_new {
        Journal::create(&target)?;
    }
    let (source, target) = (file::file_of(&source), file::file_of(&target));
    let length = fs::metadata(&target)
        .map_err(BookError::io("cannot read", &target))?
        .len();
    // A copy that was cut short may end within an entry; it is a beginning of the journal all the same.
    if length > scan.length || !is_same(&source, &target, length)? {
        return Err(BookError::OtherBook {
            from: from.into(),
            to: to.into(),
        });
    }
    append(&source, &target, length, scan.length)?;
    Manifest::open(to)?.write_durably(scan.entries)?;
    Ok(BackupReport {
        entries: scan.entries,
        bytes: scan.length,
        copied: scan.length - if is_new { 0 } else { length },
    })
}

/// Whether two files begin with the same bytes.
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

/// Brings the bytes of a file from one place to another to the end of a second, and onto the disk.
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
