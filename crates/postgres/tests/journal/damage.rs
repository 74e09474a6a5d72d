//! Journals whose database has lost or changed rows, though an index of the book is whole.

use std::path::Path;

use kagetsu_book::{Book, BookError, JournalError, Sequence};
use kagetsu_postgres::{BookUrl, PostgresJournal, pull, push};
use kagetsu_tests::PostgresServer;
use tempfile::TempDir;

use crate::{OPTIONS, TTL, book_url, grow, leading};

/// The part of a program that notices a kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Every opening of the journal compares its end with the row of the book.
    Opening,
    /// A reader of all entries finds it: a check, a copy, and an opening without an index.
    Reading,
    /// Only a check looks at it, and no entry is affected.
    Check,
}

/// Selects a row in the middle of the journal.
const MIDDLE: &str = "where seq = (select seq from kagetsu_journal order by seq offset 3 limit 1)";
/// Selects the last row.
const LAST: &str = "where seq = (select max(seq) from kagetsu_journal)";

/// The kinds of damage: a statement, what notices it, and words of the message.
fn kinds() -> Vec<(String, Seen, &'static str)> {
    let on = |statement: &str, rows: &str| format!("{statement} {rows}");
    let flipped = "update kagetsu_journal set body = set_byte(body, 9, get_byte(body, 9) # 1)";
    let digest = "update kagetsu_journal set digest = digest # 1";
    let pair = "in (select seq from kagetsu_journal order by seq offset 3 limit 2)";
    let swapped = format!(
        "update kagetsu_journal as one set body = other.body, crc = other.crc \
         from kagetsu_journal as other where one.seq <> other.seq and one.seq {pair} \
         and other.seq {pair}"
    );
    vec![
        (on("delete from kagetsu_journal", LAST), Seen::Opening, "missing"),
        ("delete from kagetsu_journal".into(), Seen::Opening, "entries 1 to"),
        ("truncate kagetsu_journal".into(), Seen::Opening, "entries 1 to"),
        ("update kagetsu_book set id = id + 1".into(), Seen::Opening, "entries 1 to"),
        ("update kagetsu_book set entries = entries - 1".into(), Seen::Opening, "kagetsu_book"),
        ("update kagetsu_book set digest = digest # 1".into(), Seen::Opening, "kagetsu_book"),
        (on(digest, LAST), Seen::Opening, "kagetsu_book"),
        (
            "insert into kagetsu_journal select book, seq + entries, epoch, entries, digest, body, \
             crc from kagetsu_journal order by seq desc limit 1"
                .into(),
            Seen::Opening,
            "kagetsu_book",
        ),
        (on("delete from kagetsu_journal", MIDDLE), Seen::Reading, "is missing"),
        ("delete from kagetsu_journal where seq = 1".into(), Seen::Reading, "missing"),
        (swapped, Seen::Reading, "is damaged"),
        (on("update kagetsu_journal set body = ''", MIDDLE), Seen::Reading, "is damaged"),
        (on("update kagetsu_journal set body = ''", LAST), Seen::Reading, "is damaged"),
        (on(flipped, MIDDLE), Seen::Reading, "is damaged"),
        (on(flipped, LAST), Seen::Reading, "is damaged"),
        (on("update kagetsu_journal set crc = crc # 1", MIDDLE), Seen::Reading, "is damaged"),
        (on(digest, MIDDLE), Seen::Check, "digest"),
    ]
}

/// Makes a book with one row for an entry, and keeps a copy of its tables.
fn grown(server: &PostgresServer, cache: &Path) -> BookUrl {
    let url = book_url(server, "one");
    let (mut book, _) =
        Book::open_journal(cache, Box::new(leading(&url)), &OPTIONS).expect("opens");
    grow(&mut book);
    book.close().expect("room");
    server.sql(
        "update kagetsu_book set until = now() - interval '1 second'; \
         create table book as select * from kagetsu_book; \
         create table journal as select * from kagetsu_journal",
    );
    url
}

fn undo(server: &PostgresServer) {
    server.sql(
        "truncate kagetsu_book, kagetsu_journal; \
         insert into kagetsu_book select * from book; \
         insert into kagetsu_journal select * from journal",
    );
}

/// Returns all rows but the lease.
fn content(server: &PostgresServer) -> String {
    server.sql(
        "select id, name, entries, digest, epoch from kagetsu_book; \
         select * from kagetsu_journal order by seq",
    )
}

#[track_caller]
fn assert_altered(result: Result<(), BookError>, words: &str, name: &str) {
    let Err(BookError::Journal(error @ JournalError::Altered { .. })) = &result else {
        panic!("{name}: {result:?}");
    };
    let message = error.to_string();
    for words in [words, "restore the database", "journal push"] {
        assert!(message.contains(words), "{name}: {message}");
    }
}

fn open_with(cache: &Path, url: &BookUrl) -> Result<Book, BookError> {
    let journal = Box::new(PostgresJournal::open(url)?);
    Ok(Book::open_journal(cache, journal, &OPTIONS)?.0)
}

