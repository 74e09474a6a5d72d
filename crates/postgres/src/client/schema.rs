//! The tables of the database.

use kagetsu_book::JournalError;
use postgres::{Client, GenericClient};

use crate::client::book_url::BookUrl;
use crate::client::error::{READ_ONLY_ADVICE, RequestError, STANDBY_ADVICE};
use crate::client::rights::{self, BookCreation};
use crate::client::session::DatabaseSession;

/// The version of the tables.
pub const SCHEMA_VERSION: i32 = 1;

/// Statements that make the tables. They may run again, and at the same time in two processes.
const TABLES: [&str; 4] = [
    "create table if not exists kagetsu_schema (version int primary key)",
    "create table if not exists kagetsu_book (
        id bigint primary key, name text not null unique, entries bigint not null,
        digest bigint not null, epoch bigint not null, holder text not null,
        address text not null, until timestamptz not null)",
    "create table if not exists kagetsu_journal (
        book bigint not null, seq bigint not null, epoch bigint not null, entries int not null,
        digest bigint not null, body bytea not null, crc bigint not null, primary key (book, seq))",
    "create table if not exists kagetsu_quarantine (book bigint primary key, body text not null)",
];

/// The head of a book's journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalHead {
    pub(crate) book: i64,
    pub(crate) entries: u64,
    pub(crate) digest: u64,
}

/// Finds a book, and makes the tables and the book where they are missing and that is allowed.
pub(crate) fn find_book(
    session: &DatabaseSession,
    url: &BookUrl,
    creation: BookCreation,
) -> Result<JournalHead, JournalError> {
    if creation == BookCreation::Allowed {
        refuse_read_only(session, url)?;
    }
    rights::check(session, url, creation)?;
    let version: Option<i32> = session.request(|client| {
        let there = client.query_one("select to_regclass('kagetsu_schema') is not null", &[])?;
        if !there.get::<_, bool>(0) {
            return Ok(None);
        }
        let row = client.query_opt("select max(version) from kagetsu_schema", &[])?;
        Ok(row.and_then(|row| row.get(0)))
    })?;
    match version {
        Some(found) if found > SCHEMA_VERSION => {
            return Err(RequestError::fatal(format!(
                "the tables in {url} have version {found}, this program knows versions up to \
                 {SCHEMA_VERSION}; use a newer kagetsu"
            ))
            .into());
        }
        Some(_) => {}
        None if creation == BookCreation::Allowed => make_tables(session)?,
        None => return Err(absent(url).into()),
    }
    if let Some(head) = head(session, url)? {
        return Ok(head);
    }
    if creation == BookCreation::Refused {
        return Err(absent(url).into());
    }
    let (id, name) = (
        i64::from(rand::random::<u32>()) << 31 | i64::from(rand::random::<u32>() >> 1),
        url.name().to_string(),
    );
    session.request(move |client| {
        client.execute(
            "insert into kagetsu_book \
             (id, name, entries, digest, epoch, holder, address, until) \
             values ($1, $2, 0, 0, 0, '', '', now()) on conflict (name) do nothing",
            &[&id, &name],
        )
    })?;
    head(session, url)?.ok_or_else(|| absent(url).into())
}

fn absent(url: &BookUrl) -> RequestError {
    RequestError::fatal(format!(
        "there is no book at {url}; `kagetsu-coordinator --book` makes one, and \
         `kagetsu journal push` copies one there"
    ))
}

fn make_tables(session: &DatabaseSession) -> Result<(), RequestError> {
    session.request(|client| {
        for statement in TABLES {
            // Two processes may make the same table at once; then one of them fails.
            if client.batch_execute(statement).is_err() {
                client.batch_execute(statement)?;
            }
        }
        client.execute(
            "insert into kagetsu_schema (version) values ($1) on conflict do nothing",
            &[&SCHEMA_VERSION],
        )
    })?;
    Ok(())
}

/// Fails where the server takes no writes, or not from this role.
fn refuse_read_only(session: &DatabaseSession, url: &BookUrl) -> Result<(), RequestError> {
    if setting(session, "transaction_read_only")?.as_deref() != Some("on") {
        return Ok(());
    }
    let is_standby: bool = session.request(|client| {
        let row = client.query_one("select pg_is_in_recovery()", &[])?;
        Ok(row.get(0))
    })?;
    let advice = if is_standby {
        STANDBY_ADVICE
    } else {
        READ_ONLY_ADVICE
    };
    Err(RequestError::fatal(format!(
        "the database {url} takes no writes; {advice}"
    )))
}

/// Returns a setting of the server; `None` where the server does not know it.
fn setting(session: &DatabaseSession, name: &str) -> Result<Option<String>, RequestError> {
    let statement = format!("show {name}");
    session.request(move |client| {
        let shown = client.query_one(&statement, &[]);
        Ok(shown.ok().and_then(|row| row.try_get(0).ok()))
    })
}

