//! A coordinator and its workers as separate processes.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Program, Running, Scratch, words};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::book_build::BookBuild;
use super::book_contents::book_keys;

/// The longest pause between two looks for an event.
const MAX_PAUSE: Duration = Duration::from_millis(160);

/// A coordinator on a port that the system chose.
pub(crate) struct Cluster {
    pub(crate) coordinator: Running,
    pub(crate) url: String,
}

impl Cluster {
    pub(crate) fn start(book: &Path) -> Self {
        Self::start_with(book, &[])
    }

    /// Starts a coordinator with more arguments.
    pub(crate) fn start_with(book: &Path, more: &[&str]) -> Self {
        let book = book.to_str().expect("a plain name");
        let place = ["--book", book, "--listen", "127.0.0.1:0"];
        let mut coordinator = Program::Coordinator.start(&[&place, more].concat());
        let url = coordinator.address();
        Self { coordinator, url }
    }

    pub(crate) fn worker(&self) -> Running {
        worker(&self.url)
    }

    /// Starts a build, which goes on without its client.
    pub(crate) fn build(&self, positions: u32, depth: u32) -> Running {
        let line = growing("--coordinator", &self.url, positions, depth);
        Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>())
    }

    /// Returns the first job; `None` while the coordinator does not answer or has no job.
    pub(crate) fn job(&self) -> Option<Value> {
        let jobs = Program::Kagetsu.run(&["jobs", "list", "--coordinator", &self.url, "--json"]);
        let jobs: Value = serde_json::from_str(&jobs.stdout).ok()?;
        jobs.get(0).cloned()
    }

    /// Returns all workers; none while the coordinator does not answer.
    pub(crate) fn workers(&self) -> Vec<Value> {
        let listed =
            Program::Kagetsu.run(&["workers", "list", "--coordinator", &self.url, "--json"]);
        serde_json::from_str(&listed.stdout).unwrap_or_default()
    }

    /// Returns the worker with this name, if there is one.
    pub(crate) fn worker_named(&self, name: &str) -> Option<Value> {
        let mut workers = self.workers().into_iter();
        workers.find(|worker| worker["name"] == name)
    }

    /// Returns the quarantine reason of the worker with this name, if there is one.
    pub(crate) fn quarantine(&self, name: &str) -> Option<String> {
        self.worker_named(name)?["quarantine"]
            .as_str()
            .map(Into::into)
    }

    pub(crate) fn stop(mut self) {
        // Wine's programs hear no SIGTERM.
        if std::env::var_os("KAGETSU_WINE").is_some() {
            return self.coordinator.kill();
        }
        self.coordinator.signal(Signal::SIGTERM);
        let status = self.coordinator.wait();
        assert_eq!(status.code(), Some(0), "a clean stop");
    }
}

/// Returns the arguments, separated by spaces, of a build from h8: on a coordinator's URL or in a
/// folder.
pub(crate) fn growing(flag: &str, place: &str, positions: u32, depth: u32) -> String {
    format!(
        "build {flag} {place} --name test --variant freestyle-15 --moves h8 --positions {positions} --depth {depth} --json"
    )
}

pub(crate) fn worker(url: &str) -> Running {
    Program::Worker.start(&["--coordinator", url, "--slots", "1", "--table-mib", "16"])
}

/// Longest wait for an event; it only bounds a failing test.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Waits for an event.
pub(crate) fn until<T>(what: &str, is: impl FnMut() -> Option<T>) -> T {
    until_or(what, String::new, is)
}

/// Waits for an event, and fails with the output of `seen` if it does not come.
pub(crate) fn until_or<T>(
    what: &str,
    seen: impl Fn() -> String,
    mut is: impl FnMut() -> Option<T>,
) -> T {
    let begun = Instant::now();
    // A look starts a program, which takes time from what it waits for.
    let mut pause = Duration::from_millis(20);
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(
            begun.elapsed() < TEST_TIMEOUT,
            "{what}: not within {TEST_TIMEOUT:?}\n{}",
            seen()
        );
        sleep(pause);
        pause = (2 * pause).min(MAX_PAUSE);
    }
}

/// Builds books of 50 positions in one process and on a cluster and compares them. Returns the
/// first book's folder.
pub(crate) fn assert_same_book(
    scratch: &Scratch,
    variant: Variant,
    opening: &str,
    depth: u8,
) -> String {
    let [here, there] = ["here", "there"].map(|name| scratch.path(name));
    let [here_name, there_name] =
        [&here, &there].map(|path| path.to_str().expect("a plain name").to_owned());
    let name = variant.to_string();
    let build = |place: [&str; 2]| {
        let build = BookBuild {
            variant: &name,
            moves: opening,
            positions: 50,
            depth,
        };
        build.run(&place);
    };
    build(["--book", &here_name]);
    let cluster = Cluster::start(&there);
    let workers = [cluster.worker(), cluster.worker()];
    build(["--coordinator", &cluster.url]);
    until("a job that is done", || {
        cluster.job().filter(|job| job["state"] == json!("done"))
    });
    let query = [
        "query",
        "--variant",
        &name,
        "--moves",
        opening,
        "--json",
        "--book",
        &cluster.url,
    ];
    assert_eq!(Program::Kagetsu.run(&query).json()["variant"], json!(name));
    drop(workers);
    cluster.stop();
    let root = Position::from_line(variant, opening)
        .expect("a position")
        .key();
    for book in [&here, &there] {
        let held = book_keys(book, depth.into());
        assert!(
            held.len() == 50 && held.contains(&root),
            "{} positions",
            held.len()
        );
    }

    Program::Kagetsu.run(&["check", "--book", &there_name]).ok();
    let picked = Program::Kagetsu.run(&words!(
        "pick --book {here_name} --variant {name} --moves
        {opening}"
    ));
    let position = Position::from_line(variant, opening).expect("a position");
    assert_eq!(picked.code, Some(0), "{picked:#?}");
    position
        .play_line(picked.stdout.trim())
        .expect("a legal move");
    here_name
}
