//! The journal in a real PostgreSQL server.

mod damage;
mod kills;
mod servers;

use std::time::Duration;

use kagetsu_book::{
    Book, BookError, BookOptions, BuildSpec, FolderJournal, JobSpec, Journal, JournalDigest,
    JournalError, Sequence,
};
use kagetsu_builders::opinion;
use kagetsu_game::{Answer, Move, Position, Variant};
use kagetsu_postgres::{BookUrl, PostgresJournal, pull, push};
use kagetsu_tests::PostgresServer;
use tempfile::TempDir;

pub(crate) const TTL: Duration = Duration::from_secs(30);

pub(crate) const OPTIONS: BookOptions = BookOptions {
    create: true,
    cache_bytes: 1 << 20,
};

/// Returns the address of a book.
pub(crate) fn book_url(server: &PostgresServer, book: &str) -> BookUrl {
    BookUrl::parse(&server.url(book)).expect("an address")
}

/// Returns a journal that this process leads.
pub(crate) fn leading(url: &BookUrl) -> PostgresJournal {
    let journal = PostgresJournal::create(url).expect("the server answers");
    let lease = journal.lease();
    lease
        .acquire("http://one:1", TTL)
        .expect("the server answers")
        .expect("it is free");
    journal
}

fn entries(journal: &dyn Journal) -> Vec<Box<[u8]>> {
    let mut all = Vec::new();
    journal
        .scan(Sequence(0), &mut |Sequence(number), entry| {
            assert_eq!(number, all.len() as u64 + 1);
            all.push(entry.into());
            Ok(())
        })
        .expect("readable");
    all
}

fn sample(number: u64) -> Vec<u8> {
    vec![number as u8; (number * 37 % 301) as usize]
}

fn job() -> JobSpec {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    JobSpec {
        name: "test".into(),
        variant,
        roots: [Position::from_line(variant, "d4").expect("legal")].into(),
        exclude: [].into(),
        build: BuildSpec {
            depth: Some(3),
            positions: Some(40),
            ..BuildSpec::default()
        },
    }
}

fn answer(position: &Position) -> Answer {
    let verdict = |(rank, m): (usize, Move)| opinion(m, -10 * rank as i32);
    let moves = position.distinct_moves();
    moves.into_iter().take(3).enumerate().map(verdict).collect()
}

fn grow(book: &mut Book) {
    let job = book.create_job(&job()).expect("a job");
    loop {
        let works = book.next_work(job, 1).expect("readable");
        let Some(work) = works.first() else { break };
        book.finish(work, &answer(&work.question.position))
            .expect("room");
        book.syncer().sync().expect("room");
    }
}

fn dump(book: &Book) -> Vec<String> {
    book.positions()
        .map(|entry| format!("{:?}", entry.expect("readable")))
        .collect()
}

#[test]
fn entries_are_read_as_they_were_appended() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let url = book_url(&server, "one");
    let mut journal = leading(&url);
    let reader = PostgresJournal::open(&url).expect("it is there");
    let mut digests = vec![JournalDigest::default()];
    for number in 1..=700 {
        let entry = sample(number);
        assert_eq!(journal.append(&entry).expect("room"), Sequence(number));
        digests.push(digests[digests.len() - 1].after(&entry));
        if number % 13 == 0 {
            let synced = journal.syncer().sync().expect("room");
            assert_eq!(synced, Sequence(number));
        }
    }
    // Entries that were not synced are not there.
    assert_eq!(entries(&reader).len(), 700 / 13 * 13);
    journal.syncer().sync().expect("room");
    let all = entries(&reader);
    assert_eq!(all.len(), 700);
    for (number, entry) in (1..).zip(&all) {
        assert_eq!(**entry, *sample(number));
    }
    for (number, digest) in (0..).zip(&digests) {
        let found = reader.digest(Sequence(number)).expect("readable");
        assert_eq!(found, Some(*digest), "{number}");
    }
    assert_eq!(reader.digest(Sequence(701)).expect("readable"), None);
    for after in [0, 1, 12, 13, 14, 699, 700] {
        let some = reader.read(Sequence(after), 20).expect("readable");
        let expected: Vec<_> = all.iter().skip(after as usize).take(20).cloned().collect();
        assert_eq!(some, expected, "{after}");
    }
}

