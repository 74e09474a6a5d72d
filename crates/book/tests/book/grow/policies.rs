//! Which moves a job follows: the frontier that is kept up to date holds the same positions as a
//! new walk from the root.

use std::collections::BTreeSet;
use std::sync::Arc;

use kagetsu_book::{Book, BuildSpec, JobId, JobSpec, Policy};
use kagetsu_game::{Key, Position, Side, Variant};

use crate::world::{assert_clean, engine, new_book, open};

fn spec(build: BuildSpec) -> JobSpec {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    JobSpec {
        name: "way".into(),
        variant,
        roots: [Position::from_line(variant, "d4").expect("legal")].into(),
        exclude: [].into(),
        build: BuildSpec {
            depth: Some(3),
            top: 4,
            positions: Some(1_000),
            ..build
        },
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
    let is_own = spec.build.policy == Policy::ONE_SIDE && spec.build.side == position.side();
    let is_fact = |m| {
        entry
            .facts
            .get(m)
            .is_some_and(|fact| fact.is_exact() && fact.proof.is_none())
    };
    for (m, verdict) in entry.answer.verdicts().iter().filter(|(m, _)| is_fact(*m)) {
        let lost = (i32::from(entry.derived.score.raw()) - i32::from(verdict.score.raw())).max(0);
        let is_near = spec.build.margin.is_none_or(|margin| lost <= margin.into());
        let next = position.play(*m).expect("legal");
        let is_excluded = spec.exclude.iter().any(|other| other.key() == next.key());
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
    let (folder, mut book) = new_book();
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
fn one_side_follows_its_best_and_near_replies() {
    for side in [Side::First, Side::Second] {
        let build = BuildSpec {
            policy: Policy::ONE_SIDE,
            side,
            margin: Some(60),
            ..BuildSpec::default()
        };
        grown(&spec(build), 60);
    }
}

#[test]
fn costly_and_excluded_moves_are_not_entered() {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    let exclude: Arc<[Position]> = ["d4 e5", "d4 d5", "d4 c3"]
        .map(|line| Position::from_line(variant, line).expect("legal"))
        .into();
    let build = BuildSpec {
        margin: Some(150),
        ..BuildSpec::default()
    };
    grown(&spec(build), 60);
    let spec = JobSpec {
        exclude: Arc::clone(&exclude),
        ..spec(BuildSpec::default())
    };
    let (folder, book, job) = grown(&spec, 80);
    for position in exclude.iter() {
        assert_eq!(book.lookup(position).expect("readable"), None, "{position}");
    }
    // The settings are kept: the same job again goes on, another one is refused.
    drop(book);
    let mut book = open(folder.path());
    assert_eq!(book.start_job(&spec).expect("the same"), job);
    let other = JobSpec {
        exclude: [].into(),
        ..spec
    };
    let refused = book.start_job(&other).expect_err("another job");
    assert!(refused.to_string().contains("--exclude"), "{refused}");
}

/// The order of a job's frontier after 12 positions.
fn order(noise: f64, seed: u64) -> Vec<Key> {
    let build = BuildSpec {
        alpha: 0.0,
        noise,
        seed,
        ..BuildSpec::default()
    };
    let (_folder, mut book) = new_book();
    let job = book.create_job(&spec(build)).expect("a job");
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
}

#[test]
fn noise_changes_the_order_and_a_seed_repeats_it() {
    let calm = order(0.0, 1);
    assert_eq!(order(0.0, 2), calm);
    assert_eq!(order(3.0, 1), order(3.0, 1));
    assert_ne!(order(3.0, 1), order(3.0, 2));
    assert!(calm.len() > 12);
}
