//! Care of a book: copies, removal of positions, and what is saved of a damaged journal.

#[path = "../engine/mod.rs"]
mod engine;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kagetsu_book::{
    Book, BookError, BookOptions, BuildSpec, Entry, Grading, JobId, JobSpec, JobState, LearnError,
    OpenError, Pruning, backup, repair,
};
use kagetsu_game::{Effort, Key, Position, Question, Variant};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

const OPTIONS: BookOptions = BookOptions {
    create: true,
    cache_bytes: 1 << 20,
};

fn variant() -> Variant {
    "freestyle-7".parse().expect("a variant")
}

fn spec(name: &str, target: u64) -> JobSpec {
    JobSpec {
        name: name.into(),
        variant: variant(),
        roots: [Position::from_line(variant(), "d4").expect("legal")].into(),
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

fn open(path: &Path) -> Book {
    Book::open(path, &OPTIONS).expect("opens").0
}

fn grow(book: &mut Book, job: JobId, most: u64) {
    for _ in 0..most {
        for work in book.next_work(job, 1).expect("readable") {
            book.finish(&work, &engine::answer(&work.question))
                .expect("room");
        }
    }
}

fn grown(positions: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let job = book.create_job(&spec("test", positions)).expect("a job");
    grow(&mut book, job, 2 * positions);
    book.close().expect("room");
    folder
}

#[track_caller]
fn assert_clean(book: &Book) {
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:#?}");
}

fn entries(book: &Book) -> BTreeMap<Key, Entry> {
    book.positions()
        .map(|entry| entry.expect("readable"))
        .map(|entry| (entry.position.key(), entry))
        .collect()
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("journal/000001.journal")
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
        let copy = open(&to);
        assert_clean(&copy);
        assert_eq!(entries(&copy), entries(&book));
        copy.close().expect("room");
    }
    // Nothing is a copy of itself, by whatever name.
    let link = place.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).expect("room");
    for same in [folder.path().to_path_buf(), folder.path().join("."), link] {
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
fn a_backup_that_was_cut_short_goes_on_where_it_was() {
    let (book, place) = (grown(20), tempfile::tempdir().expect("a folder"));
    let whole = fs::read(journal(book.path())).expect("it is there");
    for cut in (12..whole.len()).step_by(97) {
        let to = place.path().join(cut.to_string());
        fs::create_dir_all(to.join("journal")).expect("room");
        fs::write(journal(&to), &whole[..cut]).expect("room");
        let report = backup(book.path(), &to).expect("room");
        assert_eq!(report.copied as usize, whole.len() - cut);
        assert_eq!(fs::read(journal(&to)).expect("it is there"), whole);
    }
}

#[test]
fn pruned_book_equals_book_of_the_rest() {
    let whole = entries(&open(grown(40).path()));
    let least = whole
        .values()
        .map(|entry| entry.position.canonical().stones)
        .min()
        .expect("one at least");
    for (pruning, is_kept) in [
        (
            Pruning {
                max_ply: Some(2),
                ..Pruning::default()
            },
            2,
        ),
        (
            Pruning {
                max_ply: Some(0),
                ..Pruning::default()
            },
            0,
        ),
        (Pruning::default(), u16::MAX),
    ] {
        let folder = grown(40);
        let (book, report) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_clean(&book);
        let left = entries(&book);
        let should: Vec<Key> = whole
            .iter()
            .filter(|(_, entry)| entry.position.canonical().stones - least <= is_kept)
            .map(|(key, _)| *key)
            .collect();
        assert_eq!(left.keys().copied().collect::<Vec<_>>(), should);
        assert_eq!(
            (report.kept, report.kept + report.removed),
            (should.len() as u64, 40)
        );
        assert!(
            left.iter()
                .all(|(key, entry)| whole[key].facts == entry.facts)
        );
        let job = &book.jobs().expect("readable")[0];
        let state = if report.removed > 0 {
            JobState::Paused
        } else {
            JobState::Done
        };
        assert_eq!((&job.state, job.positions), (&state, report.kept));
        book.close().expect("room");
        assert_eq!(entries(&open(folder.path())), left);
    }
}

/// A book of 20 positions, with some of another variant.
fn mixed() -> (TempDir, u64) {
    let folder = grown(20);
    let mut book = open(folder.path());
    let other: Variant = "standard-7".parse().expect("a variant");
    let mut learn = |position: &Position| {
        let answer = engine::answer(&kagetsu_game::Question::new(
            position.clone(),
            Effort::depth(3),
        ));
        book.learn(position, &answer).expect("room");
        position
            .play(answer.best().expect("a move").0)
            .expect("legal")
    };
    let first = Position::from_line(other, "d4").expect("legal");
    let second = learn(&first);
    learn(&second);
    learn(&Position::from_line(other, "a1 b2").expect("legal"));
    book.close().expect("room");
    (folder, 3)
}

#[test]
fn nothing_is_removed_for_a_root_that_leads_nowhere() {
    let (folder, others) = mixed();
    let root = |line: &str| Position::from_line(variant(), line).expect("legal");
    // The book begins at d4, one ply beyond the start.
    for (roots, max_ply) in [
        (vec!["a1 b1"], None),
        (vec!["d4", "a1 b1"], Some(1)),
        (vec![""], Some(0)),
    ] {
        let roots: Vec<Position> = roots.into_iter().map(root).collect();
        let wrong = roots.last().cloned();
        let refused = open(folder.path()).prune(
            &Pruning {
                roots,
                max_ply,
                ..Pruning::default()
            },
            &OPTIONS,
        );
        assert!(
            matches!(refused, Err(BookError::Learn(LearnError::NoRoot(named))) if Some(&named) == wrong.as_ref())
        );
        assert_eq!(open(folder.path()).len(), 20 + others);
    }
    for (line, max_ply, left) in [("", Some(1), 1), ("d4", Some(0), 1), ("", None, 20)] {
        let (folder, _) = mixed();
        let pruning = Pruning {
            roots: vec![root(line)],
            max_ply,
            ..Pruning::default()
        };
        let (book, report) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_eq!(report.kept, left + others, "{line}");
        assert_clean(&book);
    }
}

#[test]
fn positions_of_other_variants_stay() {
    let other: Variant = "standard-7".parse().expect("a variant");
    for (of, kept) in [
        (Some(variant()), [1, 3]),
        (Some(other), [20, 2]),
        (None, [1, 2]),
    ] {
        let (folder, _) = mixed();
        let pruning = Pruning {
            variant: of,
            max_ply: Some(0),
            ..Pruning::default()
        };
        let (book, _) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_clean(&book);
        let left = entries(&book);
        let count = |of| {
            left.values()
                .filter(|entry| entry.position.variant() == of)
                .count()
        };
        assert_eq!([count(variant()), count(other)], kept, "{of:?}");
    }
}

#[test]
fn pruning_begins_at_roots_and_drops_worse_moves() {
    let folder = grown(40);
    let book = open(folder.path());
    let root = Position::from_line(variant(), "d4").expect("legal");
    let entry = book.lookup(&root).expect("readable").expect("the root");
    let best = entry.derived.best.expect("it has one");
    let next = root.play(best).expect("legal");
    let (book, report) = book
        .prune(
            &Pruning {
                roots: vec![next.clone()],
                ..Pruning::default()
            },
            &OPTIONS,
        )
        .expect("room");
    assert!(report.removed > 0 && book.lookup(&root).expect("readable").is_none());
    assert!(book.lookup(&next).expect("readable").is_some());
    assert_clean(&book);
    let before = entries(&book);
    let (book, report) = book
        .prune(
            &Pruning {
                max_loss: Some(0),
                ..Pruning::default()
            },
            &OPTIONS,
        )
        .expect("room");
    assert_clean(&book);
    assert!(report.removed > 0 && report.kept + report.removed == before.len() as u64);
    // Each remaining position leads only to what were its best moves. Their present values differ,
    // because the positions behind other moves are gone.
    let left = entries(&book);
    let kept: Vec<_> = before
        .iter()
        .filter(|(key, _)| left.contains_key(key))
        .map(|(_, entry)| entry)
        .collect();
    for entry in &kept {
        let best = entry
            .answer
            .verdicts()
            .iter()
            .find(|(_, v)| v.is_exact())
            .map(|(_, v)| v.score);
        for (m, verdict) in entry
            .answer
            .verdicts()
            .iter()
            .filter(|(_, v)| Some(v.score) < best)
        {
            let child = entry.position.play(*m).expect("legal").key();
            let others = kept
                .iter()
                .filter(|other| other.position.key() != entry.position.key());
            let is_best_elsewhere = others.into_iter().any(|other| {
                let moves = other.answer.verdicts().iter();
                let best = moves.clone().map(|(_, v)| v.score).max();
                moves.filter(|(_, v)| Some(v.score) == best).any(|(m, _)| {
                    other
                        .position
                        .play(*m)
                        .is_ok_and(|next| next.key() == child)
                })
            });
            assert!(
                !left.contains_key(&child) || is_best_elsewhere,
                "{verdict:?}"
            );
        }
    }
}

#[test]
fn the_grades_count_what_is_there_and_what_is_missing() {
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
    let mut grading = Grading::default();
    while book.grade_some(&mut grading, 7).expect("readable") {}
    let mut in_steps = grading.finish();
    book.name_holes(&mut in_steps).expect("readable");
    assert_eq!(in_steps, grades, "the same in steps");
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
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
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
fn a_move_beside_a_proven_win_is_no_hole() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
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
fn a_damaged_journal_gives_what_is_whole_in_it() {
    let whole = entries(&open(grown(30).path()));
    let chance = &mut StdRng::seed_from_u64(3);
    for round in 0..24 {
        let folder = grown(30);
        let mut bytes = fs::read(journal(folder.path())).expect("it is there");
        let at = chance.random_range(0..bytes.len());
        let end = (at + if round % 3 == 0 { 600 } else { 1 }).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0x11);
        if round % 4 == 3 {
            bytes.truncate(at.max(20));
        }
        fs::write(journal(folder.path()), &bytes).expect("room");
        if at < 12 && round % 4 != 3 {
            // The header tells the format: a later one is no damage.
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
            fs::read(journal(folder.path()).with_extension("damaged")).expect("it is kept"),
            bytes
        );
    }
}

/// Returns a book with repeated entries: positions widened, skipped, invalidated, and learned again
/// from another book.
fn told_twice(seed: u64) -> TempDir {
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
                    // Less than was asked for: what is left out is asked for again.
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
fn a_compacted_book_is_what_it_was_in_fewer_bytes() {
    for seed in 0..8 {
        let folder = told_twice(seed);
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
