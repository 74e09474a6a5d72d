//! Two coordinators of one book in PostgreSQL: kills, freezes and restarts lose no acknowledged
//! answer, and the journal has entries of one leader at a time.

use std::thread::sleep;
use std::time::Duration;

use kagetsu_tests::{Finished, PostgresServer, Program, Running, Scratch};
use nix::sys::signal::Signal;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::world::{book_keys, growing, until, worker};

const POSITIONS: u32 = 120;
const DEPTH: u32 = 4;
/// Kills of each kind in an ordinary run, and in a long one.
const KILLS: u32 = 3;
const MANY_KILLS: u32 = 50;
/// A lease that a loaded machine keeps.
const LEASE: &str = "3s";

/// A way to take the lead from a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// The process is killed.
    Killed,
    /// The process is frozen for longer than its lease, and woken.
    Frozen,
    /// The process is told to stop.
    Stopped,
}

struct World {
    server: PostgresServer,
    scratch: Scratch,
    coordinators: Vec<Running>,
    urls: Vec<String>,
}

impl World {
    fn start() -> Option<Self> {
        let server = PostgresServer::start()?;
        let mut world = Self {
            server,
            scratch: Scratch::new(),
            coordinators: Vec::new(),
            urls: Vec::new(),
        };
        for number in 0..2 {
            let mut coordinator = world.coordinator(number, "127.0.0.1:0");
            world.urls.push(coordinator.address());
            world.coordinators.push(coordinator);
        }
        Some(world)
    }

    fn coordinator(&self, number: usize, listen: &str) -> Running {
        let cache = self.scratch.path(&format!("cache{number}"));
        let cache = cache.to_str().expect("a plain name");
        let book = self.server.url("replicated");
        Program::Coordinator.start(&[
            "--book", &book, "--cache", cache, "--listen", listen, "--http", "off", "--lease",
            LEASE,
        ])
    }

    /// Starts a coordinator again at its address.
    fn restart(&mut self, number: usize) {
        let listen = self.urls[number].trim_start_matches("http://").to_string();
        let mut coordinator = self.coordinator(number, &listen);
        assert_eq!(coordinator.address(), self.urls[number]);
        self.coordinators[number] = coordinator;
    }

    fn all_urls(&self) -> String {
        self.urls.join(",")
    }

    fn job_at(&self, url: &str) -> Option<Value> {
        let jobs = Program::Kagetsu.run(&["jobs", "list", "--coordinator", url, "--json"]);
        let jobs: Value = serde_json::from_str(&jobs.stdout).ok()?;
        jobs.get(0).cloned()
    }

    /// Returns the number of the coordinator that leads by the database.
    fn leader(&self) -> Option<usize> {
        let address = self
            .server
            .sql("select address from kagetsu_book where until > now()");
        self.urls.iter().position(|url| *url == address)
    }

    /// Asserts that the journal has every entry once, and no entry of an epoch after one of a
    /// later epoch.
    fn check_journal(&self) {
        let faults = self.server.sql(
            "select count(*) from (select seq, epoch, \
             lag(seq + entries) over (order by seq) as expected, \
             max(epoch) over (order by seq) as latest from kagetsu_journal) as row \
             where seq <> coalesce(expected, 1) or epoch < latest",
        );
        assert_eq!(faults, "0");
    }

    /// Copies the journal into a folder, and returns the positions of the book.
    fn keys(&self) -> usize {
        let folder = self.scratch.path("pulled");
        let to = folder.to_str().expect("a plain name");
        let url = self.server.url("replicated");
        let pulled = Program::Kagetsu.run(&["journal", "pull", "--book", &url, "--to", to]);
        assert_eq!(pulled.code, Some(0), "{pulled:#?}");
        let checked = Program::Kagetsu.run(&["check", "--book", to]);
        assert_eq!(checked.code, Some(0), "{checked:#?}");
        book_keys(&folder, DEPTH).len()
    }
}

