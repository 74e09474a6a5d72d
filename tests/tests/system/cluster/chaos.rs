//! Chaos in a cluster: processes are killed and frozen, disks are full, the network is cut and
//! slowed, reports come twice and late, and one worker lies. Afterwards every acknowledged answer
//! is in the book, the values equal those of an undisturbed build, and the liar is quarantined.
//!
//! A short run is part of every test run. The long one is `cargo test -p kagetsu-tests --test
//! system chaos -- --ignored`; its seeds are `KAGETSU_CHAOS_SEEDS` (default 1,2,3).

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use kagetsu_tests::{Program, Running, Scratch};
use nix::sys::signal::Signal;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::world::{Cluster, LateWorker, LyingWorker, Relay, book_keys, until};

const DEPTH: u32 = 3;

/// File size limit, in blocks, that leaves room for little more than the start of a book.
const DISK_BLOCKS: u32 = 60;

/// Starts a coordinator that verifies every answer.
fn coordinator(book: &Path) -> Cluster {
    let book = book.to_str().expect("a plain name");
    let mut coordinator = Program::Coordinator.start(&arguments(book));
    let url = coordinator.address();
    Cluster { coordinator, url }
}

const fn arguments(book: &str) -> [&str; 8] {
    [
        "--book",
        book,
        "--listen",
        "127.0.0.1:0",
        "--http",
        "off",
        "--verify-share",
        "100",
    ]
}

/// Starts a coordinator on a full disk: it works as long as it can, and then reports it, or is
/// killed.
fn coordinate_on_a_full_disk(book: &Path, line: &Relay, time: Duration) {
    let book = book.to_str().expect("a plain name");
    let mut full =
        Running::of(Program::Coordinator.command_with_small_disk(DISK_BLOCKS, &arguments(book)));
    // The disk may have no room even for the start.
    if let Some(address) = full.line().strip_prefix("listening on ") {
        line.turn(address);
    }
    sleep(time);
    if full.has_ended() {
        assert_eq!(full.wait().code(), Some(2), "it says what is wrong");
    }
    full.kill();
}

/// Starts a worker with a spool.
fn worker(url: &str, spool: &Path) -> Running {
    Program::Worker.start(&working(url, spool.to_str().expect("a plain name")))
}

fn working<'a>(url: &'a str, spool: &'a str) -> [&'a str; 8] {
    [
        "--coordinator",
        url,
        "--slots",
        "1",
        "--table-mib",
        "16",
        "--spool",
        spool,
    ]
}

/// Two workers beside the coordinator, and one behind a bad connection.
struct Workers {
    url: String,
    relay: Relay,
    spools: Vec<std::path::PathBuf>,
    workers: Vec<Running>,
}

impl Workers {
    fn start(scratch: &Scratch, url: &str) -> Self {
        let spools: Vec<_> = (0..3)
            .map(|n| scratch.path(&format!("spool-{n}")))
            .collect();
        let mut fleet = Self {
            url: url.into(),
            relay: Relay::to(url),
            spools,
            workers: Vec::new(),
        };
        fleet.workers = (0..3).map(|n| fleet.worker(n)).collect();
        fleet
    }

    fn url(&self, n: usize) -> String {
        if n == 2 {
            self.relay.url()
        } else {
            self.url.clone()
        }
    }

    fn worker(&self, n: usize) -> Running {
        worker(&self.url(n), &self.spools[n])
    }

    /// Starts a worker whose spool has no room: its results stay in memory.
    fn worker_on_a_full_disk(&self, n: usize) -> Running {
        let (url, spool) = (self.url(n), self.spools[n].to_str().expect("a plain name"));
        Running::of(Program::Worker.command_with_small_disk(0, &working(&url, spool)))
    }