#[test]
fn one_process_leads_and_the_fence_holds() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let url = book_url(&server, "one");
    let mut one = PostgresJournal::create(&url).expect("the server answers");
    let mut two = PostgresJournal::create(&url).expect("the server answers");
    let refused = one.append(b"no lease");
    assert!(
        matches!(refused, Err(JournalError::NotLeader { .. })),
        "{refused:?}"
    );
    let (first, second) = (one.lease(), two.lease());
    let ttl = Duration::from_secs(3);
    assert!(
        first
            .acquire("http://one:1", ttl)
            .expect("answers")
            .is_some()
    );
    assert!(
        second
            .acquire("http://two:2", TTL)
            .expect("answers")
            .is_none()
    );
    assert_eq!(
        second.leader().expect("answers").as_deref(),
        Some("http://one:1")
    );
    one.append(b"kept").expect("room");
    one.syncer().sync().expect("room");
    one.append(b"never kept").expect("room");
    // The first process does nothing for longer than its lease.
    let end = loop {
        if let Some(end) = second.acquire("http://two:2", TTL).expect("answers") {
            break end;
        }
    };
    assert_eq!(end.0, Sequence(1));
    let refused = one.syncer().sync();
    let Err(JournalError::NotLeader { address, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(address.as_deref(), Some("http://two:2"));
    assert!(!first.is_held() && !first.renew(TTL).expect("answers"));
    one.append(b"nor this").expect_err("it is deposed");
    two.append(b"by the second").expect("room");
    two.syncer().sync().expect("room");
    one.syncer().sync().expect_err("it stays deposed");
    assert_eq!(
        entries(&two),
        [Box::from(*b"kept"), Box::from(*b"by the second")] as [Box<[u8]>; 2]
    );
    // A lease that is given back is free at once.
    second.release().expect("answers");
    assert!(
        first
            .acquire("http://one:1", TTL)
            .expect("answers")
            .is_some()
    );
    one.append(b"again").expect("room");
    one.syncer().sync().expect("room");
    assert_eq!(entries(&two).len(), 3);
}

#[test]
fn book_in_a_database_is_the_book_of_a_folder() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let (url, other_url) = (book_url(&server, "grown"), book_url(&server, "pushed"));
    let [folder, cache, second, pulled] = [(); 4].map(|()| TempDir::new().expect("room"));
    let (mut one, _) = Book::open(folder.path(), &OPTIONS).expect("opens");
    grow(&mut one);
    let journal = leading(&url);
    let (mut two, _) =
        Book::open_journal(cache.path(), Box::new(journal), &OPTIONS).expect("opens");
    grow(&mut two);
    assert_eq!(two.digest(), one.digest());
    assert_eq!(dump(&two), dump(&one));
    let reader = PostgresJournal::open(&url).expect("it is there");
    let (follower, _) =
        Book::open_journal(second.path(), Box::new(reader), &OPTIONS).expect("opens");
    assert_eq!(dump(&follower), dump(&one));
    assert!(follower.check(&mut |_| {}).expect("readable").is_clean());
    let expected = dump(&one);
    one.close().expect("room");
    two.close().expect("room");

    let pushed = push(folder.path(), &other_url).expect("room");
    assert_eq!(pushed.copied, pushed.entries);
    assert_eq!(push(folder.path(), &other_url).expect("room").copied, 0);
    for url in [&url, &other_url] {
        let target = pulled.path().join(url.name());
        pull(url, &target).expect("room");
        assert_eq!(pull(url, &target).expect("room").copied, 0);
        let file = |folder: &std::path::Path| {
            std::fs::read(folder.join("journal/000001.journal")).expect("readable")
        };
        assert_eq!(file(&target), file(folder.path()), "{url}");
        let (book, _) = Book::open(&target, &OPTIONS).expect("opens");
        assert_eq!(dump(&book), expected);
    }
    let mut other = FolderJournal::open(&pulled.path().join("grown"), false).expect("opens");
    other.journal().append(b"another").expect("room");
    drop(other);
    let refused = pull(&url, &pulled.path().join("grown"));
    assert!(matches!(refused, Err(BookError::Open(_))), "{refused:?}");
}

#[test]
fn bad_servers_are_named_with_a_way_out() {
    let mut server = kagetsu_builders::needed!(PostgresServer::start());
    let parse = |text: String| BookUrl::parse(&text).expect("an address");
    let port = server.port();
    let refusal = |url: &BookUrl| {
        let refused = PostgresJournal::create(url).map(drop);
        refused.expect_err("refused").to_string()
    };
    let wrong = |text: String, part: &str| {
        let message = refusal(&parse(text));
        assert!(message.contains(part), "{message}");
        assert!(!message.contains("wrong-one"), "{message}");
    };
    let at = format!("127.0.0.1:{port}");
    wrong(
        format!("postgres://kagetsu:wrong-one@{at}/postgres?book=a"),
        "PGPASSWORD",
    );
    wrong(
        format!("postgres://stranger:wrong-one@{at}/postgres?book=a"),
        "PGPASSWORD",
    );
    wrong(
        format!("postgres://kagetsu:secret@{at}/absent?book=a"),
        "createdb absent",
    );
    wrong(
        format!("postgres://kagetsu:secret@{at}/postgres?book=a&sslmode=require"),
        "TLS",
    );
    wrong(
        "postgres://kagetsu:secret@127.0.0.1:1/postgres?book=a".into(),
        "is the server running",
    );
    let url = book_url(&server, "a");
    let missing = PostgresJournal::open(&url).map(drop).expect_err("no book");
    assert!(
        missing.to_string().contains("there is no book"),
        "{missing}"
    );
    drop(PostgresJournal::create(&url).expect("makes the tables"));
    server.sql("insert into kagetsu_schema values (99)");
    assert!(refusal(&url).contains("version 99"));
    server.sql("delete from kagetsu_schema where version = 99");
    server.kill();
    server.run(&["fsync=off", "synchronous_commit=off"]);
    let warnings = PostgresJournal::create(&url).expect("answers").warnings();
    assert!(
        warnings.len() == 2 && warnings[0].contains("fsync"),
        "{warnings:?}"
    );
    server.kill();
    server.run(&["default_transaction_read_only=on"]);
    let url = book_url(&server, "b");
    assert!(
        refusal(&url).contains("default_transaction_read_only"),
        "{}",
        refusal(&url)
    );
}
