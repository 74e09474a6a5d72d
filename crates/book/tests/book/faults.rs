//! Faulty disks: a book keeps everything that was acknowledged, or reports the damage.

use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{
    Book, BookError, BookOptions, FileError, JobSpec, JournalError, Notice, OpenError, backup,
    repair,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::world::{
    OPTIONS, assert_clean, closed_book, copy_folder, dump, engine, job_spec, journal_file, step,
};

fn spec(target: u64) -> JobSpec {
    job_spec("test", &["d4"], target)
}

fn try_open(path: &Path) -> Result<(Book, Vec<Notice>), BookError> {
    Book::open(path, &OPTIONS)
}

fn whole_dump(path: &Path) -> Vec<String> {
    let (book, notices) = try_open(path).expect("opens");
    assert!(notices.is_empty(), "{notices:?}");
    dump(&book)
}

#[test]
fn journal_cut_anywhere_opens_with_its_beginning() {
    let whole = closed_book(12);
    let bytes = fs::read(journal_file(whole.path())).expect("it is there");
    let mut last = 0;
    for length in (0..bytes.len()).filter(|length| length % 23 == 0 || *length < 40) {
        let at = tempfile::tempdir().expect("a folder");
        fs::create_dir(at.path().join("journal")).expect("room");
        fs::write(journal_file(at.path()), &bytes[..length]).expect("room");
        match try_open(at.path()) {
            Ok((book, _)) => {
                assert!(book.sequence().0 >= last);
                last = book.sequence().0;
                assert_clean(&book);
            }
            Err(error) => assert!(length < 12, "{length}: {error}"),
        }
    }
    assert!(last > 10);
}

#[test]
fn journal_without_acknowledged_entries_is_refused() {
    let book = closed_book(12);
    let bytes = fs::read(journal_file(book.path())).expect("it is there");
    for lost in [1, 13, 200, bytes.len() - 12] {
        fs::write(journal_file(book.path()), &bytes[..bytes.len() - lost]).expect("room");
        let error = try_open(book.path())
            .map(drop)
            .expect_err("it is shorter than it was");
        assert!(
            matches!(error, BookError::Journal(JournalError::Short { .. })),
            "{error}"
        );
    }
}

/// A change of a journal's file, which has these entries between its header and its end.
type Change = fn(&mut Vec<Vec<u8>>);

/// Returns the frames of a journal's file, the header first.
fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (header, mut rest) = bytes.split_at(12);
    let mut frames = vec![header.to_vec()];
    while let Some(length) = rest.first_chunk() {
        let (frame, after) = rest.split_at(12 + u32::from_le_bytes(*length) as usize);
        frames.push(frame.to_vec());
        rest = after;
    }
    frames
}

#[test]
fn altered_entries_are_found_beside_a_whole_store() {
    let changes: [(&str, Change); 8] = [
        ("the last entry is gone", |all| all.truncate(all.len() - 1)),
        ("all entries are gone", |all| all.truncate(1)),
        ("the file is empty", Vec::clear),
        ("an entry in the middle is gone", |all| drop(all.remove(5))),
        ("the first entry is gone", |all| drop(all.remove(1))),
        ("two entries are swapped", |all| all.swap(4, 6)),
        ("an entry is zeros", |all| all[5].fill(0)),
        ("a bit is flipped", |all| all[5][13] ^= 1),
    ];
    let whole = closed_book(12);
    let bytes = fs::read(journal_file(whole.path())).expect("it is there");
    for (name, change) in changes {
        let copies = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let [one, two] = copies.each_ref().map(|copy| copy.path().join("book"));
        copy_folder(whole.path(), &one);
        let (open, _) = try_open(&one).expect("it is whole");
        let mut all = frames(&bytes);
        change(&mut all);
        fs::write(journal_file(&one), all.concat()).expect("room");
        let report = open.check(&mut |_| {}).expect("readable");
        assert_eq!(report.count, 1, "{name}: {report:?}");
        assert!(report.faults[0].contains("journal"), "{name}: {report:?}");
        drop(open);
        let refused = [
            try_open(&one).map(drop),
            Book::open_to_read(&one, &OPTIONS).map(drop),
            backup(&one, &two).map(drop),
        ];
        for refused in refused {
            let Err(BookError::Journal(error)) = &refused else {
                panic!("{name}: {refused:?}");
            };
            assert!(error.to_string().contains("backup"), "{name}: {error}");
        }
        let left = fs::read(journal_file(&one)).expect("it is there");
        assert!(
            left == all.concat() && one.join("store").exists(),
            "{name}: it is changed"
        );
    }
}

