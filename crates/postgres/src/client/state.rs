//! The state that a journal shares with its syncers and its lease, and the commits.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kagetsu_book::{JournalDigest, JournalError, JournalSync, Sequence};
use postgres::Client;

use crate::client::book_url::BookUrl;
use crate::client::error::{RequestError, Retry};
use crate::client::group::{EntryGroup, GroupRow};
use crate::client::schema::{JournalEnd, JournalHead, altered};
use crate::client::session::DatabaseSession;

/// Time for which a commit is repeated while the database cannot be reached, unless
/// [`JournalState::set_commit_patience`] says another.
const COMMIT_PATIENCE: Duration = Duration::from_secs(60);
/// The patience in milliseconds of a process that never gives up.
const ENDLESS: u64 = u64::MAX;
/// Time for which a read is repeated while the database cannot be reached.
const READ_PATIENCE: Duration = Duration::from_secs(10);

/// The state that a journal shares with its syncers and its lease.
pub(crate) struct JournalState {
    pub(crate) url: BookUrl,
    pub(crate) book: i64,
    /// The connection for appending and reading.
    pub(crate) session: DatabaseSession,
    /// The connection of the lease, so that a long commit holds up no renewal.
    pub(crate) lease: DatabaseSession,
    /// The epoch in which this process leads; 0 for a follower.
    pub(crate) epoch: AtomicI64,
    /// Entries that this process has read or appended.
    pub(crate) entries: AtomicU64,
    /// Entries that the row of the book named when this process opened the journal or took the
    /// lease.
    pub(crate) acknowledged: AtomicU64,
    pub(crate) pending: Mutex<PendingEntries>,
    /// Entries that are committed, held while a commit runs.
    committed: Mutex<CommittedEnd>,
    /// The address of the leader that took over, once this process is deposed.
    pub(crate) successor: Mutex<Option<String>>,
    /// Milliseconds for which a commit is repeated.
    commit_patience: AtomicU64,
    /// Whether a read is repeated for [`READ_PATIENCE`].
    repeats_reads: AtomicBool,
}

/// Entries that wait for a commit.
pub(crate) struct PendingEntries {
    pub(crate) groups: Vec<EntryGroup>,
    pub(crate) bytes: usize,
    /// The number and the digest of the last entry that was appended.
    pub(crate) last: u64,
    pub(crate) digest: JournalDigest,
}

/// The end of the journal in the database, as this process left it.
struct CommittedEnd {
    last: u64,
    /// Whether a commit failed for good, so that nothing may be acknowledged any more.
    has_failed: bool,
}

pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PendingEntries {
    fn after(head: JournalHead) -> Self {
        Self {
            groups: Vec::new(),
            bytes: 0,
            last: head.entries,
            digest: JournalDigest(head.digest),
        }
    }
}

impl CommittedEnd {
    fn after(head: JournalHead) -> Self {
        Self {
            last: head.entries,
            has_failed: false,
        }
    }
}

impl JournalState {
    pub(crate) fn new(
        url: &BookUrl,
        session: DatabaseSession,
        head: JournalHead,
    ) -> Result<Self, RequestError> {
        Ok(Self {
            url: url.clone(),
            book: head.book,
            session,
            lease: DatabaseSession::start(url)?,
            epoch: AtomicI64::new(0),
            entries: AtomicU64::new(head.entries),
            acknowledged: AtomicU64::new(head.entries),
            pending: Mutex::new(PendingEntries::after(head)),
            committed: Mutex::new(CommittedEnd::after(head)),
            successor: Mutex::new(None),
            commit_patience: AtomicU64::new(milliseconds(COMMIT_PATIENCE)),
            repeats_reads: AtomicBool::new(true),
        })
    }

    /// Sets whether a read is repeated while the database cannot be reached.
    pub(crate) fn repeat_reads(&self, repeats: bool) {
        self.repeats_reads.store(repeats, Ordering::Release);
    }

    fn may_read_again(&self, retry: Retry, elapsed: Duration) -> bool {
        let repeats = self.repeats_reads.load(Ordering::Acquire);
        repeats && retry == Retry::Soon && elapsed < READ_PATIENCE
    }

    /// Sets for how long a commit is repeated while the database cannot be reached, or is full;
    /// without end for `None`. It holds for a commit that runs, too.
    pub(crate) fn set_commit_patience(&self, patience: Option<Duration>) {
        let patience = patience.map_or(ENDLESS, milliseconds);
        self.commit_patience.store(patience, Ordering::Release);
    }

