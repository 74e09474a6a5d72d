//! A book compiled and read by the command line: the file gives the same answers as the folder.

use std::fs;

use kagetsu_tests::{Dialogue, Finished, Program, Scratch, http, words};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::world::{BookBuild, assert_fields, kagetsu, serve};

fn ask(command: &str, book: &str, more: &[&str]) -> Finished {
    kagetsu(
        &[
            &[command, "--book", book, "--variant", "freestyle-15"],
            more,
        ]
        .concat(),
    )
}

#[test]
fn compiled_book_answers_like_its_folder() {
    let scratch = Scratch::new();
    let [folder, file] = ["h8.book", "h8.kbk"].map(|name| scratch.text(name));
    BookBuild {
        positions: 30,
        depth: 3,
        ..BookBuild::H8
    }
    .run_in(&folder);
    let made = kagetsu(&["compile", "--book", &folder, "--out", &file, "--json"]).json();
    let bytes = fs::metadata(&file).expect("it is there").len();
    assert_fields(&made, &json!({"positions": 30, "bytes": bytes}));

    for moves in ["h8", "h8 i9", "h8 g7", "h8 g9"] {
        let both = [&folder, &file].map(|book| ask("pick", book, &["--moves", moves]));
        assert_eq!(
            (both[0].code, &both[0].stdout),
            (both[1].code, &both[1].stdout),
            "{moves}"
        );
    }
    let both = [&folder, &file].map(|book| {
        ask(
            "tree",
            book,
            &["--moves", "h8", "--plies", "3", "--top", "2"],
        )
    });
    assert_eq!((both[0].code, &both[0].stdout), (Some(0), &both[1].stdout));
    let [whole, brief] =
        [&folder, &file].map(|book| ask("query", book, &["--moves", "h8", "--json"]).json());
    for field in ["best", "score", "win_in", "proof", "key", "side", "depth"] {
        assert_eq!(whole[field], brief[field], "{field}");
    }
    let [whole, brief] =
        [&folder, &file].map(|book| kagetsu(&["stats", "--book", book, "--json"]).json());
    for field in ["positions", "nodes", "by_stones", "by_depth"] {
        assert_eq!(whole[field], brief[field], "{field}");
    }
    let check = kagetsu(&["check", "--book", &file, "--json"]).json();
    assert_fields(&check, &json!({"clean": true, "positions": 30}));
    assert_eq!(ask("query", &file, &["--moves", "a1"]).code, Some(1));
}

/// Reduces both answers to what a folder and its compiled file share: the values of the moves in
/// the file.
fn shared(whole: &Value, brief: &Value) -> [Value; 2] {
    let moves = |answer: &Value| answer["answers"].as_array().cloned().unwrap_or_default();
    let kept: Vec<Value> = moves(brief)
        .iter()
        .map(|answer| answer["move"].clone())
        .collect();
    [whole, brief].map(|found| {
        let values = moves(found)
            .into_iter()
            .filter(|answer| kept.contains(&answer["move"]))
            .map(|answer| {
                let fields = [
                    "move",
                    "score",
                    "win_in",
                    "loss_in",
                    "bound",
                    "depth",
                    "proof",
                    "proof_kind",
                ];
                Value::from_iter(fields.map(|field| (field, answer[field].clone())))
            });
        let fields = [
            "variant", "moves", "side", "key", "best", "win_in", "loss_in", "score", "proof",
            "depth",
        ];
        json!([
            fields.map(|field| found[field].clone()),
            values.collect::<Vec<_>>()
        ])
    })
}

