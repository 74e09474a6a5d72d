//! `kill -9` at random moments: the build ends, and no acknowledged answer is missing.

use std::fs::File;
use std::thread::sleep;
use std::time::Duration;

use kagetsu_tests::{Program, Running, Scratch};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::world::{Cluster, Relay, book_keys, growing, until, worker};

const KILLS: u32 = 20;
const POSITIONS: u32 = 120;
const DEPTH: u32 = 4;
/// Tasks of a worker with one slot: one that it searches, and three ahead.
const MAX_TASKS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Coordinator,
    Both,
}

/// Builds a book while the victim is killed again and again, and counts its positions.
fn build_through_kills(victim: Victim, seed: u64) {
    println!("seed {seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut cluster = Cluster::start(&book);
    let relay = Relay::to(&cluster.url);
    let mut workers = [worker(&relay.url()), worker(&relay.url())];
    let client = cluster.build(POSITIONS, DEPTH);
    until("the job is known", || cluster.job());
    drop(client);

    for _ in 0..KILLS {
        sleep(Duration::from_millis(chance.random_range(0..150)));
        let acknowledged = cluster.job().and_then(|job| job["positions"].as_u64());
        if victim != Victim::Coordinator {
            let one = &mut workers[chance.random_range(0..2)];
            one.kill();
            *one = worker(&relay.url());
        }
        if victim != Victim::Worker {
            cluster.coordinator.kill();
            cluster = Cluster::start(&book);
            relay.turn(&cluster.url);
            let after = until("the job is back", || cluster.job());
            assert!(
                after["positions"].as_u64() >= acknowledged,
                "{acknowledged:?} acknowledged, then {after}"
            );
        }
    }
    until("the job ends", || {
        (cluster.job()?["state"] == "done").then_some(())
    });
    cluster.stop();
    // Answers to the tasks of a killed coordinator may come when others have reached the target.
    let built = book_keys(&book, DEPTH).len();
    let most = POSITIONS as usize + workers.len() * MAX_TASKS;
    assert!((POSITIONS as usize..=most).contains(&built), "{built}");
}

#[test]
fn build_client_waits_for_moved_coordinator() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut cluster = Cluster::start(&book);
    let file = scratch.path("coordinator.url");
    std::fs::write(&file, &cluster.url).expect("room");
    let place = file.to_str().expect("a plain name");
    let line = growing("--coordinator-file", place, POSITIONS, DEPTH);
    let mut command = Program::Kagetsu.command(&line.split(' ').collect::<Vec<_>>());
    command.stderr(File::create(scratch.path("client.log")).expect("room"));
    let mut client = Running::of(command);
    until("the job is known", || cluster.job());
    for _ in 0..2 {
        cluster.coordinator.kill();
        let text = || std::fs::read_to_string(scratch.path("client.log")).ok();
        let times = |word: &str| text().map_or(0, |text| text.matches(word).count());
        let before = times("is back");
        until("it is missed", || {
            (times("waiting for it to come back") > before).then_some(())
        });
        cluster = Cluster::start(&book);
        std::fs::write(&file, &cluster.url).expect("room");
        until("it is found again", || {
            (times("is back") > before).then_some(())
        });
    }
    let _worker = cluster.worker();
    assert_eq!(client.wait().code(), Some(0));
    let printed: serde_json::Value = serde_json::from_str(&client.rest()).expect("one object");
    assert_eq!(
        (&printed["state"], &printed["positions"]),
        (&"done".into(), &POSITIONS.into())
    );
    cluster.stop();
}

#[test]
fn build_survives_worker_kills() {
    build_through_kills(Victim::Worker, 1);
}

#[test]
fn build_survives_coordinator_kills() {
    build_through_kills(Victim::Coordinator, 2);
}

#[test]
fn build_survives_kills_of_both() {
    build_through_kills(Victim::Both, 3);
}
