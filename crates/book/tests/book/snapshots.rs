//! Snapshots: readers on other threads see the book of one moment while it grows.

use std::sync::Arc;

use kagetsu_book::{Book, BookOptions, BookSnapshot, Pruning};

use crate::world::{OPTIONS, assert_clean, dump, job_spec, step};

/// Positions between two snapshots.
const STEPS: usize = 7;

const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<BookSnapshot>();

#[test]
fn snapshots_stay_as_they_were_while_the_book_grows() {
    // With so little cache the store is compacted again and again.
    for cache_bytes in [0, 64 << 10, OPTIONS.cache_bytes] {
        let options = BookOptions {
            cache_bytes,
            ..OPTIONS
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (mut book, _) = Book::open(folder.path(), &options).expect("opens");
        let job = book
            .create_job(&job_spec("test", &["d4"], 120))
            .expect("a job");
        let mut kept: Vec<(Arc<BookSnapshot>, Vec<String>)> = Vec::new();
        std::thread::scope(|scope| {
            let mut steps = 0;
            while step(&mut book, job) {
                steps += 1;
                if steps % STEPS != 0 {
                    continue;
                }
                let snapshot = Arc::new(book.snapshot().expect("readable"));
                let expected = dump(&book);
                kept.push((Arc::clone(&snapshot), expected.clone()));
                let jobs = book.jobs().expect("readable");
                scope.spawn(move || {
                    assert_eq!(dump(&snapshot), expected);
                    assert_eq!(snapshot.jobs().expect("readable"), jobs);
                    assert_clean(&snapshot);
                });
                if steps % (3 * STEPS) == 0 {
                    book.syncer().sync().expect("room");
                }
            }
        });
        assert!(kept.len() > 10);
        assert_clean(&book);
        let pruning = Pruning {
            max_ply: Some(2),
            ..Pruning::default()
        };
        let (book, report) = book.prune(&pruning, &options).expect("room");
        assert!(report.removed > 0, "{report:?}");
        book.close().expect("room");
        drop(folder);
        for (snapshot, expected) in &kept {
            assert_eq!(&dump(snapshot), expected, "the folder is gone");
            assert_eq!(snapshot.len(), expected.len() as u64);
        }
    }
}

#[test]
fn snapshot_names_the_end_of_its_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut book, _) = Book::open(folder.path(), &OPTIONS).expect("opens");
    let job = book
        .create_job(&job_spec("test", &["d4"], 5))
        .expect("a job");
    step(&mut book, job);
    let snapshot = book.snapshot().expect("readable");
    let (end, digest) = (book.sequence(), book.digest());
    while step(&mut book, job) {}
    assert!(book.sequence() > end);
    assert_eq!((snapshot.sequence(), snapshot.digest()), (end, digest));
    assert_eq!(snapshot.syncer().sync().expect("nothing is written"), end);
}
