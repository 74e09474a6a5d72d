//! Every program that takes a book in a database, against every fault of the database: the message
//! names the way out, the exit code is 2, and nothing is half written.

use std::path::Path;

use kagetsu_tests::{Finished, PostgresServer, Program, Scratch};

use super::databases::{FULL_TABLE, ROOM};
use crate::world::growing;

/// Commands that read the book at URL; some write a file or a folder OUT. OWN is a book folder.
const READERS: [&str; 17] = [
    "query --book URL --variant freestyle-15 --moves h8",
    "pick --book URL --variant freestyle-15 --moves h8",
    "tree --book URL --variant freestyle-15 --moves h8",
    "bottlenecks --book URL --variant freestyle-15 --moves h8",
    "stats --book URL",
    "check --book URL",
    "verify --book URL",
    "suspects --book URL",
    "jobs list --book URL",
    "jobs show test --book URL",
    "compile --book URL --out OUT",
    "export --format json --book URL OUT",
    "diff URL OWN",
    "backup --book URL --to OUT",
    "journal pull --book URL --to OUT",
    "merge --into OUT URL",
    "brain --protocol gomocup --book URL",
];
/// Commands that write the book at URL.
const WRITERS: [&str; 2] = [
    "coordinator --book URL --cache OUT --listen 127.0.0.1:0 --http off",
    "journal push --book OWN --to URL",
];
/// Every reader and writer where `is_all`, else one reader and the writers: all commands open a
/// book in one way.
fn commands(is_all: bool) -> impl Iterator<Item = &'static str> {
    let readers = if is_all { &READERS[..] } else { &READERS[..1] };
    readers.iter().chain(&WRITERS).copied()
}

/// Commands that change a folder, and refuse a book in a database.
const REFUSERS: [&str; 11] = [
    "build --book URL --variant freestyle-15 --positions 3 --depth 2",
    "analyze --book URL --variant freestyle-15 --depth 2",
    "import --format json --book URL FILE",
    "merge --into URL OWN",
    "prune --book URL --variant freestyle-15 --moves h8",
    "compact --book URL",
    "jobs pause test --book URL",
    "repair --book URL",
    "restore --from OWN --book URL",
    "journal push --book URL --to URL",
    "serve --book URL --listen 127.0.0.1:0",
];
/// The content of a database with our tables.
const CONTENT: &str = "select count(*), sum(entries), min(epoch), max(epoch), \
    (select count(*) from kagetsu_journal) from kagetsu_book";
/// The number of our tables in a database.
const TABLES: &str =
    "select count(*) from information_schema.tables where table_name like 'kagetsu_%'";

struct World {
    server: PostgresServer,
    scratch: Scratch,
}

impl World {
    /// Starts a server with certificates, and makes a folder's book.
    fn start() -> Option<Self> {
        let server = PostgresServer::start()?;
        let _ = server.certify("db.example");
        let scratch = Scratch::new();
        let own = scratch.path("own").display().to_string();
        let line = growing("--book", &own, 5, 2);
        Program::Kagetsu
            .run(&line.split(' ').collect::<Vec<_>>())
            .ok();
        let world = Self { server, scratch };
        for database in ["standby", "filled", "newer"] {
            world.server.sql(&format!("create database {database}"));
        }
        Some(world)
    }

    /// Returns the address of a book in one of the databases.
    fn url(&self, database: &str, book: &str) -> String {
        let url = self.server.url(book);
        url.replace("/postgres?", &format!("/{database}?"))
    }

    fn run(&self, line: &str, url: &str, out: &Path) -> Finished {
        let own = self.scratch.path("own").display().to_string();
        let file = self.scratch.path("book.json").display().to_string();
        let out = out.display().to_string();
        let words = line.split(' ').map(|word| match word {
            "URL" => url,
            "OWN" => &own,
            "OUT" => &out,
            "FILE" => &file,
            word => word,
        });
        let words: Vec<&str> = words.collect();
        let mut command = match words[0] {
            "coordinator" => Program::Coordinator.command(&words[1..]),
            _ => Program::Kagetsu.command(&words),
        };
        command.env("KAGETSU_CACHE", self.scratch.path("cache"));
        let done = Finished::of(command);
        let output = [&done.stdout[..], &done.stderr].concat();
        for password in ["secret", "wrong-one"] {
            assert!(!output.contains(password), "{line}: {output}");
        }
        done
    }