    /// Disturbs a worker or its connection.
    fn disturb(&mut self, chance: &mut StdRng) {
        let n = chance.random_range(0..3);
        let a_while = Duration::from_millis(chance.random_range(20..400));
        match chance.random_range(0..5) {
            0 => {
                self.workers[n].kill();
                self.workers[n] = self.worker(n);
            }
            1 => {
                self.workers[n].kill();
                self.workers[n] = self.worker_on_a_full_disk(n);
            }
            2 => {
                self.workers[n].signal(Signal::SIGSTOP);
                sleep(a_while);
                self.workers[n].signal(Signal::SIGCONT);
            }
            3 => {
                self.relay.cut();
                sleep(a_while);
                self.relay.mend();
            }
            _ => {
                self.relay.slow(true);
                sleep(a_while);
                self.relay.slow(false);
            }
        }
    }
}

fn positions(cluster: &Cluster) -> Option<u64> {
    cluster.job()?["positions"].as_u64()
}

fn storm(seed: u64, strikes: u32, size: u32) {
    println!("seed {seed}");
    let chance = &mut StdRng::seed_from_u64(seed);
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut cluster = coordinator(&book);
    let line = Relay::to(&cluster.url);
    let mut fleet = Workers::start(&scratch, &line.url());

    let laggard = LateWorker::start(&line.url(), seed);

    // Phase one has no liar, and the coordinator dies too: it never loses an acknowledged answer.
    drop(cluster.build(size, DEPTH));
    let client = cluster.build(size, DEPTH);
    until("the job is known", || cluster.job());
    drop(client);
    for _ in 0..strikes {
        sleep(Duration::from_millis(chance.random_range(0..150)));
        let acknowledged = positions(&cluster);
        match chance.random_range(0..5) {
            event @ (0 | 4) => {
                cluster.coordinator.kill();
                if event == 4 {
                    coordinate_on_a_full_disk(
                        &book,
                        &line,
                        Duration::from_millis(chance.random_range(200..1_000)),
                    );
                }
                cluster = coordinator(&book);
                line.turn(&cluster.url);
                let after = until("the job is back", || positions(&cluster));
                assert!(
                    Some(after) >= acknowledged,
                    "seed {seed}: {acknowledged:?} acknowledged, then {after}"
                );
            }
            1 => {
                cluster.coordinator.signal(Signal::SIGSTOP);
                sleep(Duration::from_millis(chance.random_range(50..400)));
                cluster.coordinator.signal(Signal::SIGCONT);
            }
            _ => fleet.disturb(chance),
        }
    }
    until("the first half ends", || {
        (cluster.job()?["state"] == "done").then_some(())
    });

    // Phase two adds a worker that lies and sends everything twice.
    let liar = LyingWorker::start(&cluster.url, seed);
    until("the liar is there", || {
        let listed = Program::Kagetsu.run(&["workers", "list", "--coordinator", &cluster.url]);
        listed.stdout.contains(liar.name()).then_some(())
    });
    let client = cluster.build(2 * size, DEPTH);
    for _ in 0..strikes / 2 {
        sleep(Duration::from_millis(chance.random_range(0..150)));
        fleet.disturb(chance);
    }
    drop(client);
    let mut target = 2 * size;
    let reason = until("the liar is found", || {
        let reason = cluster.quarantine(liar.name());
        // If the other workers finished before the liar got a task, there is more to do.
        if reason.is_none() && cluster.job()?["state"] == "done" {
            target += size;
            cluster.build(target, DEPTH).wait();
        }
        reason
    });
    assert!(reason.contains("wrong about"), "seed {seed}: {reason}");
    // The liar's answers are searched again before the restarted job ends.
    until("the job ends", || {
        cluster.build(target, DEPTH).wait().success().then_some(())
    });
    assert_eq!(
        cluster.quarantine("laggard"),
        None,
        "seed {seed}: a slow worker is not quarantined"
    );
    drop((liar, laggard, fleet));
    cluster.stop();

    let built = book_keys(&book, DEPTH).len();
    assert!(built >= target as usize, "seed {seed}: {built} positions");
}

#[test]
fn book_survives_short_chaos() {
    storm(1, 10, 30);
}

#[test]
#[ignore = "takes minutes"]
fn book_survives_long_chaos() {
    let seeds = std::env::var("KAGETSU_CHAOS_SEEDS").unwrap_or_else(|_| "1,2,3".into());
    for seed in seeds.split(',') {
        storm(seed.trim().parse().expect("a number"), 60, 150);
    }
}
