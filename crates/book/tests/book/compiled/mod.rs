//! Compiled books answer as their source does, or report damage.

use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{Book, BookError, BookOptions, Choice, Compilation, Derived, Entry, FileError};
use kagetsu_compiled::{Annotation, AnnotationKind, Compiled, CompiledError, Extras};
use kagetsu_game::{Answer, Bound, Effort, Move, Packed, Position, Variant, Verdict};
use tempfile::TempDir;

use crate::world::{engine, job_spec, step};

/// Returns a book of this many positions and its compiled file.
fn compiled(positions: u64) -> (TempDir, Book, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions::creating();
    let (mut book, _) = Book::open(&folder.path().join("book"), &options).expect("opens");
    // In the second one there is a four.
    let roots = ["d4", "c4 a1 d4 a7 e4 g1 f4 g7"];
    let job = book.create_job(&job_spec("test", &roots, positions));
    let job = job.expect("a job");
    while step(&mut book, job) {}
    let path = folder.path().join("book.kbk");
    let report = book
        .compile(&path, Compilation::default(), &mut |_| {})
        .expect("room");
    assert_eq!(
        (report.positions, report.bytes),
        (book.len(), fs::metadata(&path).expect("it is there").len())
    );
    (folder, book, path)
}

fn entries(book: &Book) -> Vec<Entry> {
    book.positions()
        .map(|entry| entry.expect("readable"))
        .collect()
}

#[test]
fn compiled_book_answers_like_its_book() {
    let (_folder, book, path) = compiled(120);
    let compiled = Compiled::open(&path).expect("just written");
    assert_eq!(
        (compiled.len(), compiled.stats()),
        (book.len(), &book.grades().expect("readable").stats)
    );
    let report = compiled.check(&mut |_| {});
    assert!(
        report.is_clean() && report.positions == book.len(),
        "{report:#?}"
    );
    let mut proven = 0;
    for entry in entries(&book) {
        for position in images(&entry.position) {
            let entry = book
                .lookup(&position)
                .expect("readable")
                .expect("it holds it");
            let (answer, value) = compiled
                .lookup(&position)
                .expect("whole")
                .expect("it holds it");
            assert_eq!(value, entry.derived, "{position}");
            proven += u64::from(value.proof.is_some());
            let choice = Choice::default();
            let chosen = |choice: Option<&(Move, Verdict)>| {
                choice.map(|(m, v)| (*m, v.score, v.bound, v.depth, v.proof))
            };
            assert_eq!(
                chosen(choice.pick(&answer)),
                chosen(choice.pick(&entry.answer)),
                "{position}"
            );
            let known = |v: &Verdict| v.bound != Bound::Upper;
            let known: Vec<_> = entry
                .answer
                .verdicts()
                .iter()
                .filter(|(_, v)| known(v))
                .collect();
            // A position holds twelve moves; which of several equal ones comes last does not
            // matter.
            let last = known.get(11).map(|(_, v)| v.score);
            for (m, verdict) in known
                .into_iter()
                .filter(|(_, v)| last.is_none_or(|last| v.score > last))
            {
                let found = answer.get(*m).expect("one of the best");
                let values = |v: &Verdict| (v.score, v.bound, v.depth, v.proof);
                assert_eq!(values(found), values(verdict), "{position}");
            }
        }
    }
    assert!(proven > 0, "no proof was ever looked up");
    let other =
        Position::from_line("freestyle-7".parse().expect("a variant"), "a1 g7 a2").expect("legal");
    assert_eq!(compiled.lookup(&other).expect("whole"), None);
}

/// Returns the images of a position of the book: the packed form, which is canonical, and the moves
/// of its images.
fn images(position: &Position) -> Vec<Position> {
    let variant = position.variant();
    let text = position.draw();
    let mut found = vec![position.clone()];
    // A mirrored board: rows from the last to the first.
    let rows: Vec<&str> = text
        .lines()
        .filter(|row| row.contains(['.', 'X', 'O']))
        .collect();
    let mirrored: Vec<&str> = rows.into_iter().rev().collect();
    found.extend(Position::from_board(
        variant,
        &mirrored.join("\n"),
        Some(position.side()),
    ));
    found
}

