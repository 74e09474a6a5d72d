//! Limits that end a job early, repeated searches, and priorities of jobs.

use kagetsu_book::{Book, BuildSpec, Day, Deepen, JobChange, JobId, JobSpec, JobState};
use kagetsu_game::{Answer, Provenance, Question, Verdict};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{spec, with};
use crate::world::{assert_clean, engine, new_book, open, rebuilt};

fn bounded(name: &str, target: u64, change: impl FnOnce(&mut BuildSpec)) -> JobSpec {
    JobSpec {
        name: name.into(),
        ..with(spec(target), change)
    }
}

/// Answers as the engine of hashes does, with a given depth, day and name.
fn answer(question: &Question, depth: u8, day: u32, engine: &str) -> Answer {
    let by = Provenance {
        engine: engine.into(),
        day,
    };
    engine::answer(question).changed(|_, verdict| {
        verdict.depth = depth;
        verdict.by = by.clone();
    })
}

/// Works at a job until it gives no more work. Returns the number of searched positions.
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
fn deepening_searches_once_and_adds_nothing() {
    let by = |change: fn(&mut Deepen)| {
        let mut deepen = Deepen::default();
        change(&mut deepen);
        deepen
    };
    let wants = [
        (by(|deepen| deepen.depth = Some(5)), true),
        (by(|deepen| deepen.depth = Some(3)), false),
        (by(|deepen| deepen.before = Some(Day(20_001))), true),
        (by(|deepen| deepen.before = Some(Day(20_000))), false),
        (by(|deepen| deepen.engine = Some("hash 2".into())), true),
        (by(|deepen| deepen.engine = Some("hash 1".into())), false),
        (by(|deepen| deepen.nodes = Some(1 << 40)), true),
        (by(|deepen| deepen.nodes = Some(1)), false),
    ];
    for (deepen, is_short) in wants {
        let (folder, mut book) = new_book();
        let grows = book.create_job(&spec(30)).expect("a job");
        work(&mut book, grows, engine::answer);
        let job = bounded("again", u64::MAX, |build| {
            build.deepen = Some(deepen.clone())
        });
        let again = book.create_job(&job).expect("a job");
        // A new position falls short only in its nodes: it is searched once nevertheless.
        let searched = work(&mut book, again, |question| {
            assert!(
                question.moves.is_empty() || book_is_open(question),
                "{question:?}"
            );
            answer(question, 5, 20_001, "hash 2")
        });
        assert_clean(&book);
        let (ended, positions) = state(&book, again);
        assert_eq!((ended, book.len()), (JobState::Done, 30), "{deepen:?}");
        if is_short {
            assert!(
                positions > 20 && searched >= positions,
                "{deepen:?}: {positions} of 30"
            );
            for entry in book.positions() {
                let entry = entry.expect("readable");
                let (_, best) = entry.facts.best().expect("a move");
                let is_new =
                    best.depth == 5 && best.by.day == 20_001 && &*best.by.engine == "hash 2";
                assert!(
                    is_new || best.proof.is_some() || positions < 30,
                    "{deepen:?}: {best:?}"
                );
            }
        } else {
            // Open positions are completed nevertheless.
            assert!(
                positions == 0
                    && book
                        .positions()
                        .all(|entry| !entry.expect("readable").derived.is_open)
            );
        }
        // The journal alone makes the same book.
        let anew = rebuilt(book, folder.path());
        assert_eq!(
            state(&anew, again),
            (JobState::Done, positions),
            "{deepen:?}"
        );
        assert_clean(&anew);
        assert_eq!(anew.job(again).expect("known").spec, job);
        // A compacted journal has the same jobs.
        let (short, _) = anew
            .compact(&kagetsu_book::BookOptions::default())
            .expect("room");
        assert_eq!(
            (state(&short, again), state(&short, grows).1),
            ((JobState::Done, positions), 30),
            "{deepen:?}"
        );
        assert_clean(&short);
    }
}

