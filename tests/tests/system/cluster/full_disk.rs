//! A full disk: the program reports it and ends, and no acknowledged answer is lost.

use std::fs::{self, File};

use kagetsu_tests::{Finished, Program, Running, Scratch};
use serde_json::json;

use crate::world::{Cluster, Relay, assert_fields, book_keys, growing, until};

/// File size limit, in blocks, that is too small for the whole book.
const DISK_BLOCKS: u32 = 100;
/// File size limit, in blocks, with room for the journal but not for the store, which is written at
/// the end.
const JOURNAL_DISK_BLOCKS: u32 = 400;
const POSITIONS: u32 = 300;
const DEPTH: u32 = 2;

/// Whether the message says that the disk is full, where, and what to do.
fn is_explained(text: &str, place: &str) -> bool {
    [place, "file too large", "raise the limit of file sizes"]
        .iter()
        .all(|word| text.to_lowercase().contains(word))
}

#[test]
fn build_resumes_after_full_disk() {
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
        (DISK_BLOCKS / 2, "book/journal"),
        (DISK_BLOCKS, "book/"),
        (JOURNAL_DISK_BLOCKS, "book/store"),
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
        assert!(is_explained(&full.stderr, place), "{full:#?}");
        let built = book_keys(&path, DEPTH).len();
        assert!(
            (1..=POSITIONS as usize).contains(&built),
            "{built} positions"
        );
    }
    let job = Program::Kagetsu.run(&arguments).json();
    assert_fields(&job, &json!({"state": "done", "positions": POSITIONS}));
    assert_eq!(book_keys(&path, DEPTH).len(), POSITIONS as usize);
}

#[test]
fn coordinator_resumes_after_full_disk() {
    let scratch = Scratch::new();
    let (path, log) = (scratch.path("book"), scratch.path("log"));
    let book = path.to_str().expect("a plain name");
    let mut command = Program::Coordinator
        .command_with_small_disk(DISK_BLOCKS, &["--book", book, "--listen", "127.0.0.1:0"]);
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
    assert!(is_explained(last, "book/"), "{log}");
    assert!(book_keys(&path, DEPTH).len() < POSITIONS as usize);

    drop(worker);
    let room = Cluster::start(&path);
    let _worker = room.worker();
    let after = until("the job is back", || room.job());
    assert!(
        after["positions"].as_u64() >= acknowledged,
        "{acknowledged:?} acknowledged, then {after}"
    );
    // The waiting client reconnects.
    relay.turn(&room.url);
    assert_eq!(client.wait().code(), Some(0));
    assert_eq!(
        room.job().map(|job| job["state"].clone()),
        Some("done".into())
    );
    room.stop();
    assert_eq!(book_keys(&path, DEPTH).len(), POSITIONS as usize);
}
