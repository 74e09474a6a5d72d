use std::sync::Arc;
use std::sync::atomic::Ordering;

use kagetsu_book::{Journal, JournalDigest, JournalError, JournalSync, Sequence};

use crate::book_lease::BookLease;
use crate::client::book_url::BookUrl;
use crate::client::group::{EntryGroup, GroupRow};
use crate::client::lease::DatabaseLease;
use crate::client::rights::BookCreation;
use crate::client::schema::{self, missing};
use crate::client::session::DatabaseSession;
use crate::client::state::{JournalState, held};
use crate::shared_book::SharedBook;

/// Bytes of entries that wait for a commit, after which an append commits them.
const MAX_PENDING_BYTES: usize = 8 << 20;
/// Rows that are read at a time.
const READ_ROWS: i64 = 64;

/// A callback for each row of a journal and its entries, and whether more rows are wanted.
type VisitRow<'a> = dyn FnMut(&GroupRow, Vec<&[u8]>) -> Result<bool, JournalError> + 'a;

/// Opens a book for a process that may lead it, and makes tables and book where they are missing.
///
/// # Errors
/// If the database cannot be reached or refuses, or its tables are newer.
pub fn join(url: &BookUrl) -> Result<SharedBook, JournalError> {
    let journal = PostgresJournal::create(url)?;
    Ok(SharedBook {
        lease: journal.lease(),
        warnings: journal.warnings(),
        journal: Box::new(journal),
    })
}

/// Opens the journal of an existing book to read it. The database may be a standby.
///
/// # Errors
/// If the database cannot be reached or refuses, its tables are newer, or it has no such book.
pub fn open(url: &BookUrl) -> Result<Box<dyn Journal>, JournalError> {
    Ok(Box::new(PostgresJournal::open(url)?))
}

/// The journal of a book in a database.
///
/// It begins as a follower's: [`BookLease::acquire`] makes this process the leader, which alone may
/// append.
pub struct PostgresJournal {
    shared: Arc<JournalState>,
}

impl PostgresJournal {
    /// Opens the journal of a book, and makes tables and book where they are missing.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses, or its tables are newer.
    pub fn create(url: &BookUrl) -> Result<Self, JournalError> {
        Self::with(url, BookCreation::Allowed)
    }

    /// Opens the journal of an existing book. The database may be a standby.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses, its tables are newer, or it has no such book.
    pub fn open(url: &BookUrl) -> Result<Self, JournalError> {
        Self::with(url, BookCreation::Refused)
    }

    fn with(url: &BookUrl, creation: BookCreation) -> Result<Self, JournalError> {
        let session = DatabaseSession::start(url)?;
        let head = schema::find_book(&session, url, creation)?;
        Ok(Self {
            shared: Arc::new(JournalState::new(url, session, head)?),
        })
    }

    /// Returns the lease of the book, by which this process may lead it.
    #[must_use]
    pub fn lease(&self) -> Arc<dyn BookLease> {
        Arc::new(DatabaseLease::new(Arc::clone(&self.shared)))
    }

    /// Returns what the database may lose of acknowledged work when it fails, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        schema::warnings(&self.shared.session, &self.shared.url)
    }

    /// Calls `visit` with each row that has an entry after one, until it returns `false`.
    fn walk(&self, after: u64, visit: &mut VisitRow) -> Result<(), JournalError> {
        let place = self.place();
        let mut next = after + 1;
        loop {
            let before = next;
            for row in self.shared.rows(next - 1, READ_ROWS)? {
                if row.end() <= next {
                    continue;
                }
                if row.first > next {
                    return Err(self.shared.altered(missing(next, row.first - 1)));
                }
                let entries = row.entries(&place)?;
                next = row.end();
                if !visit(&row, entries)? {
                    return Ok(());
                }
            }
            if next == before {
                break;
            }
        }
        if next <= self.shared.acknowledged.load(Ordering::Acquire) {
            self.shared.check_end()?;
        }
        Ok(())
    }
}

impl Journal for PostgresJournal {
    fn place(&self) -> String {
        self.shared.url.to_string()
    }

    fn entries(&self) -> u64 {
        self.shared.entries.load(Ordering::Acquire)
    }

    fn append(&mut self, entry: &[u8]) -> Result<Sequence, JournalError> {
        if self.shared.epoch.load(Ordering::Acquire) == 0 {
            return Err(self.shared.not_leader());
        }
        let mut pending = held(&self.shared.pending);
        if pending.groups.last().is_none_or(EntryGroup::is_full) {
            let group = EntryGroup::new(pending.last + 1, pending.digest);
            pending.groups.push(group);
        }
        let group = pending.groups.last_mut().expect("it was pushed");
        let before = group.body.len();
        let added = group.add(entry);
        let (after, digest) = (group.body.len(), group.digest);
        if added.is_err() && group.entries == 0 {
            pending.groups.pop();
        }
        let sequence = added?;
        pending.last = sequence.0;
        pending.digest = digest;
        pending.bytes += after - before;
        let is_full = pending.bytes >= MAX_PENDING_BYTES;
        drop(pending);
        self.shared.entries.store(sequence.0, Ordering::Release);
        if is_full {
            self.shared.sync()?;
        }
        Ok(sequence)
    }

    fn syncer(&self) -> Arc<dyn JournalSync> {
        Arc::clone(&self.shared) as _
    }

    fn read(&self, after: Sequence, max: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        let mut read: Vec<Box<[u8]>> = Vec::new();
        self.walk(after.0, &mut |row, entries| {
            let skipped = usize::try_from((after.0 + 1).saturating_sub(row.first));
            let entries = entries.iter().skip(skipped.unwrap_or(usize::MAX));
            read.extend(
                entries
                    .take(max - read.len())
                    .map(|entry| Box::from(*entry)),
            );
            Ok(read.len() < max)
        })?;
        let last = after.0 + read.len() as u64;
        self.shared.entries.fetch_max(last, Ordering::AcqRel);
        Ok(read)
    }

    fn check(&self, Sequence(end): Sequence) -> Result<JournalDigest, JournalError> {
        self.shared.check_end()?;
        let (mut whole, mut wanted) = (JournalDigest::default(), JournalDigest::default());
        let mut last = 0;
        self.walk(0, &mut |row, entries| {
            for entry in entries {
                whole = whole.after(entry);
                last += 1;
                if last == end {
                    wanted = whole;
                }
            }
            if whole == row.digest {
                return Ok(true);
            }
            Err(self.shared.altered(format!(
                "the digest of the group that begins with entry {} is not that of its entries",
                row.first
            )))
        })?;
        if last < end {
            let fault = format!("it ends after entry {last} of {end}");
            return Err(self.shared.altered(fault));
        }
        Ok(wanted)
    }

    fn digest(&self, after: Sequence) -> Result<Option<JournalDigest>, JournalError> {
        if after.0 == 0 {
            return Ok(Some(JournalDigest::default()));
        }
        let place = self.place();
        let mut rows = self.shared.rows_before(after.0)?.into_iter();
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let last = row.end() - 1;
        if last <= after.0 {
            return Ok((last == after.0).then_some(row.digest));
        }
        let before = match rows.next() {
            Some(before) => before.digest,
            None if row.first == 1 => JournalDigest::default(),
            None => return Err(self.shared.altered(missing(1, row.first - 1))),
        };
        let count = usize::try_from(after.0 - row.first + 1).unwrap_or(usize::MAX);
        let entries = row.entries(&place)?;
        let first = entries.into_iter().take(count);
        Ok(Some(first.fold(before, JournalDigest::after)))
    }
}