    /// Asserts that the command ends with code 2 and these words, and leaves nothing behind.
    fn refuses(&self, line: &str, url: &str, words: &str) {
        let name = format!("out-{:p}-{:p}", line, words);
        let out = self.scratch.path(&name);
        let refused = self.run(line, url, &out);
        assert_eq!(refused.code, Some(2), "{line}: {refused:#?}");
        assert!(refused.stderr.contains(words), "{line}: {refused:#?}");
        assert!(
            !refused.stdout.contains("listening"),
            "{line}: {refused:#?}"
        );
        assert!(!out.exists(), "{line} left {name}");
    }

    fn push(&self, url: &str) {
        self.run("journal push --book OWN --to URL", url, Path::new("unused"))
            .ok();
    }
}

#[test]
fn unusable_databases_end_with_code_two() {
    let world = kagetsu_builders::needed!(World::start());
    let server = &world.server;
    let good = world.url("postgres", "book");
    let newer = "create table kagetsu_schema (version int primary key); \
        insert into kagetsu_schema values (99)";
    server.sql_in("newer", newer);
    world.push(&good);
    let content = server.sql(CONTENT);
    let faults = [
        (
            "postgres://a:secret@127.0.0.1:1/b?book=c".into(),
            "is the server running",
        ),
        (good.replace(":secret@", ":wrong-one@"), "PGPASSWORD"),
        (world.url("absent", "book"), "createdb absent"),
        (world.url("newer", "book"), "version 99"),
        (format!("{good}&sslmode=require"), "sslrootcert=FILE"),
        (good.replace("?book=book", ""), "name a book"),
    ];
    std::thread::scope(|scope| {
        for (number, (url, words)) in faults.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                commands(number == 0).for_each(|line| world.refuses(line, url, words));
            });
        }
    });
    world.refuses(
        "query --book URL --variant freestyle-15",
        &world.url("postgres", "other"),
        "there is no book",
    );
    assert_eq!(server.sql(CONTENT), content, "nothing half written");
    assert_eq!(server.sql_in("newer", TABLES), "1", "nothing half written");
    assert!(!world.scratch.path("cache").exists(), "no index of no book");
}

#[test]
fn standby_is_read_and_not_written() {
    let world = kagetsu_builders::needed!(World::start());
    let server = &world.server;
    let url = world.url("standby", "book");
    world.push(&url);
    server.sql("alter database standby set default_transaction_read_only = on");
    let content = server.sql_in("standby", CONTENT);
    for (number, line) in READERS.iter().enumerate() {
        let out = world.scratch.path(&format!("out{number}"));
        let done = world.run(line, &url, &out);
        assert_eq!(done.code, Some(0), "{line}: {done:#?}");
    }
    let other = world.url("standby", "other");
    for line in WRITERS {
        world.refuses(line, &other, "default_transaction_read_only");
    }
    assert_eq!(
        server.sql_in("standby", CONTENT),
        content,
        "nothing half written"
    );
}

#[test]
fn full_database_ends_writers_with_code_two() {
    let world = kagetsu_builders::needed!(World::start());
    let server = &world.server;
    // The tables are made with the first book.
    world.push(&world.url("filled", "book"));
    server.sql_in("filled", FULL_TABLE);
    let rows = "select count(*) from kagetsu_journal join kagetsu_book on id = book \
        where name <> 'book'";
    // A coordinator that runs waits for room, as another test shows.
    world.refuses(WRITERS[1], &world.url("filled", "other"), "make room");
    assert_eq!(server.sql_in("filled", rows), "0", "nothing half written");
    let books = FULL_TABLE
        .replace("full_disk", "full_books")
        .replace("on kagetsu_journal", "on kagetsu_book");
    let books = books.replace("refuse()", "refuse_books()");
    server.sql_in("filled", &books);
    for line in WRITERS {
        world.refuses(line, &world.url("filled", "new"), "make room");
    }
    assert_eq!(
        server.sql_in("filled", "select count(*) from kagetsu_book"),
        "2"
    );
    server.sql_in("filled", ROOM);
    // Neither command keeps the lease of the book.
    world.push(&world.url("filled", "other"));
}