    /// Begins to append after the last entry of the journal.
    pub(crate) fn lead(&self, epoch: i64, head: JournalHead) {
        *held(&self.committed) = CommittedEnd::after(head);
        *held(&self.pending) = PendingEntries::after(head);
        self.entries.store(head.entries, Ordering::Release);
        self.acknowledged.store(head.entries, Ordering::Release);
        *held(&self.successor) = None;
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Ends the lead of this process for good.
    pub(crate) fn depose(&self, successor: Option<String>) {
        self.epoch.store(0, Ordering::Release);
        *held(&self.successor) = successor;
    }

    pub(crate) fn not_leader(&self) -> JournalError {
        JournalError::NotLeader {
            book: self.url.to_string(),
            address: held(&self.successor).clone(),
        }
    }

    /// Commits one group, and repeats that while the outcome is unknown.
    fn commit(&self, group: EntryGroup) -> Result<(), JournalError> {
        let epoch = self.epoch.load(Ordering::Acquire);
        if epoch == 0 {
            return Err(self.not_leader());
        }
        let book = self.book;
        let may_repeat = |retry, elapsed| match retry {
            Retry::Never => false,
            Retry::Soon => milliseconds(elapsed) < self.commit_patience.load(Ordering::Acquire),
            Retry::AfterRepair => self.commit_patience.load(Ordering::Acquire) == ENDLESS,
        };
        let outcome = self.session.persist(may_repeat, move |client| {
            commit(client, book, epoch, &group)
        })?;
        match outcome {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::Deposed(address) => {
                self.depose(address);
                Err(self.not_leader())
            }
        }
    }

    pub(crate) fn rows(&self, after: u64, limit: i64) -> Result<Vec<GroupRow>, RequestError> {
        let (book, next) = (self.book, number(after.saturating_add(1)));
        let may_repeat = |retry, elapsed| self.may_read_again(retry, elapsed);
        self.session.persist(may_repeat, move |client| {
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
    pub(crate) fn rows_before(&self, entry: u64) -> Result<Vec<GroupRow>, RequestError> {
        let (book, entry) = (self.book, number(entry));
        let may_repeat = |retry, elapsed| self.may_read_again(retry, elapsed);
        self.session.persist(may_repeat, move |client| {
            let rows = client.query(
                "select seq, entries, digest, body, crc from kagetsu_journal \
                 where book = $1 and seq <= $2 order by seq desc limit 2",
                &[&book, &entry],
            )?;
            Ok(rows.iter().map(row).collect())
        })
    }

    /// Compares the end of the journal with the row of the book.
    pub(crate) fn check_end(&self) -> Result<(), JournalError> {
        let book = self.book;
        let end = self
            .lease
            .request(move |client| JournalEnd::read(client, book))?;
        let end = end.ok_or_else(|| self.altered("its row in kagetsu_book is gone".into()))?;
        end.fault().map_or(Ok(()), |fault| Err(self.altered(fault)))
    }

    pub(crate) fn altered(&self, fault: String) -> JournalError {
        altered(&self.url, fault)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(ENDLESS)
}

/// Returns a number as the database has it.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn row(row: &postgres::Row) -> GroupRow {
    GroupRow {
        first: row.get::<_, i64>(0).unsigned_abs(),
        entries: row.get::<_, i32>(1).unsigned_abs(),
        digest: JournalDigest(row.get::<_, i64>(2).cast_unsigned()),
        body: row.get(3),
        checksum: row.get(4),
    }
}

/// The result of a commit.
enum CommitOutcome {
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
    group: &EntryGroup,
) -> Result<CommitOutcome, postgres::Error> {
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
        return Ok(CommitOutcome::Committed);
    }
    // Either an earlier attempt was committed, or another process leads.
    let same = client.query_opt(
        "select 1 from kagetsu_journal where book = $1 and seq = $2 and epoch = $3 and body = $4",
        &[&book, &first, &epoch, &group.body],
    )?;
    if same.is_some() {
        // The connection may have ended while the earlier attempt waited for a synchronous standby.
        // A standby that has this write has that attempt, too.
        let confirmed = client.execute(
            "update kagetsu_book set entries = entries where id = $1 and epoch = $2",
            &[&book, &epoch],
        )?;
        if confirmed == 1 {
            return Ok(CommitOutcome::Committed);
        }
    }
    let leader = client.query_opt(
        "select address from kagetsu_book \
         where id = $1 and until > now() and epoch <> $2 and address <> ''",
        &[&book, &epoch],
    )?;
    Ok(CommitOutcome::Deposed(leader.map(|row| row.get(0))))
}

impl JournalSync for JournalState {
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
