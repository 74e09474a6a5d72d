//! What a job follows, and what it leaves out: what is kept up to date holds the same as a walk from the root anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use kagetsu_book::{Book, Bounds, JobId, JobSpec, Policy};
use kagetsu_game::{Effort, Key, Position, Side, Variant};

use crate::{assert_clean, engine, open};

fn spec(policy: Policy, bounds: Bounds) -> JobSpec {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    JobSpec {
        name: "way".into(),
        variant,
        roots: [Position::from_line(variant, "d4").expect("legal")].into(),
        policy,
        bounds,
        effort: Effort::depth(3),
        width: 4,
        max_ply: None,
        target: 1_000,
        split: false,
    }
}

/// The positions that wait below one, found by walking from it.
fn walk(
    book: &Book,
    spec: &JobSpec,
    position: &Position,
    found: &mut BTreeSet<Key>,
    seen: &mut BTreeSet<Key>,
) {
    if !seen.insert(position.key()) || position.outcome().is_some() {
        return;
    }
    let Some(entry) = book.lookup(position).expect("readable") else {
        found.insert(position.key());
        return;
    };
    if entry.derived.is_open {
        found.insert(position.key());
    }
    if entry.derived.proof.is_some() {
        return;
    }
    let is_own = matches!(spec.policy, Policy::OneSide { side, .. } if side == position.side());
    let is_fact = |m| {
        entry
            .facts
            .get(m)
            .is_some_and(|fact| fact.is_exact() && fact.proof.is_none())
    };
    for (m, verdict) in entry.answer.verdicts().iter().filter(|(m, _)| is_fact(*m)) {
        let lost = (i32::from(entry.derived.score.raw()) - i32::from(verdict.score.raw())).max(0);
        let is_near = spec
            .bounds
            .margin
            .is_none_or(|margin| lost <= margin.into());
        let next = position.play(*m).expect("legal");
        let is_excluded = spec
            .bounds
            .exclude
            .iter()
            .any(|other| other.key() == next.key());
        if !is_excluded
            && if is_own {
                entry.derived.best == Some(*m)
            } else {
                is_near
            }
        {
            walk(book, spec, &next, found, seen);
        }
    }
}

/// All positions that wait, in order.
fn waiting(book: &mut Book, job: JobId) -> Vec<Key> {
    let works = book.next_work(job, usize::MAX).expect("readable");
    works.iter().for_each(|work| book.release(work));
    works
        .iter()
        .map(|work| work.question.position.key())
        .collect()
}

fn grown(spec: &JobSpec, positions: u64) -> (tempfile::TempDir, Book, JobId) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = open(folder.path());
    let job = book.create_job(spec).expect("a job");
    while book.len() < positions {
        let works = book.next_work(job, 3).expect("readable");
        assert!(
            !works.is_empty(),
            "nothing is left after {} positions",
            book.len()
        );
        for work in &works {
            book.finish(work, &engine::answer(&work.question))
                .expect("room");
        }
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        walk(&book, spec, &spec.roots[0], &mut found, &mut seen);
        let waits: BTreeSet<Key> = waiting(&mut book, job).into_iter().collect();
        assert_eq!(waits, found, "after {} positions", book.len());
    }
    assert_clean(&book);
    (folder, book, job)
}

#[test]
fn of_one_side_the_best_move_is_followed_and_of_the_other_what_is_near() {
    for side in [Side::First, Side::Second] {
        let bounds = Bounds {
            margin: Some(60),
            ..Bounds::default()
        };
        grown(&spec(Policy::OneSide { side, alpha: 1.0 }, bounds), 60);
    }
}

#[test]
fn what_loses_too_much_and_what_is_excluded_is_not_entered() {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    let exclude: Arc<[Position]> = ["d4 e5", "d4 d5", "d4 c3"]
        .map(|line| Position::from_line(variant, line).expect("legal"))
        .into();
    grown(
        &spec(
            Policy::DropOut { alpha: 1.0 },
            Bounds {
                margin: Some(150),
                ..Bounds::default()
            },
        ),
        60,
    );
    let bounds = Bounds {
        exclude: Arc::clone(&exclude),
        ..Bounds::default()
    };
    let (folder, book, job) = grown(&spec(Policy::DropOut { alpha: 1.0 }, bounds.clone()), 80);
    for position in exclude.iter() {
        assert_eq!(book.lookup(position).expect("readable"), None, "{position}");
    }
    // The settings are kept: the same again goes on, others are refused.
    drop(book);
    let mut book = open(folder.path());
    assert_eq!(
        book.start_job(&spec(Policy::DropOut { alpha: 1.0 }, bounds))
            .expect("the same"),
        job
    );
    let refused = book
        .start_job(&spec(Policy::DropOut { alpha: 1.0 }, Bounds::default()))
        .expect_err("others");
    assert!(
        refused.to_string().contains("what it leaves out"),
        "{refused}"
    );
}

#[test]
fn chance_changes_the_order_and_a_seed_makes_it_the_same() {
    let order = |noise, seed| {
        let bounds = Bounds {
            noise,
            seed,
            ..Bounds::default()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut book = open(folder.path());
        let job = book
            .create_job(&spec(Policy::DropOut { alpha: 0.0 }, bounds))
            .expect("a job");
        for _ in 0..12 {
            let work = book
                .next_work(job, 1)
                .expect("readable")
                .pop()
                .expect("work");
            book.finish(&work, &engine::answer(&work.question))
                .expect("room");
        }
        waiting(&mut book, job)
    };
    let calm = order(0.0, 1);
    assert_eq!(order(0.0, 2), calm);
    assert_eq!(order(3.0, 1), order(3.0, 1));
    assert_ne!(order(3.0, 1), order(3.0, 2));
    assert!(calm.len() > 12);
}
