//! Care of a book: copies, removal of positions, and repair of a damaged journal.

mod pruning;

use std::collections::BTreeMap;
use std::fs;

use kagetsu_book::{Book, BookError, Entry, Grading, JobId, JobSpec, OpenError, backup, repair};
use kagetsu_game::{Effort, Key, Position, Question, Variant};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::world::{
    OPTIONS, assert_clean, copy_folder, engine, job_spec, journal_file, new_book, open, step,
    variant,
};

fn spec(name: &str, target: u64) -> JobSpec {
    job_spec(name, &["d4"], target)
}

fn grow(book: &mut Book, job: JobId, most: u64) {
    for _ in 0..most {
        step(book, job);
    }
}

fn grown(positions: u64) -> TempDir {
    let (folder, mut book) = new_book();
    let job = book.create_job(&spec("test", positions)).expect("a job");
    grow(&mut book, job, 2 * positions);
    book.close().expect("room");
    folder
}

fn copy_of(book: &TempDir) -> TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    copy_folder(book.path(), copy.path());
    copy
}

fn entries(book: &Book) -> BTreeMap<Key, Entry> {
    book.positions()
        .map(|entry| entry.expect("readable"))
        .map(|entry| (entry.position.key(), entry))
        .collect()
}

#[test]
fn backup_of_growing_book_copies_only_new_entries() {
    let (folder, place) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let to = place.path().join("copy");
    let mut book = open(folder.path());
    let job = book.create_job(&spec("test", 60)).expect("a job");
    let mut bytes = 0;
    for _ in 0..3 {
        grow(&mut book, job, 10);
        let acknowledged = book.syncer().sync().expect("room");
        let report = backup(folder.path(), &to).expect("room");
        assert!(report.entries >= acknowledged.0);
        assert_eq!(report.bytes - report.copied, bytes, "the rest was there");
        bytes = report.bytes;
        // The copy has no store yet.
        let (copy, _) = Book::open(&to, &OPTIONS).expect("opens");
        assert_clean(&copy);
        assert_eq!(entries(&copy), entries(&book));
        copy.close().expect("room");
    }
    // A book is no copy of itself under another name.
    let mut names = vec![folder.path().to_path_buf(), folder.path().join(".")];
    if cfg!(unix) {
        names.push(place.path().join("link"));
        kagetsu_files::link_file(folder.path(), &names[2]).expect("room");
    }
    for same in names {
        assert!(
            matches!(
                backup(folder.path(), &same),
                Err(BookError::Open(OpenError::Itself { .. }))
            ),
            "{same:?}"
        );
    }
    let file = place.path().join("file");
    fs::write(&file, "").expect("room");
    assert!(matches!(
        backup(folder.path(), &file),
        Err(BookError::Open(OpenError::IsFile(_)))
    ));
    assert!(matches!(
        backup(&file, &to),
        Err(BookError::Open(OpenError::IsFile(_)))
    ));
    assert!(matches!(
        Book::open(&file, &OPTIONS),
        Err(BookError::Open(OpenError::IsFile(_)))
    ));
    // An answer that the copy learned is not in the book.
    let mut copy = open(&to);
    let other = Position::from_line(variant(), "a1 b2").expect("legal");
    let question = kagetsu_game::Question::new(other.clone(), Effort::depth(3));
    copy.learn(&other, &engine::answer(&question))
        .expect("room");
    copy.close().expect("room");
    grow(&mut book, job, 5);
    assert!(matches!(
        backup(folder.path(), &to),
        Err(BookError::Open(OpenError::OtherBook { .. }))
    ));
    assert!(matches!(
        backup(&folder.path().join("none"), &to),
        Err(BookError::Open(OpenError::Missing(_)))
    ));
}

#[test]
fn cut_backup_is_continued() {
    let (book, place) = (grown(20), tempfile::tempdir().expect("a folder"));
    let whole = fs::read(journal_file(book.path())).expect("it is there");
    for cut in (12..whole.len()).step_by(97) {
        let to = place.path().join(cut.to_string());
        fs::create_dir_all(to.join("journal")).expect("room");
        fs::write(journal_file(&to), &whole[..cut]).expect("room");
        let report = backup(book.path(), &to).expect("room");
        assert_eq!(report.copied as usize, whole.len() - cut);
        assert_eq!(fs::read(journal_file(&to)).expect("it is there"), whole);
    }
}

