//! Databases that are away for a while, and commands that read a book in a database.

use std::thread::sleep;
use std::time::Duration;

use kagetsu_tests::{Finished, PostgresServer, Program, Scratch, words};

use super::replication::World;
use crate::world::{RecordingWorker, growing, refused, until};

/// Statements after which the table of the journal takes no row, as on a full disk.
pub(super) const FULL_TABLE: &str = "create function refuse() returns trigger language plpgsql as \
    'begin raise exception using errcode = ''53100'', message = ''no space left on device''; end'; \
    create trigger full_disk before insert on kagetsu_journal execute function refuse()";
/// The statement after which it takes rows again.
pub(super) const ROOM: &str = "drop trigger full_disk on kagetsu_journal; drop function refuse()";
/// Time after which the lease of a leader without a database has run out.
const LONG_OUTAGE: Duration = Duration::from_secs(5);
/// Time after which a copy of a journal would give up.
const VERY_LONG_OUTAGE: Duration = Duration::from_secs(75);

#[test]
fn coordinator_says_loudly_what_may_be_lost() {
    let mut server = kagetsu_builders::needed!(PostgresServer::start());
    server.kill();
    server.run(&["synchronous_commit=off"]);
    let _standby = server.standby(None);
    let scratch = Scratch::new();
    let cache = scratch.path("cache");
    let log = scratch.path("log");
    let mut command = Program::Coordinator.command(&[
        "--book",
        &server.url("book"),
        "--cache",
        cache.to_str().expect("a plain name"),
        "--listen",
        "127.0.0.1:0",
        "--http",
        "off",
    ]);
    command.stderr(std::fs::File::create(&log).expect("room"));
    let mut coordinator = kagetsu_tests::Running::of(command);
    coordinator.address();
    let text = std::fs::read_to_string(&log).expect("text");
    for words in ["synchronous_commit is off", "are asynchronous"] {
        assert!(text.contains(words), "no '{words}' in {text}");
    }
    assert!(text.contains("WARN"), "{text}");
}

fn query(url: &str) -> Finished {
    Program::Kagetsu.run(&words!(
        "query --book {url} --variant freestyle-15 --moves h8 --json"
    ))
}

/// Runs a build while the database is away; both coordinators answer look-ups, and go on.
fn survive_outage(
    length: Duration,
    begin: impl FnOnce(&mut World),
    end: impl FnOnce(&mut World),
    is_reachable: bool,
) {
    let mut world = kagetsu_builders::needed!(World::start());
    let recorder = [RecordingWorker::start(&world.all_urls(), 1)];
    world.build();
    until("progress", || {
        (RecordingWorker::acknowledged(&recorder).len() >= 5).then_some(())
    });
    until("both have the root", || {
        let found = world.urls.iter().all(|url| query(url).code == Some(0));
        found.then_some(())
    });
    begin(&mut world);
    sleep(length);
    for url in &world.urls {
        let found = query(url);
        assert_eq!(found.code, Some(0), "look-ups go on: {found:#?}");
    }
    if !is_reachable {
        for url in &world.urls {
            let line = growing("--coordinator", url, 5, 3).replace("test", "other");
            let refused = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(refused.code, Some(2), "{refused:#?}");
            assert!(
                refused.stderr.contains("no coordinator leads"),
                "{refused:#?}"
            );
        }
    }
    let before = RecordingWorker::acknowledged(&recorder).len();
    end(&mut world);
    until("progress", || {
        (RecordingWorker::acknowledged(&recorder).len() > before).then_some(())
    });
    for coordinator in &mut world.coordinators {
        assert!(!coordinator.has_ended(), "it waited for the database");
    }
}

fn stop_server(world: &mut World) {
    world.server.kill();
}

fn start_server(world: &mut World) {
    world.server.run(&[]);
}

#[test]
fn coordinators_wait_for_a_lost_database() {
    survive_outage(LONG_OUTAGE, stop_server, start_server, false);
}

#[test]
#[ignore = "takes minutes"]
fn coordinators_wait_long_for_a_lost_database() {
    survive_outage(VERY_LONG_OUTAGE, stop_server, start_server, false);
}

/// The follower has read the new end of the journal when the journal is gone.
#[test]
fn follower_waits_for_an_unreadable_journal() {
    let mut world = kagetsu_builders::needed!(World::start());
    let leader = || {
        let sql = "select address from kagetsu_book where until > now()";
        Some(world.server.sql(sql)).filter(|address| !address.is_empty())
    };
    until("one leads", leader);
    world.server.sql(
        "begin; alter table kagetsu_journal rename to moved; \
         update kagetsu_book set entries = entries + 1; commit",
    );
    sleep(Duration::from_secs(1));
    let stats = |url: &String| Program::Kagetsu.run(&["stats", "--book", url]);
    for url in &world.urls {
        let found = stats(url);
        assert_eq!(found.code, Some(0), "look-ups go on: {found:#?}");
    }
    world.server.sql(
        "begin; alter table moved rename to kagetsu_journal; \
         update kagetsu_book set entries = entries - 1; commit",
    );
    let recorder = [RecordingWorker::start(&world.all_urls(), 1)];
    world.build();
    until("both have the root", || {
        let found = world.urls.iter().all(|url| query(url).code == Some(0));
        found.then_some(())
    });
    drop(recorder);
    for coordinator in &mut world.coordinators {
        assert!(!coordinator.has_ended(), "it waited for the journal");
    }
}

