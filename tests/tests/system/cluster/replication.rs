//! Two coordinators of one book in PostgreSQL: kills, freezes and restarts lose no acknowledged
//! answer, and the journal has entries of one leader at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use kagetsu_book::{Book, BookOptions, Notice};
use kagetsu_game::{Key, Position};
use kagetsu_postgres::{BookUrl, PostgresJournal};
use kagetsu_tests::{Finished, PostgresServer, Program, Running, Scratch, http, words};
use nix::sys::signal::Signal;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use super::metrics::value;
use crate::world::{RecordingWorker, growing, kagetsu_line, until, worker};

/// A target that no test reaches, so that every loss interrupts work.
const POSITIONS: u32 = 1_000_000;
const DEPTH: u32 = 3;
/// Answers that are acknowledged between two losses.
const PROGRESS: usize = 5;
/// Losses of each kind in an ordinary run, and in a long one.
const LOSSES: u32 = 3;
const MANY_LOSSES: u32 = 50;
/// A lease that a loaded machine keeps.
const LEASE: &str = "3s";

/// A way to take the lead from a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// The process is killed.
    Killed,
    /// The process is frozen for longer than its lease, and woken.
    Frozen,
    /// The process gets SIGTERM.
    Stopped,
}

pub(super) struct World {
    pub(super) server: PostgresServer,
    pub(super) scratch: Scratch,
    pub(super) coordinators: Vec<Running>,
    pub(super) urls: Vec<String>,
    metrics: Vec<String>,
}

/// A follower of the test's own, which reads the journal from the database.
pub(super) struct Auditor(Book);

impl Auditor {
    /// Opens the book in a database with the index in a folder, which may be a coordinator's.
    pub(super) fn open(url: &str, cache: &Path) -> (Self, Vec<Notice>) {
        let url = BookUrl::parse(url).expect("an address");
        let journal = PostgresJournal::open(&url).expect("it is there");
        let options = BookOptions {
            create: true,
            cache_bytes: 8 << 20,
        };
        let (book, notices) =
            Book::open_journal(cache, Box::new(journal), &options).expect("a sound journal");
        (Self(book), notices)
    }

    /// Reads what is new, and asserts that the book has these positions.
    pub(super) fn has(&mut self, acknowledged: &BTreeMap<Key, Position>) {
        while self.0.catch_up(1024).expect("a sound journal") > 0 {}
        for position in acknowledged.values() {
            let found = self.0.lookup(position).expect("readable");
            assert!(found.is_some(), "acknowledged and lost: {position:?}");
        }
    }

    fn dump(&self) -> Vec<String> {
        let positions = self.0.positions();
        positions
            .map(|entry| format!("{:?}", entry.expect("readable")))
            .collect()
    }
}

impl World {
    pub(super) fn start() -> Option<Self> {
        let server = PostgresServer::start()?;
        let mut world = Self {
            server,
            scratch: Scratch::new(),
            coordinators: Vec::new(),
            urls: Vec::new(),
            metrics: Vec::new(),
        };
        for number in 0..2 {
            let mut coordinator = world.coordinator(number, "127.0.0.1:0");
            world.urls.push(coordinator.address());
            let line = coordinator.line();
            let at = line.strip_prefix("metrics on ").expect("a second address");
            world.metrics.push(at.into());
            world.coordinators.push(coordinator);
        }
        Some(world)
    }

    fn coordinator(&self, number: usize, listen: &str) -> Running {
        Running::of(self.coordinator_command(number, listen))
    }

    fn coordinator_command(&self, number: usize, listen: &str) -> Command {
        let cache = self.scratch.path(&format!("cache{number}"));
        let cache = cache.display();
        let book = self.server.url("replicated");
        let line = format!(
            "--book {book} --cache {cache} --listen {listen} --http off --metrics 127.0.0.1:0 \
             --lease {LEASE}"
        );
        Program::Coordinator.command(&line.split(' ').collect::<Vec<_>>())
    }

    /// Starts a coordinator again at its address.
    fn restart(&mut self, number: usize) {
        let listen = self.urls[number].trim_start_matches("http://").to_string();
        let mut coordinator = self.coordinator(number, &listen);
        assert_eq!(coordinator.address(), self.urls[number]);
        self.coordinators[number] = coordinator;
    }

    fn auditor(&self, cache: &str) -> (Auditor, Vec<Notice>) {
        let url = self.server.url("replicated");
        Auditor::open(&url, &self.scratch.path(cache))
    }

    pub(super) fn all_urls(&self) -> String {
        self.urls.join(",")
    }

