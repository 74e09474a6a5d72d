use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kagetsu_book::{Journal, JournalDigest, JournalError, JournalSync, Sequence, Syncer};
use postgres::Client;

use crate::book_url::BookUrl;
use crate::error::RequestError;
use crate::group::{Group, Row};
use crate::lease::Lease;
use crate::schema::{self, Creation, Head};
use crate::session::Session;

/// Time for which a commit is repeated while the database cannot be reached.
const COMMIT_PATIENCE: Duration = Duration::from_secs(60);
/// Time for which a read is repeated while the database cannot be reached.
const READ_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of entries that wait for a commit, after which an append commits them.
const MAX_PENDING_BYTES: usize = 8 << 20;
/// Rows that are read at a time.
const READ_ROWS: i64 = 64;

/// The journal of a book in a database.
///
/// It begins as a follower's: [`Lease::acquire`] makes this process the leader, which alone may
/// append.
pub struct PostgresJournal {
    shared: Arc<Shared>,
}

/// The state that a journal shares with its syncers and its lease.
pub(crate) struct Shared {
    pub(crate) url: BookUrl,
    pub(crate) book: i64,
    /// The connection for appending and reading.
    session: Session,
    /// The connection of the lease, so that a long commit holds up no renewal.
    pub(crate) lease: Session,
    /// The epoch in which this process leads; 0 for a follower.
    pub(crate) epoch: AtomicI64,
    /// Entries that this process has read or appended.
    entries: AtomicU64,
    pending: Mutex<Pending>,
    /// Entries that are committed, held while a commit runs.
    committed: Mutex<Committed>,
    /// The address of the leader that took over, once this process is deposed.
    pub(crate) successor: Mutex<Option<String>>,
}

/// Entries that wait for a commit.
struct Pending {
    groups: Vec<Group>,
    bytes: usize,
    /// The number and the digest of the last entry that was appended.
    last: u64,
    digest: JournalDigest,
}

/// The end of the journal in the database, as this process left it.
struct Committed {
    last: u64,
    /// Whether a commit failed for good, so that nothing may be acknowledged any more.
    has_failed: bool,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PostgresJournal {
    /// Opens the journal of a book, and makes tables and book where they are missing.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses, or its tables are newer.
    pub fn create(url: &BookUrl) -> Result<Self, JournalError> {
        Self::with(url, Creation::Allowed)
    }

    /// Opens the journal of an existing book. The database may be a standby.
    ///
    /// # Errors
    /// If the database cannot be reached or refuses, its tables are newer, or it has no such book.
    pub fn open(url: &BookUrl) -> Result<Self, JournalError> {
        Self::with(url, Creation::Refused)
    }

    fn with(url: &BookUrl, creation: Creation) -> Result<Self, JournalError> {
        let session = Session::start(url)?;
        let head = schema::find_book(&session, url, creation)?;
        Ok(Self {
            shared: Arc::new(Shared {
                url: url.clone(),
                book: head.book,
                session,
                lease: Session::start(url)?,
                epoch: AtomicI64::new(0),
                entries: AtomicU64::new(head.entries),
                pending: Mutex::new(Pending {
                    groups: Vec::new(),
                    bytes: 0,
                    last: head.entries,
                    digest: JournalDigest(head.digest),
                }),
                committed: Mutex::new(Committed {
                    last: head.entries,
                    has_failed: false,
                }),
                successor: Mutex::new(None),
            }),
        })
    }

    /// Returns the lease of the book, by which this process may lead it.
    #[must_use]
    pub fn lease(&self) -> Lease {
        Lease::new(Arc::clone(&self.shared))
    }

    /// Returns what the database may lose of acknowledged work when it fails, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        schema::warnings(&self.shared.session, &self.shared.url)
    }
}

impl Shared {
    /// Begins to append after the last entry of the journal.
    pub(crate) fn lead(&self, epoch: i64, head: Head) {
        *held(&self.committed) = Committed {
            last: head.entries,
            has_failed: false,
        };
        *held(&self.pending) = Pending {
            groups: Vec::new(),
            bytes: 0,
            last: head.entries,
            digest: JournalDigest(head.digest),
        };
        self.entries.store(head.entries, Ordering::Release);
        *held(&self.successor) = None;
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Ends the lead of this process for good.
    pub(crate) fn depose(&self, successor: Option<String>) {
        self.epoch.store(0, Ordering::Release);
        *held(&self.successor) = successor;
    }

    fn not_leader(&self) -> JournalError {
        JournalError::NotLeader {
            book: self.url.to_string(),
            address: held(&self.successor).clone(),
        }
    }

    /// Commits one group, and repeats that while the outcome is unknown.
    fn commit(&self, group: Group) -> Result<(), JournalError> {
        let epoch = self.epoch.load(Ordering::Acquire);
        if epoch == 0 {
            return Err(self.not_leader());
        }
        let book = self.book;
        let outcome = self.session.persist(COMMIT_PATIENCE, move |client| {
            commit(client, book, epoch, &group)
        })?;
        match outcome {
            Outcome::Committed => Ok(()),
            Outcome::Deposed(address) => {
                self.depose(address);
                Err(self.not_leader())
            }
        }
    }

    fn rows(&self, after: u64, limit: i64) -> Result<Vec<Row>, RequestError> {
        let (book, next) = (self.book, number(after.saturating_add(1)));
        self.session.persist(READ_PATIENCE, move |client| {
            let rows = client.query(
                "select seq, entries, digest, body, crc from kagetsu_journal \
                 where book = $1 and seq >= (select coalesce(max(seq), 0) from kagetsu_journal \
                 where book = $1 and seq <= $2) order by seq limit $3",
                &[&book, &next, &limit],
            )?;
            Ok(rows.iter().map(row).collect())
        })
    }

    /// Returns the last two rows that begin at or before an entry, the later one first.
    fn rows_before(&self, entry: u64) -> Result<Vec<Row>, RequestError> {
        let (book, entry) = (self.book, number(entry));
        self.session.persist(READ_PATIENCE, move |client| {
            let rows = client.query(
                "select seq, entries, digest, body, crc from kagetsu_journal \
                 where book = $1 and seq <= $2 order by seq desc limit 2",
                &[&book, &entry],
            )?;
            Ok(rows.iter().map(row).collect())
        })
    }

    fn gap(&self, after: u64) -> JournalError {
        JournalError::Server(format!(
            "the journal {} lacks entry {}; restore the database from a backup",
            self.url,
            after + 1
        ))
    }
}

/// Returns a number as the database has it.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn row(row: &postgres::Row) -> Row {
    Row {
        first: row.get::<_, i64>(0).unsigned_abs(),
        entries: row.get::<_, i32>(1).unsigned_abs(),
        digest: JournalDigest(row.get::<_, i64>(2).cast_unsigned()),
        body: row.get(3),
        checksum: row.get(4),
    }
}

