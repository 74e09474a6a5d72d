//! Questions of a growing book: how deep, and how often.

use kagetsu_book::{Book, JobChange, JobId, JobSpec, JobState, Work};
use kagetsu_game::{Answer, Bound, Effort, Position, Question, Score};

use super::{grow_to, spec, with};
use crate::world::{assert_clean, engine, new_book, open};

/// Returns the only work of a job.
#[track_caller]
fn only_work(book: &mut Book, job: JobId) -> Work {
    let mut works = book.next_work(job, 1).expect("readable");
    assert_eq!(works.len(), 1);
    works.remove(0)
}

/// Returns a job from the first position.
fn from_start(target: u64) -> JobSpec {
    JobSpec {
        roots: [Position::start(spec(1).variant)].into(),
        ..spec(target)
    }
}

fn is_open(book: &Book, position: &Position) -> bool {
    let entry = book.lookup(position).expect("readable");
    entry.expect("known").derived.is_open
}

/// Returns an answer whose exact values are below the bounds of the other moves.
fn worse(answer: &Answer) -> Answer {
    answer.changed(|_, verdict| {
        if verdict.is_exact() {
            verdict.score = Score::opinion(-900);
        }
    })
}

#[test]
fn unsearchable_position_is_skipped_for_good() {
    let (folder, mut book) = new_book();
    let job = book.create_job(&spec(30)).expect("a job");
    let works = book.next_work(job, 2).expect("readable");
    book.set_aside(&works[0], "the engine is gone")
        .expect("room");
    book.finish(&works[1], &Answer::new()).expect("room");
    let state = book.job(job).expect("known");
    assert_eq!((state.set_aside, state.frontier), (2, 0));
    let lack = "2 positions could not be searched and no other waits, after 0 of 30 positions";
    let failed = matches!(&state.state, JobState::Failed(why) if why.starts_with(lack));
    assert!(failed, "{:?}", state.state);
    assert_eq!(book.len(), 0);
    book.close().expect("room");
    let mut book = open(folder.path());
    book.change_job(job, JobChange::Target(40)).expect("room");
    assert!(book.next_work(job, 2).expect("readable").is_empty());
    assert_clean(&book);
}

#[test]
fn open_position_is_not_asked_forever() {
    let (_folder, mut book) = new_book();
    let job = book.create_job(&from_start(9)).expect("a job");
    let work = &only_work(&mut book, job);
    // An engine that answers every question with bounds alone.
    let bounded = engine::answer(&work.question).changed(|_, verdict| {
        (verdict.bound, verdict.proof) = (Bound::Upper, None);
    });
    book.finish(work, &bounded).expect("room");
    let work = &only_work(&mut book, job);
    assert_eq!(
        work.question.moves.len(),
        bounded.len(),
        "the moves without a value are asked about"
    );
    book.finish(work, &bounded).expect("room");
    let state = book.job(job).expect("known");
    assert_eq!((state.set_aside, book.len()), (1, 1));
    let lack = "1 position could not be searched and no other waits, after 1 of 9 positions";
    let failed = matches!(&state.state, JobState::Failed(why) if why.starts_with(lack));
    assert!(failed, "{:?}", state.state);
    assert_clean(&book);
}

#[test]
fn bounded_moves_are_searched_to_their_bounds_depth() {
    let (_folder, mut book) = new_book();
    let root = Position::start(spec(1).variant);
    let job = book.create_job(&from_start(1)).expect("a job");
    grow_to(&mut book, job, 1);
    // An analysis asks for the best move alone, and its value is below the bound of the others.
    let deep = engine::answer(&Question {
        width: 1,
        ..Question::new(root.clone(), Effort::depth(7))
    });
    book.learn(&root, &worse(&deep)).expect("room");
    assert!(
        book.lookup(&root)
            .expect("readable")
            .expect("known")
            .derived
            .is_open
    );
    book.change_job(job, JobChange::Target(2)).expect("room");
    let work = &only_work(&mut book, job);
    assert_eq!(
        (work.question.effort, work.question.moves.len()),
        (Effort::depth(7), deep.len() - 1)
    );
    book.finish(work, &engine::answer(&work.question))
        .expect("room");
    assert_eq!(book.job(job).expect("known").set_aside, 0);
    assert!(!is_open(&book, &root));
    assert_clean(&book);
}