#[test]
fn folder_file_and_server_answer_alike() {
    for (variant, first) in [
        ("freestyle-15", "h8"),
        ("renju-15", "h8 h9"),
        ("xiangqi", "h2e2"),
        ("surakarta", ""),
    ] {
        let scratch = Scratch::new();
        let [folder, file] = ["book", "book.kbk"].map(|name| scratch.text(name));
        let ask = |command: &str, book: &str, more: &[&str]| {
            let finished =
                kagetsu(&[&[command, "--book", book, "--variant", variant], more].concat());
            assert!(
                finished.code < Some(2),
                "{command} {book} {more:?}: {finished:#?}"
            );
            (finished.code, finished.stdout)
        };
        ask(
            "build",
            &folder,
            &["--moves", first, "--positions", "25", "--depth", "2"],
        );
        kagetsu(&["compile", "--book", &folder, "--out", &file, "--force"]).ok();
        let root: Value =
            serde_json::from_str(&ask("query", &folder, &["--moves", first, "--json"]).1)
                .expect("JSON");
        let next = root["answers"].as_array().expect("moves").iter();
        let next =
            next.map(|answer| format!("{first} {}", answer["move"].as_str().expect("a move")));
        // The order of threads decides behind which moves the book grew.
        let (mut lines, mut unknown) = (Vec::new(), None);
        for line in next {
            let is_known = ask("query", &folder, &["--moves", &line]).0 == Some(0);
            if is_known && lines.is_empty() {
                lines.push(line);
            } else if !is_known {
                unknown.get_or_insert(line);
            }
            if !lines.is_empty() && unknown.is_some() {
                break;
            }
        }
        lines.push(first.to_string());
        assert!(lines.len() > 1, "{variant}: {root}");
        let in_book = lines.len();
        lines.extend(unknown);
        let questions: Vec<(&str, Vec<&str>)> = lines
            .iter()
            .flat_map(|line| {
                let ask =
                    |command, more: &[&'static str]| (command, [&["--moves", line], more].concat());
                [
                    ask("query", &["--json"]),
                    ask("pick", &[]),
                    ask(
                        "pick",
                        &["--temperature", "40", "--seed", "7", "--margin", "60"],
                    ),
                    ask("pick", &["--min-depth", "3"]),
                    ask("pick", &["--before-edge", "1"]),
                    ask("tree", &["--plies", "3", "--top", "2"]),
                ]
            })
            .collect();
        let answers = |book: &str| -> Vec<_> {
            questions
                .iter()
                .map(|(ask_for, more)| ask(ask_for, book, more))
                .collect()
        };
        let [of_folder, of_file] = [&folder, &file].map(|book| answers(book));
        for (book, expected) in [(&folder, &of_folder), (&file, &of_file)] {
            let mut server = Program::Kagetsu.start(&words!(
                "serve --book {book} --listen
                127.0.0.1:0 --http 127.0.0.1:0"
            ));
            let served = answers(&server.address());
            server.signal(Signal::SIGTERM);
            server.wait();
            for (question, (served, expected)) in questions.iter().zip(served.iter().zip(expected))
            {
                assert_eq!(served, expected, "{variant} {question:?}");
            }
        }
        for (question, (whole, brief)) in questions.iter().zip(of_folder.iter().zip(&of_file)) {
            if question.0 == "query" && whole.0 == Some(0) {
                let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
                let [whole, brief] = shared(&read(&whole.1), &read(&brief.1));
                assert_eq!(whole, brief, "{variant} {question:?}");
            } else {
                assert_eq!(whole, brief, "{variant} {question:?}");
            }
        }
        let found = questions.iter().zip(&of_folder);
        let found =
            found.filter(|((command, _), (code, _))| *command == "query" && *code == Some(0));
        assert_eq!(found.count(), in_book, "{variant}: {of_folder:?}");
    }
}

#[test]
fn damaged_compiled_book_is_recognised() {
    let scratch = Scratch::new();
    let [folder, file] = ["h8.book", "h8.kbk"].map(|name| scratch.text(name));
    ask(
        "build",
        &folder,
        &["--moves", "h8", "--positions", "5", "--depth", "2"],
    )
    .ok();
    kagetsu(&["compile", "--book", &folder, "--out", &file]).ok();
    // A compiled book cannot be built on.
    let built = ask(
        "build",
        &file,
        &["--moves", "h8", "--positions", "9", "--depth", "2"],
    );
    assert_eq!(built.code, Some(2), "{built:#?}");
    assert!(built.stderr.contains("h8.kbk"), "{built:#?}");
    let searched = ask("query", &file, &["--moves", "h8", "--searched"]);
    assert_eq!(searched.code, Some(2), "{searched:#?}");

    let whole = fs::read(&file).expect("it is there");
    let mut bytes = whole.clone();
    // A byte behind the header and the directory, whose checksums are checked at open.
    bytes[200] ^= 1;
    fs::write(&file, &bytes).expect("room");
    // A file that was written a moment ago counts as one that may still change.
    let mut asked = std::iter::repeat_with(|| ask("query", &file, &["--moves", "h8"]));
    let (finished, checked) = (
        asked
            .find(|done| !done.stderr.contains("changed while it was open"))
            .expect("an answer"),
        kagetsu(&["check", "--book", &file]),
    );
    assert_eq!(
        (finished.code, checked.code),
        (Some(2), Some(1)),
        "{finished:#?} {checked:#?}"
    );
    assert!(
        finished.stderr.contains("compile it again"),
        "{finished:#?}"
    );
    fs::write(&file, &whole[..whole.len() / 2]).expect("room");
    let finished = ask("query", &file, &["--moves", "h8"]);
    assert_eq!(finished.code, Some(2), "{finished:#?}");
    let other = kagetsu(&["compile", "--book", &folder, "--out", &folder]);
    assert_eq!(other.code, Some(2), "{other:#?}");
}

/// A program that writes into a compiled book, in place of renaming a new one, is an accident. A
/// server and an engine survive it: each answer is that of a whole book, or says that the file
/// changed.
#[test]
fn file_written_in_place_kills_no_reader() {
    let scratch = Scratch::new();
    let [folder, file, next] = ["book", "book.kbk", "next.kbk"].map(|name| scratch.text(name));
    let mut build = BookBuild::H8;
    let mut versions = Vec::new();
    for (positions, out) in [(5, &file), (9, &next)] {
        build.positions = positions;
        build.run_in(&folder);
        kagetsu(&["compile", "--book", &folder, "--out", out]).ok();
        versions.push(fs::read(out).expect("it is there"));
    }
    let [old, new] = &versions[..] else {
        panic!("two versions");
    };
    let torn = [&new[..new.len() / 2], &old[old.len() / 2..]].concat();
    // The file's bytes; whether the server was asked before; whether it then answers.
    let rows: [(&str, &[u8], bool, bool); 4] = [
        ("cut to nothing", &[], false, false),
        ("cut to nothing, used", &[], true, true),
        ("half a copy", &torn, false, false),
        ("another book", new, false, true),
    ];
    for (name, bytes, is_used, is_answered) in rows {
        fs::write(&file, old).expect("room");
        let (mut server, grpc, at) = serve(&file, &[]);
        let at = &*at;
        let ask = || http(at, "GET", "/api/v1/book?variant=freestyle-15&moves=h8", "");
        let query = || ask_file(&grpc);
        if is_used {
            assert_eq!((ask().status, query().code), (200, Some(0)), "{name}");
        }
        fs::write(&file, bytes).expect("room");
        let (answered, queried) = (ask(), query());
        if is_answered {
            assert_eq!(
                (answered.status, queried.code),
                (200, Some(0)),
                "{name}: {answered:#?}"
            );
        } else {
            assert_eq!(
                (answered.status, queried.code),
                (500, Some(2)),
                "{name}: {answered:#?}"
            );
            assert!(
                queried.stderr.contains("changed while it was open"),
                "{queried:#?}"
            );
        }
        // The whole book is there: the server opens it by itself.
        fs::write(&file, new).expect("room");
        assert_eq!(ask().status, 200, "{name}");
        let stats = kagetsu(&["stats", "--book", &grpc, "--json"]).json();
        assert_eq!(stats["positions"], 9, "{name}");
        assert!(!server.has_ended(), "{name}");

        fs::write(&file, old).expect("room");
        let arguments = ["--table-mib", "8", "--book", &file];
        let mut engine = Dialogue::of(Program::Pbrain.command(&arguments));
        let ask = "INFO timeout_turn 200\nSTART 15\nTURN 7,7";
        engine.say("START 15");
        engine.until("OK");
        let is_move = |line: &str| {
            line.split_once(',')
                .is_some_and(|(x, _)| x.parse::<u8>().is_ok())
        };
        let mut asked = |text: &str| {
            engine.say(text);
            engine.find("a move", is_move).1
        };
        let is_book_move = |lines: &[String]| {
            lines
                .iter()
                .any(|line| line.starts_with("MESSAGE book move"))
        };
        if is_used {
            assert!(is_book_move(&asked(ask)), "{name}");
        }
        fs::write(&file, bytes).expect("room");
        let lines = asked(ask);
        assert_eq!(is_book_move(&lines), is_answered, "{name}: {lines:?}");
        fs::write(&file, new).expect("room");
        assert!(is_book_move(&asked(ask)), "{name}");
    }
}

fn ask_file(book: &str) -> Finished {
    ask("query", book, &["--moves", "h8", "--json"])
}