/// Whether a damaged file is refused or all its answers are right, and `check` finds the damage.
fn is_refused_or_right(path: &Path, entries: &[Entry], right: &[String]) -> bool {
    let Ok(compiled) = Compiled::open(path) else {
        return true;
    };
    for (entry, right) in entries.iter().zip(right) {
        match compiled.lookup(&entry.position) {
            Ok(found) if format!("{found:?}") != *right => return false,
            _ => {}
        }
    }
    !compiled.check(&mut |_| {}).is_clean()
}

/// Returns the entries of these positions in a file.
fn entry_texts(path: &Path, entries: &[Entry]) -> Vec<String> {
    let compiled = Compiled::open(path).expect("whole");
    let found = |entry: &Entry| format!("{:?}", compiled.lookup(&entry.position).expect("whole"));
    entries.iter().map(found).collect()
}

#[test]
fn a_flipped_byte_is_found_and_never_a_wrong_answer() {
    let (folder, book, path) = compiled(20);
    let (entries, damaged) = (entries(&book), folder.path().join("damaged.kbk"));
    let whole = fs::read(&path).expect("it is there");
    let right = entry_texts(&path, &entries);
    for at in 0..whole.len() {
        for bit in [at % 8, (at + 5) % 8] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&damaged, &bytes).expect("room");
            assert!(
                is_refused_or_right(&damaged, &entries, &right),
                "byte {at}, bit {bit}"
            );
        }
    }
    for length in 0..whole.len() {
        fs::write(&damaged, &whole[..length]).expect("room");
        assert!(Compiled::open(&damaged).is_err(), "{length} bytes");
    }
    fs::write(&damaged, [&whole[..], &[0]].concat()).expect("room");
    assert!(Compiled::open(&damaged).is_err());
}

/// Returns the value of a position and of its moves, in a line.
fn line(packed: &Packed, (answer, value): &(Answer, Derived)) -> String {
    let packed: String = packed.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let of_move = |(m, v): &(Move, Verdict)| {
        let proof = v.proof.map_or(String::new(), |proof| {
            format!(" {:?} {:?}", proof.claim, proof.kind)
        });
        format!(
            "; {} {:?} {} {}{proof}",
            m.code(),
            v.bound,
            v.score.raw(),
            v.depth
        )
    };
    let moves: String = answer.verdicts().iter().map(of_move).collect();
    let best = value.best.map(Move::code);
    format!(
        "{packed} {} {best:?} {} {}{moves}",
        value.score.raw(),
        value.depth,
        value.is_open
    )
}

#[test]
fn golden_files_of_all_versions_are_still_read() {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    let older = golden_file_is_read("version-2");
    assert!(older.overview().variants.is_empty());
    let newer = golden_file_is_read("version-3");
    let held = newer.overview().variant(variant).expect("its variant");
    let roots: Vec<_> = held
        .roots
        .iter()
        .map(|root| root.position.to_string())
        .collect();
    let lines = ["freestyle-7 d4", "freestyle-7 c4 a1 d4 a7 e4 g1 f4 g7"];
    assert_eq!((held.positions, held.all_roots), (20, 2));
    assert_eq!(roots, lines);
}

