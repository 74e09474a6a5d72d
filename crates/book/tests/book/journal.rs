//! The journal of a book: a store belongs to one journal, and a journal may be kept elsewhere.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use kagetsu_book::{
    Book, BookError, BuildSpec, JobSpec, Journal, JournalDigest, JournalError, JournalSync, Notice,
    OpenError, Pruning, Sequence, backup,
};
use kagetsu_game::Position;
use tempfile::TempDir;

use crate::world::{OPTIONS, assert_clean, copy_folder, dump, step, variant};

fn spec(root: &str, positions: u64) -> JobSpec {
    let variant = variant();
    JobSpec {
        name: "test".into(),
        variant,
        roots: [Position::from_line(variant, root).expect("legal")].into(),
        exclude: [].into(),
        build: BuildSpec {
            depth: Some(3),
            positions: Some(positions),
            ..BuildSpec::default()
        },
    }
}

fn grow(book: &mut Book, root: &str, positions: u64) {
    let job = book.create_job(&spec(root, positions)).expect("a job");
    while step(book, job) {}
}

fn closed_book(root: &str, positions: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut book, _) = Book::open(folder.path(), &OPTIONS).expect("opens");
    grow(&mut book, root, positions);
    book.close().expect("room");
    folder
}

fn opened(folder: &Path) -> (Vec<String>, Vec<Notice>) {
    let (book, notices) = Book::open(folder, &OPTIONS).expect("opens");
    assert_clean(&book);
    (dump(&book), notices)
}

fn replace_store(of: &Path, by: &Path) {
    fs::remove_dir_all(of.join("store")).expect("it is there");
    copy_folder(&by.join("store"), &of.join("store"));
}

#[track_caller]
fn assert_rebuilt(notices: &[Notice]) {
    let is_so = |notice: &Notice| notice.to_string().contains("belonged to another journal");
    assert!(notices.iter().any(is_so), "{notices:?}");
}

#[test]
fn store_of_another_book_is_rebuilt() {
    let (one, shorter) = (closed_book("d4", 30), closed_book("a1", 20));
    let (before, notices) = opened(one.path());
    assert!(notices.is_empty(), "{notices:?}");
    replace_store(one.path(), shorter.path());
    let (now, notices) = opened(one.path());
    assert_rebuilt(&notices);
    assert_eq!(now, before);
    assert!(opened(one.path()).1.is_empty());
}

#[test]
fn backup_over_a_pruned_book_is_rebuilt() {
    let (one, copy) = (closed_book("d4", 40), TempDir::new().expect("a folder"));
    let (before, _) = opened(one.path());
    backup(one.path(), copy.path()).expect("room");
    let (book, _) = Book::open(one.path(), &OPTIONS).expect("opens");
    let pruning = Pruning {
        max_ply: Some(1),
        ..Pruning::default()
    };
    let (book, report) = book.prune(&pruning, &OPTIONS).expect("room");
    assert!(report.removed > 0, "{report:?}");
    book.close().expect("room");
    for file in ["journal/000001.journal", "manifest"] {
        fs::copy(copy.path().join(file), one.path().join(file)).expect("room");
    }
    let (now, notices) = opened(one.path());
    assert_rebuilt(&notices);
    assert_eq!(now, before);
}

#[test]
fn book_with_another_store_is_compacted() {
    let (one, other) = (closed_book("d4", 30), closed_book("a1", 30));
    let (before, _) = opened(one.path());
    replace_store(one.path(), other.path());
    let (book, notices) = Book::open(one.path(), &OPTIONS).expect("opens");
    assert_rebuilt(&notices);
    let (book, _) = book.compact(&OPTIONS).expect("room");
    assert_eq!(dump(&book), before);
}

/// A journal in memory that several books share; the first that appends leads.
#[derive(Clone, Default)]
struct SharedJournal {
    log: Arc<Mutex<Vec<Box<[u8]>>>>,
    is_follower: bool,
}

impl JournalSync for SharedJournal {
    fn sync(&self) -> Result<Sequence, JournalError> {
        Ok(Sequence(self.entries()))
    }
}

impl Journal for SharedJournal {
    fn place(&self) -> String {
        "memory".into()
    }