/// Returns the head of the book, if there is such a book.
fn head(session: &DatabaseSession, url: &BookUrl) -> Result<Option<JournalHead>, JournalError> {
    let name = url.name().to_string();
    let book = session.request(move |client| {
        let row = client.query_opt("select id from kagetsu_book where name = $1", &[&name])?;
        row.map_or(Ok(None), |row| JournalEnd::read(client, row.get(0)))
    })?;
    let Some(end) = book else { return Ok(None) };
    match end.fault() {
        Some(fault) => Err(altered(url, fault)),
        None => Ok(Some(end.head)),
    }
}

/// The end of a book's journal as two tables have it.
#[derive(Debug)]
pub(crate) struct JournalEnd {
    /// The row of the book.
    head: JournalHead,
    /// The last group: the number and the digest of its last entry; 0 without a group.
    last: (u64, u64),
}

impl JournalEnd {
    /// Reads both from one snapshot, so that a commit between them does not count as a fault.
    pub(crate) fn read(client: &mut Client, book: i64) -> Result<Option<Self>, postgres::Error> {
        let row = client.query_opt(
            "select id, kagetsu_book.entries, kagetsu_book.digest, \
             coalesce(seq + last.entries - 1, 0), coalesce(last.digest, 0) from kagetsu_book \
             left join (select seq, entries, digest from kagetsu_journal where book = $1 \
             order by seq desc limit 1) as last on true where id = $1",
            &[&book],
        )?;
        Ok(row.map(|row| {
            let number = |column| row.get::<_, i64>(column);
            Self {
                head: JournalHead {
                    book: number(0),
                    entries: number(1).unsigned_abs(),
                    digest: number(2).cast_unsigned(),
                },
                last: (number(3).unsigned_abs(), number(4).cast_unsigned()),
            }
        }))
    }

    /// Returns the difference between the two tables, if there is one.
    pub(crate) fn fault(&self) -> Option<String> {
        let (
            JournalHead {
                entries, digest, ..
            },
            (last, found),
        ) = (self.head, self.last);
        if last < entries {
            Some(missing(last + 1, entries))
        } else if last > entries {
            Some(format!(
                "it has {last} entries, its row in kagetsu_book says {entries}"
            ))
        } else if found != digest {
            Some("its last entries are others than its row in kagetsu_book says".into())
        } else {
            None
        }
    }
}

/// Returns the words for a gap.
pub(crate) fn missing(first: u64, last: u64) -> String {
    if first == last {
        format!("entry {first} is missing")
    } else {
        format!("entries {first} to {last} are missing")
    }
}

/// Returns the error for a journal that is not what was acknowledged.
pub(crate) fn altered(url: &BookUrl, fault: String) -> JournalError {
    JournalError::Altered {
        place: url.to_string(),
        fault,
    }
}

/// Returns what the server may lose of acknowledged work when it fails, one sentence each.
pub(crate) fn warnings(session: &DatabaseSession, url: &BookUrl) -> Vec<String> {
    let is = |name: &str, value: &str| {
        setting(session, name).is_ok_and(|found| found.as_deref() == Some(value))
    };
    let mut warnings = Vec::new();
    if is("fsync", "off") {
        warnings.push(format!(
            "fsync is off at {url}: acknowledged work is lost when the server loses power"
        ));
    }
    if is("synchronous_commit", "off") {
        warnings.push(format!(
            "synchronous_commit is off at {url}: acknowledged work is lost when the server crashes"
        ));
    }
    let standbys = session.request(|client| {
        let row = client.query_one(
            "select count(*) filter (where sync_state = 'async'), \
             count(*) filter (where sync_state <> 'async') from pg_stat_replication",
            &[],
        );
        Ok(row.map_or((0, 0), |row| (row.get::<_, i64>(0), row.get::<_, i64>(1))))
    });
    if let Ok((1.., 0)) = standbys {
        warnings.push(format!(
            "the standbys of {url} are asynchronous: acknowledged work is lost when one of them \
             takes over; synchronous_standby_names makes one synchronous"
        ));
    }
    warnings
}

/// Reads the list of workers in quarantine; an empty text where there is none.
pub(crate) fn read_quarantine(
    session: &DatabaseSession,
    book: i64,
) -> Result<String, RequestError> {
    session.request(move |client| {
        let row = client.query_opt(
            "select body from kagetsu_quarantine where book = $1",
            &[&book],
        )?;
        Ok(row.map_or_else(String::new, |row| row.get(0)))
    })
}

/// Replaces the list of workers in quarantine, if the epoch is still this one.
pub(crate) fn write_quarantine(
    client: &mut impl GenericClient,
    (book, epoch): (i64, i64),
    body: &str,
) -> Result<u64, postgres::Error> {
    client.execute(
        "insert into kagetsu_quarantine (book, body) \
         select id, $3 from kagetsu_book where id = $1 and epoch = $2 \
         on conflict (book) do update set body = excluded.body",
        &[&book, &epoch, &body],
    )
}
