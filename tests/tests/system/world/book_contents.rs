//! What a book on disk holds.

use std::collections::BTreeSet;
use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::Key;
use kagetsu_tests::Alone;

/// The positions of a book that is proven whole first, each with what one engine finds alone that searches so many plies.
pub(crate) fn held(book: &Path, depth: u32) -> BTreeSet<Key> {
    let (book, _) = Book::open(book, &BookOptions::default()).expect("a sound book");
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:?}");
    let mut alone = Alone::new(u8::try_from(depth).expect("a few plies"));
    let key = |entry: kagetsu_book::Entry| {
        alone.finds(&entry.position, &entry.facts);
        entry.position.key()
    };
    book.positions()
        .map(|entry| entry.expect("readable"))
        .map(key)
        .collect()
}