#[test]
fn every_damage_of_a_journal_is_named() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let [cache, copies] = [(); 2].map(|()| TempDir::new().expect("room"));
    let url = grown(&server, cache.path());
    let whole = open_with(cache.path(), &url).expect("opens");
    let (entries, digest) = (whole.sequence(), whole.digest());
    assert!(whole.check(&mut |_| {}).expect("readable").is_clean());
    drop(whole);
    let own = copies.path().join("own");
    pull(&url, &own).expect("readable");
    for (number, (statement, seen, words)) in kinds().into_iter().enumerate() {
        server.sql(&statement);
        let before = content(&server);
        let name = &*statement;
        let opened = open_with(cache.path(), &url);
        match (seen, opened) {
            (Seen::Opening, opened) => assert_altered(opened.map(drop), words, name),
            (_, Err(error)) => panic!("{name}: {error}"),
            (_, Ok(book)) => {
                let report = book.check(&mut |_| {}).expect("readable");
                assert_eq!(report.count, 1, "{name}: {report:?}");
                assert!(report.faults[0].contains(words), "{name}: {report:?}");
            }
        }
        let new = TempDir::new().expect("room");
        let copy = copies.path().join(number.to_string());
        let results = [
            (
                "an opening without an index",
                open_with(new.path(), &url).map(drop),
            ),
            ("a copy to a folder", pull(&url, &copy).map(drop)),
        ];
        for (action, result) in results {
            match seen {
                Seen::Check => result.unwrap_or_else(|error| panic!("{action}: {error}")),
                _ => assert_altered(result, words, &format!("{name}: {action}")),
            }
        }
        if seen == Seen::Opening {
            let to = push(&own, &url).map(drop);
            assert_altered(to, words, name);
            let leads = PostgresJournal::create(&url).map(drop);
            assert_altered(leads.map_err(Into::into), words, name);
        }
        assert_eq!(content(&server), before, "{name}: nothing is changed");
        undo(&server);
    }
    // The index was left as it is.
    let whole = open_with(cache.path(), &url).expect("opens");
    assert_eq!((whole.sequence(), whole.digest()), (entries, digest));
}

#[test]
fn lease_is_refused_where_entries_are_missing() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let cache = TempDir::new().expect("room");
    let url = grown(&server, cache.path());
    let opening = kinds().into_iter();
    for (statement, _, words) in opening.filter(|(_, seen, _)| *seen == Seen::Opening) {
        let words = match &*statement {
            // The processes know the book by its number.
            "update kagetsu_book set id = id + 1" => "its row in kagetsu_book is gone",
            _ => words,
        };
        let [follower, leader] = [(); 2].map(|()| PostgresJournal::create(&url).expect("whole"));
        let lease = leader.lease();
        let end = lease.acquire("http://one:1", TTL).expect("answers");
        assert!(end.is_some_and(|(end, _)| end > Sequence(9)), "{end:?}");
        server.sql(&statement);
        let renewed = lease.renew(TTL).map(drop);
        if words.contains("is gone") {
            renewed.expect("another took over, or none");
        } else {
            assert_altered(renewed.map_err(Into::into), words, &statement);
        }
        server.sql("update kagetsu_book set until = now() - interval '1 second'");
        let before = content(&server);
        let acquired = follower.lease().acquire("http://two:2", TTL).map(drop);
        assert_altered(acquired.map_err(Into::into), words, &statement);
        assert_eq!(content(&server), before, "{statement}: nothing is changed");
        undo(&server);
    }
}

#[test]
fn roles_without_rights_are_told_so() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let cache = TempDir::new().expect("room");
    grown(&server, cache.path());
    server.sql("create role reader login password 'secret'");
    let url = server.url("one").replace("kagetsu:", "reader:");
    let url = BookUrl::parse(&url).expect("an address");
    let message = |result: Result<PostgresJournal, JournalError>| {
        let message = result.map(drop).expect_err("refused").to_string();
        assert!(!message.contains("there is no book"), "{message}");
        message
    };
    let open = || PostgresJournal::open(&url);
    let create = || PostgresJournal::create(&url);
    for result in [open(), create()] {
        let message = message(result);
        for words in ["the role reader", "on kagetsu_book to reader"] {
            assert!(message.contains(words), "{message}");
        }
    }
    server.sql("grant select on kagetsu_schema, kagetsu_book, kagetsu_journal to reader");
    drop(open().expect("it may read"));
    let refused = message(create());
    for words in [
        "grant insert, update on kagetsu_book to reader",
        "grant insert on kagetsu_journal to reader",
        "grant select, insert, update on kagetsu_quarantine to reader",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
    // The message is a list of statements that help.
    let (_, grants) = refused.split_once("of the database: ").expect("a list");
    server.sql(grants);
    drop(create().expect("it may write"));
    server.sql("alter role reader set default_transaction_read_only = on");
    let refused = message(create());
    for words in ["read-only", "default_transaction_read_only"] {
        assert!(refused.contains(words), "{refused}");
    }
    server.sql("alter role reader reset all; revoke usage on schema public from public");
    for result in [open(), create()] {
        let message = message(result);
        let words = "grant usage on schema public to reader";
        assert!(message.contains(words), "{message}");
    }
}