#[test]
fn commands_for_folders_refuse_a_database() {
    let world = kagetsu_builders::needed!(World::start());
    let url = world.url("postgres", "book");
    world.push(&url);
    world
        .run(
            "export --format json --book OWN FILE",
            &url,
            Path::new("unused"),
        )
        .ok();
    let content = world.server.sql(CONTENT);
    for line in REFUSERS {
        world.refuses(line, &url, "kagetsu journal pull");
    }
    assert_eq!(world.server.sql(CONTENT), content, "nothing is written");
}

/// Statements that take away acknowledged entries, and words of the message.
const LOSSES: [(&str, &str); 3] = [
    (
        "delete from kagetsu_journal where seq = (select max(seq) from kagetsu_journal)",
        "missing",
    ),
    ("truncate kagetsu_journal", "entries 1 to"),
    ("update kagetsu_book set id = id + 1", "entries 1 to"),
];
/// Changes the middle of a journal, which has one group for each entry.
const FLIP: &str = "update kagetsu_journal set body = set_byte(body, 9, get_byte(body, 9) # 1) \
    where seq = 1";

#[test]
fn altered_journals_are_refused_by_all_commands() {
    let world = kagetsu_builders::needed!(World::start());
    let server = &world.server;
    let url = world.url("postgres", "book");
    world.push(&url);
    // The indexes are whole, and know all entries.
    let check = || world.run("check --book URL", &url, Path::new("unused"));
    assert_eq!(check().code, Some(0));
    server.sql("create table book as select * from kagetsu_book");
    server.sql("create table journal as select * from kagetsu_journal");
    for (number, (statement, words)) in LOSSES.into_iter().enumerate() {
        server.sql(statement);
        let content = server.sql(CONTENT);
        commands(number == 0).for_each(|line| world.refuses(line, &url, words));
        assert_eq!(
            server.sql(CONTENT),
            content,
            "{statement}: nothing is written"
        );
        server.sql(
            "truncate kagetsu_book, kagetsu_journal; \
             insert into kagetsu_book select * from book; \
             insert into kagetsu_journal select * from journal",
        );
    }
    assert_eq!(check().code, Some(0));
    server.sql(FLIP);
    let found = check();
    assert_eq!(found.code, Some(1), "{found:#?}");
    assert!(
        found.stdout.contains("begins with entry 1 is damaged"),
        "{found:#?}"
    );
    // A copy of what is whole may be wanted, and the message names it.
    let copy = world.scratch.path("copy");
    let pulled = world.run("journal pull --book URL --to OUT", &url, &copy);
    assert_eq!(pulled.code, Some(2), "{pulled:#?}");
    assert!(
        pulled.stderr.contains("is damaged, and the copy in"),
        "{pulled:#?}"
    );
}

#[test]
fn roles_without_rights_are_told_by_all_commands() {
    let world = kagetsu_builders::needed!(World::start());
    let server = &world.server;
    let url = world.url("postgres", "book");
    world.push(&url);
    server.sql("create role reader login password 'secret'");
    let poor = url.replace("kagetsu:", "reader:");
    commands(true).for_each(|line| world.refuses(line, &poor, "on kagetsu_book to reader"));
    server.sql("grant select on kagetsu_schema, kagetsu_book, kagetsu_journal to reader");
    let content = server.sql(CONTENT);
    for line in WRITERS {
        world.refuses(
            line,
            &poor,
            "grant insert, update on kagetsu_book to reader",
        );
    }
    assert_eq!(server.sql(CONTENT), content, "nothing is written");
    world
        .run("check --book URL", &poor, Path::new("unused"))
        .ok();
}