#[test]
fn grades_count_present_and_missing() {
    let folder = grown(25);
    let book = open(folder.path());
    let grades = book.grades().expect("readable");
    let stats = &grades.stats;
    assert_eq!((stats.positions, stats.entries), (25, book.sequence().0));
    let counts: BTreeMap<u16, u64> = grades
        .by_stones
        .iter()
        .map(|(stones, grade)| (*stones, grade.positions))
        .collect();
    assert_eq!(counts, stats.by_stones);
    assert_eq!(
        grades
            .by_stones
            .values()
            .map(|grade| grade.depths)
            .sum::<u64>(),
        3 * 25
    );
    let facts: usize = entries(&book).values().map(|entry| entry.facts.len()).sum();
    assert_eq!(
        grades.engines,
        [("hash 1".to_string(), facts as u64)].into()
    );
    let (mut parts, mut grading) = (Vec::new(), Some(Grading::default()));
    while let Some(begun) = grading {
        let (part, next) = book.grade(begun, 7).expect("readable");
        parts.push(part.stats.positions);
        grading = next.map(|place| Grading::behind(&place).expect("a place"));
    }
    assert_eq!(parts, [7, 7, 7, 4]);
    let holes: u64 = grades.by_stones.values().map(|grade| grade.holes).sum();
    assert!(holes >= 10 && grades.holes.len() == 10);
    for hole in &grades.holes {
        let next = hole.position.play(hole.at).expect("legal");
        assert!(book.lookup(&next).expect("readable").is_none());
    }
    let stones = |at: usize| grades.holes[at].position.canonical().stones;
    assert!((1..10).all(
        |at| (stones(at - 1), grades.holes[at - 1].loss) <= (stones(at), grades.holes[at].loss)
    ));
}

#[test]
fn nearest_holes_have_the_most_pieces() {
    let (_folder, mut book) = new_book();
    let near = Position::start(Variant::SURAKARTA)
        .play_line("a2b3")
        .expect("legal");
    let far = Position::from_fen(Variant::SURAKARTA, "6/w1w3/6/6/b5/3b2 b").expect("a position");
    for position in [&far, &near] {
        let question = Question {
            width: 3,
            ..Question::new(position.clone(), Effort::depth(3))
        };
        book.learn(position, &engine::answer(&question))
            .expect("room");
    }
    let holes = book.grades().expect("readable").holes;
    let keys: Vec<Key> = holes.iter().map(|hole| hole.position.key()).collect();
    assert_eq!(
        keys,
        [
            near.key(),
            near.key(),
            near.key(),
            far.key(),
            far.key(),
            far.key()
        ]
    );
}

#[test]
fn open_move_beside_a_proven_win_is_no_hole() {
    let (_folder, mut book) = new_book();
    let won = Position::from_line(variant(), "a1 a7 b1 b7 c1 c7 d1 d7").expect("legal");
    let question = Question {
        width: 3,
        ..Question::new(won.clone(), Effort::depth(3))
    };
    let answer = engine::answer(&question);
    assert!(
        answer
            .verdicts()
            .iter()
            .any(|(_, v)| v.is_exact() && v.proof.is_none())
    );
    book.learn(&won, &answer).expect("room");
    let grades = book.grades().expect("readable");
    assert_eq!(
        (
            grades.stats.wins,
            grades.holes.len(),
            grades.by_stones[&8].holes
        ),
        (1, 0, 0)
    );
}

#[test]
fn repair_keeps_whole_entries() {
    let undamaged = grown(30);
    let whole = entries(&open(undamaged.path()));
    let chance = &mut StdRng::seed_from_u64(3);
    for round in 0..24 {
        let folder = copy_of(&undamaged);
        let mut bytes = fs::read(journal_file(folder.path())).expect("it is there");
        let at = chance.random_range(0..bytes.len());
        let end = (at + if round % 3 == 0 { 600 } else { 1 }).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0x11);
        if round % 4 == 3 {
            bytes.truncate(at.max(20));
        }
        fs::write(journal_file(folder.path()), &bytes).expect("room");
        if at < 12 && round % 4 != 3 {
            // The header names the format, so a later format is no damage.
            let _ = repair(folder.path(), &OPTIONS);
            continue;
        }
        let (book, report) =
            repair(folder.path(), &OPTIONS).unwrap_or_else(|error| panic!("byte {at}: {error}"));
        assert!(!report.is_whole(), "byte {at}: {report:?}");
        assert_clean(&book);
        let left = entries(&book);
        assert!(
            left.iter()
                .all(|(key, entry)| whole[key].facts.len() >= entry.facts.len())
        );
        if round % 4 != 3 && round % 3 != 0 {
            assert!(
                left.len() + 2 >= whole.len(),
                "byte {at}: {} of {}",
                left.len(),
                whole.len()
            );
        }
        book.close().expect("room");
        let (book, report) = repair(folder.path(), &OPTIONS).expect("it is whole now");
        assert!(report.is_whole() && entries(&book) == left);
        assert_eq!(
            fs::read(journal_file(folder.path()).with_extension("damaged")).expect("it is kept"),
            bytes
        );
    }
}