fn build_through_losses(loss: Loss, losses: u32) {
    let Some(mut world) = World::start() else {
        return;
    };
    let mut chance = StdRng::seed_from_u64(7);
    let all = world.all_urls();
    let _workers = [worker(&all), worker(&all)];
    let positions = POSITIONS + 10 * losses;
    let line = growing("--coordinator", &all, positions, DEPTH);
    until("one leads", || world.leader());
    let client = Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>());
    until("the job is known", || world.job_at(&all));
    drop(client);
    for _ in 0..losses {
        sleep(Duration::from_millis(chance.random_range(0..500)));
        let leader = until("one leads", || world.leader());
        let acknowledged = world
            .job_at(&world.urls[leader])
            .and_then(|job| job["positions"].as_u64());
        let victim = &mut world.coordinators[leader];
        match loss {
            Loss::Killed => victim.kill(),
            Loss::Frozen => victim.signal(Signal::SIGSTOP),
            Loss::Stopped => {
                victim.signal(Signal::SIGTERM);
                assert_eq!(victim.wait().code(), Some(0), "a clean stop");
            }
        }
        let other = 1 - leader;
        until("the other leads", || {
            (world.leader() == Some(other)).then_some(())
        });
        let after = until("the job is there", || world.job_at(&world.urls[other]));
        assert!(
            after["positions"].as_u64() >= acknowledged,
            "{acknowledged:?} acknowledged, then {after}"
        );
        match loss {
            Loss::Frozen => world.coordinators[leader].signal(Signal::SIGCONT),
            Loss::Killed | Loss::Stopped => world.restart(leader),
        }
    }
    until("the job ends", || {
        (world.job_at(&all)?["state"] == "done").then_some(())
    });
    world.check_journal();
    assert_eq!(world.keys(), positions as usize);
}

#[test]
fn killed_leader_is_replaced() {
    build_through_losses(Loss::Killed, KILLS);
}

#[test]
fn frozen_leader_appends_nothing_when_woken() {
    build_through_losses(Loss::Frozen, KILLS);
}

#[test]
fn rolling_restart_loses_nothing() {
    build_through_losses(Loss::Stopped, KILLS);
}

#[test]
#[ignore = "takes many minutes"]
fn fifty_losses_of_each_kind_lose_nothing() {
    for loss in [Loss::Killed, Loss::Frozen, Loss::Stopped] {
        build_through_losses(loss, MANY_KILLS);
    }
}

#[test]
fn follower_answers_look_ups_and_names_the_leader() {
    let Some(world) = World::start() else {
        return;
    };
    let leader = until("one leads", || world.leader());
    let follower = &world.urls[1 - leader];
    let line = growing("--coordinator", follower, 5, DEPTH);
    let refused = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains(&world.urls[leader]), "{refused:#?}");
    let _worker = worker(&world.all_urls());
    let line = growing("--coordinator", &world.all_urls(), 5, DEPTH);
    let built = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(built.code, Some(0), "{built:#?}");
    let query = |book: &str| -> Finished {
        Program::Kagetsu.run(&[
            "query",
            "--book",
            book,
            "--variant",
            "freestyle-15",
            "--moves",
            "h8",
            "--json",
        ])
    };
    let at_leader = query(&world.urls[leader]).json();
    let at_follower = until("the follower has it", || {
        let found = query(follower);
        (found.code == Some(0)).then_some(found)
    });
    assert_eq!(at_follower.json()["best"], at_leader["best"]);
    let cache = world.scratch.path("query");
    let mut command = Program::Kagetsu.command(&[
        "query",
        "--book",
        &world.server.url("replicated"),
        "--variant",
        "freestyle-15",
        "--moves",
        "h8",
        "--json",
    ]);
    command.env("KAGETSU_CACHE", cache);
    assert_eq!(Finished::of(command).json()["best"], at_leader["best"]);
}

#[test]
fn unusable_databases_end_with_code_two() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let scratch = Scratch::new();
    let cache = scratch.path("cache");
    let cache = cache.to_str().expect("a plain name");
    let url = server.url("book");
    let wrong = url.replace(":secret@", ":wrong-one@");
    let nowhere = "postgres://kagetsu:secret@127.0.0.1:1/postgres?book=a";
    let nameless = url.split('?').next().expect("a part");
    for (book, cache, words) in [
        (wrong.as_str(), Some(cache), "PGPASSWORD"),
        (nowhere, Some(cache), "is the server running"),
        (nameless, Some(cache), "does not name a book"),
        (url.as_str(), None, "--cache DIR"),
    ] {
        let mut arguments = vec!["--book", book, "--listen", "127.0.0.1:0", "--http", "off"];
        arguments.extend(cache.iter().flat_map(|cache| ["--cache", cache]));
        let refused = Program::Coordinator.run(&arguments);
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(refused.stderr.contains(words), "{refused:#?}");
        let said = [refused.stdout, refused.stderr].concat();
        assert!(
            !said.contains("secret") && !said.contains("wrong-one"),
            "{said}"
        );
    }
}
