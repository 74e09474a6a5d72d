//! Books that are missing, held, damaged or newer: nothing is lost or half written.

use std::fs;
use std::path::Path;

use kagetsu_tests::{Program, Running, Scratch, kagetsu};

use super::{query, small_book};
use crate::world::{kagetsu, refused};

#[test]
fn book_held_by_another_process_is_refused() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    let mut holder: Running =
        Program::Coordinator.start(&["--book", &book, "--listen", "127.0.0.1:0"]);
    let address = holder.address();
    let holder_name = format!("process {}", holder.id());
    refused(
        &query(&book),
        &[&book, &holder_name, "its URL in place of the folder"],
    );
    for command in [
        &["jobs", "list", "--book", &book][..],
        &["build", "--variant", "freestyle-15", "--book", &book],
    ] {
        refused(
            &kagetsu(command),
            &[
                &book,
                &holder_name,
                "its URL as --coordinator in place of --book",
            ],
        );
    }
    // A copy helps where a URL does not.
    let copy = scratch.text("copy");
    let check = kagetsu(&["check", "--book", &book]);
    refused(
        &check,
        &[
            &book,
            &holder_name,
            &format!("`kagetsu backup --book {book} --to COPY`"),
        ],
    );
    assert!(!check.stderr.contains("URL"), "{check:#?}");
    kagetsu(&["backup", "--book", &book, "--to", &copy]).ok();
    assert_eq!(
        kagetsu(&["stats", "--book", &copy, "--json"]).json()["positions"],
        12
    );
    let there = kagetsu!(
        "query --book {address} --variant freestyle-15 --moves h8
        --json"
    );
    holder.kill();
    let here = query(&book);
    assert_eq!(
        there.json(),
        here.json(),
        "a server and its folder give the same answer"
    );
}

#[test]
fn a_damaged_store_loses_nothing() {
    let scratch = Scratch::new();
    let book = small_book(&scratch);
    let before = query(&book).json();
    for damage in [truncate as fn(&Path), flip, remove] {
        store_files(&book).iter().for_each(|file| damage(file));
        let after = query(&book);
        assert_eq!(after.json(), before, "the journal has it all");
        assert!(
            after.stderr.contains("journal"),
            "the repair is reported: {after:#?}"
        );
        kagetsu(&["check", "--book", &book]).ok();
    }
}

#[test]
fn damaged_journal_is_refused_unchanged() {
    for damage in [truncate as fn(&Path), flip] {
        let scratch = Scratch::new();
        let book = small_book(&scratch);
        let files = journal_files(&book);
        assert!(!files.is_empty());
        files.iter().for_each(|file| damage(file));
        let bytes: Vec<_> = files
            .iter()
            .map(|file| fs::read(file).expect("it is there"))
            .collect();
        refused(&query(&book), &["journal"]);
        let after: Vec<_> = files
            .iter()
            .map(|file| fs::read(file).expect("it is there"))
            .collect();
        assert_eq!(bytes, after, "nothing was cut off or written over");
    }
}

#[test]
fn newer_book_format_is_refused_unchanged() {
    for name in ["journal/000001.journal", "manifest"] {
        let scratch = Scratch::new();
        let book = small_book(&scratch);
        let file = Path::new(&book).join(name);
        let mut bytes = fs::read(&file).expect("it is there");
        let end = bytes.len() - 4;
        bytes[8] += 1;
        if name == "manifest" {
            let sum = crc32fast::hash(&bytes[..end]);
            bytes[end..].copy_from_slice(&sum.to_le_bytes());
        } else {
            // The first entry of a later version has another checksum.
            bytes[16] ^= 1;
        }
        fs::write(&file, &bytes).expect("room");
        let before = contents(&book);
        let known = ["format 2", "up to 1", "newer kagetsu", name];
        refused(&query(&book), &known);
        refused(&kagetsu(&["check", "--book", &book]), &known);
        refused(
            &kagetsu!("build --book {book} --variant freestyle-15 --positions 20"),
            &known,
        );
        refused(
            &Program::Coordinator.run(&["--book", &book, "--listen", "127.0.0.1:0"]),
            &known,
        );
        assert_eq!(contents(&book), before, "something was changed");
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("readable").path())
    {
        if entry.is_dir() {
            all.extend(files(&entry))
        } else {
            all.push(entry)
        }
    }
    all.sort();
    all
}

/// Returns every file of a book with its bytes, except the lock file, which names the last process.
fn contents(book: &str) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let all = files(Path::new(book))
        .into_iter()
        .filter(|file| !file.ends_with("lock"));
    all.map(|file| (file.clone(), fs::read(&file).expect("it is there")))
        .collect()
}

fn store_files(book: &str) -> Vec<std::path::PathBuf> {
    files(&Path::new(book).join("store"))
        .into_iter()
        .filter(|file| file.metadata().is_ok_and(|m| m.len() > 64))
        .collect()
}

fn journal_files(book: &str) -> Vec<std::path::PathBuf> {
    files(&Path::new(book).join("journal"))
}

fn truncate(file: &Path) {
    let bytes = fs::read(file).expect("it is there");
    fs::write(file, &bytes[..bytes.len() / 2]).expect("room");
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(file, bytes).expect("room");
}

fn remove(file: &Path) {
    fs::remove_file(file).expect("it is there");
}
