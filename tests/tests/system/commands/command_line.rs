//! Habits of all commands: JSON, the place where a book begins, notices.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kagetsu_tests::{Finished, Program, Scratch, kagetsu, words};
use serde_json::Value;

use crate::servers::http::HttpCoordinator;
use crate::world::{BookBuild, kagetsu_line, worker};

#[test]
fn every_command_prints_json() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.text(name);
    let [book, other, file, certs, tokens, sgf] =
        ["book", "other", "book.kbk", "certs", "tokens", "game.sgf"].map(path);
    BookBuild {
        positions: 8,
        ..BookBuild::H8
    }
    .run_in(&book);
    std::fs::write(&sgf, "(;GM[4]SZ[15]PB[A];B[hh];W[ih])").expect("room");
    let h8 = "--variant freestyle-15 --moves h8";
    let server = HttpCoordinator::start(&["--book", &path("served")]);
    let _worker = worker(&server.grpc);
    let coordinator = format!("--coordinator {}", server.grpc);
    for command in [
        format!("query --book {book} {h8}"),
        format!("pick --book {book} {h8}"),
        format!("tree --book {book} {h8}"),
        format!("stats --book {book}"),
        format!("suspects --book {book} {h8}"),
        format!("bottlenecks --book {book} {h8}"),
        format!("check --book {book}"),
        format!("jobs list --book {book}"),
        format!("moves {h8}"),
        format!("perft {h8} --depth 1"),
        format!("analyze {h8} --depth 1"),
        format!("compile --book {book} --out {file}"),
        format!("export --format csv --book {book} {}", path("book.csv")),
        format!("import --format sgf --variant freestyle-15 --book {other} {sgf}"),
        format!("annotate --variant freestyle-15 --depth 1 --out {other} {sgf}"),
        format!("merge --into {other} {book}"),
        format!("prune --book {other} --max-ply 9"),
        format!("compact --book {other}"),
        format!("backup --book {book} --to {}", path("backup")),
        format!("certs {certs} --host localhost"),
        format!("token new --tokens {tokens} --role read me"),
        format!("token list --tokens {tokens}"),
        format!("token revoke --tokens {tokens} me"),
        format!("jobs list {coordinator}"),
        format!("workers list {coordinator}"),
    ] {
        let done = kagetsu_line(&format!("{command} --json"));
        let parsed: Result<Value, _> = serde_json::from_str(&done.stdout);
        assert!(
            parsed.is_ok() && done.code != Some(2),
            "{command}: {done:#?}"
        );
    }
    for command in [
        "search --time 1ms",
        "seeds --depth 1",
        "seeds --game surakarta --depth 1",
        "cluster --positions 4 --depth 1 --rounds 1",
        "match default default --depth 1 --pairs 1",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--json"]).collect();
        let done = Program::Bench.run(&words);
        let parsed: Result<Value, _> = serde_json::from_str(&done.stdout);
        assert!(
            parsed.is_ok() && done.code == Some(0),
            "bench {command}: {done:#?}"
        );
    }
}

#[test]
fn commands_begin_where_the_book_begins() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.text(name);
    let [book, file] = ["book", "book.kbk"].map(path);
    BookBuild {
        positions: 8,
        ..BookBuild::H8
    }
    .run_in(&book);
    kagetsu_line(&format!("compile --book {book} --out {file}")).ok();
    for book in [&book, &file] {
        for command in ["query", "tree", "pick"] {
            let done = kagetsu_line(&format!("{command} --book {book}"));
            assert_eq!(done.code, Some(0), "{command} {book}: {done:#?}");
            assert!(
                done.stderr.contains("the book begins at freestyle-15 h8"),
                "{done:#?}"
            );
        }
        let stats = kagetsu_line(&format!("stats --book {book}"));
        for part in ["freestyle-15", "h8"] {
            assert!(stats.stdout.contains(part), "{part}: {stats:#?}");
        }
        let lost = kagetsu_line(&format!(
            "query --book {book} --variant freestyle-15 --moves a1"
        ));
        assert_eq!(lost.code, Some(1), "{lost:#?}");
        assert!(lost.stderr.contains("h8"), "it names the root: {lost:#?}");
    }
}

#[test]
fn empty_lists_say_what_to_start() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    for (command, words) in [
        (
            "workers list",
            "start one with `kagetsu-worker --coordinator",
        ),
        ("jobs list", "`kagetsu build` starts one"),
    ] {
        let done = kagetsu_line(&format!("{command} --coordinator {}", server.grpc));
        assert_eq!((done.code, &*done.stdout), (Some(0), ""), "{done:#?}");
        assert!(done.stderr.contains(words), "{done:#?}");
        let done = kagetsu_line(&format!("{command} --coordinator {} --json", server.grpc));
        assert_eq!(done.json(), serde_json::json!([]), "{done:#?}");
    }
}

#[test]
fn readers_share_a_folder() {
    let scratch = Scratch::new();
    let book = scratch.text("book");
    BookBuild {
        positions: 8,
        ..BookBuild::H8
    }
    .run_in(&book);
    let mut served = Program::Kagetsu.start(&words!(
        "serve --book {book} --listen 127.0.0.1:0 --http 127.0.0.1:0"
    ));
    let address = served.address();
    for command in ["stats", "query", "tree"] {
        let done = kagetsu_line(&format!("{command} --book {book}"));
        assert_eq!(done.code, Some(0), "{command}: {done:#?}");
        let done = kagetsu_line(&format!("{command} --book {address}"));
        assert_eq!(done.code, Some(0), "{command} of {address}: {done:#?}");
    }
    // Commands that need the whole book read that of a server.
    for command in ["bottlenecks", "suspects", "export"] {
        let more = if command == "export" {
            "--format json -"
        } else {
            ""
        };
        let done = kagetsu_line(&format!("{command} --book {address} {more}"));
        assert!(done.code < Some(2), "{command} of {address}: {done:#?}");
    }
    let done = kagetsu_line(&format!("check --book {address}"));
    assert_eq!(done.code, Some(2), "{done:#?}");
    assert!(done.stderr.contains("is a URL"), "{done:#?}");
}