#[test]
fn restarted_deepening_sees_later_positions() {
    let (folder, mut book) = new_book();
    let grows = book.create_job(&spec(20)).expect("a job");
    work(&mut book, grows, engine::answer);
    let deepen = Deepen {
        depth: Some(5),
        engine: Some("hash 2".into()),
        ..Deepen::default()
    };
    let deeper = bounded("again", u64::MAX, |build| build.deepen = Some(deepen));
    let again = book.create_job(&deeper).expect("a job");
    let deep = |question: &Question| answer(question, 5, 20_001, "hash 2");
    work(&mut book, again, deep);
    let first = state(&book, again);
    assert!(first.0 == JobState::Done && first.1 > 10, "{first:?}");
    // A job that is started again at once has nothing to do.
    let start_again = |book: &mut Book| assert_eq!(book.start_job(&deeper).expect("a job"), again);
    start_again(&mut book);
    assert_eq!(
        (work(&mut book, again, deep), state(&book, again)),
        (0, first.clone())
    );
    // The book gets more positions, and another engine's answer about one of the old ones.
    book.change_job(grows, JobChange::Target(40))
        .expect("a job");
    work(&mut book, grows, engine::answer);
    let of_engine = |entry: &kagetsu_book::Entry| {
        let best = entry.facts.best().map(|(m, best)| (m, best.clone()));
        best.filter(|(_, best)| best.proof.is_none() && &*best.by.engine == "hash 2")
    };
    let mut entries = book.positions().map(|entry| entry.expect("readable"));
    let (turned, known) = entries
        .find_map(|entry| Some((entry.position.clone(), of_engine(&entry)?)))
        .expect("one");
    drop(entries);
    let by = Provenance {
        engine: "other 1".into(),
        day: 20_001,
    };
    let learned: Answer = [(
        known.0,
        Verdict {
            depth: 6,
            by,
            ..known.1
        },
    )]
    .into_iter()
    .collect();
    book.learn(&turned, &learned).expect("room");
    assert_eq!((state(&book, again), book.len()), (first.clone(), 40));
    assert_clean(&book);
    start_again(&mut book);
    let questions = std::cell::RefCell::new(Vec::new());
    let searched = work(&mut book, again, |question| {
        questions
            .borrow_mut()
            .push(question.position.canonical().packed);
        deep(question)
    });
    assert!(
        questions.borrow().contains(&turned.canonical().packed),
        "the answer of another engine was kept"
    );
    let second = state(&book, again);
    assert!(
        second.0 == JobState::Done && second.1 > first.1 + 5 && searched > 5,
        "{second:?} after {first:?}"
    );
    start_again(&mut book);
    assert_eq!(
        (work(&mut book, again, deep), state(&book, again)),
        (0, second.clone())
    );
    assert_clean(&book);
    // The journal alone makes the same book.
    let anew = rebuilt(book, folder.path());
    assert_eq!(state(&anew, again), second);
    assert_clean(&anew);
}

#[test]
fn jobs_for_two_engines_do_not_alternate_forever() {
    let (_folder, mut book) = new_book();
    let grows = book.create_job(&spec(20)).expect("a job");
    work(&mut book, grows, engine::answer);
    let jobs = ["hash 2", "hash 3"].map(|engine| {
        let deepen = Deepen {
            engine: Some(engine.into()),
            ..Deepen::default()
        };
        let job = bounded(engine, u64::MAX, |build| build.deepen = Some(deepen));
        (engine, book.create_job(&job).expect("a job"))
    });
    let mut searched = [0; 2];
    for round in 0..3 {
        for (at, (engine, job)) in jobs.into_iter().enumerate() {
            book.change_job(job, JobChange::Target(u64::MAX))
                .expect("a job");
            let more = work(&mut book, job, |question| {
                answer(question, 4, 20_001, engine)
            });
            assert!(
                round == 0 || more == 0,
                "round {round}: {more} more for {engine}"
            );
            searched[at] += more;
        }
    }
    assert!(
        searched.iter().all(|searched| *searched > 10),
        "{searched:?}"
    );
    assert_clean(&book);
}

/// Returns a book in which jobs that search anew alternate with others, and with answers outside of
/// any job.
fn mixed_book(folder: &std::path::Path, seed: u64) -> (Book, [JobId; 3]) {
    let chance = &mut StdRng::seed_from_u64(seed);
    let mut book = open(folder);
    let grows = book.create_job(&spec(20)).expect("a job");
    let deepen = [
        Deepen {
            depth: Some(4),
            ..Deepen::default()
        },
        Deepen {
            before: Some(Day(20_000)),
            ..Deepen::default()
        },
    ];
    let [deeper, other] = deepen.map(|deepen| {
        let name = format!("{deepen:?}")
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(32)
            .collect::<String>();
        let job = bounded(&name, u64::MAX, |build| build.deepen = Some(deepen));
        book.create_job(&job).expect("a job")
    });
    let jobs = [grows, deeper, other];
    for round in 0..80 {
        let job = jobs[chance.random_range(0..9) / 4];
        if chance.random_range(0..12) == 0 {
            let target = if job == grows {
                20 + round / 4
            } else {
                u64::MAX
            };
            book.change_job(job, JobChange::Target(target))
                .expect("a job");
        }
        let engine = ["hash 1", "hash 2", "hash 3"][chance.random_range(0..3)];
        let (depth, day) = (
            chance.random_range(3..8),
            20_000 - u32::from(chance.random_range(0..9) == 0),
        );
        for work in book.next_work(job, 2).expect("readable") {
            let mut reply = answer(&work.question, depth, day, engine);
            let most = if chance.random_range(0..6) == 0 {
                reply.len() / 2 + 1
            } else {
                reply.len()
            };
            let mut left = 0;
            reply.retain(|_, _| {
                left += 1;
                left <= most
            });
            book.finish(&work, &reply).expect("room");
            let position = &work.question.position;
            match chance.random_range(0..10) {
                0 => drop(
                    book.distrust([None, Some(job)][round as usize % 2], position)
                        .expect("room"),
                ),
                1..4 => drop(
                    book.learn(
                        position,
                        &answer(&work.question, 9 - depth, 20_001, "hash 4"),
                    )
                    .expect("room"),
                ),
                _ => {}
            }
        }
    }
    for job in [jobs, jobs].concat() {
        work(&mut book, job, |question| {
            answer(question, 6, 20_001, "hash 2")
        });
    }
    assert_clean(&book);
    (book, jobs)
}