/// Returns a book with repeated entries: positions widened, skipped, invalidated, and learned again
/// from another book.
fn repeated_entries(seed: u64) -> TempDir {
    let (folder, chance) = (
        tempfile::tempdir().expect("a folder"),
        &mut StdRng::seed_from_u64(seed),
    );
    let mut book = open(folder.path());
    let (first, second) = (spec("first", 40), spec("second", 15));
    let jobs = [
        book.create_job(&first).expect("a job"),
        book.create_job(&second).expect("a job"),
    ];
    for round in 0..120 {
        let job = jobs[round % 2];
        for work in book.next_work(job, 2).expect("readable") {
            let answer = engine::answer(&work.question);
            match chance.random_range(0..12) {
                0 => drop(book.set_aside(&work, "the engine is gone").expect("room")),
                1 => {
                    // A partial answer: the job asks for the rest again.
                    let mut part = answer;
                    let most = part.len() / 2 + 1;
                    let mut left = 0;
                    part.retain(|_, _| {
                        left += 1;
                        left <= most
                    });
                    book.finish(&work, &part).expect("room");
                }
                2 => {
                    book.finish(&work, &answer).expect("room");
                    let by = [None, Some(job)][round / 2 % 2];
                    book.distrust(by, &work.question.position).expect("room");
                }
                3 => {
                    book.finish(&work, &answer).expect("room");
                    book.learn(&work.question.position, &answer).expect("room");
                }
                _ => drop(book.finish(&work, &answer).expect("room")),
            }
        }
        match round {
            50 => drop(
                book.change_job(jobs[0], kagetsu_book::JobChange::Retry)
                    .expect("room"),
            ),
            70 => drop(
                book.change_job(jobs[1], kagetsu_book::JobChange::Pause)
                    .expect("room"),
            ),
            _ => {}
        }
    }
    book.close().expect("room");
    folder
}

#[test]
fn compacted_book_is_equal_and_smaller() {
    for seed in 0..4 {
        let folder = repeated_entries(seed);
        let mut before = open(folder.path());
        assert_clean(&before);
        let (facts, jobs) = (entries(&before), before.jobs().expect("readable"));
        let asides = |book: &Book| {
            let mut asides: Vec<String> = jobs
                .iter()
                .flat_map(|job| book.asides(job.id, 99).expect("readable"))
                .map(|a| format!("{a:?}"))
                .collect();
            asides.sort();
            asides
        };
        let set_aside = asides(&before);
        let waiting = |book: &mut Book| {
            let works = jobs
                .iter()
                .flat_map(|job| book.next_work(job.id, 99).expect("readable"))
                .collect::<Vec<_>>();
            works.iter().for_each(|work| book.release(work));
            works
                .into_iter()
                .map(|work| (work.question, work.priority))
                .collect::<Vec<_>>()
        };
        let works = waiting(&mut before);
        let (mut book, report) = before.compact(&OPTIONS).expect("room");
        assert!(
            report.entries < report.entries_before && report.bytes < report.bytes_before,
            "{report:?}"
        );
        let look = |book: &mut Book| {
            (
                entries(book),
                book.jobs().expect("readable"),
                asides(book),
                waiting(book),
            )
        };
        assert_eq!(
            look(&mut book),
            (
                facts.clone(),
                jobs.clone(),
                set_aside.clone(),
                works.clone()
            ),
            "seed {seed}"
        );
        assert_clean(&book);
        let (mut book, again) = book.compact(&OPTIONS).expect("room");
        assert_eq!(
            (again.entries, again.entries_before),
            (report.entries, report.entries)
        );
        assert_eq!(
            look(&mut book),
            (facts, jobs.clone(), set_aside, works),
            "seed {seed}"
        );
        book.close().expect("room");
        assert_clean(&open(folder.path()));
    }
}