/// Compares a golden file with the lines beside it.
fn golden_file_is_read(name: &str) -> Compiled {
    let folder = Path::new("tests/book/compiled");
    let compiled = Compiled::open(&folder.join(format!("{name}.kbk"))).expect("whole");
    let lines = fs::read_to_string(folder.join(format!("{name}.txt"))).expect("it is there");
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    for right in lines.lines() {
        let packed = right
            .split(' ')
            .next()
            .expect("a position")
            .as_bytes()
            .chunks(2);
        let byte = |two: &[u8]| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok();
        let packed = Packed(
            packed
                .map(byte)
                .collect::<Option<_>>()
                .expect("hexadecimal"),
        );
        let position = Position::unpack(variant, packed.clone()).expect("a position");
        assert_eq!(
            line(
                &packed,
                &compiled
                    .lookup(&position)
                    .expect("whole")
                    .expect("it holds it")
            ),
            right
        );
    }
    assert_eq!(
        (
            compiled.len(),
            compiled.stats().positions,
            lines.lines().count()
        ),
        (20, 20, 20)
    );
    assert!(compiled.check(&mut |_| {}).is_clean());
    let other =
        Position::from_line("freestyle-7".parse().expect("a variant"), "a1 g7 a2").expect("legal");
    assert_eq!(compiled.lookup(&other).expect("whole"), None);
    compiled
}

#[test]
fn overview_is_that_of_the_folder() {
    let (_folder, book, path) = compiled(60);
    let compiled = Compiled::open(&path).expect("just written");
    let overview = book.overview().expect("readable");
    assert_eq!(compiled.overview(), &overview);
    let held = &overview.variants[0];
    assert_eq!((overview.variants.len(), held.positions), (1, 60));
    // The second root ends at once by a four; nearly all positions follow from the first.
    let behind: u64 = held.roots.iter().map(|root| root.positions).sum();
    assert!(behind >= 60 && held.roots[0].positions > 50, "{held:?}");
    assert!(held.roots.iter().all(|root| !root.is_more));
}

#[test]
fn block_checksum_is_checked_at_first_look() {
    // A file of several lines: a byte is wrong in one of them, and the others answer.
    let (folder, book, path) = compiled(700);
    let (whole, entries) = (fs::read(&path).expect("it is there"), entries(&book));
    let right = entry_texts(&path, &entries);
    let damaged = folder.path().join("damaged.kbk");
    for part in [2, 3, 5] {
        let mut bytes = whole.clone();
        bytes[whole.len() * part / 6] ^= 0x10;
        fs::write(&damaged, &bytes).expect("room");
        let compiled = Compiled::open(&damaged).expect("what is read at once is whole");
        let (mut refused, mut answered) = (0, 0);
        for _ in 0..2 {
            for (entry, right) in entries.iter().zip(&right) {
                match compiled.lookup(&entry.position) {
                    Ok(found) => assert_eq!(format!("{found:?}"), *right),
                    Err(_) => refused += 1,
                }
                answered += 1;
            }
        }
        assert!(
            refused > 0 && refused < answered && !compiled.check(&mut |_| {}).is_clean(),
            "{refused} of {answered}"
        );
    }
}

#[test]
fn foreign_files_are_refused_and_left_alone() {
    let (folder, book, path) = compiled(3);
    let letter = folder.path().join("letter.txt");
    fs::write(&letter, "Dear Kou").expect("room");
    assert!(matches!(
        Compiled::open(&letter),
        Err(CompiledError::NotCompiled(_))
    ));
    assert!(matches!(
        book.compile(&letter, Compilation::default(), &mut |_| {}),
        Err(BookError::Compiled(CompiledError::Taken(_)))
    ));
    assert_eq!(fs::read(&letter).expect("it is there"), b"Dear Kou");
    assert!(matches!(
        book.compile(book.path(), Compilation::default(), &mut |_| {}),
        Err(BookError::Compiled(CompiledError::Taken(_)))
    ));
    let mut newer = fs::read(&path).expect("it is there");
    newer[8] = 4;
    fs::write(&letter, newer).expect("room");
    assert!(matches!(
        Compiled::open(&letter),
        Err(CompiledError::File(FileError::Newer {
            found: 4,
            known: 3,
            ..
        }))
    ));
    assert!(matches!(
        Compiled::open(&folder.path().join("missing.kbk")),
        Err(CompiledError::File(FileError::Io { .. }))
    ));
}

