use std::fs;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::error::{BookError, JournalError};
use crate::journal::entry::LogEntry;
use crate::journal::log::Sequence;
use crate::journal::manifest::JournalManifest;
use crate::journal::rewrite::Rewrite;
use crate::journal::{reader, salvage};
use crate::lock::Lock;
use crate::opening::{check_is_no_url, room_for_a_book};
use crate::{Book, BookOptions, Notice};

/// The result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Entries of the journal that were kept.
    pub kept: u64,
    /// Bytes of the journal that belong to no whole entry.
    pub lost_bytes: u64,
    /// Whole entries that mean nothing without lost ones, mostly those of jobs.
    pub left_out: u64,
    /// Durable entries that are missing at the end.
    pub missing: u64,
    /// The notices of the opening of the book.
    #[serde(serialize_with = "as_text")]
    pub notices: Vec<Notice>,
}

fn as_text<S: Serializer>(notices: &[Notice], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notices.iter().map(ToString::to_string))
}

impl RepairReport {
    /// Returns whether the journal had every acknowledged entry.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost_bytes == 0 && self.missing == 0 && self.left_out == 0
    }
}

/// Repairs a book as far as its journal can be read. Every opening rebuilds a damaged store; this
/// replaces a damaged journal by one of its whole entries, and keeps the damaged one as
/// `000001.damaged`.
///
/// After a loss the numbers of jobs are unknown. So answers after the loss are kept, and changes to
/// jobs are not. A build of the same name and settings continues from what the book holds.
///
/// # Errors
/// If there is no book, another process has it open, or the disk refuses.
pub fn repair(path: &Path, options: &BookOptions) -> Result<(Book, RepairReport), BookError> {
    check_is_no_url(path)?;
    let folder = path.join("journal");
    if !folder.exists() {
        room_for_a_book(path, false)?;
    }
    let lock = Lock::take(path)?;
    let acknowledged = JournalManifest::read(path)?;
    let mut report = match reader::scan(&folder, acknowledged, &mut |_, _, _| Ok(())) {
        Ok(scan) if acknowledged.is_none_or(|expected| expected <= scan.entries) => RepairReport {
            kept: scan.entries,
            ..RepairReport::default()
        },
        Ok(_) | Err(BookError::Journal(JournalError::Damaged { .. })) => {
            salvage(path, acknowledged)?
        }
        Err(error) => return Err(error),
    };
    drop(lock);
    let (book, notices) = Book::open(path, options)?;
    report.notices = notices;
    Ok((book, report))
}

/// Writes a new journal of the whole entries of the old one.
fn salvage(path: &Path, acknowledged: Option<u64>) -> Result<RepairReport, BookError> {
    let file = reader::file_of(&path.join("journal"));
    let bytes = fs::read(&file).map_err(BookError::io("cannot read", &file))?;
    let mut report = RepairReport::default();
    let mut new = Rewrite::begin(path)?;
    let (mut last, mut is_after_a_loss) = (0, false);
    report.lost_bytes = salvage::whole_entries(&bytes, &mut |Sequence(number), entry, is_next| {
        is_after_a_loss |= !is_next;
        last = number;
        let Ok(read) = postcard::from_bytes::<LogEntry>(entry) else {
            report.left_out += 1;
            return Ok(());
        };
        match (read, is_after_a_loss) {
            (_, false) => new.add_bytes(entry)?,
            (LogEntry::Answer(mut body), true) => {
                body.job = None;
                body.is_widening = false;
                new.add(&LogEntry::Answer(body))?;
            }
            (
                LogEntry::Distrust {
                    variant, packed, ..
                },
                true,
            ) => {
                new.add(&LogEntry::Distrust {
                    job: None,
                    variant,
                    packed,
                })?;
            }
            (LogEntry::Annotate { .. }, true) => new.add_bytes(entry)?,
            _ => report.left_out += 1,
        }
        Ok(())
    })?;
    report.missing = acknowledged.map_or(0, |expected| expected.saturating_sub(last));
    report.kept = new.len();
    new.finish(Some("damaged"))?;
    Ok(report)
}