#[test]
fn lost_journal_is_named_with_the_way_out() {
    let lost = |path: &Path| {
        let options = BookOptions::creating();
        for error in [
            Book::open(path, &options).map(drop),
            kagetsu_book::repair(path, &options).map(drop),
        ] {
            let error = error.expect_err("nothing was searched that is still there");
            assert!(
                matches!(error, BookError::Journal(JournalError::Lost(_)))
                    && error.to_string().contains("restore"),
                "{error}"
            );
        }
    };
    let folder = closed_book(5);
    fs::remove_file(journal_file(folder.path())).expect("it is there");
    lost(folder.path());
    fs::remove_dir(folder.path().join("journal")).expect("it is empty");
    lost(folder.path());
    assert!(
        folder.path().join("store").exists(),
        "what is left is left alone"
    );
}

#[test]
fn journal_with_flipped_byte_is_refused_unchanged() {
    let book = closed_book(8);
    let whole = fs::read(journal_file(book.path())).expect("it is there");
    refuse_every_flip(book.path(), &whole);
    // The journal suffices without a manifest and a store.
    fs::remove_file(book.path().join("manifest")).expect("it is there");
    fs::remove_dir_all(book.path().join("store")).expect("it is there");
    refuse_every_flip(book.path(), &whole);
}

fn refuse_every_flip(folder: &Path, whole: &[u8]) {
    for at in 0..whole.len() {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << (at % 8);
        fs::write(journal_file(folder), &bytes).expect("room");
        assert!(try_open(folder).is_err(), "byte {at} of {}", whole.len());
        assert_eq!(
            fs::read(journal_file(folder)).expect("it is there"),
            bytes,
            "byte {at}"
        );
    }
}

#[test]
fn a_newer_journal_is_refused() {
    let book = closed_book(2);
    let whole = fs::read(journal_file(book.path())).expect("it is there");
    let mut bytes = whole.clone();
    bytes[8] = 2;
    // Its first entry has another checksum.
    bytes[16] ^= 1;
    for bytes in [&bytes[..], &bytes[..12]] {
        fs::write(journal_file(book.path()), bytes).expect("room");
        let error = try_open(book.path())
            .map(drop)
            .expect_err("an unknown format");
        assert!(
            matches!(
                error,
                BookError::File(FileError::Newer {
                    found: 2,
                    known: 1,
                    ..
                })
            ),
            "{error}"
        );
        repair(book.path(), &BookOptions::default())
            .map(drop)
            .expect_err("an unknown format");
        assert_eq!(
            fs::read(journal_file(book.path())).expect("it is there"),
            bytes,
            "it is left alone"
        );
    }
}

#[test]
fn damaged_journal_header_is_repaired_without_loss() {
    let book = closed_book(3);
    let before = whole_dump(book.path());
    let whole = fs::read(journal_file(book.path())).expect("it is there");
    for bit in 0..12 * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(journal_file(book.path()), bytes).expect("room");
        let error = try_open(book.path()).map(drop).expect_err("it is damaged");
        assert!(
            matches!(error, BookError::Journal(JournalError::Damaged { .. })),
            "bit {bit}: {error}"
        );
        let (mended, report) =
            repair(book.path(), &BookOptions::default()).expect("every entry is whole");
        assert!(report.is_whole(), "bit {bit}: {report:?}");
        assert_eq!(dump(&mended), before, "bit {bit}");
        mended.close().expect("room");
        fs::remove_file(book.path().join("journal/000001.damaged"))
            .expect("the damaged one was kept");
    }
}

#[test]
fn trailing_zeros_are_an_unwritten_end() {
    let folder = closed_book(5);
    let before = whole_dump(folder.path());
    let mut bytes = fs::read(journal_file(folder.path())).expect("it is there");
    bytes.extend([0; 5_000]);
    fs::write(journal_file(folder.path()), bytes).expect("room");
    let (book, notices) = try_open(folder.path()).expect("opens");
    assert_eq!(notices, [Notice::Torn(5_000)]);
    assert_eq!(dump(&book), before);
}