#[test]
fn open_file_survives_a_new_compilation() {
    let (folder, mut book, path) = compiled(10);
    let before = Compiled::open(&path).expect("just written");
    let root = Position::from_line("freestyle-5".parse().expect("a variant"), "c3").expect("legal");
    book.learn(
        &root,
        &engine::answer(&kagetsu_game::Question::new(root.clone(), Effort::depth(1))),
    )
    .expect("room");
    book.compile(&path, Compilation::default(), &mut |_| {})
        .expect("room");
    let after = Compiled::open(&path).expect("just written");
    assert_eq!((before.len(), after.len()), (10, 11));
    assert!(
        before.lookup(&root).expect("whole").is_none()
            && after.lookup(&root).expect("whole").is_some()
    );
    drop((before, after));
    let again = fs::read(&path).expect("it is there");
    book.compile(&path, Compilation::default(), &mut |_| {})
        .expect("room");
    assert_eq!(
        fs::read(&path).expect("it is there"),
        again,
        "the same book gives other bytes"
    );
    let names = fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(names, 2, "something was left behind");
}

#[test]
fn an_empty_book_compiles_to_an_empty_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions::creating();
    let (book, _) = Book::open(&folder.path().join("book"), &options).expect("opens");
    let path = folder.path().join("empty.kbk");
    book.compile(&path, Compilation::default(), &mut |_| {})
        .expect("room");
    let compiled = Compiled::open(&path).expect("just written");
    assert!(compiled.is_empty() && compiled.check(&mut |_| {}).is_clean());
    let root = Position::start("renju-15".parse().expect("a variant"));
    assert_eq!(compiled.lookup(&root).expect("whole"), None);
}

#[test]
fn small_books_keep_whole_ways_in_the_bytes_allowed() {
    let (folder, book, plain) = compiled(200);
    let whole = Compiled::open(&plain).expect("just written");
    let path = folder.path().join("small.kbk");
    let compile = |max_bytes| {
        let compilation = Compilation {
            max_bytes: Some(max_bytes),
            ..Compilation::default()
        };
        book.compile(&path, compilation, &mut |_| {})
    };
    let mut before = 0;
    for share in [3, 5, 8, 10] {
        let max_bytes = whole.bytes() * share / 10;
        let report = compile(max_bytes).expect("room");
        assert!(report.bytes <= max_bytes, "{report:?}");
        assert!(report.positions > before, "{report:?} after {before}");
        before = report.positions;
        let small = Compiled::open(&path).expect("just written");
        assert!(small.check(&mut |_| {}).is_clean());
        assert_eq!(small.stats().positions, report.positions);
        let [held] = &small.overview().variants[..] else {
            panic!("one variant: {:?}", small.overview());
        };
        assert_eq!(held.positions, report.positions);
        let roots = &held.roots;
        let behind = roots.iter().map(|root| root.positions).max();
        assert!(behind <= Some(report.positions), "{roots:?}");
        let mut found = 0;
        for entry in book.positions() {
            let position = entry.expect("readable").position;
            let kept = small.lookup(&position).expect("whole");
            found += u64::from(kept.is_some());
            assert!(kept.is_none() || kept == whole.lookup(&position).expect("whole"));
        }
        assert_eq!(found, report.positions);
    }
    assert_eq!(before, book.len());
    fs::remove_file(&path).expect("it is there");
    let error = compile(50).expect_err("a header is larger");
    assert!(error.to_string().contains("allow more bytes"), "{error}");
    assert!(!path.exists());
}