    pub(super) fn job_at(&self, url: &str) -> Option<Value> {
        let jobs = Program::Kagetsu.run(&["jobs", "list", "--coordinator", url, "--json"]);
        let jobs: Value = serde_json::from_str(&jobs.stdout).ok()?;
        jobs.get(0).cloned()
    }

    /// Returns the number of the coordinator that leads by the database.
    pub(super) fn leader(&self) -> Option<usize> {
        let address = self
            .server
            .sql("select address from kagetsu_book where until > now()");
        self.urls.iter().position(|url| *url == address)
    }

    /// Asserts that the journal has every entry once, and no entry of an epoch after one of a
    /// later epoch.
    pub(super) fn check_journal(&self) {
        let faults = self.server.sql(
            "select count(*) from (select seq, epoch, \
             lag(seq + entries) over (order by seq) as expected, \
             max(epoch) over (order by seq) as latest from kagetsu_journal) as row \
             where seq <> coalesce(expected, 1) or epoch < latest",
        );
        assert_eq!(faults, "0");
    }

    /// Starts a build that goes on without its client.
    pub(super) fn build(&self) {
        let all = self.all_urls();
        until("one leads", || self.leader());
        let line = growing("--coordinator", &all, POSITIONS, DEPTH);
        let client = Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>());
        until("the job is known", || self.job_at(&all));
        drop(client);
    }

    /// Stops the coordinators, and asserts that each has the same book as the database, and all
    /// positions that were acknowledged.
    fn compare_books(&mut self, mut auditor: Auditor, acknowledged: &BTreeMap<Key, Position>) {
        for coordinator in &mut self.coordinators {
            coordinator.signal(Signal::SIGTERM);
            assert_eq!(coordinator.wait().code(), Some(0), "a clean stop");
        }
        self.check_journal();
        auditor.has(acknowledged);
        let checked = auditor.0.check(&mut |_| {}).expect("readable");
        assert!(checked.is_clean(), "{checked:?}");
        for cache in ["cache0", "cache1"] {
            let (own, notices) = self.auditor(cache);
            assert_eq!(notices, [], "{cache}");
            assert_eq!(own.0.digest(), auditor.0.digest(), "{cache}");
            assert_eq!(own.dump(), auditor.dump(), "{cache}");
        }
    }
}

fn build_through_losses(loss: Loss, losses: u32) {
    let mut world = kagetsu_builders::needed!(World::start());
    let mut chance = StdRng::seed_from_u64(7);
    let recorders = [1, 2].map(|number| RecordingWorker::start(&world.all_urls(), number));
    let acknowledged = || RecordingWorker::acknowledged(&recorders);
    world.build();
    let (mut auditor, _) = world.auditor("audit");
    let mut before = 0;
    for _ in 0..losses {
        until("progress", || {
            (acknowledged().len() >= before + PROGRESS).then_some(())
        });
        sleep(Duration::from_millis(chance.random_range(0..500)));
        let leader = until("one leads", || world.leader());
        let victim = &mut world.coordinators[leader];
        match loss {
            Loss::Killed => victim.kill(),
            Loss::Frozen => victim.signal(Signal::SIGSTOP),
            Loss::Stopped => {
                victim.signal(Signal::SIGTERM);
                assert_eq!(victim.wait().code(), Some(0), "a clean stop");
            }
        }
        let known = acknowledged();
        before = known.len();
        auditor.has(&known);
        let other = 1 - leader;
        until("the other leads", || {
            (world.leader() == Some(other)).then_some(())
        });
        until("the job is there", || world.job_at(&world.urls[other]));
        match loss {
            Loss::Frozen => world.coordinators[leader].signal(Signal::SIGCONT),
            Loss::Killed | Loss::Stopped => world.restart(leader),
        }
    }
    until("progress", || {
        (acknowledged().len() >= before + PROGRESS).then_some(())
    });
    let known = acknowledged();
    let pause = recorders.iter().map(RecordingWorker::longest_pause).max();
    println!(
        "{loss:?} {losses} times: {} positions acknowledged, longest pause {pause:?}",
        known.len()
    );
    drop(recorders);
    world.compare_books(auditor, &known);
}

