//! A coordinator and its workers as processes of their own.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Program, Running, Scratch};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::held::held;
use crate::relay::Relay;

/// A coordinator on a port that the system chose.
pub(crate) struct Cluster {
    pub(crate) coordinator: Running,
    pub(crate) url: String,
}

impl Cluster {
    pub(crate) fn start(book: &Path, listen: &str) -> Self {
        let book = book.to_str().expect("a plain name");
        let mut coordinator = Program::Coordinator.start(&["--book", book, "--listen", listen]);
        let url = coordinator.address();
        Self { coordinator, url }
    }

    pub(crate) fn worker(&self) -> Running {
        worker(&self.url)
    }

    /// Starts the build, which goes on without its client.
    pub(crate) fn build(&self, positions: u32, depth: u32) -> Running {
        let line = growing("--coordinator", &self.url, positions, depth);
        Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>())
    }

    /// The first job; `None` while the coordinator does not answer or has none.
    pub(crate) fn job(&self) -> Option<Value> {
        let jobs = Program::Kagetsu.run(&["jobs", "list", "--coordinator", &self.url, "--json"]);
        let jobs: Value = serde_json::from_str(&jobs.stdout).ok()?;
        jobs.get(0).cloned()
    }

    pub(crate) fn stop(mut self) {
        self.coordinator.signal(Signal::SIGTERM);
        let status = self.coordinator.wait();
        assert_eq!(status.code(), Some(0), "a clean stop");
    }
}

/// The arguments that grow a book from h8, with a space between: on a coordinator's URL, or in a folder.
pub(crate) fn growing(flag: &str, place: &str, positions: u32, depth: u32) -> String {
    format!(
        "build {flag} {place} --name test --variant freestyle-15 --moves h8 --positions {positions} --depth {depth} --json"
    )
}

pub(crate) fn worker(url: &str) -> Running {
    Program::Worker.start(&["--coordinator", url, "--slots", "1", "--table-mib", "16"])
}

/// How long something may take that is waited for; only bounds a test that has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until something is so.
pub(crate) fn until<T>(what: &str, is: impl FnMut() -> Option<T>) -> T {
    until_or(what, String::new, is)
}

/// The same, with what is to be seen where it does not come to be so.
pub(crate) fn until_or<T>(
    what: &str,
    seen: impl Fn() -> String,
    mut is: impl FnMut() -> Option<T>,
) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}\n{}",
            seen()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_cluster_answers_as_one_process_does() {
    let scratch = Scratch::new();
    let here = scratch.path("here");
    let arguments = [
        "build",
        "--book",
        here.to_str().expect("a plain name"),
        "--variant",
        "freestyle-15",
        "--moves",
        "h8",
        "--positions",
        "60",
        "--depth",
        "4",
    ];
    let built = Program::Kagetsu.run(&arguments);
    assert_eq!(built.code, Some(0), "{built:#?}");

    let there = scratch.path("there");
    let cluster = Cluster::start(&there, "127.0.0.1:0");
    let workers = [cluster.worker(), cluster.worker()];
    let mut client = cluster.build(60, 4);
    let job: Value = serde_json::from_str(&client.rest()).expect("one object");
    assert_eq!(
        (&job["state"], &job["positions"]),
        (&json!("done"), &json!(60))
    );
    drop(workers);
    cluster.stop();

    let (here, there) = (held(&here, 4), held(&there, 4));
    assert_eq!((here.len(), there.len()), (60, 60));
    let root = Position::from_line(Variant::FREESTYLE_15, "h8")
        .expect("a line")
        .key();
    assert!(here.contains(&root) && there.contains(&root));
}

