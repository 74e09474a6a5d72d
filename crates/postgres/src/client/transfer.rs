//! Copies of a journal between a folder and a database.

use std::path::Path;
use std::time::Duration;

use kagetsu_book::{BookError, FolderJournal, Journal, JournalError, OpenError, Sequence};

use crate::client::book_url::BookUrl;
use crate::client::journal::PostgresJournal;
use crate::transfer_report::TransferReport;

/// Time for which a copy holds the lease between two renewals.
const COPY_LEASE: Duration = Duration::from_secs(60);
/// Entries that are copied between two renewals of the lease.
const COPY_ENTRIES: usize = 1024;

/// Copies the journal of a folder's book into a database. A target that has the first entries
/// already gets the rest.
///
/// # Errors
/// If the folder has no book, another process leads the book in the database, the target has other
/// entries, or the database or the disk refuses.
pub fn push(folder: &Path, url: &BookUrl) -> Result<TransferReport, BookError> {
    let mut source = FolderJournal::open(folder, false)?;
    let mut target = PostgresJournal::create(url)?;
    let lease = target.lease();
    if lease.acquire("", COPY_LEASE)?.is_none() {
        return Err(JournalError::NotLeader {
            book: url.to_string(),
            address: lease.leader()?,
        }
        .into());
    }
    let copied = copy(source.journal(), &mut target, &|| {
        lease.renew(COPY_LEASE)?;
        Ok(())
    });
    // The lease ends by itself where this fails.
    let _ = lease.release();
    copied
}

/// Copies the journal of a book in a database into a folder, which is empty, new, or has an earlier
/// copy. The journal's file is then the same as the leader's would be in a folder, byte for byte.
///
/// # Errors
/// If there is no such book, the folder has another book, or the database or the disk refuses. A
/// damaged journal is copied up to the damage, and the error says so.
pub fn pull(url: &BookUrl, folder: &Path) -> Result<TransferReport, BookError> {
    let source = PostgresJournal::open(url)?;
    let mut target = FolderJournal::open(folder, true)?;
    copy(&source, target.journal(), &|| Ok(())).map_err(|error| match error {
        BookError::Journal(JournalError::Altered { place, fault }) => {
            let folder = folder.display();
            let fault = format!("{fault}, and the copy in {folder} ends before it");
            JournalError::Altered { place, fault }.into()
        }
        error => error,
    })
}

fn copy(
    source: &dyn Journal,
    target: &mut dyn Journal,
    keep: &dyn Fn() -> Result<(), BookError>,
) -> Result<TransferReport, BookError> {
    let begin = Sequence(target.entries());
    let is_beginning = source.digest(begin)? == target.digest(begin)?;
    if !is_beginning {
        return Err(OpenError::OtherBook {
            from: source.place().into(),
            to: target.place().into(),
        }
        .into());
    }
    let mut last = begin;
    loop {
        let entries = source.read(last, COPY_ENTRIES)?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            last = target.append(&entry)?;
        }
        target.syncer().sync()?;
        keep()?;
    }
    target.syncer().sync()?;
    Ok(TransferReport {
        entries: last.0,
        copied: last.0 - begin.0,
    })
}
