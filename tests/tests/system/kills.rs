//! `kill -9` at random moments: the build ends, and nothing that was acknowledged is missing.

use std::thread::sleep;
use std::time::Duration;

use kagetsu_tests::Scratch;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::cluster::{Cluster, Facts, WIDER, agree, facts, growing, until, worker};

const KILLS: u32 = 20;
const POSITIONS: u32 = 120;
const DEPTH: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Coordinator,
    Both,
}

/// Builds a book while the victim is killed again and again, and compares it with one that was built in peace.
fn build_through_kills(victim: Victim, seed: u64) {
    println!("seed {seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut cluster = Cluster::start(&book, "127.0.0.1:0");
    let listen = cluster.url.trim_start_matches("http://").to_string();
    let mut workers = [cluster.worker(), cluster.worker()];
    let client = cluster.build(POSITIONS, DEPTH);
    until("the job is known", || cluster.job());
    drop(client);

    for _ in 0..KILLS {
        sleep(Duration::from_millis(chance.random_range(0..150)));
        let acknowledged = cluster.job().and_then(|job| job["positions"].as_u64());
        if victim != Victim::Coordinator {
            let one = &mut workers[chance.random_range(0..2)];
            one.kill();
            *one = worker(&cluster.url);
        }
        if victim != Victim::Worker {
            cluster.coordinator.kill();
            cluster = Cluster::start(&book, &listen);
            let after = until("the job is back", || cluster.job());
            assert!(after["positions"].as_u64() >= acknowledged, "{acknowledged:?} acknowledged, then {after}");
        }
    }
    until("the job ends", || (cluster.job()?["state"] == "done").then_some(()));
    cluster.stop();
    let built = facts(&book);
    assert_eq!(built.len(), POSITIONS as usize);

    let calm = facts_of_a_calm_build(&scratch);
    assert!(agree(&built, &calm) > POSITIONS as usize / 2);
}

fn facts_of_a_calm_build(scratch: &Scratch) -> Facts {
    let book = scratch.path("calm");
    let line = growing("--book", book.to_str().expect("a plain name"), WIDER * POSITIONS, DEPTH);
    let arguments: Vec<_> = line.split(' ').collect();
    let built = kagetsu_tests::Program::Kagetsu.run(&arguments);
    assert_eq!(built.code, Some(0), "{built:#?}");
    facts(&book)
}

#[test]
fn workers_are_killed() {
    build_through_kills(Victim::Worker, 1);
}

#[test]
fn the_coordinator_is_killed() {
    build_through_kills(Victim::Coordinator, 2);
}

#[test]
fn both_are_killed() {
    build_through_kills(Victim::Both, 3);
}