#[test]
fn a_coordinator_opens_as_many_files_as_it_may() {
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
fn a_job_that_is_done_cannot_be_cancelled() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
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
    // What is done and does not move is told once.
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
fn a_book_beside_a_coordinator_is_said_to_be_left_alone() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
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
fn a_measurement_of_clusters_shows_itself_alone() {
    // That a machine was too slow for a connection may be logged, and nothing less.
    let is_told_alone = |measured: &kagetsu_tests::Finished| {
        measured.code == Some(0) && measured.stderr.lines().all(|line| line.contains(" WARN "))
    };
    let measured = Program::Kagetsu.run(&[
        "bench",
        "cluster",
        "--positions",
        "4",
        "--depth",
        "1",
        "--rounds",
        "1",
    ]);
    assert!(is_told_alone(&measured), "{measured:#?}");
    assert!(measured.stdout.contains("\nratio "), "{measured:#?}");
    let position = [
        "bench",
        "cluster",
        "--position",
        "--openings",
        "2",
        "--depth",
        "2",
        "--rounds",
        "1",
    ];
    let measured = Program::Kagetsu.run(&position);
    assert!(is_told_alone(&measured), "{measured:#?}");
    for words in [
        "; 2 balanced openings, one after another, at depth 2",
        "\nof each position, in the geometric mean: ",
    ] {
        assert!(measured.stdout.contains(words), "{measured:#?}");
    }
}

#[test]
fn a_simulated_cluster_is_the_same_every_time() {
    let scratch = Scratch::new();
    let (times, plot) = (scratch.path("times"), scratch.path("plot.svg"));
    let (times, drawn) = (
        times.to_str().expect("a plain name"),
        plot.to_str().expect("a plain name"),
    );
    let recorded = Program::Kagetsu.run(&["bench", "cluster", "--record", times, "--depth", "2"]);
    assert_eq!(recorded.code, Some(0), "{recorded:#?}");
    let position = [
        "--simulate=position",
        "--sizes",
        "1,3",
        "--depth",
        "5",
        "--json",
    ];
    let openings = [&position[..], &["--openings", "3"]].concat();
    let book = [
        "--simulate=book",
        "--sizes",
        "1,20",
        "--length",
        "3s",
        "--times",
        times,
        "--life",
        "500ms",
        "--json",
    ];
    for (what, simulation) in [
        ("position", &position[..]),
        ("position", &openings),
        ("book", &book[..]),
    ] {
        let simulation = [&["bench", "cluster", "--plot", drawn], simulation].concat();
        let once = Program::Kagetsu.run(&simulation);
        assert_eq!(
            (once.code, once.stderr.as_str()),
            (Some(0), ""),
            "{once:#?}"
        );
        assert_eq!(
            once.stdout,
            Program::Kagetsu.run(&simulation).stdout,
            "{what}"
        );
        let tables = once.json();
        assert_eq!(tables[0]["what"], what);
        let rows = tables[0]["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2, "{tables:#}");
        for row in rows {
            let number = |name: &str| row[name].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&number("idle")), "{row:#}");
            assert!(
                number("speed_up") > 0.0 && number("speed_up") <= 2.0 * number("workers"),
                "{row:#}"
            );
            assert!(number("tasks") > 0.0, "{row:#}");
        }
        let svg = std::fs::read_to_string(&plot).expect("it was drawn");
        assert!(svg.contains("<svg") && svg.contains(what), "{svg}");
        std::fs::remove_file(&plot).expect("it was drawn");
    }
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let scratch = Scratch::new();
    let times = scratch.path("times");
    std::fs::write(&times, "100\nmany\n").expect("room");
    let times = times.to_str().expect("a plain name");
    let cases: [(&[&str], &str); 5] = [
        (
            &["--openings", "3"],
            "--openings is for positions: add --position or --simulate=position",
        ),
        (
            &["--simulate=book", "--times", times],
            "line 2 is not a number of positions: \"many\"",
        ),
        (
            &["--simulate=book", "--times", "/nowhere/times"],
            "cannot read /nowhere/times",
        ),
        (
            &["--simulate=position", "--sizes", "1001", "--depth", "1"],
            "at most 1000 for a position",
        ),
        (
            &[
                "--simulate=book",
                "--sizes",
                "1",
                "--length",
                "1s",
                "--plot",
                "/nowhere/plot.svg",
            ],
            "/nowhere/plot.svg",
        ),
    ];
    for (arguments, words) in cases {
        let ended = Program::Kagetsu.run(&[&["bench", "cluster"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        assert!(ended.stderr.contains(words), "{ended:#?}");
    }
}

#[test]
fn what_a_coordinator_itself_takes_can_be_measured() {
    let says = |arguments: &[&str], all: &[&str]| {
        let measured =
            Program::Kagetsu.run(&[&["bench", "cluster", "--length", "1s"], arguments].concat());
        // That a stream ends while it is spoken to may be logged.
        assert_eq!(measured.code, Some(0), "{measured:#?}");
        for words in all {
            assert!(
                measured.stdout.contains(words),
                "no '{words}' in {measured:#?}"
            );
        }
    };
    says(
        &["--streams", "3"],
        &[
            " round trips/s on ",
            "a second of one core",
            "p99 ",
            "positions in the book",
        ],
    );
    says(&["--idle", "5"], &["5 workers", " % of a core, "]);
}

#[test]
fn a_worker_that_lost_its_network_comes_back_by_itself() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
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
    assert_eq!(held(&scratch.path("book"), 3).len(), 40);
}

#[test]
fn a_worker_that_is_asked_to_go_goes_and_its_work_is_done_by_another() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
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
    assert_eq!(held(&scratch.path("book"), 4).len(), 30);
}

#[test]
fn an_analysis_is_shared_among_workers() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"), "127.0.0.1:0");
    let _workers = [cluster.worker(), cluster.worker()];
    // Black wins by a four and then an open four: any sound search finds it, however the moves are divided.
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
    assert_eq!(
        (&answer["proof"], &answer["win_in"]),
        (&json!("win"), &json!(3)),
        "{answer}"
    );
    cluster.stop();
}

/// Grows books of 50 positions in one process and on a cluster, and asks both. Gives the folder of the first.
pub(crate) fn grows_alike(scratch: &Scratch, variant: Variant, opening: &str, depth: u8) -> String {
    let [here, there] = ["here", "there"].map(|name| scratch.path(name));
    let [here_name, there_name] =
        [&here, &there].map(|path| path.to_str().expect("a plain name").to_owned());
    let (name, plies) = (variant.to_string(), depth.to_string());
    let build = |place: [&str; 2]| {
        let about = [
            "build",
            "--variant",
            &name,
            "--moves",
            opening,
            "--positions",
            "50",
            "--depth",
            &plies,
        ];
        let built = Program::Kagetsu.run(&[&about[..], &place].concat());
        assert_eq!(built.code, Some(0), "{built:#?}");
    };
    build(["--book", &here_name]);
    let cluster = Cluster::start(&there, "127.0.0.1:0");
    let workers = [cluster.worker(), cluster.worker()];
    build(["--coordinator", &cluster.url]);
    until("a job that is done", || {
        cluster.job().filter(|job| job["state"] == json!("done"))
    });
    let asked = [
        "query",
        "--variant",
        &name,
        "--moves",
        opening,
        "--json",
        "--book",
        &cluster.url,
    ];
    assert_eq!(Program::Kagetsu.run(&asked).json()["variant"], json!(name));
    drop(workers);
    cluster.stop();
    let root = Position::from_line(variant, opening)
        .expect("a position")
        .key();
    for book in [&here, &there] {
        let held = held(book, depth.into());
        assert!(
            held.len() == 50 && held.contains(&root),
            "{} positions",
            held.len()
        );
    }

    let check = Program::Kagetsu.run(&["check", "--book", &there_name]);
    assert_eq!(check.code, Some(0), "{check:#?}");
    let picked = Program::Kagetsu.run(&[
        "pick",
        "--book",
        &here_name,
        "--variant",
        &name,
        "--moves",
        opening,
    ]);
    let position = Position::from_line(variant, opening).expect("a position");
    assert_eq!(picked.code, Some(0), "{picked:#?}");
    position
        .play_line(picked.stdout.trim())
        .expect("a legal move");
    here_name
}
