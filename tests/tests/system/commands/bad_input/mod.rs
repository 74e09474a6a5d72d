//! Bad input: a clear message that names the thing, exit code 2, and nothing lost or half written.

mod books;
mod table;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use kagetsu_tests::{Finished, Program, Running, Scratch, kagetsu, words};

use crate::servers::http::HttpCoordinator;
use crate::world::{BookBuild, kagetsu_line, refused, until};

fn small_book(scratch: &Scratch) -> String {
    let book = scratch.text("book");
    BookBuild {
        positions: 12,
        ..BookBuild::H8
    }
    .run_in(&book);
    book
}

fn query(book: &str) -> Finished {
    kagetsu!("query --book {book} --variant freestyle-15 --moves h8 --json")
}

#[test]
fn excluded_positions_stay_out_of_the_book() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    let place = format!("--book {book} --variant freestyle-15 --moves h8");
    let deep = kagetsu_line(&format!("pick --min-depth 99 {place}"));
    assert!(
        deep.code == Some(1) && deep.stderr.contains("searched less deeply than 99 plies"),
        "{deep:#?}"
    );
    let excluded = kagetsu_line(&format!("build --exclude h8 --name other {place}"));
    refused(&excluded, &["the root freestyle-15 h8", "--exclude"]);
    let jobs = kagetsu!("jobs list --book {book}");
    assert!(!jobs.stdout.contains("other"), "{jobs:#?}");
}

#[test]
fn http_port_is_refused_as_coordinator() {
    let scratch = Scratch::new();
    let book = scratch.text("book");
    let door = HttpCoordinator::start(&["--book", &book]);
    let url = format!("http://{}", door.http);
    let words = [&*url, "no coordinator's gRPC port", "`listening on`"];
    let place = "--variant freestyle-15 --moves h8";
    for line in [
        format!("analyze --depth 1 --coordinator {url} {place}"),
        format!("build --depth 1 --coordinator {url} {place}"),
        format!("query --book {url} {place}"),
        format!("jobs list --coordinator {url}"),
        format!("jobs watch test --coordinator {url}"),
    ] {
        refused(&kagetsu_line(&line), &words);
    }
    refused(
        &Program::Worker.run(&["--coordinator", &url, "--slots", "1"]),
        &words,
    );
}

#[test]
fn worker_reports_a_server_without_work() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    let mut server = Program::Kagetsu.start(&words!(
        "serve --book {book} --listen 127.0.0.1:0
        --http 127.0.0.1:0"
    ));
    let url = server.address();
    let words = [&*url, "does not know this request"];
    refused(
        &Program::Worker.run(&["--coordinator", &url, "--slots", "1"]),
        &words,
    );
}

#[test]
fn client_backs_off_from_closing_server() {
    let scratch = Scratch::new();
    let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", socket.local_addr().expect("an address"));
    thread::spawn(move || socket.incoming().for_each(drop));
    let log = scratch.path("worker.log");
    let mut command = Program::Worker.command(&["--coordinator", &url, "--slots", "1"]);
    command.stderr(fs::File::create(&log).expect("room"));
    let _worker = Running::of(command);
    let text = until("it waits longer and longer", || {
        let text = fs::read_to_string(&log).expect("text");
        let wait = |line: &str| {
            line.split_once("next try in ")?
                .1
                .split(' ')
                .next()?
                .parse::<f64>()
                .ok()
        };
        text.lines()
            .filter_map(wait)
            .any(|wait| wait > 0.5)
            .then_some(text)
    });
    assert!(text.contains(&url), "{text}");
}

#[test]
fn invalid_names_are_refused() {
    let scratch = Scratch::new();
    let book = scratch.text("book");
    let forged = "x\"} 1\nkagetsu_demand 1000000\n";
    let place = &words!("--variant freestyle-15 --moves h8 --name {forged}");
    let words = ["the job's name", "kagetsu_demand", "choose another"];
    refused(&kagetsu!("build --book {book} {place...}"), &words);
    let door = HttpCoordinator::start(&["--book", &book]);
    let (grpc, name) = (&door.grpc, "\u{1b}[2J");
    refused(&kagetsu!("build --coordinator {grpc} {place...}"), &words);
    let arguments = words!("--coordinator {grpc} --slots 1 --name {name}");
    refused(
        &Program::Worker.run(&arguments),
        &["the worker's name '\\u{1b}[2J'", "choose another"],
    );
    assert_eq!(door.get("/api/v1/jobs"), serde_json::json!([]));
}

#[test]
fn closed_pipe_ends_quietly() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    for line in [
        "completions bash",
        "man",
        "perft --variant xiangqi --depth 1 --divide",
        &format!("export --format json --book {book} -"),
        &format!("export --format csv --book {book} -"),
    ] {
        let mut command = Program::Kagetsu.command(&line.split(' ').collect::<Vec<_>>());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let finished = child.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&finished.stderr);
        assert_eq!(
            (finished.status.code(), message.as_ref()),
            (Some(0), ""),
            "{line}"
        );
    }
}

#[test]
fn build_without_workers_says_what_it_waits_for() {
    let scratch = Scratch::new();
    let book = scratch.text("book");
    let mut coordinator =
        Program::Coordinator.start(&["--book", &book, "--listen", "127.0.0.1:0", "--http", "off"]);
    let url = coordinator.address();
    refused(
        &kagetsu!("workers release unknown --coordinator {url}"),
        &[
            "no worker 'unknown' is in quarantine",
            "kagetsu workers list",
        ],
    );
    let log = scratch.path("build.log");
    let start = |line: &str, log: &Path| {
        let mut program = Program::Kagetsu.command(&line.split(' ').collect::<Vec<_>>());
        program.args(["--coordinator", &url]);
        program.stderr(fs::File::create(log).expect("room"));
        Running::of(program)
    };
    let waits = "no worker is connected; start one with `kagetsu-worker --coordinator URL`";
    let is_logged = |log: &Path| {
        fs::read_to_string(log)
            .expect("text")
            .contains(waits)
            .then_some(())
    };
    let place = "--variant freestyle-15 --moves h8 --positions 5 --depth 2 --name test";
    let _build = start(&format!("build {place}"), &log);
    until("the build says why it waits", || is_logged(&log));
    let listed = kagetsu!("jobs list --coordinator {url}");
    assert!(
        listed.stdout.contains("running: no worker is connected"),
        "{listed:#?}"
    );
    let job = kagetsu!("jobs show test --coordinator {url} --json").json();
    assert_eq!(job["waits_for"], "no worker is connected");
    let log = scratch.path("analysis.log");
    let _analysis = start("analyze --variant freestyle-15 --depth 4", &log);
    until("the analysis says why it waits", || is_logged(&log));
}