/// Changes a file of the store, and opens the book.
fn damage(folder: &Path, file: &Path, change: impl FnOnce(&mut Vec<u8>), before: &[String]) {
    let mut bytes = fs::read(file).expect("it is there");
    change(&mut bytes);
    fs::write(file, bytes).expect("room");
    let (book, _) = try_open(folder).expect("the journal is whole");
    assert_eq!(dump(&book), before);
    assert_clean(&book);
    book.close().expect("room");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it is there").path())
    {
        if entry.is_dir() {
            found.extend(files(&entry))
        } else {
            found.push(entry)
        }
    }
    found.sort();
    found
}

#[test]
fn damaged_store_or_manifest_loses_nothing() {
    let whole = closed_book(20);
    let before = whole_dump(whole.path());
    let chance = &mut StdRng::seed_from_u64(7);
    for round in 0..40 {
        let scratch = tempfile::tempdir().expect("a folder");
        copy_folder(whole.path(), scratch.path());
        let mut targets = files(&scratch.path().join("store"));
        targets.push(scratch.path().join("manifest"));
        let file = &targets[round % targets.len()];
        let used: Vec<usize> = {
            let bytes = fs::read(file).expect("it is there");
            (0..bytes.len()).filter(|at| bytes[*at] != 0).collect()
        };
        let at = if used.is_empty() {
            0
        } else {
            used[chance.random_range(0..used.len())]
        };
        let flip = |bytes: &mut Vec<u8>| {
            bytes
                .get_mut(at)
                .map_or((), |byte| *byte ^= 1 << (round % 8))
        };
        let cut = |bytes: &mut Vec<u8>| bytes.truncate(at);
        if round % 3 == 2 {
            damage(scratch.path(), file, cut, &before);
        } else {
            damage(scratch.path(), file, flip, &before);
        }
    }
}

/// Flips a bit of every byte of these files that is not zero, one after the other. Returns how
/// often the book was refused, and how often it opened with its old content.
fn flip_every_byte(whole: &Path, is_meant: impl Fn(&Path) -> bool) -> (usize, usize) {
    let (before, mut counts) = (whole_dump(whole), (0, 0));
    for file in files(whole).into_iter().filter(|file| is_meant(file)) {
        let bytes = fs::read(&file).expect("it is there");
        for at in (0..bytes.len()).filter(|at| bytes[*at] != 0) {
            let scratch = tempfile::tempdir().expect("a folder");
            copy_folder(whole, scratch.path());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(
                scratch
                    .path()
                    .join(file.strip_prefix(whole).expect("in it")),
                flipped,
            )
            .expect("room");
            match try_open(scratch.path()) {
                Ok((book, _)) => {
                    assert_eq!(dump(&book), before, "byte {at} of {}", file.display());
                    assert_clean(&book);
                    counts.1 += 1;
                }
                Err(
                    BookError::Journal(JournalError::Damaged { .. })
                    | BookError::Journal(JournalError::Short { .. })
                    | BookError::File(FileError::Newer { .. }),
                ) => counts.0 += 1,
                Err(error) => panic!("byte {at} of {}: {error}", file.display()),
            }
        }
    }
    counts
}

#[test]
fn a_manifest_with_any_byte_flipped_loses_nothing() {
    let whole = closed_book(5);
    let (refused, opened) = flip_every_byte(whole.path(), |file| file.ends_with("manifest"));
    assert!(refused == 0 && opened > 10, "{refused} {opened}");
}

#[test]
#[ignore = "minutes"]
fn every_byte_of_a_small_book_is_flipped_in_turn() {
    let whole = closed_book(5);
    let (refused, opened) = flip_every_byte(whole.path(), |file| !file.ends_with("lock"));
    println!("{refused} times refused, {opened} times opened with all that it had");
    assert!(refused > 500 && opened > 1_000, "{refused} {opened}");
}

#[test]
fn kill_loses_no_acknowledged_entry() {
    let chance = &mut StdRng::seed_from_u64(11);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut book, _) = try_open(folder.path()).expect("opens");
    let job = book.create_job(&spec(80)).expect("a job");
    let (mut acknowledged, mut durable) = (
        book.syncer().sync().expect("room"),
        fs::read(journal_file(folder.path())),
    );
    while step(&mut book, job) {
        if chance.random_bool(0.2) {
            acknowledged = book.syncer().sync().expect("room");
            durable = fs::read(journal_file(folder.path()));
        }
        if chance.random_bool(0.3) {
            let left = tempfile::tempdir().expect("a folder");
            copy_folder(folder.path(), left.path());
            // Any part of the entries that were not synced may be there.
            let bytes = fs::read(journal_file(left.path())).expect("it is there");
            let least = durable.as_ref().expect("it is there").len();
            let kept = chance.random_range(least..=bytes.len());
            fs::write(journal_file(left.path()), &bytes[..kept]).expect("room");
            let (killed, _) = try_open(left.path()).expect("opens");
            assert!(killed.sequence() >= acknowledged && killed.sequence() <= book.sequence());
            assert_clean(&killed);
        }
    }
}

