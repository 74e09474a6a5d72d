//! When a job ends before it has its positions, what it searches anew, and whose turn it is.

use kagetsu_book::{Book, Bounds, Deepen, JobChange, JobId, JobSpec, JobState};
use kagetsu_game::{Answer, Provenance, Question, Verdict};

use crate::{assert_clean, engine, open, spec};

fn bounded(name: &str, target: u64, bounds: Bounds) -> JobSpec {
    JobSpec { name: name.into(), bounds, ..spec(target) }
}

/// As the engine of hashes, but deeper, later, or by another name.
fn answer(question: &Question, depth: u8, day: u32, engine: &str) -> Answer {
    let by = Provenance { engine: engine.into(), day };
    let verdicts = engine::answer(question);
    verdicts.verdicts().iter().map(|(m, verdict)| (*m, Verdict { depth, by: by.clone(), ..verdict.clone() })).collect()
}

/// Works at a job until it has nothing more to hand out; how many positions were searched.
fn work(book: &mut Book, job: JobId, answer: impl Fn(&Question) -> Answer) -> u64 {
    let mut searched = 0;
    loop {
        let works = book.next_work(job, 3).expect("readable");
        if works.is_empty() {
            return searched;
        }
        for work in &works {
            book.finish(work, &answer(&work.question)).expect("room");
            searched += 1;
        }
    }
}

fn state(book: &Book, job: JobId) -> (JobState, u64) {
    let job = book.job(job).expect("known");
    (job.state, job.positions)
}

#[test]
fn what_falls_short_is_searched_anew_once_and_nothing_is_added() {
    let wants = [
        (Deepen { depth: 5, ..Deepen::default() }, true),
        (Deepen { depth: 3, ..Deepen::default() }, false),
        (Deepen { day: 20_001, ..Deepen::default() }, true),
        (Deepen { day: 20_000, ..Deepen::default() }, false),
        (Deepen { engine: Some("hash 2".into()), ..Deepen::default() }, true),
        (Deepen { engine: Some("hash 1".into()), ..Deepen::default() }, false),
        (Deepen { nodes: 1 << 40, ..Deepen::default() }, true),
        (Deepen { nodes: 1, ..Deepen::default() }, false),
    ];
    for (deepen, is_short) in wants {
        let folder = tempfile::tempdir().expect("a folder");
        let mut book = open(folder.path());
        let grows = book.create_job(&spec(30)).expect("a job");
        work(&mut book, grows, engine::answer);
        let job = bounded("again", u64::MAX, Bounds { deepen: Some(deepen.clone()), ..Bounds::default() });
        let again = book.create_job(&job).expect("a job");
        // What is new is what it is asked for, but for the nodes: it is searched once all the same.
        let searched = work(&mut book, again, |question| {
            assert!(question.moves.is_empty() || book_is_open(question), "{question:?}");
            answer(question, 5, 20_001, "hash 2")
        });
        assert_clean(&book);
        let (ended, positions) = state(&book, again);
        assert_eq!((ended, book.len()), (JobState::Done, 30), "{deepen:?}");
        if is_short {
            assert!(positions > 20 && searched >= positions, "{deepen:?}: {positions} of 30");
            for entry in book.positions() {
                let entry = entry.expect("readable");
                let (_, best) = entry.facts.best().expect("a move");
                let is_new = best.depth == 5 && best.by.day == 20_001 && &*best.by.engine == "hash 2";
                assert!(is_new || best.proof.is_some() || positions < 30, "{deepen:?}: {best:?}");
            }
        } else {
            // What is open is completed all the same.
            assert!(positions == 0 && book.positions().all(|entry| !entry.expect("readable").derived.is_open));
        }
        // The journal alone makes the same book.
        book.close().expect("room");
        std::fs::remove_dir_all(folder.path().join("store")).expect("it is there");
        let (anew, _) = Book::open(folder.path(), &kagetsu_book::BookOptions::default()).expect("opens");
        assert_eq!(state(&anew, again), (JobState::Done, positions), "{deepen:?}");
        assert_clean(&anew);
        assert_eq!(anew.job(again).expect("known").spec, job);
        // A shorter journal tells the same of the jobs.
        let (short, _) = anew.compact(&kagetsu_book::BookOptions::default()).expect("room");
        assert_eq!((state(&short, again), state(&short, grows).1), ((JobState::Done, positions), 30), "{deepen:?}");
        assert_clean(&short);
    }
}

