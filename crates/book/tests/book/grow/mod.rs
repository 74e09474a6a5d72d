//! Books grown by an engine of hashes.

mod changes;
mod inspection;
mod limits;
mod policies;
mod prove;
mod questions;
mod trust;
mod widening;

use kagetsu_book::{
    Book, BookError, BuildSpec, JobChange, JobError, JobId, JobSpec, JobState, Work,
};
use kagetsu_game::{Answer, Bound, Effort, Position, Question, Variant, Verdict};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::world::{assert_clean, dump, engine, job_spec, new_book, open, rebuilt};

fn spec(target: u64) -> JobSpec {
    job_spec("test", &["d4", ""], target)
}

/// The same job with other settings.
fn with(spec: JobSpec, change: impl FnOnce(&mut BuildSpec)) -> JobSpec {
    let mut spec = spec;
    change(&mut spec.build);
    spec
}

fn grow(book: &mut Book, job: JobId, at_hand: usize, chance: &mut StdRng) {
    loop {
        let mut works = book.next_work(job, at_hand).expect("readable");
        if works.is_empty() {
            return;
        }
        works.shuffle(chance);
        for work in &works {
            if chance.random_bool(0.1) {
                book.release(work);
            } else {
                book.finish(work, &engine::answer(&work.question))
                    .expect("room");
            }
        }
    }
}

#[test]
fn grown_book_is_whole_for_any_order_of_answers() {
    for seed in 0..6 {
        let (_folder, mut book) = new_book();
        let job = book.create_job(&spec(120)).expect("a job");
        grow(
            &mut book,
            job,
            1 + seed as usize * 3,
            &mut StdRng::seed_from_u64(seed),
        );
        let done = book.job(job).expect("known");
        assert_eq!(
            (done.state, done.positions, book.len()),
            (JobState::Done, 120, 120),
            "seed {seed}"
        );
        assert_clean(&book);
    }
}

/// Generals and a soldier return to the same position again and again: no value may come from its
/// own position.
#[test]
fn repeated_positions_make_no_circle() {
    let fens = [
        "4k4/9/9/9/9/9/9/9/9/4K4 w",
        "3k5/9/9/4P4/9/9/9/9/9/4K4 w",
        "4k4/9/4b4/9/9/9/9/4B4/9/3K5 b",
    ];
    for (seed, fen) in (0..).zip(fens) {
        let (folder, mut book) = new_book();
        let root = Position::from_fen(Variant::XIANGQI, fen).expect("a position");
        let spec = JobSpec {
            variant: Variant::XIANGQI,
            roots: [root].into(),
            ..with(spec(300), |build| build.top = 4)
        };
        let job = book.create_job(&spec).expect("a job");
        grow(&mut book, job, 3, &mut StdRng::seed_from_u64(seed));
        assert!(book.len() > 9, "{fen}: {}", book.len());
        assert_clean(&book);
        let before = dump(&book);
        let mut book = rebuilt(book, folder.path());
        assert_eq!(dump(&book), before, "{fen}");
        let deepest = before.len();
        let depths = book
            .positions()
            .map(|entry| entry.expect("readable").derived.depth);
        assert!(
            depths
                .max()
                .is_some_and(|depth| usize::from(depth) <= deepest + 3),
            "{fen}: a value has gone in a circle"
        );
        assert!(
            book.create_job(&JobSpec {
                name: "b".into(),
                ..with(spec.clone(), |build| build.max_ply = Some(4))
            })
            .is_err()
        );
    }
}

#[test]
fn a_small_game_is_searched_to_its_end_and_proven() {
    // Eighteen stones stand; the points that are left are played out.
    let variant: Variant = "freestyle-5".parse().expect("a variant");
    let board = "XXOOX OOXXO XXOO. OOX.. X....";
    let rows: Vec<_> = board.split_whitespace().collect();
    let root = Position::from_board(variant, &rows.join("\n"), Some(kagetsu_game::Side::First))
        .expect("a board");
    let (_folder, mut book) = new_book();
    let spec = JobSpec {
        variant,
        roots: [root.clone()].into(),
        ..with(spec(u64::MAX), |build| build.top = 30)
    };
    let job = book.create_job(&spec).expect("a job");
    grow(&mut book, job, 4, &mut StdRng::seed_from_u64(1));
    assert_eq!(book.job(job).expect("known").state, JobState::Done);
    assert_clean(&book);
    let entry = book.lookup(&root).expect("readable").expect("the root");
    let proof = entry.derived.proof.expect("everything was searched");
    assert_eq!(proof.score(), entry.answer.best().expect("a move").1.score);
}

