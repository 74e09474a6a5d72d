//! A file that changes while it is open: a look-up finds the answer of the book that was opened, or
//! an error.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use kagetsu_compiled::{
    Compiled, CompiledError, Compiler, Derived, NamedBook, Overview, ReadAt, Stats,
};
use kagetsu_files::{FileError, Readers, replace_file};
use kagetsu_game::{Answer, Bound, Key, Move, Provenance, Score, Verdict};

/// Positions of a book: some lines of the directory.
const POSITIONS: u32 = 2_000;

fn key(number: u32) -> Key {
    let spread = u128::from(number.wrapping_mul(0x9e37_79b9));
    Key(u128::from(number) << 64 | spread)
}

fn value(number: u32, score: i32) -> Derived {
    Derived {
        score: Score::opinion(score),
        proof: None,
        best: Some(Move::new(number as u16 % 225)),
        depth: 8,
        is_open: false,
    }
}

/// Writes a book in which all positions have this score, in place of whatever has the name.
fn write_book(path: &Path, positions: u32, score: i32) {
    let _ = fs::remove_file(path);
    let mut compiler = Compiler::default();
    for number in 0..positions {
        let value = value(number, score);
        let m = value.best.expect("a move");
        let verdict = Verdict {
            score: value.score,
            bound: Bound::Exact,
            depth: 8,
            nodes: 0,
            line: vec![m],
            proof: None,
            by: Provenance {
                engine: "test".into(),
                day: 1,
            },
        };
        let answer: Answer = [(m, verdict)].into_iter().collect();
        compiler
            .add(key(number), &value, &answer)
            .expect("a game's move");
    }
    let stats = Stats {
        positions: positions.into(),
        ..Stats::default()
    };
    let overview = Overview::default();
    compiler.write(path, &stats, &overview, None).expect("room");
}

/// Writes bytes over a file as `cp` does.
fn copy_over(path: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).truncate(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .expect("room");
}

fn cut(path: &Path, length: u64) {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| file.set_len(length)).expect("room");
}

/// The changes of a file, by name.
type Change = fn(&Path, &[u8], &[u8]);
const CHANGES: [(&str, Change); 7] = [
    ("cut to nothing", |path, _, _| cut(path, 0)),
    ("cut in the middle", |path, book, _| {
        cut(path, book.len() as u64 / 2)
    }),
    ("cut by a byte", |path, book, _| {
        cut(path, book.len() as u64 - 1)
    }),
    ("another book copied over it", |path, _, other| {
        copy_over(path, other)
    }),
    (
        "half of another book copied over it",
        |path, book, other| {
            let half = book.len() / 2;
            copy_over(path, &[&other[..half], &book[half..]].concat());
        },
    ),
    ("zeros", |path, book, _| {
        copy_over(path, &vec![0; book.len()])
    }),
    ("another book under its name", |path, _, other| {
        replace_file(path, Readers::Usual, |file| file.write_all(other)).expect("room");
    }),
];

/// Looks up all positions. Each has the value that it had, or the file changed. Returns how many
/// had a value.
fn found(book: &Compiled, score: i32, change: &str) -> u32 {
    let mut found = 0;
    for number in 0..POSITIONS {
        match book.find(key(number)) {
            Ok(Some(position)) => {
                assert_eq!(position.value(), value(number, score), "{change}");
                assert_eq!(position.moves().flatten().count(), 1, "{change}");
                found += 1;
            }
            Ok(None) => panic!("{change}: position {number} is not in the book"),
            Err(CompiledError::Changed(_)) => {}
            Err(other) => panic!("{change}: {other}"),
        }
    }
    found
}

#[test]
fn changed_file_gives_its_answers_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("a.kbk"), folder.path().join("b.kbk"));
    // The other book has the same length, and other values.
    write_book(&other, POSITIONS, 63);
    let other = fs::read(&other).expect("it is there");
    for (name, change) in CHANGES {
        write_book(&path, POSITIONS, -30);
        let whole = fs::read(&path).expect("it is there");
        assert_eq!(whole.len(), other.len());
        let (used, fresh) = (Compiled::open(&path), Compiled::open(&path));
        let (used, fresh) = (used.expect("whole"), fresh.expect("whole"));
        assert_eq!(found(&used, -30, name), POSITIONS);
        change(&path, &whole, &other);
        assert_eq!(
            found(&used, -30, name),
            POSITIONS,
            "{name}: it was read before"
        );
        let found = found(&fresh, -30, name);
        let is_replaced = name.contains("under its name");
        assert_eq!(
            found == POSITIONS,
            is_replaced || name == "cut by a byte",
            "{name}: {found}"
        );
        let report = fresh.check(&mut |_| {});
        assert_eq!(report.is_clean(), found == POSITIONS, "{name}: {report:?}");
    }
}

#[test]
fn named_book_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("a.kbk"), folder.path().join("b.kbk"));
    write_book(&other, POSITIONS + 7, 63);
    let other = fs::read(&other).expect("it is there");
    for (name, change) in CHANGES {
        write_book(&path, POSITIONS, -30);
        let whole = fs::read(&path).expect("it is there");
        let book = NamedBook::open(&path).expect("whole");
        assert_eq!(found(&book.newest(), -30, name), POSITIONS);
        change(&path, &whole, &other);
        let is_whole = Compiled::open(&path).is_ok();
        let score = if is_whole { 63 } else { -30 };
        assert_eq!(found(&book.newest(), score, name), POSITIONS, "{name}");
        assert!(!is_whole || book.reopened() > 0, "{name}");
        // The end of the copy, or the next book.
        copy_over(&path, &other);
        assert_eq!(found(&book.newest(), 63, name), POSITIONS, "{name}");
    }
    fs::remove_file(&path).expect("it is there");
    let book = NamedBook::open(&path);
    assert!(
        matches!(book, Err(CompiledError::File(FileError::Io { .. }))),
        "{book:?}"
    );
}

#[test]
fn bytes_are_read_like_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.kbk");
    write_book(&path, POSITIONS, 12);
    let bytes = fs::read(&path).expect("it is there");
    assert!(bytes.read_at(&mut [0; 2], bytes.len() as u64 - 1).is_err());
    let book = Compiled::read(Box::new(bytes), Path::new("bytes")).expect("whole");
    assert_eq!(found(&book, 12, "bytes"), POSITIONS);
    assert!(book.check(&mut |_| {}).is_clean());
    File::create(&path).expect("room");
    let empty = Compiled::open(&path);
    assert!(
        matches!(empty, Err(CompiledError::NotCompiled(_))),
        "{empty:?}"
    );
}