    fn entries(&self) -> u64 {
        self.log.lock().expect("no panic").len() as u64
    }

    fn append(&mut self, entry: &[u8]) -> Result<Sequence, JournalError> {
        if self.is_follower {
            return Err(JournalError::NotLeader {
                book: "memory".into(),
                address: Some("http://leader:1".into()),
            });
        }
        self.log.lock().expect("no panic").push(entry.into());
        Ok(Sequence(self.entries()))
    }

    fn syncer(&self) -> Arc<dyn JournalSync> {
        Arc::new(self.clone())
    }

    fn read(&self, after: Sequence, max: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        let log = self.log.lock().expect("no panic");
        Ok(log
            .iter()
            .skip(after.0 as usize)
            .take(max)
            .cloned()
            .collect())
    }

    fn digest(&self, after: Sequence) -> Result<Option<JournalDigest>, JournalError> {
        let log = self.log.lock().expect("no panic");
        let first = log.get(..after.0 as usize);
        Ok(first.map(|first| {
            first
                .iter()
                .fold(JournalDigest::default(), |digest, entry| {
                    digest.after(entry)
                })
        }))
    }
}

#[test]
fn follower_has_the_book_of_its_leader() {
    let [one, other] = [(); 2].map(|()| TempDir::new().expect("a folder"));
    let journal = SharedJournal::default();
    let follower = SharedJournal {
        is_follower: true,
        ..journal.clone()
    };
    let open = |folder: &TempDir, journal: SharedJournal| {
        Book::open_journal(folder.path(), Box::new(journal), &OPTIONS)
            .expect("opens")
            .0
    };
    let mut leader = open(&one, journal.clone());
    let mut standby = open(&other, follower.clone());
    let job = leader.create_job(&spec("d4", 60)).expect("a job");
    let mut steps = 0;
    while step(&mut leader, job) {
        steps += 1;
        if steps % 7 == 0 {
            while standby.catch_up(3).expect("readable") > 0 {}
            assert_eq!(standby.digest(), leader.digest());
        }
    }
    while standby.catch_up(100).expect("readable") > 0 {}
    assert_eq!(dump(&standby), dump(&leader));
    assert_eq!(standby.jobs().expect("jobs"), leader.jobs().expect("jobs"));
    let refused = standby.create_job(&JobSpec {
        name: "another".into(),
        ..spec("a1", 5)
    });
    assert!(
        matches!(
            refused,
            Err(BookError::Journal(JournalError::NotLeader { .. }))
        ),
        "{refused:?}"
    );
    assert_eq!(dump(&standby), dump(&leader));
    standby.close().expect("room");
    // The cache of the follower serves a leader just as well.
    drop(leader);
    let mut leader = open(&other, journal);
    let job = leader
        .create_job(&JobSpec {
            name: "more".into(),
            ..spec("a1", 20)
        })
        .expect("a job");
    while step(&mut leader, job) {}
    assert!(leader.check(&mut |_| {}).expect("readable").is_clean());
    let refused = leader.compact(&OPTIONS).map(drop);
    assert!(matches!(
        refused,
        Err(BookError::Open(OpenError::NeedsFolder(_)))
    ));
}

#[test]
fn same_answers_make_the_same_journal_anywhere() {
    let [folder, cache] = [(); 2].map(|()| TempDir::new().expect("a folder"));
    let journal = SharedJournal::default();
    let (mut one, _) = Book::open(folder.path(), &OPTIONS).expect("opens");
    let (mut other, _) =
        Book::open_journal(cache.path(), Box::new(journal), &OPTIONS).expect("opens");
    grow(&mut one, "d4", 50);
    grow(&mut other, "d4", 50);
    assert_eq!(one.digest(), other.digest());
    assert_eq!(dump(&one), dump(&other));
}

#[test]
fn folder_of_a_book_is_no_cache() {
    let folder = closed_book("d4", 3);
    let refused = Book::open_journal(folder.path(), Box::<SharedJournal>::default(), &OPTIONS);
    assert!(matches!(
        refused.map(drop),
        Err(BookError::Open(OpenError::IsBook(_)))
    ));
}