/// Only an open position is asked about some of its moves.
fn book_is_open(question: &Question) -> bool {
    question.moves.len() < question.position.distinct_moves().len()
}

#[test]
fn nodes_and_stillness_end_a_job_and_more_of_them_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let with = |nodes| bounded("nodes", 500, Bounds { nodes: Some(nodes), ..Bounds::default() });
    let job = book.create_job(&with(30_000)).expect("a job");
    work(&mut book, job, engine::answer);
    let (ended, first) = state(&book, job);
    let spent = book.job(job).expect("known").nodes;
    assert!(ended == JobState::Done && (30_000..60_000).contains(&spent) && first < 60, "{first}: {spent}");
    assert_eq!(book.start_job(&with(60_000)).expect("the same"), job);
    work(&mut book, job, engine::answer);
    let (ended, second) = state(&book, job);
    assert!(ended == JobState::Done && second > first && book.job(job).expect("known").nodes >= 60_000, "{second}");
    book.start_job(&bounded("nodes", 500, Bounds::default())).expect("the same");
    assert_eq!(state(&book, job).0, JobState::Running);
    assert_clean(&book);

    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let spec = bounded("still", 2_000, Bounds { stable: Some(40), ..Bounds::default() });
    let job = book.create_job(&spec).expect("a job");
    let choices = |book: &Book| {
        let value = |root| book.lookup(root).expect("readable").map(|entry| (entry.derived.best, entry.derived.score));
        spec.roots.iter().map(value).collect::<Vec<_>>()
    };
    let (mut seen, mut changed_at) = (choices(&book), 0);
    while let Some(work) = book.next_work(job, 1).expect("readable").pop() {
        book.finish(&work, &engine::answer(&work.question)).expect("room");
        let now = choices(&book);
        let is_still = |(one, other): (&Option<_>, &Option<_>)| match (one, other) {
            (Some((best, score)), Some((other, value))) => {
                let (score, value): (kagetsu_game::Score, kagetsu_game::Score) = (*score, *value);
                best == other && score.raw().abs_diff(value.raw()) <= 10
            }
            (one, other) => one == other,
        };
        // Each root is held against what it was when it changed last.
        for (before, now) in seen.iter_mut().zip(&now) {
            if !is_still((&*before, now)) {
                (*before, changed_at) = (*now, book.job(job).expect("known").positions);
            }
        }
    }
    let (ended, positions) = state(&book, job);
    assert_eq!((ended, positions), (JobState::Done, changed_at + 40));
    assert_clean(&book);
}

#[test]
fn a_priority_is_kept_and_changed_and_one_too_great_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let with = |priority| bounded("turn", 9, Bounds { priority, ..Bounds::default() });
    let job = book.create_job(&with(7)).expect("a job");
    assert_eq!(book.next_work(job, 1).expect("readable")[0].turn, 7);
    book.change_job(job, JobChange::Priority(-3)).expect("room");
    book.close().expect("room");
    let mut book = open(folder.path());
    assert_eq!(book.job(job).expect("known").spec.bounds.priority, -3);
    book.start_job(&with(4)).expect("the same");
    assert_eq!(book.job(job).expect("known").spec.bounds.priority, 4);
    let refused = book.create_job(&bounded("more", 9, Bounds { priority: 101, ..Bounds::default() }));
    assert!(refused.expect_err("too great").to_string().contains("--priority"));
    assert_clean(&book);
}
