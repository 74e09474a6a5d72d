//! The world of the tests: small books that an engine of hashes grows.

pub(crate) mod engine;

use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{Book, BookOptions, BuildSpec, JobId, JobSpec};
use kagetsu_game::{Position, Variant};
use tempfile::TempDir;

/// Makes a missing book, and caches little.
pub(crate) const OPTIONS: BookOptions = BookOptions {
    create: true,
    cache_bytes: 1 << 20,
};

/// Returns the variant of the small books.
pub(crate) fn variant() -> Variant {
    "freestyle-7".parse().expect("a variant")
}

/// Returns a job with these roots, whose every position has three exact values. The target is a
/// number of positions; `u64::MAX` stands for none.
pub(crate) fn job_spec(name: &str, roots: &[&str], target: u64) -> JobSpec {
    let root = |line: &&str| Position::from_line(variant(), line).expect("legal");
    JobSpec {
        name: name.into(),
        variant: variant(),
        roots: roots.iter().map(root).collect(),
        exclude: [].into(),
        build: BuildSpec {
            alpha: 2.0,
            depth: Some(3),
            top: 3,
            positions: (target != u64::MAX).then_some(target),
            ..BuildSpec::default()
        },
    }
}

/// Opens a book whose files have no fault.
#[track_caller]
pub(crate) fn open(path: &Path) -> Book {
    let (book, notices) = Book::open(path, &OPTIONS).expect("opens");
    assert!(notices.is_empty(), "{notices:?}");
    book
}

/// Makes a book in a new folder.
pub(crate) fn new_book() -> (TempDir, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let book = open(folder.path());
    (folder, book)
}

/// Makes the same book from its journal alone.
#[track_caller]
pub(crate) fn rebuilt(book: Book, folder: &Path) -> Book {
    book.close().expect("room");
    fs::remove_dir_all(folder.join("store")).expect("it is there");
    let (book, notices) = Book::open(folder, &BookOptions::default()).expect("opens");
    assert_eq!(notices.len(), 1, "the rebuild is reported");
    book
}

/// Answers the next work, if there is any.
pub(crate) fn step(book: &mut Book, job: JobId) -> bool {
    let works = book.next_work(job, 1).expect("readable");
    for work in &works {
        book.finish(work, &engine::answer(&work.question))
            .expect("room");
    }
    !works.is_empty()
}

/// Grows a book from d4 in a new folder to the end of the job, and closes it.
pub(crate) fn closed_book(positions: u64) -> TempDir {
    let (folder, mut book) = new_book();
    let spec = job_spec("test", &["d4"], positions);
    let job = book.create_job(&spec).expect("a job");
    while step(&mut book, job) {}
    book.close().expect("room");
    folder
}

/// Asserts that a check finds no fault.
#[track_caller]
pub(crate) fn assert_clean(book: &Book) {
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:#?}");
}

/// Returns the positions of a book as text, in their order.
pub(crate) fn dump(book: &Book) -> Vec<String> {
    book.positions()
        .map(|entry| format!("{:?}", entry.expect("readable")))
        .collect()
}

/// Returns the first file of a book's journal.
pub(crate) fn journal_file(folder: &Path) -> PathBuf {
    folder.join("journal/000001.journal")
}

/// Makes a folder like `from`, as a program that was killed now would leave it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("room");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it is there");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it is there").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("room");
        }
    }
}
