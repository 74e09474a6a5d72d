//! Books that are only read: shared, unchanged, without permission to write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::{Answer, Position, Variant};

fn learn(book: &mut Book, line: &str, m: &str) {
    let position = kagetsu_builders::position(line);
    let m = position.parse_move(m).expect("legal");
    let answer: Answer = [kagetsu_builders::opinion(m, 10)].into_iter().collect();
    book.learn(&position, &answer).expect("room");
}

fn make(folder: &Path) {
    let options = BookOptions::creating();
    let (mut book, _) = Book::open(folder, &options).expect("a new book");
    learn(&mut book, "", "h8");
    learn(&mut book, "h8", "i9");
    book.close().expect("room");
}

fn open(folder: &Path) -> Book {
    Book::open_to_read(folder, &BookOptions::default())
        .expect("readable")
        .0
}

fn holds(book: &Book, line: &str) -> bool {
    let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
    book.lookup(&position).expect("readable").is_some()
}

/// Returns every file below a folder with its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).expect("readable");
            all.insert(path.display().to_string(), bytes);
        }
    }
    all
}

#[test]
fn readers_share_a_folder_and_leave_it_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book");
    make(&path);
    let before = contents(&path);
    let (one, other) = (open(&path), open(&path));
    assert!(holds(&one, "h8") && holds(&other, "") && !holds(&one, "i9"));
    assert_eq!(one.len(), 2);
    assert!(one.grades().is_ok() && one.overview().is_ok());
    drop((one, other));
    assert!(contents(&path) == before, "reading changed the folder");
}

#[test]
fn reader_keeps_its_state_while_others_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book");
    make(&path);
    let reader = open(&path);
    let (mut writer, _) = Book::open(&path, &BookOptions::default()).expect("no reader holds it");
    learn(&mut writer, "h8 i9", "g7");
    // A reader waits for the writer, and then reports it.
    let held = Book::open_to_read(&path, &BookOptions::default());
    assert!(held.is_err(), "it is being written");
    let (mut writer, _) = writer.compact(&BookOptions::default()).expect("room");
    learn(&mut writer, "h8 i9 g7", "j10");
    writer.close().expect("room");
    assert!(holds(&reader, "h8") && !holds(&reader, "h8 i9"));
    assert!(holds(&open(&path), "h8 i9 g7"));
}

#[test]
fn missing_store_is_made_again_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book");
    make(&path);
    fs::remove_dir_all(path.join("store")).expect("it is there");
    let (book, notices) = Book::open_to_read(&path, &BookOptions::default()).expect("readable");
    assert!(holds(&book, "h8") && notices.len() == 1, "{notices:?}");
    assert!(!path.join("store").exists());
}

#[cfg(unix)]
#[test]
fn unwritable_folder_can_be_read() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book");
    make(&path);
    let set = |mode: u32| {
        let mut folders = vec![path.clone(), path.join("journal"), path.join("store")];
        folders.reverse();
        for folder in folders {
            let rights = fs::Permissions::from_mode(mode);
            fs::set_permissions(&folder, rights).expect("our own folder");
        }
    };
    set(0o555);
    let book = open(&path);
    assert!(holds(&book, "h8"));
    drop(book);
    set(0o755);
}