/// The result of a commit.
enum Outcome {
    Committed,
    /// Another process has taken over, at this address if it leads now.
    Deposed(Option<String>),
}

/// Appends a group in one statement, on condition of the epoch and the end of the journal. The
/// update locks the book's row, so no other process takes over between condition and insertion.
fn commit(
    client: &mut Client,
    book: i64,
    epoch: i64,
    group: &Group,
) -> Result<Outcome, postgres::Error> {
    let first = number(group.first);
    let (before, last) = (first - 1, number(group.last()));
    let entries = group.entries.cast_signed();
    let digest = group.digest.0.cast_signed();
    let checksum = i64::from(group.checksum());
    let inserted = client.execute(
        "with head as (update kagetsu_book set entries = $5, digest = $6 \
         where id = $1 and epoch = $2 and entries = $3 returning id) \
         insert into kagetsu_journal (book, seq, epoch, entries, digest, body, crc) \
         select id, $4, $2, $7, $6, $8, $9 from head",
        &[
            &book,
            &epoch,
            &before,
            &first,
            &last,
            &digest,
            &entries,
            &group.body,
            &checksum,
        ],
    )?;
    if inserted == 1 {
        return Ok(Outcome::Committed);
    }
    // Either an earlier attempt was committed, or another process leads.
    let same = client.query_opt(
        "select 1 from kagetsu_journal where book = $1 and seq = $2 and epoch = $3 and body = $4",
        &[&book, &first, &epoch, &group.body],
    )?;
    if same.is_some() {
        return Ok(Outcome::Committed);
    }
    let leader = client.query_opt(
        "select address from kagetsu_book where id = $1 and until > now() and epoch <> $2",
        &[&book, &epoch],
    )?;
    Ok(Outcome::Deposed(leader.map(|row| row.get(0))))
}

impl JournalSync for Shared {
    fn sync(&self) -> Result<Sequence, JournalError> {
        let mut committed = held(&self.committed);
        if committed.has_failed {
            return Err(match self.epoch.load(Ordering::Acquire) {
                0 => self.not_leader(),
                _ => JournalError::Server(format!(
                    "the journal {} could not be written before; start again, nothing \
                     acknowledged is lost",
                    self.url
                )),
            });
        }
        let groups = {
            let mut pending = held(&self.pending);
            pending.bytes = 0;
            std::mem::take(&mut pending.groups)
        };
        for group in groups {
            let last = group.last();
            if let Err(error) = self.commit(group) {
                committed.has_failed = true;
                return Err(error);
            }
            committed.last = last;
        }
        Ok(Sequence(committed.last))
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
        if pending.groups.last().is_none_or(Group::is_full) {
            let group = Group::new(pending.last + 1, pending.digest);
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

    fn syncer(&self) -> Syncer {
        Syncer::new(Arc::clone(&self.shared) as _)
    }

    fn read(&self, after: Sequence, max: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        let place = self.place();
        let mut read: Vec<Box<[u8]>> = Vec::new();
        let mut next = after.0 + 1;
        while read.len() < max {
            let rows = self.shared.rows(next - 1, READ_ROWS)?;
            let before = next;
            for row in rows {
                if row.first + u64::from(row.entries) <= next {
                    continue;
                }
                if read.len() == max {
                    break;
                }
                if row.first > next {
                    return Err(self.shared.gap(next - 1));
                }
                let skipped = usize::try_from(next - row.first).unwrap_or(usize::MAX);
                for entry in row.entries(&place)?.into_iter().skip(skipped) {
                    if read.len() < max {
                        read.push(entry.into());
                        next += 1;
                    }
                }
            }
            if next == before {
                break;
            }
        }
        self.shared.entries.fetch_max(next - 1, Ordering::AcqRel);
        Ok(read)
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
        let last = row.first + u64::from(row.entries) - 1;
        if last <= after.0 {
            return Ok((last == after.0).then_some(row.digest));
        }
        let before = match rows.next() {
            Some(before) => before.digest,
            None if row.first == 1 => JournalDigest::default(),
            None => return Err(self.shared.gap(0)),
        };
        let count = usize::try_from(after.0 - row.first + 1).unwrap_or(usize::MAX);
        let entries = row.entries(&place)?;
        let first = entries.into_iter().take(count);
        Ok(Some(first.fold(before, JournalDigest::after)))
    }
}