#[test]
fn xiangqi_moves_are_read_and_written_in_notations() {
    let line = [
        "h2e2 h9g7 h0g2",
        "C2=5 H8+7 H2+3",
        "炮二平五 马8进7 马二进三",
        "炮二平五 馬8進7 馬二進三",
    ];
    let moves = |line: &str, notation: &str| {
        let done = kagetsu!("moves --variant xiangqi --moves {line} --notation {notation}");
        assert_eq!(done.code, Some(0), "{line}: {done:#?}");
        done.stdout
    };
    for (notation, part) in [("engine", "i9h9"), ("wxf", "R9=8"), ("chinese", "车9平8")] {
        let shown = moves(line[0], notation);
        assert!(shown.contains(part), "{shown}");
        for other in &line[1..] {
            assert_eq!(moves(other, notation), shown, "{other}");
        }
    }
}

/// Returns a command of `kagetsu` without root's permission to write everywhere; `None`, with a
/// notice, where this user is root and cannot start a program as another.
fn without_privileges(arguments: &[&str]) -> Option<Command> {
    let plain = Program::Kagetsu.command(arguments);
    if !nix::unistd::geteuid().is_root() {
        return Some(plain);
    }
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let can_start = Command::new("setpriv")
        .args(user)
        .arg(plain.get_program())
        .arg("--version")
        .output();
    if !can_start.is_ok_and(|ended| ended.status.success()) {
        eprintln!("skipped: root cannot start the program as another user");
        return None;
    }
    let mut command = Command::new("setpriv");
    command.args(user).arg(plain.get_program()).args(arguments);
    command.stdin(Stdio::null()).env_remove("KAGETSU_CONFIG");
    Some(command)
}

/// Removes all permissions to write to a folder and its files.
fn protect(path: &Path) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("readable") {
            protect(&entry.expect("readable").path());
        }
    }
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own");
}

#[test]
fn folder_without_write_permission_is_read() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    BookBuild {
        positions: 8,
        ..BookBuild::H8
    }
    .run_in(book);
    std::fs::set_permissions(scratch.folder(), Permissions::from_mode(0o755)).expect("our own");
    protect(&path);
    let h8 = "--variant freestyle-15 --moves h8";
    for line in [
        format!("query --book {book} {h8}"),
        format!("pick --book {book} {h8}"),
        format!("tree --book {book} {h8}"),
        format!("suspects --book {book} {h8}"),
        format!("stats --book {book}"),
        format!("check --book {book}"),
        format!("export --format csv --book {book} -"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let command = kagetsu_builders::needed!(without_privileges(&words));
        let done = Finished::of(command);
        assert_eq!(done.code, Some(0), "{line}: {done:#?}");
    }
    let refused = |line: &str| {
        let line = format!("{line} --book {book}");
        let words: Vec<&str> = line.split(' ').collect();
        let done = Finished::of(without_privileges(&words).expect("as before"));
        assert_eq!(done.code, Some(2), "{done:#?}");
        assert!(done.stderr.contains("Permission denied"), "{done:#?}");
        assert!(done.stderr.contains(book), "{done:#?}");
    };
    refused(&format!("build {h8} --positions 20 --depth 2 --threads 1"));
    // A folder that this user may not open is no folder without a book.
    for mode in [0o444, 0o000] {
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("our own");
        ["stats", "check", "repair"]
            .iter()
            .for_each(|line| refused(line));
    }
    std::fs::set_permissions(scratch.folder(), Permissions::from_mode(0o0)).expect("our own");
    let lines = ["stats", "check", "repair", "backup --to /nowhere"];
    lines.iter().for_each(|line| refused(line));
    std::fs::set_permissions(scratch.folder(), Permissions::from_mode(0o755)).expect("our own");
    // The scratch folder is removed by its owner.
    for folder in [path.clone(), path.join("journal"), path.join("store")] {
        if folder.is_dir() {
            std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("our own");
        }
    }
}

#[test]
fn numbers_without_letters_are_explained() {
    let done = kagetsu_line("moves --variant freestyle-15 --moves 8,8").ok();
    for part in [
        "is read as Gomocup writes moves",
        "column and row from 0",
        "i7",
    ] {
        assert!(done.stderr.contains(part), "{part}: {done:#?}");
    }
    let done = kagetsu_line("moves --variant freestyle-15 --moves h8");
    assert_eq!(done.stderr, "", "a plain move needs no explanation");
}

#[test]
fn manual_has_a_page_for_every_command() {
    let scratch = Scratch::new();
    let folder = scratch.path("man");
    kagetsu_line(&format!("man {}", folder.display())).ok();
    let page = |name: &str| folder.join(format!("kagetsu-{name}.1")).exists();
    let help = kagetsu_line("--help").stdout;
    let commands: Vec<&str> = help
        .lines()
        .filter(|line| line.starts_with("  ") && !line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    let missing: Vec<_> = commands.iter().filter(|name| !page(name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {commands:?}");
}
