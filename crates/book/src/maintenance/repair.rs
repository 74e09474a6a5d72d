use std::fs;
use std::path::Path;

use crate::journal::entry::LogEntry;
use crate::journal::file::{self, Journal, Sequence};
use crate::journal::manifest::Manifest;
use crate::journal::rewrite::Rewrite;
use crate::lock::Lock;
use crate::opening::{check_is_no_url, without_journal};
use crate::{Book, BookError, BookOptions, Notice};

/// What a repair found, and what it could not save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Entries of the journal that were kept.
    pub kept: u64,
    /// Bytes of the journal that nobody can read.
    pub lost_bytes: u64,
    /// Whole entries that say nothing without those that were lost: of jobs, mostly.
    pub left_out: u64,
    /// Entries that were on disk once and are no more, at the end.
    pub missing: u64,
    /// What the opening of the book had to say.
    pub notices: Vec<Notice>,
}

impl RepairReport {
    /// Whether the journal had all that was ever acknowledged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost_bytes == 0 && self.missing == 0 && self.left_out == 0
    }
}

/// Makes a book whole again, as far as its journal can be read: a store that is damaged is made anew by every opening; here a
/// damaged journal gives place to one of its whole entries. The damaged one stays beside it, as `000001.damaged`.
///
/// After a loss nobody knows which job has which number. So what was searched is kept from there on, and what was decided about
/// jobs is not: a build of the same name and settings takes up again where the book is.
///
/// # Errors
/// If there is no book, somebody has it open, or the disk says no.
pub fn repair(path: &Path, options: &BookOptions) -> Result<(Book, RepairReport), BookError> {
    check_is_no_url(path)?;
    let folder = path.join("journal");
    if !folder.exists() {
        return Err(if path.exists() {
            without_journal(path)
        } else {
            BookError::Missing(path.into())
        });
    }
    let lock = Lock::take(path)?;
    let acknowledged = Manifest::read(path)?;
    let mut report = match Journal::scan(&folder, acknowledged, &mut |_, _| Ok(())) {
        Ok(scan) if acknowledged.is_none_or(|expected| expected <= scan.entries) => RepairReport {
            kept: scan.entries,
            ..RepairReport::default()
        },
        Ok(_) | Err(BookError::Journal { .. }) => salvage(path, acknowledged)?,
        Err(error) => return Err(error),
    };
    drop(lock);
    let (book, notices) = Book::open(path, options)?;
    report.notices = notices;
    Ok((book, report))
}

/// A new journal of what can be read of the old.
fn salvage(path: &Path, acknowledged: Option<u64>) -> Result<RepairReport, BookError> {
    let file = file::file_of(&path.join("journal"));
    let bytes = fs::read(&file).map_err(BookError::io("cannot read", &file))?;
    let mut report = RepairReport::default();
    let mut new = Rewrite::begin(path)?;
    let (mut last, mut is_after_a_loss) = (0, false);
    report.lost_bytes = file::whole_entries(&bytes, &mut |Sequence(number), entry, is_next| {
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
            _ => report.left_out += 1,
        }
        Ok(())
    })?;
    report.missing = acknowledged.map_or(0, |expected| expected.saturating_sub(last));
    report.kept = new.len();
    new.finish(Some("damaged"))?;
    Ok(report)
}
