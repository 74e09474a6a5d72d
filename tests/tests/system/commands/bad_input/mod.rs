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
fn absent_coordinator_is_reported() {
    // A port that no process listens on or can take: this test has bound it without listening.
    let port = tokio::net::TcpSocket::new_v4().expect("a socket");
    port.bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let url = format!("http://{}", port.local_addr().expect("bound"));
    let place = "--variant freestyle-15 --moves h8";
    for line in [
        format!("analyze --depth 1 --coordinator {url} {place}"),
        format!("build --book b --depth 1 --coordinator {url} {place}"),
        format!("query --book {url} {place}"),
        format!("jobs list --coordinator {url}"),
    ] {
        refused(&kagetsu_line(&line), &[&url, "kagetsu-coordinator"]);
    }
    refused(
        &kagetsu!("workers list --coordinator 'nonsense url'"),
        &["nonsense url"],
    );
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
fn invalid_log_level_is_refused() {
    for program in [Program::Coordinator, Program::Worker, Program::Pbrain] {
        refused(
            &program.run(&["--log-level", "inof"]),
            &["--log-level", "'inof'", "error, warn, info, debug or trace"],
        );
    }
    refused(
        &kagetsu!("perft --depth 1 --variant surakarta --log-level inof"),
        &["'inof'"],
    );
    let mut command = Program::Worker.command(&[]);
    command.env("KAGETSU_LOG", "debug,inof");
    refused(&Finished::of(command), &["KAGETSU_LOG", "'debug,inof'"]);
}

#[test]
fn too_long_grace_time_is_refused() {
    let endless = ["--grace", "18446744073709551615s", "--max-runtime", "10s"];
    refused(
        &Program::Worker.run(&endless),
        &[
            "--max-runtime 10s leaves no time to work",
            "a --grace shorter",
        ],
    );
}

#[test]
fn flag_beats_variable_of_excluded_flag() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    let with = |name: &str, value: &str, line: &str| {
        let mut command = Program::Kagetsu.command(&line.split(' ').collect::<Vec<_>>());
        command.env(name, value);
        Finished::of(command)
    };
    let nowhere = "http://127.0.0.1:1";
    let line = format!("jobs list --book {book} --json");
    let listed = with("KAGETSU_COORDINATOR", nowhere, &line).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let line = format!("jobs list --coordinator {nowhere}");
    refused(&with("KAGETSU_BOOK", &book, &line), &["127.0.0.1:1"]);
    let finished = with("KAGETSU_BOOK", &book, "verify missing.proof");
    refused(&finished, &["missing.proof"]);
    // Two flags that exclude each other remain an error.
    refused(
        &kagetsu!("jobs list --book {book} --coordinator {nowhere}"),
        &["--book", "--coordinator"],
    );
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
fn unknown_settings_key_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.path("kagetsu.toml");
    fs::write(&file, "dept = 3\n").expect("a file");
    let file = file.to_str().expect("a plain name");
    for program in [Program::Kagetsu, Program::Coordinator, Program::Worker] {
        let command = if matches!(program, Program::Kagetsu) {
            &["stats", "--book", "b"][..]
        } else {
            &[]
        };
        refused(
            &program.run(&[&["--config", file], command].concat()),
            &["dept", "kagetsu.toml"],
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

#[test]
fn unwritable_address_file_fails_before_book_exists() {
    let scratch = Scratch::new();
    let (book, away) = (scratch.path("book"), scratch.path("away/address"));
    let start = |file: &Path| {
        let [book, file] = [&book, file].map(|path| path.to_str().expect("a plain name"));
        Program::Coordinator.run(&words!(
            "--listen 127.0.0.1:0 --http off --book {book}
            --address-file {file}"
        ))
    };
    refused(
        &start(&scratch.path(".")),
        &["--address-file", "it is a folder; name a file in it"],
    );
    refused(
        &start(&away),
        &["--address-file", "there is no folder", "away"],
    );
    assert!(!book.exists());
}
