//! Downloads of compiled books.

use std::fs;
use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Scratch, http, kagetsu, words};

use crate::world::{growing, serve};

fn kagetsu(arguments: &[&str]) -> Finished {
    Program::Kagetsu.run(arguments).ok()
}

fn text(path: &Path) -> String {
    path.to_str().expect("a plain name").into()
}

/// Downloads a file with curl, as a user does; a file that is there already is completed.
fn download(url: &str, to: &Path) -> Finished {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--fail", "--continue-at", "-"]);
    curl.args(["--output", &text(to), url]);
    Finished::of(curl)
}

#[test]
fn archive_offers_books_and_deltas() {
    if !kagetsu_builders::is_installed("curl", &["--version"]) {
        return;
    }
    let scratch = Scratch::new();
    let archive = scratch.path("archive");
    fs::create_dir(&archive).expect("room");
    fs::write(archive.join("secret.key"), "not offered").expect("room");
    let book = text(&scratch.path("book"));
    let grow = |positions| {
        // With one thread every run gives the same values.
        let line = growing("--book", &book, positions, 2) + " --threads 1";
        kagetsu(&line.split(' ').collect::<Vec<_>>());
    };
    let (old, new) = (archive.join("1.kbk"), archive.join("2.kbk"));
    grow(600);
    kagetsu(&["compile", "--book", &book, "--out", &text(&old)]);
    grow(605);
    let compiled = kagetsu!("compile --book {book} --out {new} --delta {old} --json");
    let sizes = compiled.json();
    assert!(
        sizes["delta_bytes"].as_u64() < sizes["bytes"].as_u64(),
        "{sizes}"
    );

    let (_server, _, address) = serve(&text(&new), &["--archive", &text(&archive)]);
    let address = &*address;
    let manifest = http(address, "GET", "/api/v1/archive", "").json();
    let files = manifest["files"].as_array().expect("files");
    let names: Vec<_> = files
        .iter()
        .filter_map(|file| file["name"].as_str())
        .collect();
    assert_eq!(names, ["1.kbk", "2.kbk", "2.kbk.delta"]);
    assert_eq!(files[1]["positions"], 605);
    let mut sum = Command::new("sha256sum");
    sum.arg(&new);
    let digest = files[1]["sha256"].as_str().expect("a digest");
    assert!(Finished::of(sum).stdout.starts_with(digest));

    // A download that was cut off goes on where it ended.
    let url = format!("http://{address}/api/v1/archive");
    let (mine, delta) = (scratch.path("mine.kbk"), scratch.path("mine.delta"));
    let whole = fs::read(&old).expect("written");
    fs::write(&mine, &whole[..whole.len() / 3]).expect("room");
    download(&format!("{url}/1.kbk"), &mine).ok();
    assert_eq!(fs::read(&mine).expect("there"), whole);
    download(&format!("{url}/2.kbk.delta"), &delta).ok();
    let (mine, delta) = (text(&mine), text(&delta));
    let patch = words!("compile --book {mine} --patch {delta} --out {mine} --force");
    Program::Kagetsu.run(&patch).ok();
    assert_eq!(
        fs::read(&mine).expect("there"),
        fs::read(&new).expect("there")
    );
    // A range of another version is answered with the whole file.
    for (version, status, bytes) in [(digest, "206", "5"), ("older", "200", "")] {
        let mut curl = Command::new("curl");
        let known = format!("If-Range: \"{version}\"");
        curl.args(["--silent", "--range", "0-4", "--header", &known]);
        curl.args(["--write-out", "%{http_code} %{size_download}"]);
        curl.args(["--output", "/dev/null", &format!("{url}/2.kbk")]);
        let answered = Finished::of(curl).stdout;
        let size = fs::metadata(&new).expect("there").len().to_string();
        let bytes = if bytes.is_empty() { &size } else { bytes };
        assert_eq!(answered, format!("{status} {bytes}"));
    }
    // The same delta again does not fit any more.
    let again = Program::Kagetsu.run(&patch);
    assert_eq!(again.code, Some(2), "{again:#?}");

    for name in [
        "secret.key",
        "missing.kbk",
        "..%2fbook%2fmanifest",
        "%2fetc%2fpasswd",
    ] {
        let refused = http(address, "GET", &format!("/api/v1/archive/{name}"), "");
        assert_eq!(refused.status, 404, "{name}: {refused:#?}");
    }
    let missing = Program::Kagetsu.run(&["serve", "--book", &mine, "--archive", "/no/such/folder"]);
    assert_eq!(missing.code, Some(2), "{missing:#?}");
}

/// A file that another one replaces, with the same length and time, is offered as what it is.
#[test]
fn replaced_file_has_another_digest() {
    let scratch = Scratch::new();
    let archive = scratch.path("archive");
    fs::create_dir(&archive).expect("room");
    let (file, book) = (archive.join("a.kbk"), text(&scratch.path("book")));
    let line = growing("--book", &book, 3, 2);
    kagetsu(&line.split(' ').collect::<Vec<_>>());
    let (_server, _, address) = serve(&book, &["--archive", &text(&archive)]);
    let address = &*address;
    let time = fs::metadata(&book).and_then(|about| about.modified());
    let time = time.expect("it has one");
    let set = |path: &Path, letter: u8| {
        fs::write(path, [letter; 70_000]).expect("room");
        let file = fs::File::options().write(true).open(path).expect("there");
        file.set_modified(time).expect("its own file");
    };
    let sum = || {
        let manifest = http(address, "GET", "/api/v1/archive", "").json();
        let sum = manifest["files"][0]["sha256"].as_str();
        sum.expect("a digest").to_owned()
    };
    set(&file, b'a');
    let first = sum();
    assert_eq!(sum(), first);
    // Renamed over it, and written in place.
    let other = scratch.path("other");
    set(&other, b'b');
    fs::rename(&other, &file).expect("the same disk");
    let second = sum();
    set(&file, b'c');
    let third = sum();
    assert!(first != second && second != third && first != third);
    let answered = http(address, "GET", "/api/v1/archive/a.kbk", "");
    assert_eq!((answered.status, answered.body.len()), (200, 70_000));
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: no curl");
        return;
    }
    // An interrupted download of the first file does not go on in the third.
    let url = format!("http://{address}/api/v1/archive/a.kbk");
    for (range, known, expected) in [
        ("5-9", &first, "200 70000 c"),
        ("5-9", &third, "206 5 c"),
        ("-3", &third, "206 3 c"),
        ("69999-", &third, "206 1 c"),
        ("70000-", &third, "416 0 "),
        ("0-1,5-6", &third, "200 70000 c"),
    ] {
        let got = scratch.path("got");
        let _ = fs::remove_file(&got);
        let mut curl = Command::new("curl");
        let known = format!("If-Range: \"{known}\"");
        curl.args(["--silent", "--range", range, "--header", &known]);
        curl.args(["--write-out", "%{http_code} %{size_download}"]);
        curl.args(["--output", &text(&got), &url]);
        let mut answered = Finished::of(curl).stdout;
        let first = fs::read_to_string(&got).unwrap_or_default();
        answered.push(' ');
        answered.extend(first.chars().next());
        assert_eq!(answered, expected, "{range}");
    }
}