#[test]
fn words_and_games_are_compiled_on_request() {
    let (folder, book, plain) = compiled(20);
    let path = folder.path().join("words.kbk");
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
    let (key, symmetry) = position.key_and_symmetry();
    let note = Annotation {
        at: Some(position.parse_move("h9").expect("legal")),
        kind: AnnotationKind::Avoid,
        text: "weak".into(),
        author: "Ann".into(),
        source: String::new(),
        day: 20_000,
    };
    let canonical = note.clone().turned(position.variant(), symmetry);
    let extras = Extras {
        annotations: [(key.0, vec![canonical])].into(),
        games: [(key.0, vec![(7, [1, 2, 3, 4])])].into(),
    };
    let compilation = Compilation {
        extras,
        ..Compilation::default()
    };
    book.compile(&path, compilation, &mut |_| {}).expect("room");
    let (with, without) = (Compiled::open(&path), Compiled::open(&plain));
    let (with, without) = (with.expect("whole"), without.expect("whole"));
    assert_eq!((with.len(), with.stats()), (without.len(), without.stats()));
    assert_eq!(with.annotations(&position), [note]);
    assert_eq!(with.games(&position), [(7, [1, 2, 3, 4])]);
    assert!(without.annotations(&position).is_empty() && without.games(&position).is_empty());
    // The values have the same bytes.
    let [with, without] = [&path, &plain].map(|path| fs::read(path).expect("written"));
    assert_eq!(with[64..without.len()], without[64..]);
}

#[test]
fn delta_makes_the_newer_book_of_the_older() {
    let (folder, mut book, old_path) = compiled(60);
    let old = Compiled::open(&old_path).expect("just written");
    let job = book.job_named("test").expect("made");
    book.change_job(job, kagetsu_book::JobChange::Target(70))
        .expect("room");
    book.change_job(job, kagetsu_book::JobChange::Resume)
        .expect("room");
    while let Some(work) = book.next_work(job, 1).expect("readable").first() {
        book.finish(work, &engine::answer(&work.question))
            .expect("room");
    }
    assert_eq!(book.len(), 70);
    let at = |name: &str| folder.path().join(name);
    let compilation = Compilation {
        base: Some(&old),
        ..Compilation::default()
    };
    book.compile(&at("new.kbk"), compilation, &mut |_| {})
        .expect("room");
    let new = Compiled::open(&at("new.kbk")).expect("just written");
    let report = kagetsu_compiled::write_delta(&old, &new, &at("delta")).expect("room");
    assert!(
        report.changed > 0 && report.bytes < new.bytes(),
        "{report:?}"
    );

    kagetsu_compiled::apply_delta(&old, &at("delta"), &at("made.kbk")).expect("it belongs to it");
    let bytes = |name: &str| fs::read(at(name)).expect("written");
    assert_eq!(bytes("made.kbk"), bytes("new.kbk"));
    for entry in entries(&book) {
        let found = new.lookup(&entry.position).expect("readable");
        assert_eq!(found.expect("there").1, entry.derived);
    }

    // A book of another shape takes all buckets along.
    let (_other_folder, _other, other_path) = compiled(400);
    let other = Compiled::open(&other_path).expect("just written");
    kagetsu_compiled::write_delta(&old, &other, &at("other-delta")).expect("room");
    kagetsu_compiled::apply_delta(&old, &at("other-delta"), &at("other.kbk"))
        .expect("it belongs to it");
    assert_eq!(bytes("other.kbk"), fs::read(&other_path).expect("written"));

    // Every damaged or foreign delta is refused, and writes nothing.
    let whole = bytes("delta");
    let step = (whole.len() / 40).max(1);
    let damaged = (0..whole.len()).step_by(step).flat_map(|place| {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        [changed, whole[..place].to_vec()]
    });
    for bytes in damaged {
        fs::write(at("damaged"), bytes).expect("room");
        let applied = kagetsu_compiled::apply_delta(&old, &at("damaged"), &at("never.kbk"));
        assert!(
            matches!(applied, Err(CompiledError::Delta { .. })),
            "{applied:?}"
        );
    }
    let foreign = kagetsu_compiled::apply_delta(&other, &at("delta"), &at("never.kbk"));
    assert!(
        matches!(foreign, Err(CompiledError::Delta { .. })),
        "{foreign:?}"
    );
    assert!(!at("never.kbk").exists());
}
