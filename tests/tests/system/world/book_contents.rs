//! The content of a book on disk.

use std::collections::BTreeSet;
use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::Key;
use kagetsu_tests::ReferenceEngine;

/// Returns the keys of a book. Checks the book first, and compares every position with the answer
/// of one engine at this depth.
pub(crate) fn book_keys(book: &Path, depth: u32) -> BTreeSet<Key> {
    let (book, _) = Book::open(book, &BookOptions::default()).expect("a sound book");
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:?}");
    let mut reference = ReferenceEngine::new(u8::try_from(depth).expect("a few plies"));
    let key = |entry: kagetsu_book::Entry| {
        reference.finds(&entry.position, &entry.facts);
        entry.position.key()
    };
    book.positions()
        .map(|entry| entry.expect("readable"))
        .map(key)
        .collect()
}
