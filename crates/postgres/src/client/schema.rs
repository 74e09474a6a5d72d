//! The tables of the database.

use postgres::{Client, GenericClient};

use crate::client::book_url::BookUrl;
use crate::client::error::{READ_ONLY_ADVICE, RequestError};
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

/// Whether a book may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookCreation {
    Allowed,
    Refused,
}

/// Finds a book, and makes the tables and the book where they are missing and that is allowed.
pub(crate) fn find_book(
    session: &DatabaseSession,
    url: &BookUrl,
    creation: BookCreation,
) -> Result<JournalHead, RequestError> {
    let version: Option<i32> = session.request(|client| {
        let is_there: bool = client
            .query_one(
                "select count(*) > 0 from information_schema.tables \
                 where table_schema = current_schema() and table_name = 'kagetsu_schema'",
                &[],
            )?
            .get(0);
        if !is_there {
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
            )));
        }
        Some(_) => {}
        None if creation == BookCreation::Allowed => make_tables(session, url)?,
        None => return Err(missing(url)),
    }
    if let Some(head) = head(session, url)? {
        return Ok(head);
    }
    if creation == BookCreation::Refused {
        return Err(missing(url));
    }
    let (id, name) = (
        i64::from(rand::random::<u32>()) << 31 | i64::from(rand::random::<u32>() >> 1),
        url.name().to_string(),
    );
    refuse_standby(session, url)?;
    session.request(move |client| {
        client.execute(
            "insert into kagetsu_book \
             (id, name, entries, digest, epoch, holder, address, until) \
             values ($1, $2, 0, 0, 0, '', '', now()) on conflict (name) do nothing",
            &[&id, &name],
        )
    })?;
    head(session, url)?.ok_or_else(|| missing(url))
}

fn missing(url: &BookUrl) -> RequestError {
    RequestError::fatal(format!(
        "there is no book at {url}; `kagetsu-coordinator --book` makes one, and \
         `kagetsu journal push` copies one there"
    ))
}

fn make_tables(session: &DatabaseSession, url: &BookUrl) -> Result<(), RequestError> {
    refuse_standby(session, url)?;
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

/// Fails where the server is a standby that takes no writes.
pub(crate) fn refuse_standby(session: &DatabaseSession, url: &BookUrl) -> Result<(), RequestError> {
    match setting(session, "transaction_read_only")?.as_deref() {
        Some("on") => Err(RequestError::fatal(format!(
            "the database {url} takes no writes{READ_ONLY_ADVICE}"
        ))),
        _ => Ok(()),
    }
}

/// Returns a setting of the server; `None` where the server does not know it.
pub(crate) fn setting(
    session: &DatabaseSession,
    name: &str,
) -> Result<Option<String>, RequestError> {
    let statement = format!("show {name}");
    session.request(move |client| {
        let shown = client.query_one(&statement, &[]);
        Ok(shown.ok().and_then(|row| row.try_get(0).ok()))
    })
}

/// Returns the head of the book, if there is such a book.
pub(crate) fn head(
    session: &DatabaseSession,
    url: &BookUrl,
) -> Result<Option<JournalHead>, RequestError> {
    let name = url.name().to_string();
    session.request(move |client| read_head(client, &name))
}

fn read_head(client: &mut Client, name: &str) -> Result<Option<JournalHead>, postgres::Error> {
    let row = client.query_opt(
        "select id, entries, digest from kagetsu_book where name = $1",
        &[&name],
    )?;
    Ok(row.map(|row| JournalHead {
        book: row.get(0),
        entries: row.get::<_, i64>(1).unsigned_abs(),
        digest: row.get::<_, i64>(2).cast_unsigned(),
    }))
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