#[test]
fn other_files_do_not_become_a_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = BookOptions::default();
    let missing = folder.path().join("missing");
    assert!(matches!(
        Book::open(&missing, &there),
        Err(BookError::Open(OpenError::Missing(_)))
    ));
    assert!(!missing.exists());
    fs::write(folder.path().join("letter.txt"), "Dear Kou").expect("room");
    assert!(matches!(
        Book::open(folder.path(), &there),
        Err(BookError::Open(OpenError::NotABook(_)))
    ));
    assert!(matches!(
        try_open(folder.path()),
        Err(BookError::Open(OpenError::NotABook(_)))
    ));
    assert_eq!(files(folder.path()).len(), 1, "nothing was added");
}

#[test]
fn half_made_book_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("journal.new")).expect("room");
    fs::write(folder.path().join("journal.new/000001.journal"), "kage").expect("room");
    let (book, notices) = try_open(folder.path()).expect("opens");
    assert!(book.is_empty() && notices.is_empty());
}

#[test]
fn open_book_names_its_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_book, _) = try_open(folder.path()).expect("opens");
    let error = try_open(folder.path())
        .map(drop)
        .expect_err("it is held")
        .to_string();
    assert!(error.contains(&std::process::id().to_string()), "{error}");
}

#[test]
fn short_look_up_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(try_open(folder.path()).expect("opens"));
    std::thread::scope(|scope| {
        let look = || try_open(folder.path()).map(drop);
        let looking: Vec<_> = (0..10).map(|_| scope.spawn(look)).collect();
        looking.into_iter().for_each(|one| {
            one.join()
                .expect("no panic")
                .expect("it is free in a moment")
        });
    });
}

/// Names the folder in which [`this_process_fills_its_disk`] grows a book.
const FOLDER: &str = "KAGETSU_TEST_FULL_DISK";

/// Runs in a process whose files have a size limit, and prints how much was acknowledged when it
/// was reached.
#[test]
fn this_process_fills_its_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let (mut book, _) = try_open(Path::new(&folder)).expect("opens");
    let job = book.create_job(&spec(u64::MAX)).expect("a job");
    let mut acknowledged = book.syncer().sync().expect("room");
    let refused = loop {
        let works = book.next_work(job, 1).expect("readable");
        let Some(work) = works.first() else {
            panic!("the game is over before the disk is full")
        };
        match book
            .finish(work, &engine::answer(&work.question))
            .and_then(|_| Ok(book.syncer().sync()?))
        {
            Ok(sequence) => acknowledged = sequence,
            Err(error) => break error,
        }
    };
    fs::write(
        Path::new(&folder).join("../acknowledged"),
        format!("{} {refused}", acknowledged.0),
    )
    .expect("a small file");
}

#[cfg(unix)]
#[test]
fn full_disk_loses_no_acknowledged_entry() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("book");
    let test = std::env::current_exe().expect("this program");
    // Blocks of 512 or 1,024 bytes; without the signal a write says that there is no room.
    let limited =
        "trap '' XFSZ; ulimit -f 600; exec \"$0\" --exact faults::this_process_fills_its_disk";
    let run = std::process::Command::new("sh")
        .arg("-c")
        .arg(limited)
        .arg(test)
        .env(FOLDER, &folder)
        .output();
    let run = run.expect("a shell");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
    let text =
        fs::read_to_string(scratch.path().join("acknowledged")).expect("it says how far it came");
    let (acknowledged, _) = text.split_once(' ').expect("a number and a reason");
    let acknowledged: u64 = acknowledged.parse().expect("a number");
    let (book, _) = try_open(&folder).expect("opens");
    assert!(
        acknowledged > 10 && book.sequence().0 >= acknowledged,
        "{text}, found {:?}",
        book.sequence()
    );
    assert_clean(&book);
}