#[test]
fn coordinators_wait_for_room_in_the_database() {
    let fill = |world: &mut World| {
        world.server.sql(FULL_TABLE);
    };
    let make_room = |world: &mut World| {
        world.server.sql(ROOM);
    };
    survive_outage(LONG_OUTAGE, fill, make_room, true);
}

#[test]
fn commands_read_a_book_in_a_database() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let scratch = Scratch::new();
    let path = |name: &str| scratch.text(name);
    let own = path("own");
    let line = growing("--book", &own, 8, 3);
    Program::Kagetsu
        .run(&line.split(' ').collect::<Vec<_>>())
        .ok();
    let url = server.url("pushed");
    let run = |arguments: &[&str]| {
        let mut command = Program::Kagetsu.command(arguments);
        command.env("KAGETSU_CACHE", path("cache"));
        let done = Finished::of(command).ok();
        assert!(!done.stderr.contains("secret"), "{done:#?}");
        done
    };
    let sgf = path("game.sgf");
    std::fs::write(&sgf, "(;GM[4]SZ[15]PB[Ann];B[hh]C[centre];W[ih])").expect("room");
    let import = ["import", "--format", "sgf", "--variant", "freestyle-15"];
    run(&[&import[..], &["--book", &own, &sgf]].concat());
    let pushed = run(&["journal", "push", "--book", &own, "--to", &url]);
    assert!(
        pushed.stderr.contains("1 imported games stay in"),
        "{pushed:#?}"
    );
    let position = ["--variant", "freestyle-15", "--moves", "h8"];
    let games = [&["query", "--book", &url, "--games"], &position[..]].concat();
    let mut games = Program::Kagetsu.command(&games);
    games.env("KAGETSU_CACHE", path("cache"));
    refused(
        &Finished::of(games),
        &["a book in a database has no games", "give the folder"],
    );
    for command in ["query", "pick", "tree"] {
        let at = |book: &str| run(&[&[command, "--book", book], &position[..]].concat()).stdout;
        assert_eq!(at(&url), at(&own), "{command}");
    }
    run(&["check", "--book", &url]);
    run(&["verify", "--book", &url]);
    run(&["stats", "--book", &url]);
    run(&["jobs", "list", "--book", &url]);
    run(&["diff", &url, &own]);
    let [one, two] = ["one.kbk", "two.kbk"].map(path);
    run(&["compile", "--texts", "--book", &url, "--out", &one]);
    run(&["compile", "--texts", "--book", &own, "--out", &two]);
    let noted = run(&[&["query", "--book", &one][..], &position].concat()).stdout;
    assert!(noted.contains("centre"), "{noted}");
    let read = |file: &str| std::fs::read(file).expect("it was written");
    assert!(read(&one) == read(&two), "the compiled books differ");
    let [one, two] = ["one.json", "two.json"].map(path);
    for (book, file) in [(&url, &one), (&own, &two)] {
        run(&["export", "--format", "json", "--book", book, file]);
    }
    assert!(read(&one) == read(&two), "the exported books differ");
    let copy = path("copy");
    run(&["backup", "--book", &url, "--to", &copy]);
    run(&["diff", &copy, &own]);
    let merged = path("merged");
    run(&["merge", "--into", &merged, &url]);
    let absent = Program::Kagetsu.run(&["check", "--book", &server.url("absent")]);
    assert_eq!(absent.code, Some(2), "{absent:#?}");
    assert!(absent.stderr.contains("there is no book"), "{absent:#?}");
}

/// Removes the last groups of the journal, as the promotion of an asynchronous standby does.
const LOSE_LAST_GROUPS: &str = "delete from kagetsu_journal where seq in \
    (select seq from kagetsu_journal order by seq desc limit 3); \
    update kagetsu_book set entries = seq + last.entries - 1, digest = last.digest \
    from (select seq, entries, digest from kagetsu_journal order by seq desc limit 1) as last";

#[test]
fn follower_reads_again_what_a_database_has_lost() {
    let mut world = kagetsu_builders::needed!(World::start());
    let recorder = [RecordingWorker::start(&world.all_urls(), 1)];
    world.build();
    until("progress", || {
        (RecordingWorker::acknowledged(&recorder).len() >= 20).then_some(())
    });
    let leader = until("one leads", || world.leader());
    world.coordinators[leader].kill();
    let entries = "select entries from kagetsu_book";
    let before = world.server.sql(entries);
    // The follower has read all by now.
    sleep(Duration::from_secs(1));
    world.server.sql(LOSE_LAST_GROUPS);
    assert_ne!(world.server.sql(entries), before);
    let known = RecordingWorker::acknowledged(&recorder).len();
    until("progress", || {
        (RecordingWorker::acknowledged(&recorder).len() > known).then_some(())
    });
    assert!(!world.coordinators[1 - leader].has_ended());
    world.check_journal();
}
