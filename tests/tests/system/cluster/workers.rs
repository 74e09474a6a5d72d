//! A coordinator and its workers as separate processes.

use std::process::Command;

use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Program, Running, Scratch};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::world::{BookBuild, Cluster, Relay, assert_fields, book_keys, text, until, worker};

#[test]
fn cluster_answers_like_one_process() {
    let scratch = Scratch::new();
    let here = scratch.path("here");
    BookBuild {
        positions: 60,
        depth: 4,
        ..BookBuild::H8
    }
    .run_in(text(&here));

    let there = scratch.path("there");
    let cluster = Cluster::start(&there);
    let workers = [cluster.worker(), cluster.worker()];
    let mut client = cluster.build(60, 4);
    let job: Value = serde_json::from_str(&client.rest()).expect("one object");
    assert_fields(&job, &json!({"state": "done", "positions": 60}));
    drop(workers);
    cluster.stop();

    let (here, there) = (book_keys(&here, 4), book_keys(&there, 4));
    assert_eq!((here.len(), there.len()), (60, 60));
    let root = Position::from_line(Variant::FREESTYLE_15, "h8")
        .expect("a line")
        .key();
    assert!(here.contains(&root) && there.contains(&root));
}

#[test]
fn worker_ends_by_itself_at_its_max_runtime() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    // Its build is longer than its time: without the flag it works to the end.
    let _client = cluster.build(1_000_000, 3);
    let limits = ["--grace", "1s", "--max-runtime", "6s"];
    let place = ["--coordinator", &cluster.url, "--slots", "1"];
    let mut worker = Program::Worker.start(&[&place[..], &limits].concat());
    // No signal stops it.
    assert_eq!(worker.wait().code(), Some(0), "a clean end");
    // It handed its task back, so that another one goes on.
    let reached = cluster.job().expect("it goes on")["positions"].clone();
    let _other = cluster.worker();
    until("another worker goes on", || {
        (cluster.job()?["positions"].as_u64()? > reached.as_u64()? + 2).then_some(())
    });
    cluster.stop();
}

#[test]
fn coordinator_raises_its_open_file_limit() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("ulimit -S -n 256; exec \"$0\" \"$@\"");
    let plain =
        Program::Coordinator.command(&["--listen", "127.0.0.1:0", "--http", "off", "--book"]);
    command
        .arg(plain.get_program())
        .args(plain.get_args())
        .arg(&book);
    let mut coordinator = Running::of(command);
    coordinator.address();
    let limits =
        std::fs::read_to_string(format!("/proc/{}/limits", coordinator.id())).expect("it runs");
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .expect("the limit");
    let [soft, hard] =
        [0, 1].map(|index| limit.split_whitespace().nth(index).expect("two numbers"));
    assert_eq!(soft, hard, "{limit}");
}

#[test]
fn finished_job_cannot_be_cancelled() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _worker = cluster.worker();
    cluster.build(3, 1).rest();
    let cancel = |place: &[&str]| {
        Program::Kagetsu.run(&[&["jobs", "cancel", "test", "--json"], place].concat())
    };
    let cancelled = cancel(&["--coordinator", &cluster.url]);
    assert_eq!(cancelled.json()["state"], "done");
    assert!(
        cancelled.stderr.contains("test was done already"),
        "{cancelled:#?}"
    );
    // A finished job is reported once.
    let watched = Program::Kagetsu.run(&["jobs", "watch", "test", "--coordinator", &cluster.url]);
    assert_eq!(
        (watched.code, watched.stdout.lines().count()),
        (Some(0), 1),
        "{watched:#?}"
    );
    cluster.stop();
    let book = scratch.path("book");
    let cancelled = cancel(&["--book", book.to_str().expect("a plain name")]);
    assert_eq!(cancelled.json()["state"], "done");
    assert!(
        cancelled.stderr.contains("test was done already"),
        "{cancelled:#?}"
    );
}

#[test]
fn ignored_book_folder_is_reported() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _worker = cluster.worker();
    let unused = scratch.path("unused");
    let book = unused.to_str().expect("a plain name");
    let place = [
        "--variant",
        "freestyle-15",
        "--moves",
        "h8",
        "--positions",
        "3",
        "--depth",
        "2",
    ];
    let arguments = [
        &[
            "build",
            "--book",
            book,
            "--coordinator",
            &cluster.url,
            "--json",
        ],
        &place[..],
    ]
    .concat();
    let built = Program::Kagetsu.run(&arguments);
    assert_eq!(built.json()["book"], json!(cluster.url));
    assert!(
        [book, &cluster.url, "not used"]
            .iter()
            .all(|words| built.stderr.contains(words)),
        "{built:#?}"
    );
    assert!(!unused.exists());
    cluster.stop();
}

#[test]
fn worker_reconnects_after_network_loss() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let relay = Relay::to(&cluster.url);
    let _worker = worker(&relay.url());
    let _client = cluster.build(40, 3);
    for _ in 0..3 {
        let before = until("work is done", || cluster.job()?["positions"].as_u64());
        relay.cut();
        relay.mend();
        until("work goes on", || {
            let job = cluster.job()?;
            (job["positions"].as_u64()? > before || job["state"] == "done").then_some(())
        });
    }
    until("the job ends", || {
        (cluster.job()?["state"] == "done").then_some(())
    });
    cluster.stop();
    assert_eq!(book_keys(&scratch.path("book"), 3).len(), 40);
}

#[test]
fn stopped_worker_hands_its_task_to_another() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let mut leaver = cluster.worker();
    let _client = cluster.build(30, 4);
    until("work is done", || {
        (cluster.job()?["positions"].as_u64()? > 2).then_some(())
    });
    leaver.signal(Signal::SIGTERM);
    assert_eq!(leaver.wait().code(), Some(0), "a clean end");
    let _other = cluster.worker();
    until("the job ends", || {
        (cluster.job()?["state"] == "done").then_some(())
    });
    cluster.stop();
    assert_eq!(book_keys(&scratch.path("book"), 4).len(), 30);
}

#[test]
fn analysis_is_shared_among_workers() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _workers = [cluster.worker(), cluster.worker()];
    // Black wins by a four and then an open four: any sound search finds it, however the moves are
    // divided.
    let arguments = [
        "analyze",
        "--coordinator",
        &cluster.url,
        "--variant",
        "freestyle-15",
        "--moves",
        "h8 a1 i8 a15 j8 o1",
        "--depth",
        "5",
        "--json",
    ];
    let answer = Program::Kagetsu.run(&arguments).json();
    assert_fields(&answer, &json!({"proof": "win", "win_in": 3}));
    cluster.stop();
}

#[test]
fn cluster_bench_compares_real_workers() {
    let line = "bench cluster --rounds 1 --positions 4 --depth 1";
    let measured = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
    // The log may only mention that a connection timed out on a busy machine.
    let has_only_warnings = measured.stderr.lines().all(|line| line.contains(" WARN "));
    assert!(
        measured.code == Some(0) && has_only_warnings,
        "{measured:#?}"
    );
    for figure in ["\nratio ", "  coordinator_cpu_ms "] {
        assert!(measured.stdout.contains(figure), "{measured:#?}");
    }
}
