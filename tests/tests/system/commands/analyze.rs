//! `kagetsu analyze` as a user at a terminal sees it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use kagetsu_tests::{Program, Scratch};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::world::{Cluster, until};

const OPENING: &str = "h8 i9 h9 h10 i8 g8 j8";

/// Runs `analyze` on the opening until it reports an iteration of at least 3 plies, then sends
/// Ctrl-C. Returns the exit code and stdout.
fn interrupted(more: &[&str]) -> (Option<i32>, String) {
    let arguments = [
        &[
            "analyze",
            "--variant",
            "freestyle-15",
            "--moves",
            OPENING,
            "--time",
            "10m",
        ],
        more,
    ]
    .concat();
    let mut command = Program::Kagetsu.command(&arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let talk = BufReader::new(child.stderr.take().expect("piped"))
        .lines()
        .map(|line| line.expect("text"));
    // A cluster reports the 2-ply search first; later lines come from the workers.
    let depth = |line: &String| {
        line.split("depth ")
            .nth(1)?
            .split(' ')
            .next()?
            .parse::<u8>()
            .ok()
    };
    let mut talk = talk.skip_while(|line| depth(line).is_none_or(|depth| depth < 3));
    assert!(talk.next().is_some(), "no iteration was reported");
    nix::sys::signal::kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it runs");
    let rest = talk.count();
    let output = child.wait_with_output().expect("our own child");
    assert!(rest < 1_000, "it goes on after Ctrl-C");
    (
        output.status.code(),
        String::from_utf8(output.stdout).expect("text"),
    )
}

#[test]
fn ctrl_c_ends_analysis_with_best_answer() {
    let (code, printed) = interrupted(&["--top", "3"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("second: best "), "{printed}");
    // The board shows the ranks of three moves, and the table their rows.
    let board: String = printed
        .lines()
        .take(15)
        .map(|line| line[2..].to_string())
        .collect();
    assert_eq!(
        ["1", "2", "3", "4"].map(|rank| board.matches(rank).count()),
        [1, 1, 1, 0],
        "{printed}"
    );
    assert!(
        !printed.contains('\u{1b}'),
        "escapes without a terminal: {printed}"
    );
}

#[test]
fn ctrl_c_clears_the_live_view() {
    let size = Winsize {
        ws_row: 40,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let OpenptyResult { master, slave } = openpty(&size, None).expect("a terminal");
    let arguments = [
        "analyze",
        "--variant",
        "freestyle-15",
        "--moves",
        OPENING,
        "--time",
        "10m",
    ];
    let analyze = Program::Kagetsu.command(&arguments);
    let end = || Stdio::from(slave.try_clone().expect("a descriptor"));
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait"])
        .arg(analyze.get_program())
        .args(analyze.get_args());
    command
        .env("TERM", "xterm")
        .stdin(end())
        .stdout(end())
        .stderr(end());
    let mut child = command.spawn().expect("setsid of util-linux");
    drop((command, slave));
    let (mut screen, mut keyboard) = (
        File::from(master.try_clone().expect("a descriptor")),
        File::from(master),
    );
    let (mut seen, mut piece, mut is_pressed) = (Vec::new(), [0; 4096], false);
    // Reading fails when the other end is closed.
    while let Ok(length) = screen.read(&mut piece) {
        seen.extend(&piece[..length]);
        if !is_pressed && String::from_utf8_lossy(&seen).contains("  depth ") {
            keyboard.write_all(b"\x03").expect("a terminal");
            is_pressed = true;
        }
    }
    let seen = String::from_utf8_lossy(&seen);
    assert!(child.wait().expect("our own child").success(), "{seen:?}");
    assert!(is_pressed && seen.contains("best "), "{seen:?}");
    // The echo would move the cursor and leave the view's first line behind.
    assert!(!seen.contains("^C"), "{seen:?}");
}

#[test]
fn ctrl_c_ends_cluster_analysis_and_frees_workers() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let _worker = cluster.worker();
    let (code, printed) = interrupted(&["--coordinator", &cluster.url]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("second: best "), "{printed}");
    let is_idle = |workers: &Value| workers[0]["tasks"] == json!(0);
    until("a worker without a task", || {
        let workers = Program::Kagetsu
            .run(&["workers", "list", "--coordinator", &cluster.url, "--json"])
            .json();
        is_idle(&workers).then_some(())
    });
    cluster.stop();
}

#[test]
fn iterations_are_printed_without_a_terminal() {
    let arguments = [
        "analyze",
        "--variant",
        "freestyle-15",
        "--moves",
        OPENING,
        "--depth",
        "4",
        "--threads",
        "1",
    ];
    let finished = Program::Kagetsu.run(&arguments).ok();
    for depth in 1..=4 {
        assert!(
            finished.stderr.contains(&format!("depth {depth}  ")),
            "{finished:#?}"
        );
    }
    assert_eq!(finished.stderr.lines().count(), 4, "{finished:#?}");
    let quiet = Program::Kagetsu.run(&[&arguments[..], &["--json"]].concat());
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.json()["depth"], json!(4));
}

#[test]
fn analysis_without_workers_ends_at_its_time_limit() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let arguments = [
        "analyze",
        "--variant",
        "freestyle-15",
        "--time",
        "1s",
        "--coordinator",
        &cluster.url,
    ];
    let finished = Program::Kagetsu.run(&arguments);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(1), ""),
        "{finished:#?}"
    );
    assert!(
        finished
            .stderr
            .contains("the time is up: waiting: no worker is connected; start one with"),
        "{finished:#?}"
    );
    assert!(
        finished
            .stderr
            .contains("stopped before anything was found"),
        "{finished:#?}"
    );
    cluster.stop();
}