#[test]
fn reopened_and_rebuilt_books_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let chance = &mut StdRng::seed_from_u64(2);
    let mut book = open(folder.path());
    let job = book.create_job(&spec(60)).expect("a job");
    grow(&mut book, job, 3, chance);
    book.close().expect("room");
    let mut book = open(folder.path());
    assert_eq!(
        book.start_job(&spec(90))
            .expect("the same but for the target"),
        job
    );
    grow(&mut book, job, 3, chance);
    assert_eq!(book.len(), 90);
    book.change_job(job, JobChange::Cancel).expect("room");
    assert_eq!(
        book.job(job).expect("known").state,
        JobState::Done,
        "what is done stays done"
    );
    assert_eq!(
        book.start_job(&spec(95))
            .expect("the same but for the target"),
        job
    );
    book.change_job(job, JobChange::Cancel).expect("room");
    assert_eq!(book.job(job).expect("known").state, JobState::Cancelled);
    // A cancelled job stays cancelled and says so.
    for change in [JobChange::Resume, JobChange::Retry] {
        assert!(matches!(
            book.change_job(job, change),
            Err(BookError::Job(JobError::Cancelled(_)))
        ));
    }
    assert!(matches!(
        book.start_job(&spec(90)),
        Err(BookError::Job(JobError::Cancelled(_)))
    ));
    let before = dump(&book);
    let book = rebuilt(book, folder.path());
    assert_eq!(dump(&book), before);
    assert_clean(&book);
}

#[test]
fn a_job_of_the_same_name_must_be_the_same() {
    let (_folder, mut book) = new_book();
    book.create_job(&spec(10)).expect("a job");
    let rooted = |line: &str| job_spec("roots", &[line], 10);
    let job = book.create_job(&rooted("d4 e5")).expect("a job");
    assert_eq!(book.start_job(&rooted("d4 c5")).expect("the mirror"), job);
    let refused = book.start_job(&rooted("d4 e4")).expect_err("another root");
    assert!(refused.to_string().contains("the roots"), "{refused}");
    let other = with(spec(10), |build| build.top = 5);
    assert!(
        book.start_job(&other)
            .expect_err("another width")
            .to_string()
            .contains("--top")
    );
    assert!(
        book.create_job(&JobSpec {
            name: "b".into(),
            roots: Vec::new().into(),
            ..spec(1)
        })
        .is_err()
    );
}

#[test]
fn second_job_expands_known_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let chance = &mut StdRng::seed_from_u64(5);
    let mut book = open(folder.path());
    let first = book.create_job(&spec(400)).expect("a job");
    grow(&mut book, first, 4, chance);
    let second = book
        .create_job(&JobSpec {
            name: "again".into(),
            ..spec(50)
        })
        .expect("a job");
    grow(&mut book, second, 4, chance);
    assert_eq!(
        (book.job(second).expect("known").positions, book.len()),
        (50, 450)
    );
    assert_clean(&book);
    let third = book
        .create_job(&JobSpec {
            name: "third".into(),
            ..with(spec(u64::MAX), |build| build.max_ply = Some(1))
        })
        .expect("a job");
    grow(&mut book, third, 4, chance);
    let third = book.job(third).expect("known");
    assert_eq!(
        (third.state, third.frontier),
        (JobState::Done, 0),
        "all that it may come to is searched"
    );
    assert_clean(&book);
}

/// A job with known positions to expand writes nothing to the journal until a caller wants more
/// work.
#[test]
fn reading_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let chance = &mut StdRng::seed_from_u64(5);
    let mut book = open(folder.path());
    let first = book.create_job(&spec(600)).expect("a job");
    grow(&mut book, first, 4, chance);
    let second = book
        .create_job(&JobSpec {
            name: "again".into(),
            ..spec(50)
        })
        .expect("a job");
    let (before, job) = (book.sequence(), book.job(second).expect("known"));
    assert_eq!((job.state, job.positions), (JobState::Running, 0));
    book.close().expect("room");
    for _ in 0..3 {
        let book = open(folder.path());
        assert_eq!(
            (book.sequence(), book.job(second).expect("known").frontier),
            (before, job.frontier)
        );
        assert_clean(&book);
        book.close().expect("room");
    }
    let mut book = open(folder.path());
    grow(&mut book, second, 4, chance);
    assert_eq!(book.job(second).expect("known").positions, 50);
    assert_clean(&book);
}

#[test]
fn work_comes_in_order_and_is_handed_out_once() {
    let (_folder, mut book) = new_book();
    let job = book.create_job(&spec(200)).expect("a job");
    grow_to(&mut book, job, 60);
    let some = book.next_work(job, 5).expect("readable");
    let more = book.next_work(job, 20).expect("readable");
    let priorities: Vec<u64> = some.iter().chain(&more).map(|work| work.priority).collect();
    assert!(priorities.is_sorted(), "{priorities:?}");
    let keys: std::collections::BTreeSet<_> = some
        .iter()
        .chain(&more)
        .map(|work| work.question.position.key())
        .collect();
    assert_eq!(keys.len(), 25);
    more.iter().for_each(|work| book.release(work));
    let again = book.next_work(job, 20).expect("readable");
    let positions = |works: &[Work]| {
        works
            .iter()
            .map(|work| work.question.position.key())
            .collect::<Vec<_>>()
    };
    assert_eq!(positions(&again), positions(&more));
}

/// Answers work items one by one until the job has this many positions.
fn grow_to(book: &mut Book, job: JobId, positions: u64) {
    while book.job(job).expect("known").positions < positions {
        let works = book.next_work(job, 1).expect("readable");
        works
            .iter()
            .for_each(|work| drop(book.finish(work, &engine::answer(&work.question))));
    }
}