#[test]
fn node_limit_does_not_stop_widening_search_early() {
    let (_folder, mut book) = new_book();
    let root = Position::start(spec(1).variant);
    let effort = Effort {
        depth: None,
        nodes: Some(40),
        ..spec(1).build.effort()
    };
    let job = JobSpec {
        roots: [root.clone()].into(),
        ..with(spec(2), |build| {
            (build.depth, build.nodes) = (None, Some(40))
        })
    };
    let job = book.create_job(&job).expect("a job");
    let work = &only_work(&mut book, job);
    assert_eq!(work.question.effort, effort);
    let deep = engine::answer(&Question {
        width: 1,
        ..Question::new(root.clone(), Effort::depth(5))
    });
    book.finish(work, &worse(&deep)).expect("room");
    let work = &only_work(&mut book, job);
    assert_eq!(
        (work.question.effort.depth, work.question.moves.len()),
        (Some(5), deep.len() - 1)
    );
    assert!(
        work.question.effort.nodes > Some(400),
        "{:?}",
        work.question.effort
    );
    book.finish(work, &engine::answer(&work.question))
        .expect("room");
    assert_eq!(book.job(job).expect("known").set_aside, 0);
    assert_clean(&book);
}

#[test]
fn opinion_without_search_keeps_depth_zero() {
    let (_folder, mut book) = new_book();
    let mut at = Position::start(spec(1).variant);
    let mut line = Vec::new();
    for (score, depth) in [(10, 3), (0, 0), (-700, 0), (700, 0), (-700, 0)] {
        let m = at.distinct_moves()[0];
        let mut reply = engine::answer(&Question::new(at.clone(), Effort::depth(depth)));
        reply.retain(|at, _| at == m);
        let stated = reply.changed(|_, verdict| {
            (verdict.score, verdict.bound) = (Score::opinion(score), Bound::Exact);
            (verdict.depth, verdict.proof) = (depth, None);
            verdict.line.clear();
        });
        book.learn(&at, &stated).expect("room");
        line.push(at.clone());
        at = at.play(m).expect("legal");
    }
    let value = |at: &Position| {
        let derived = book.lookup(at).expect("readable").expect("known").derived;
        (derived.score, derived.depth)
    };
    assert_eq!(
        value(&line[1]),
        (Score::opinion(700), 0),
        "what is known is only an opinion, however far it came"
    );
    assert_eq!(
        value(&line[0]),
        (Score::opinion(10), 3),
        "a search outweighs it"
    );
    assert_clean(&book);
}

/// A game was played here, and its moves have no value.
#[test]
fn position_known_from_a_game_is_searched() {
    let (_folder, mut book) = new_book();
    let root = Position::start(spec(1).variant);
    let mut made = engine::answer(&Question::new(root.clone(), Effort::depth(0)));
    made.retain(|m, _| m == root.distinct_moves()[0]);
    let silent = made.changed(|_, verdict| {
        (verdict.score, verdict.bound) = (-Score::OPINION_MAX, Bound::Lower);
        verdict.proof = None;
        verdict.line.clear();
    });
    book.learn(&root, &silent).expect("room");
    let job = book.create_job(&from_start(5)).expect("a job");
    let work = &only_work(&mut book, job);
    assert_eq!(
        (&work.question.position.key(), work.question.moves.len()),
        (&root.key(), 0)
    );
    book.finish(work, &engine::answer(&work.question))
        .expect("room");
    grow_to(&mut book, job, 5);
    assert_eq!(
        (book.job(job).expect("known").state, book.len()),
        (JobState::Done, 5)
    );
    assert_clean(&book);
}
