//! The views of a book, over HTTP, gRPC, on the command line and in Python.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::{Answer, Position, Variant, Verdict};
use kagetsu_reader::{RegisteredView, VIEWS};
use kagetsu_tests::{Finished, Scratch, http};
use serde_json::Value;

use super::clients::python;
use super::http::HttpCoordinator;
use crate::world::{BookBuild, kagetsu_line, serve, text};

const PLACE: &str = "--variant freestyle-15 --moves h8";

/// The end of a reading: the JSON, nothing to show, or no such view of the book.
#[derive(Debug, PartialEq)]
enum ReadEnd {
    Shown(Value),
    Nothing,
    Refused,
}

fn by_command(view: &RegisteredView, book: &str) -> ReadEnd {
    let place = if view.at_position { PLACE } else { "" };
    let done = kagetsu_line(&format!("{} --json --book {book} {place}", view.command));
    match done.code {
        Some(0) => ReadEnd::Shown(done.json()),
        Some(1) => ReadEnd::Nothing,
        _ => ReadEnd::Refused,
    }
}

fn by_http(view: &RegisteredView, server: &str) -> ReadEnd {
    let place = if view.at_position {
        "?variant=freestyle-15&moves=h8"
    } else {
        ""
    };
    let path = format!("/api/v1/{}{place}", view.name);
    let answered = http(server, "GET", &path, "");
    match answered.status {
        404 => ReadEnd::Nothing,
        200 => ReadEnd::Shown(answered.json()),
        409 => ReadEnd::Refused,
        _ => panic!("{path}: {answered:#?}"),
    }
}

#[test]
fn every_view_is_the_same_everywhere() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let file = scratch.path("book.kbk");
    let (book, file) = (text(&book), text(&file));
    BookBuild {
        positions: 30,
        ..BookBuild::H8
    }
    .run_in(book);
    kagetsu_line(&format!("compile --book {book} --out {file}")).ok();
    let coordinator = HttpCoordinator::start(&["--book", book]);
    for view in VIEWS {
        let expected = by_http(view, &coordinator.http);
        assert!(
            matches!(expected, ReadEnd::Shown(_)),
            "{}: {expected:?}",
            view.name
        );
        let found = by_command(view, &coordinator.grpc);
        assert_eq!(found, expected, "{} of a coordinator", view.name);
    }
    drop(coordinator);
    for place in [book, file] {
        let (_server, grpc, http) = serve(place, &[]);
        for view in VIEWS {
            let expected = by_command(view, place);
            assert_eq!(by_http(view, &http), expected, "{} of {place}", view.name);
            assert_eq!(
                by_command(view, &grpc),
                expected,
                "{} of {place}",
                view.name
            );
        }
        check_python(place);
    }
}

/// Reads every view that a book has in Python, and compares it with the command's.
fn check_python(book: &str) {
    const PROGRAM: &str = "
import json, sys, kagetsu
book = kagetsu.Book(sys.argv[1])
position = kagetsu.Position('freestyle-15', 'h8')
found = {}
for name, at_position, _ in kagetsu._native.views():
    try:
        text = book._read(name, position if at_position else None, '{}')
    except kagetsu.BookError:
        continue
    found[name] = None if text is None else json.loads(text)
    if name not in ('pick', 'stats'):
        assert getattr(book, name)(*([position] if at_position else [])) == found[name]
print(json.dumps(found))
";
    let Some(python) = python() else { return };
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM, book]);
    let found = Finished::of(command).json();
    for view in VIEWS {
        let found = match found.get(view.name) {
            None => ReadEnd::Refused,
            Some(Value::Null) => ReadEnd::Nothing,
            Some(found) => ReadEnd::Shown(found.clone()),
        };
        assert_eq!(found, by_command(view, book), "{} in Python", view.name);
    }
}

/// Fills a book whose positions all have eight moves into the book.
fn fill(path: &Path, positions: usize) {
    let options = BookOptions::creating();
    let (mut book, _) = Book::open(path, &options).expect("a new book");
    let root = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    let mut waiting = std::collections::VecDeque::from([root]);
    for number in 0..positions {
        let position = waiting.pop_front().expect("moves into the book");
        let moves = position.legal_moves().into_iter().step_by(27).take(8);
        let answer: Answer = moves
            .enumerate()
            .map(|(rank, m)| {
                let score = ((number * 37 + rank * 11) % 200) as i32 - 100;
                let (m, verdict) = kagetsu_builders::opinion(m, score);
                let depth = (number % 9) as u8 + 1;
                (m, Verdict { depth, ..verdict })
            })
            .collect();
        book.learn(&position, &answer).expect("room for it");
        let moves = answer.verdicts().iter();
        waiting.extend(moves.filter_map(|(m, _)| position.play(*m).ok()));
    }
    book.close().expect("room for it");
}

#[test]
fn probes_and_look_ups_go_before_views() {
    const VIEWS_AT_ONCE: usize = 24;
    let scratch = Scratch::new();
    let book = scratch.path("book");
    fill(&book, 400);
    let coordinator = HttpCoordinator::start(&["--book", text(&book)]);
    let (answered, at) = (AtomicUsize::new(0), &*coordinator.http);
    thread::scope(|scope| {
        let views: Vec<_> = (0..VIEWS_AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    let path = "/api/v1/suspects?variant=freestyle-15&moves=h8&most=100000";
                    let found = http(at, "GET", path, "");
                    answered.fetch_add(1, Ordering::SeqCst);
                    found.status
                })
            })
            .collect();
        // One has been answered, so the others are at work or wait.
        while answered.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let brief = ["book", "pick", "annotations"];
        let brief = brief.map(|view| format!("/api/v1/{view}?variant=freestyle-15&moves=h8"));
        let probes = ["/healthz", "/readyz", "/api/v1/status"].map(String::from);
        for path in probes.iter().chain(&brief) {
            assert_eq!(http(at, "GET", path, "").status, 200, "{path}");
        }
        kagetsu_line(&format!("query --json --book {} {PLACE}", coordinator.grpc)).ok();
        let before = answered.load(Ordering::SeqCst);
        assert!(before < VIEWS_AT_ONCE, "all views were answered before");
        for view in views {
            assert_eq!(view.join().expect("no panic"), 200);
        }
    });
}