#[test]
fn compacted_journal_keeps_deepening_jobs() {
    let mut shorter = 0;
    // In the last two cases a job ends although positions wait, or reaches a position at another
    // time.
    for seed in (0..20).chain([186, 663]) {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut book, jobs) = mixed_book(folder.path(), seed);
        let waiting = |book: &mut Book| {
            let works = jobs.map(|job| book.next_work(job, 99).expect("readable"));
            works.iter().flatten().for_each(|work| book.release(work));
            works.map(|works| {
                works
                    .into_iter()
                    .map(|work| (work.question, work.priority))
                    .collect::<Vec<_>>()
            })
        };
        let before = (book.jobs().expect("readable"), waiting(&mut book));
        let (mut book, report) = book
            .compact(&kagetsu_book::BookOptions::default())
            .expect("room");
        shorter += report.entries_before.saturating_sub(report.entries);
        assert_clean(&book);
        assert_eq!(
            (book.jobs().expect("readable"), waiting(&mut book)),
            before,
            "seed {seed}"
        );
    }
    assert!(shorter > 100, "{shorter}");
}

/// Only an open position is asked about some of its moves.
fn book_is_open(question: &Question) -> bool {
    question.moves.len() < question.position.distinct_moves().len()
}

#[test]
fn limits_end_a_job_and_greater_ones_resume_it() {
    let (_folder, mut book) = new_book();
    let with = |nodes| bounded("nodes", 500, |build| build.total_nodes = Some(nodes));
    let job = book.create_job(&with(30_000)).expect("a job");
    work(&mut book, job, engine::answer);
    let (ended, first) = state(&book, job);
    let spent = book.job(job).expect("known").nodes;
    assert!(
        ended == JobState::Done && (30_000..60_000).contains(&spent) && first < 60,
        "{first}: {spent}"
    );
    assert_eq!(book.start_job(&with(60_000)).expect("the same"), job);
    work(&mut book, job, engine::answer);
    let (ended, second) = state(&book, job);
    assert!(
        ended == JobState::Done && second > first && book.job(job).expect("known").nodes >= 60_000,
        "{second}"
    );
    book.start_job(&bounded("nodes", 500, |_| {}))
        .expect("the same");
    assert_eq!(state(&book, job).0, JobState::Running);
    assert_clean(&book);

    let (_folder, mut book) = new_book();
    let spec = bounded("still", 2_000, |build| build.until_stable = Some(20));
    let job = book.create_job(&spec).expect("a job");
    let choices = |book: &Book| {
        let value = |root| {
            book.lookup(root)
                .expect("readable")
                .map(|entry| (entry.derived.best, entry.derived.score))
        };
        spec.roots.iter().map(value).collect::<Vec<_>>()
    };
    let (mut seen, mut changed_at) = (choices(&book), 0);
    while let Some(work) = book.next_work(job, 1).expect("readable").pop() {
        book.finish(&work, &engine::answer(&work.question))
            .expect("room");
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
    assert_eq!((ended, positions), (JobState::Done, changed_at + 20));
    assert_clean(&book);
}

#[test]
fn priority_is_kept_changed_and_bounded() {
    let (folder, mut book) = new_book();
    let with = |priority| bounded("turn", 9, |build| build.priority = priority);
    let job = book.create_job(&with(7)).expect("a job");
    assert_eq!(book.next_work(job, 1).expect("readable")[0].turn, 7);
    book.change_job(job, JobChange::Priority(-3)).expect("room");
    book.close().expect("room");
    let mut book = open(folder.path());
    assert_eq!(book.job(job).expect("known").spec.build.priority, -3);
    book.start_job(&with(4)).expect("the same");
    assert_eq!(book.job(job).expect("known").spec.build.priority, 4);
    let refused = book.create_job(&bounded("more", 9, |build| build.priority = 101));
    assert!(
        refused
            .expect_err("too great")
            .to_string()
            .contains("priority: 101 is not")
    );
    assert_clean(&book);
}
