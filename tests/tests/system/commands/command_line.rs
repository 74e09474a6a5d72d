//! Habits of all commands: JSON, the place where a book begins, notices.

use kagetsu_tests::{Finished, Program, Scratch};
use serde_json::Value;

use crate::servers::http::HttpCoordinator;
use crate::world::worker;

fn run(line: &str) -> Finished {
    Program::Kagetsu.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// Builds a small book of freestyle-15 from h8.
fn build(book: &str) {
    let limits = "--positions 8 --depth 2 --threads 1";
    let done = run(&format!(
        "build --book {book} --variant freestyle-15 --moves h8 {limits}"
    ));
    assert_eq!(done.code, Some(0), "{done:#?}");
}

#[test]
fn every_command_prints_json() {
    let scratch = Scratch::new();
    let path = |name: &str| {
        scratch
            .path(name)
            .to_str()
            .expect("a plain name")
            .to_string()
    };
    let [book, other, file, certs, tokens, sgf] =
        ["book", "other", "book.kbk", "certs", "tokens", "game.sgf"].map(path);
    build(&book);
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
        format!("prune --book {other}"),
        format!("compact --book {other}"),
        format!("backup --book {book} --to {}", path("backup")),
        format!("certs {certs} --host localhost"),
        format!("token new --tokens {tokens} --role read me"),
        format!("token list --tokens {tokens}"),
        format!("token revoke --tokens {tokens} me"),
        format!("jobs list {coordinator}"),
        format!("workers list {coordinator}"),
    ] {
        let done = run(&format!("{command} --json"));
        let parsed: Result<Value, _> = serde_json::from_str(&done.stdout);
        assert!(
            parsed.is_ok() && done.code != Some(2),
            "{command}: {done:#?}"
        );
    }
    for command in [
        "search --time 1ms",
        "mechanisms --variant freestyle-15 --depth 2",
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
    let path = |name: &str| {
        scratch
            .path(name)
            .to_str()
            .expect("a plain name")
            .to_string()
    };
    let [book, file] = ["book", "book.kbk"].map(path);
    build(&book);
    let compiled = run(&format!("compile --book {book} --out {file}"));
    assert_eq!(compiled.code, Some(0), "{compiled:#?}");
    for book in [&book, &file] {
        for command in ["query", "tree", "pick"] {
            let done = run(&format!("{command} --book {book}"));
            assert_eq!(done.code, Some(0), "{command} {book}: {done:#?}");
            assert!(
                done.stderr.contains("the book begins at freestyle-15 h8"),
                "{done:#?}"
            );
        }
        let stats = run(&format!("stats --book {book}"));
        for part in ["freestyle-15", "h8"] {
            assert!(stats.stdout.contains(part), "{part}: {stats:#?}");
        }
        let lost = run(&format!(
            "query --book {book} --variant freestyle-15 --moves a1"
        ));
        assert_eq!(lost.code, Some(1), "{lost:#?}");
        assert!(lost.stderr.contains("h8"), "it names the root: {lost:#?}");
    }
}

#[test]
fn readers_share_a_folder() {
    let scratch = Scratch::new();
    let book = scratch
        .path("book")
        .to_str()
        .expect("a plain name")
        .to_string();
    build(&book);
    let serve = [
        "serve",
        "--book",
        &book,
        "--listen",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
    ];
    let mut served = Program::Kagetsu.start(&serve);
    let address = served.address();
    for command in ["stats", "query", "tree"] {
        let done = run(&format!("{command} --book {book}"));
        assert_eq!(done.code, Some(0), "{command}: {done:#?}");
        let done = run(&format!("{command} --book {address}"));
        assert_eq!(done.code, Some(0), "{command} of {address}: {done:#?}");
    }
}

#[test]
fn numbers_without_letters_are_explained() {
    let done = run("moves --variant freestyle-15 --moves 8,8");
    assert_eq!(done.code, Some(0), "{done:#?}");
    for part in [
        "is read as Gomocup writes moves",
        "column and row from 0",
        "i7",
    ] {
        assert!(done.stderr.contains(part), "{part}: {done:#?}");
    }
    let done = run("moves --variant freestyle-15 --moves h8");
    assert_eq!(done.stderr, "", "a plain move needs no explanation");
}

#[test]
fn manual_has_a_page_for_every_command() {
    let scratch = Scratch::new();
    let folder = scratch.path("man");
    let done = run(&format!("man {}", folder.display()));
    assert_eq!(done.code, Some(0), "{done:#?}");
    let page = |name: &str| folder.join(format!("kagetsu-{name}.1")).exists();
    let help = run("--help").stdout;
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
