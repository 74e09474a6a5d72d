//! Books that are installed from an archive, and found by name.

use std::fs;
use std::process::Command;

use kagetsu_tests::{Dialogue, Finished, Program, Scratch, kagetsu, words};

use crate::cluster::updates::minisign;
use crate::world::{growing, serve};

/// Runs `kagetsu` with a folder of installed books.
fn with_books(folder: &str, words: &[String]) -> Finished {
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let mut command: Command = Program::Kagetsu.command(&words);
    command.env("KAGETSU_BOOKS", folder);
    Finished::of(command)
}

#[test]
fn installed_book_is_signed_current_and_found_by_name() {
    let tools = [("curl", "--version"), ("minisign", "-v")];
    if !tools
        .iter()
        .all(|(tool, flag)| kagetsu_builders::is_installed(tool, &[flag]))
    {
        return;
    }
    let scratch = Scratch::new();
    let [archive, book, books] = ["archive", "book", "books"].map(|name| scratch.text(name));
    let [public, secret, other] = ["me.pub", "me.key", "other.pub"].map(|name| scratch.text(name));
    fs::create_dir(&archive).expect("room");
    minisign(&format!("-G -W -f -p {other} -s {secret}"), &[]);
    minisign(&format!("-G -W -f -p {public} -s {secret}"), &[]);
    let offered = format!("{archive}/demo.kbk");
    let publish = |positions, flags: &str| {
        let line = growing("--book", &book, positions, 2) + " --threads 1";
        Program::Kagetsu
            .run(&line.split(' ').collect::<Vec<_>>())
            .ok();
        let line = format!("compile --book {book} --out {offered} --force {flags}");
        Program::Kagetsu
            .run(&line.trim_end().split(' ').collect::<Vec<_>>())
            .ok();
        minisign(&format!("-S -H -s {secret} -m {offered}"), &[]);
    };
    publish(600, "");
    let (_server, _, address) = serve(&offered, &["--archive", &archive]);
    let url = format!("http://{address}/api/v1/archive");
    let installed = format!("{books}/demo.kbk");

    let run = with_books(
        &books,
        &words!("books get demo --from {url} --public-key {public}"),
    );
    assert!(
        run.stdout.contains("600 positions") && run.stdout.contains("whole"),
        "{run:#?}"
    );
    let wanted = kagetsu!("query --book {offered} --moves h8 --json");
    for line in [
        words!("query --book demo --moves h8 --json"),
        words!("query --book auto --variant freestyle-15 --moves h8 --json"),
    ] {
        assert_eq!(with_books(&books, &line).stdout, wanted.stdout, "{line:?}");
    }

    fs::copy(&offered, scratch.path("old.kbk")).expect("room");
    publish(605, &format!("--delta {}", scratch.text("old.kbk")));
    let run = with_books(
        &books,
        &words!("books update --from {url} --public-key {public}"),
    );
    assert!(
        run.stdout.contains("605 positions") && run.stdout.contains("delta"),
        "{run:#?}"
    );
    let current = fs::read(&offered).expect("there");
    assert_eq!(fs::read(&installed).expect("installed"), current);
    let run = with_books(&books, &words!("books list"));
    let listed: Vec<&str> = run.stdout.split_whitespace().skip(4).collect();
    let bytes = current.len().to_string();
    assert_eq!(listed, ["demo", "freestyle-15", "605", &bytes], "{run:#?}");

    // An engine plays from it by itself.
    let mut pbrain = Program::Pbrain.command(&[]);
    pbrain.env("KAGETSU_BOOKS", &books);
    let mut engine = Dialogue::of(pbrain);
    engine.say("INFO book list");
    let (line, _) = engine.until("MESSAGE book 1 ");
    assert!(line.ends_with("demo.kbk is on"), "{line}");

    // Nothing else takes the place of the installed book.
    publish(610, "");
    let none = scratch.text("none");
    for (line, says) in [
        (
            words!("books get demo --from {url} --public-key {other}"),
            "not signed by this key",
        ),
        (words!("books get demo --from {url}"), "needs --public-key"),
        (
            words!("books get h8 --from {archive}"),
            "there is no h8.kbk; ",
        ),
        (
            words!("books get demo --from {none}"),
            "cannot read the books",
        ),
        (
            words!("books list --from http://{address}/"),
            "is no archive",
        ),
        (
            words!("query --book auto --variant renju-15"),
            "no book of renju-15 is installed",
        ),
        (words!("query --book auto"), "give --variant"),
    ] {
        let run = with_books(&books, &line);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(says), "{run:#?}");
    }
    fs::write(&offered, b"no book").expect("room");
    let run = with_books(&books, &words!("books update --from {archive}"));
    assert!(run.stderr.contains("damaged, or no book"), "{run:#?}");
    assert_eq!(fs::read(&installed).expect("installed"), current);
    assert_eq!(fs::read_dir(&books).expect("there").count(), 1);
}