/// Both coordinators have read all entries, and one leads, when the last one is taken away.
#[test]
fn coordinators_stop_where_entries_are_missing() {
    let mut world = kagetsu_builders::needed!(World::start());
    let recorder = [RecordingWorker::start(&world.all_urls(), 1)];
    world.build();
    until("progress", || {
        (RecordingWorker::acknowledged(&recorder).len() >= PROGRESS).then_some(())
    });
    drop(recorder);
    // Nothing is appended any more.
    let paused =
        Program::Kagetsu.run(&["jobs", "pause", "test", "--coordinator", &world.all_urls()]);
    assert_eq!(paused.code, Some(0), "{paused:#?}");
    let caches = [0, 1].map(|number| world.scratch.path(&format!("cache{number}")));
    world
        .server
        .sql("delete from kagetsu_journal where seq = (select max(seq) from kagetsu_journal)");
    for coordinator in &mut world.coordinators {
        until("it stops", || coordinator.has_ended().then_some(()));
        assert_eq!(coordinator.wait().code(), Some(2), "it stops with an error");
    }
    let epoch = || world.server.sql("select epoch, entries from kagetsu_book");
    let before = epoch();
    for number in 0..2 {
        let refused = Finished::of(world.coordinator_command(number, "127.0.0.1:0"));
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        for words in ["missing", "restore the database"] {
            assert!(refused.stderr.contains(words), "{refused:#?}");
        }
    }
    assert_eq!(epoch(), before, "none leads");
    for cache in caches {
        assert!(
            !cache.join("store.damaged").exists(),
            "the index is left as it is"
        );
    }
}

#[test]
fn killed_leader_is_replaced() {
    build_through_losses(Loss::Killed, LOSSES);
}

#[test]
fn frozen_leader_appends_nothing_when_woken() {
    build_through_losses(Loss::Frozen, LOSSES);
}

#[test]
fn rolling_restart_loses_nothing() {
    build_through_losses(Loss::Stopped, LOSSES);
}

#[test]
#[ignore = "takes many minutes"]
fn leader_lost_fifty_times_loses_nothing() {
    for loss in [Loss::Killed, Loss::Frozen, Loss::Stopped] {
        build_through_losses(loss, MANY_LOSSES);
    }
}

#[test]
fn follower_sends_clients_and_workers_to_the_leader() {
    let world = kagetsu_builders::needed!(World::start());
    let leader = until("one leads", || world.leader());
    let follower = &world.urls[1 - leader];
    let _worker = worker(follower);
    let line = growing("--coordinator", follower, 5, DEPTH);
    Program::Kagetsu
        .run(&line.split(' ').collect::<Vec<_>>())
        .ok();
    let query = |book: &str| -> Finished {
        Program::Kagetsu.run(&words!(
            "query --book {book} --variant freestyle-15 --moves h8
            --json"
        ))
    };
    let at_leader = query(&world.urls[leader]).json();
    let at_follower = until("the follower has it", || {
        let found = query(follower);
        (found.code == Some(0)).then_some(found)
    });
    assert_eq!(at_follower.json()["best"], at_leader["best"]);
    // A sum over coordinators counts the book and its jobs once.
    let gauge = |number: usize, series: &str| {
        let text = http(&world.metrics[number], "GET", "/metrics", "").body;
        value(&text, series)
    };
    for (series, least, follower) in [
        ("kagetsu_book_positions", 5.0, None),
        ("kagetsu_job_positions{job=\"test\"}", 5.0, None),
        ("kagetsu_jobs{state=\"done\"}", 1.0, Some(0.0)),
        ("kagetsu_workers", 1.0, Some(0.0)),
        ("kagetsu_demand", 0.0, Some(0.0)),
    ] {
        assert!(gauge(leader, series) >= Some(least), "{series}");
        assert_eq!(gauge(1 - leader, series), follower, "{series}");
    }
    let leads = [leader, 1 - leader].map(|number| gauge(number, "kagetsu_leads"));
    assert_eq!(leads, [Some(1.0), Some(0.0)]);
    let probe = |number: usize| http(&world.metrics[number], "GET", "/readyz?leader", "").status;
    assert_eq!([probe(leader), probe(1 - leader)], [200, 503]);
    let says = format!("{} leads", world.urls[leader]);
    for command in ["jobs list", "workers list", "doctor"] {
        let told = kagetsu_line(&format!("{command} --coordinator {follower}"));
        assert!((told.stderr + &told.stdout).contains(&says), "{command}");
    }
    let cache = world.scratch.path("query");
    let book = world.server.url("replicated");
    let line = format!("query --book {book} --variant freestyle-15 --moves h8 --json");
    let mut command = Program::Kagetsu.command(&line.split(' ').collect::<Vec<_>>());
    command.env("KAGETSU_CACHE", cache);
    assert_eq!(Finished::of(command).json()["best"], at_leader["best"]);
}
