//! Books grown by an engine of hashes.

mod engine;

use std::fs;
use std::path::Path;

use kagetsu_book::{Book, BookOptions, JobChange, JobId, JobSpec, JobState, Policy};
use kagetsu_game::{Effort, Position, Variant};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

fn spec(target: u64) -> JobSpec {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    JobSpec {
        name: "test".into(),
        variant,
        roots: vec![Position::from_line(variant, "d4").expect("legal"), Position::start(variant)],
        policy: Policy::DropOut { alpha: 2.0 },
        effort: Effort::depth(3),
        width: 3,
        max_ply: None,
        target,
        split: false,
    }
}

fn open(path: &Path) -> Book {
    let (book, notices) = Book::open(path, &BookOptions { create: true, ..BookOptions::default() }).expect("opens");
    assert!(notices.is_empty(), "{notices:?}");
    book
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
                book.finish(work, &engine::answer(&work.question)).expect("room");
            }
        }
    }
}

#[track_caller]
fn assert_clean(book: &Book) {
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:#?}");
}

fn dump(book: &Book) -> Vec<String> {
    book.positions().map(|entry| format!("{:?}", entry.expect("readable"))).collect()
}

#[test]
fn a_grown_book_is_whole_whatever_the_order_of_the_answers() {
    for seed in 0..6 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut book = open(folder.path());
        let job = book.create_job(&spec(120)).expect("a job");
        grow(&mut book, job, 1 + seed as usize * 3, &mut StdRng::seed_from_u64(seed));
        let done = book.job(job).expect("known");
        assert_eq!((done.state, done.positions, book.len()), (JobState::Done, 120, 120), "seed {seed}");
        assert_clean(&book);
    }
}

#[test]
fn a_small_game_is_searched_to_its_end_and_proven() {
    // Eighteen stones stand; the points that are left are played out.
    let variant: Variant = "freestyle-5".parse().expect("a variant");
    let board = "XXOOX OOXXO XXOO. OOX.. X....";
    let rows: Vec<_> = board.split_whitespace().collect();
    let root = Position::from_board(variant, &rows.join("\n"), Some(kagetsu_game::Side::First)).expect("a board");
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let spec = JobSpec { variant, roots: vec![root.clone()], width: 30, target: u64::MAX, ..spec(1) };
    let job = book.create_job(&spec).expect("a job");
    grow(&mut book, job, 4, &mut StdRng::seed_from_u64(1));
    assert_eq!(book.job(job).expect("known").state, JobState::Done);
    assert_clean(&book);
    let entry = book.lookup(&root).expect("readable").expect("the root");
    let proof = entry.derived.proof.expect("everything was searched");
    assert_eq!(proof.score(), entry.answer.best().expect("a move").1.score);
}

#[test]
fn a_book_opened_again_goes_on_and_a_rebuilt_one_is_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let chance = &mut StdRng::seed_from_u64(2);
    let mut book = open(folder.path());
    let job = book.create_job(&spec(60)).expect("a job");
    grow(&mut book, job, 3, chance);
    book.close().expect("room");
    let mut book = open(folder.path());
    assert_eq!(book.start_job(&spec(90)).expect("the same but for the target"), job);
    grow(&mut book, job, 3, chance);
    assert_eq!(book.len(), 90);
    book.change_job(job, JobChange::Cancel).expect("room");
    let before = dump(&book);
    book.close().expect("room");

    fs::remove_dir_all(folder.path().join("store")).expect("it is there");
    let (book, notices) = Book::open(folder.path(), &BookOptions::default()).expect("opens");
    assert_eq!(notices.len(), 1, "the rebuilding is told");
    assert_eq!(dump(&book), before);
    assert_clean(&book);
}

#[test]
fn a_job_of_the_same_name_must_be_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    book.create_job(&spec(10)).expect("a job");
    let other = JobSpec { width: 5, ..spec(10) };
    assert!(book.start_job(&other).expect_err("another width").to_string().contains("--top"));
    assert!(book.create_job(&JobSpec { name: "b".into(), roots: vec![], ..spec(1) }).is_err());
}

#[test]
fn a_journal_cut_anywhere_opens_with_a_beginning_of_it_or_says_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let job = book.create_job(&spec(12)).expect("a job");
    grow(&mut book, job, 2, &mut StdRng::seed_from_u64(3));
    book.close().expect("room");
    let journal = folder.path().join("journal/000001.journal");
    let whole = fs::read(&journal).expect("it is there");
    let mut last = 0;
    for length in 0..whole.len() {
        let at = tempfile::tempdir().expect("a folder");
        fs::create_dir(at.path().join("journal")).expect("room");
        fs::write(at.path().join("journal/000001.journal"), &whole[..length]).expect("room");
        // Each opening makes a store: try the lengths that matter, and every seventh of the others.
        if length % 7 != 0 && length > 40 {
            continue;
        }
        match Book::open(at.path(), &BookOptions::default()) {
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
fn a_journal_with_a_flipped_byte_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let job = book.create_job(&spec(8)).expect("a job");
    grow(&mut book, job, 2, &mut StdRng::seed_from_u64(4));
    book.close().expect("room");
    let journal = folder.path().join("journal/000001.journal");
    let whole = fs::read(&journal).expect("it is there");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&journal, &bytes).expect("room");
        let opened = Book::open(folder.path(), &BookOptions::default());
        assert!(opened.is_err(), "byte {at} of {}", whole.len());
        assert_eq!(fs::read(&journal).expect("it is there"), bytes, "byte {at}");
    }
}
