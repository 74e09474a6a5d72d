//! A disk that fills: the program says so and ends, and nothing that was acknowledged is lost.

use std::fs::{self, File};

use kagetsu_tests::{Finished, Program, Running, Scratch};
use serde_json::json;

use crate::world::{Cluster, Relay, growing, held, until};

/// Where a book of all positions has no room.
const BLOCKS: u32 = 100;
/// Where the journal has, but the store, which is written at the end, has not.
const BLOCKS_OF_A_JOURNAL: u32 = 400;
const POSITIONS: u32 = 300;
const DEPTH: u32 = 2;

/// Whether it is said that the disk is full, where, and what helps.
fn is_told(text: &str, place: &str) -> bool {
    [place, "file too large", "make room"]
        .iter()
        .all(|word| text.to_lowercase().contains(word))
}

#[test]
fn a_build_ends_when_its_disk_is_full_and_goes_on_when_there_is_room() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let line = growing(
        "--book",
        path.to_str().expect("a plain name"),
        POSITIONS,
        DEPTH,
    );
    let arguments: Vec<_> = line.split(' ').collect();
    for (blocks, place) in [
        (BLOCKS / 2, "book/journal"),
        (BLOCKS, "book/"),
        (BLOCKS_OF_A_JOURNAL, "book/store"),
    ] {
        let full = Finished::of(Program::Kagetsu.command_with_small_disk(blocks, &arguments));
        assert_eq!(
            (full.code, full.stdout.as_str()),
            (Some(2), ""),
            "{full:#?}"
        );
        assert_eq!(
            full.stderr.lines().count(),
            1,
            "one line says it: {full:#?}"
        );
        assert!(is_told(&full.stderr, place), "{full:#?}");
        let built = held(&path, DEPTH).len();
        assert!(
            (1..=POSITIONS as usize).contains(&built),
            "{built} positions"
        );
    }
    let job = Program::Kagetsu.run(&arguments).json();
    assert_eq!(
        (&job["state"], &job["positions"]),
        (&json!("done"), &json!(POSITIONS)),
        "{job}"
    );
    assert_eq!(held(&path, DEPTH).len(), POSITIONS as usize);
}

#[test]
fn a_coordinator_ends_when_its_disk_is_full_and_goes_on_when_there_is_room() {
    let scratch = Scratch::new();
    let (path, log) = (scratch.path("book"), scratch.path("log"));
    let book = path.to_str().expect("a plain name");
    let mut command = Program::Coordinator
        .command_with_small_disk(BLOCKS, &["--book", book, "--listen", "127.0.0.1:0"]);
    command.stderr(File::create(&log).expect("room"));
    let mut coordinator = Running::of(command);
    let url = coordinator.address();
    let mut full = Cluster { coordinator, url };
    let worker = full.worker();
    let relay = Relay::to(&full.url);
    let line = growing("--coordinator", &relay.url(), POSITIONS, DEPTH);
    let mut client = Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>());
    let mut acknowledged = None;
    until("the disk is full", || {
        acknowledged = full
            .job()
            .and_then(|job| job["positions"].as_u64())
            .or(acknowledged);
        full.coordinator.has_ended().then_some(())
    });
    assert_eq!(full.coordinator.wait().code(), Some(2));
    let log = fs::read_to_string(&log).expect("text");
    let last = log.lines().last().unwrap_or_default();
    assert!(is_told(last, "book/"), "{log}");
    assert!(held(&path, DEPTH).len() < POSITIONS as usize);

    drop(worker);
    let room = Cluster::start(&path, "127.0.0.1:0");
    let _worker = room.worker();
    let after = until("the job is back", || room.job());
    assert!(
        after["positions"].as_u64() >= acknowledged,
        "{acknowledged:?} acknowledged, then {after}"
    );
    // Who has the build done has waited for it.
    relay.turn(&room.url);
    assert_eq!(client.wait().code(), Some(0));
    assert_eq!(
        room.job().map(|job| job["state"].clone()),
        Some("done".into())
    );
    room.stop();
    assert_eq!(held(&path, DEPTH).len(), POSITIONS as usize);
}
