//! `kagetsu open`: files on the page, with an engine.

use kagetsu_tests::{Finished, Program, Running, Scratch, http};
use serde_json::{Value, json};

use crate::world::{kagetsu_line, refused, serve, text, until};

const GAME: &str =
    "[Event \"A\"]\n[Red \"B\"]\n[Black \"C\"]\n[Result \"1-0\"]\n\n1. C2=5 H8+7 2. H2+3 1-0\n";

/// Opens a place, and returns the process with the address of the page.
fn open(arguments: &[&str]) -> (Running, String) {
    let all = [arguments, &["--no-browser", "--port", "0"]].concat();
    let mut opened = Program::Kagetsu.start(&all);
    let line = opened.line();
    let page = line.strip_prefix("http://").expect("a URL");
    (opened, page.trim_end_matches('/').into())
}

/// Makes a compiled book of three positions.
fn build_and_compile(book: &str, file: &str) {
    let place = "--variant freestyle-15 --moves h8 --positions 3 --depth 2";
    for line in [
        format!("build --book {book} {place}"),
        format!("compile --book {book} --out {file}"),
    ] {
        kagetsu_line(&line).ok();
    }
}

fn get(page: &str, path: &str) -> Value {
    let answered = http(page, "GET", &format!("/api/v1/{path}"), "");
    assert_eq!(answered.status, 200, "{path}: {answered:#?}");
    answered.json()
}

#[test]
fn file_of_games_is_analysed_and_grown_at_once() {
    let scratch = Scratch::new();
    let file = scratch.path("games.pgn");
    std::fs::write(&file, GAME).expect("room");
    let (mut opened, page) = open(&["open", text(&file), "--variant", "xiangqi"]);
    let status = get(&page, "status");
    assert_eq!(status["positions"], json!(3), "{status}");
    assert_eq!(status["may_analyse"], json!(true), "{status}");
    assert_eq!(status["may_change"], json!(true), "{status}");
    let asked = json!({"variant": "xiangqi", "moves": "", "time_ms": 200}).to_string();
    let answered = http(&page, "POST", "/api/v1/analyses", &asked);
    assert_eq!(answered.status, 200, "{answered:#?}");
    let job = json!({"name": "grow", "variant": "xiangqi", "roots": ["h2e2"],
        "policy": "drop-out", "positions": 3, "depth": 2});
    let started = http(&page, "POST", "/api/v1/jobs", &job.to_string());
    assert!(started.status < 300, "{started:#?}");
    until("the end of the build", || {
        (get(&page, "jobs/grow")["state"] == json!("done")).then_some(())
    });
    let grown = get(&page, "status")["positions"].clone();
    opened.kill();
    // The book keeps all of it, and the same file opens it again.
    let (_again, page) = open(&["open", text(&file), "--variant", "xiangqi"]);
    assert_eq!(get(&page, "status")["positions"], grown);
    // A position without moves is shown beside an empty book.
    let file = scratch.path("one.epd");
    std::fs::write(&file, "4k4/9/4R4/9/9/9/9/9/9/3K5 w ; a name\n").expect("room");
    let (_shown, page) = open(&["open", text(&file)]);
    assert!(page.contains("/#/xiangqi//4k4%2F9%2F4R4"), "{page}");
}

#[test]
fn compiled_book_is_analysed_and_not_grown() {
    let scratch = Scratch::new();
    let (book, file) = (scratch.path("b"), scratch.path("b.kbk"));
    let (book, file) = (text(&book), text(&file));
    build_and_compile(book, file);
    let (_opened, page) = open(&["open", file]);
    let status = get(&page, "status");
    assert_eq!(status["positions"], json!(3), "{status}");
    assert_eq!(status["may_analyse"], json!(true), "{status}");
    assert_eq!(status["may_change"], json!(false), "{status}");
    get(&page, "book?variant=freestyle-15&moves=h8");
    // A damaged book is no file of games, and an empty folder no book.
    let whole = std::fs::read(file).expect("the book");
    std::fs::write(file, &whole[..whole.len() / 2]).expect("room");
    refused(&kagetsu_line(&format!("open {file}")), &[file, "damaged"]);
    let empty = scratch.path("empty");
    std::fs::create_dir(&empty).expect("room");
    let opened = kagetsu_line(&format!("open {}", text(&empty)));
    refused(&opened, &["there is no book in", text(&empty)]);
    assert_eq!(std::fs::read_dir(&empty).expect("a folder").count(), 0);
    refused(
        &kagetsu_line("open away.kbk"),
        &["away.kbk", "check the name"],
    );
}

#[test]
fn url_of_a_file_opens_it() {
    if !kagetsu_builders::is_installed("curl", &["--version"]) {
        return;
    }
    let scratch = Scratch::new();
    let (book, archive) = (scratch.path("b"), scratch.path("archive"));
    std::fs::create_dir(&archive).expect("room");
    let (book, file) = (text(&book), archive.join("h8.kbk"));
    build_and_compile(book, text(&file));
    let (_server, _, server_page) = serve(book, &["--analyse", "--archive", text(&archive)]);
    let server_page = &*server_page;
    // The server has an engine, and changes nothing.
    let status = get(server_page, "status");
    assert_eq!(status["may_analyse"], json!(true), "{status}");
    assert_eq!(status["may_change"], json!(false), "{status}");
    let asked = json!({"variant": "freestyle-15", "moves": "h8", "time_ms": 200}).to_string();
    let answered = http(server_page, "POST", "/api/v1/analyses", &asked);
    assert_eq!(answered.status, 200, "{answered:#?}");
    assert!(answered.body.contains("is_final"), "{answered:#?}");

    let page = "<!DOCTYPE html><title>Not found</title>";
    std::fs::write(archive.join("page.kbk"), page).expect("room");
    let url = |path: &str| format!("http://{server_page}/{path}");
    let here = scratch.folder();
    let opened_in = |place: &str| {
        let words = ["open", place, "--no-browser", "--port", "0"];
        let mut command = Program::Kagetsu.command(&words);
        command.current_dir(here);
        command
    };
    for (path, said) in [
        ("api/v1/archive/away.kbk", "404"),
        ("api/v1/archive/", "names no file"),
        ("api/v1/archive/page.kbk", "is a web page"),
        ("api/v1/status", "status"),
    ] {
        let opened = Finished::of(opened_in(&url(path)));
        refused(&opened, &[said]);
    }
    let mut opened = Running::of(opened_in(&url("api/v1/archive/h8.kbk")));
    let line = opened.line();
    let page = line.strip_prefix("http://").expect("a URL");
    let status = get(page.trim_end_matches('/'), "status");
    assert_eq!(status["positions"], json!(3), "{status}");
    drop(opened);
    std::fs::write(here.join("h8.kbk"), "another file").expect("room");
    let opened = Finished::of(opened_in(&url("api/v1/archive/h8.kbk")));
    refused(&opened, &["another h8.kbk is in this folder"]);
}
